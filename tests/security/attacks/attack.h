/*
 * The attack corpus: one small attempt per row, run first outside a jail, where it has to work, and
 * then inside, where it has to fail as the row says.
 *
 * An attempt returns 0 when it got what it wanted and the errno of its refusal otherwise. It stands
 * in the workspace and finds its targets through target(). tests/security/README.md says which
 * kinds of attempts are tried elsewhere.
 *
 * Standard input is the caller's terminal. For rows of the name pty_*, whose strict jail has
 * terminals of its own ("pty"), it is /dev/null, and standard output the terminal, only to write.
 */
#ifndef TESTS_SECURITY_ATTACKS_ATTACK_H
#define TESTS_SECURITY_ATTACKS_ATTACK_H
#include <errno.h>

enum { BY_ROOT = 1, BY_USER = 2, BY_ANY = 3 };
enum {
	ANYTHING = -1,       /* the answer does not matter, only that the host is untouched */
	KILLED = 128 + 31,   /* by SIGSYS */
	OOM_KILLED = 128 + 9 /* by the cgroup of the jail, or by its watch */
};

/* id, who can do it outside, answers inside strict, inside hardened (0: a hole that
 * `agent6 check sandbox` names), what it tries */
#define ATTACKS(X)                                                                                 \
	X(fs_write_system, BY_ROOT, (EROFS), (EACCES), "create a file in /usr")                    \
	X(fs_write_outside, BY_ANY, (ENOENT), (EACCES), "overwrite a file outside")                \
	X(fs_create_outside, BY_ANY, (ENOENT), (EACCES), "create a file outside")                  \
	X(fs_parent, BY_ANY, (ANYTHING), (EACCES), "write to the parent of the workspace")         \
	X(fs_proc_cwd, BY_ANY, (ANYTHING), (EACCES), "the same through /proc/self/cwd")            \
	X(fs_read_shadow, BY_ROOT, (ENOENT), (EACCES), "read /etc/shadow")                         \
	X(fs_read_secret, BY_ANY, (ENOENT), (EACCES), "read a private key outside")                \
	X(fs_list_outside, BY_ANY, (ENOENT), (EACCES), "list a directory outside")                 \
	X(fs_symlink, BY_ANY, (ENOENT), (EACCES), "read through a link that leads outside")        \
	X(fs_symlink_race, BY_ANY, (ENOENT), (EACCES), "make a directory a link while writing")    \
	X(fs_hardlink, BY_ANY, (ENOENT), (EACCES, EXDEV), "link a file from outside")              \
	X(fs_rename_out, BY_ANY, (ENOENT), (EACCES, EXDEV), "move a file outside")                 \
	X(fs_rename_in, BY_ANY, (ENOENT), (EACCES, EXDEV), "move a file from outside")             \
	X(fs_unlink, BY_ANY, (ENOENT), (EACCES), "remove a file outside")                          \
	X(fs_truncate, BY_ANY, (ENOENT), (EACCES), "truncate a file outside")                      \
	X(fs_open_truncate, BY_ANY, (ENOENT), (EACCES), "open for reading with O_TRUNC")           \
	X(fs_chmod, BY_ANY, (ENOENT), (0), "change the mode of a file outside")                    \
	X(fs_utimes, BY_ANY, (ENOENT), (0), "change the times of a file outside")                  \
	X(fs_setxattr, BY_ANY, (ENOENT), (0), "set an attribute of a file outside")                \
	X(fs_stat, BY_ANY, (ENOENT), (0), "look at the metadata of a file outside")                \
	X(fs_watch, BY_ANY, (ENOENT), (0), "watch the names that come and go outside")             \
	X(fs_handle, BY_ROOT, (EPERM), (EPERM), "open a file by its handle")                       \
	X(fs_handle_name, BY_ANY, (EPERM), (EPERM), "learn the handle of a file, to guess others") \
	X(fs_mount, BY_ROOT, (EPERM), (EPERM), "mount a file system")                              \
	X(fs_umount, BY_ROOT, (EPERM), (EPERM), "unmount /usr's cover")                            \
	X(fs_open_tree, BY_ROOT, (EPERM), (EPERM), "clone a mount")                                \
	X(fs_open_tree_path, BY_ANY, (EPERM), (EPERM), "the mount calls' way to open a path")      \
	X(fs_fsopen, BY_ROOT, (EPERM), (EPERM), "open a new file system")                          \
	X(fs_mount_setattr, BY_ROOT, (EPERM), (EPERM), "make a mount writable again")              \
	X(fs_chroot, BY_ROOT, (EPERM), (EPERM), "change the root")                                 \
	X(fs_pivot_root, BY_ROOT, (EPERM), (EPERM), "pivot the root")                              \
	X(fs_mknod_char, BY_ROOT, (EPERM), (EPERM), "make a character device")                     \
	X(fs_mknod_block, BY_ROOT, (EPERM), (EPERM), "make a block device")                        \
	X(fs_whiteout_rename, BY_ANY, (EPERM), (EPERM), "leave a whiteout where a file was")       \
	X(fs_whiteout_mknod, BY_ANY, (EPERM), (EPERM), "make a whiteout")                          \
	X(fs_open_kmsg, BY_ROOT, (ENOENT), (EACCES), "read the kernel's log device")               \
	X(fs_open_devices, BY_ROOT, (ENOENT), (EACCES), "open any device beyond the sinks")        \
	X(fs_suid_mount, BY_ANY, (EPERM), (ANYTHING), "find a mount where set-id bits count")      \
	X(crawl, BY_ANY, (EPERM), (EPERM), "find any place to write but the own ones")             \
	X(suid_chmod, BY_ANY, (EPERM), (EPERM), "set-id bit by chmod")                             \
	X(suid_fchmod, BY_ANY, (EPERM), (EPERM), "set-id bit by fchmod")                           \
	X(suid_fchmodat, BY_ANY, (EPERM), (EPERM), "set-id bit by fchmodat")                       \
	X(suid_fchmodat2, BY_ANY, (EPERM), (EPERM), "set-id bit by fchmodat2")                     \
	X(suid_open, BY_ANY, (EPERM), (EPERM), "set-id bit by open")                               \
	X(suid_creat, BY_ANY, (EPERM), (EPERM), "set-id bit by creat")                             \
	X(suid_tmpfile, BY_ANY, (EPERM), (EPERM), "set-id bit by O_TMPFILE")                       \
	X(suid_mknod, BY_ANY, (EPERM), (EPERM), "set-id bit by mknod")                             \
	X(suid_openat2, BY_ANY, (ENOSYS), (ENOSYS), "set-id bit by openat2")                       \
	X(suid_high_bits, BY_ANY, (EPERM), (EPERM), "set-id bit by chmod with bit 32 set")         \
	X(suid_run, BY_USER, (EPERM, EACCES), (EPERM, EACCES), "gain root from a set-id program")  \
	X(fs_file_caps, BY_ROOT, (EPERM), (EPERM), "give a file capabilities")                     \
	X(fs_setflags, BY_ANY, (EPERM), (EPERM), "set inode flags by ioctl")                       \
	X(git_hook, BY_ANY, (EROFS), (0), "write a hook")                                          \
	X(git_config, BY_ANY, (EROFS), (0), "change .git/config")                                  \
	X(git_rename, BY_ANY, (EBUSY), (0), "move .git away")                                      \
	X(git_exchange, BY_ANY, (EBUSY), (0), "exchange .git with a directory")                    \
	X(git_real, BY_ANY, (EROFS), (0), "change the repository's config where it lies")          \
	X(git_make, BY_ANY, (EROFS), (0), "make the workspace a repository")                       \
	X(git_make_bare, BY_ANY, (ANYTHING), (ANYTHING), "make it a bare one")                     \
	X(git_parent, BY_ANY, (EBUSY), (0), "move the parent of a nested .git away")               \
	X(git_hardlink, BY_ANY, (EXDEV, EROFS), (0), "link .git/config and write the link")        \
	X(git_chmod, BY_ANY, (EROFS), (0), "change the mode of .git/config")                       \
	X(git_found, BY_ANY, (EROFS), (0), "change a repository that no policy names")             \
	X(git_found_file, BY_ANY, (EROFS), (0), "turn a .git file to another directory")           \
	X(git_found_parent, BY_ANY, (EBUSY), (0), "move what holds such a repository away")        \
	X(git_plant, BY_ANY, (ANYTHING), (ANYTHING), "leave a repository in a directory")          \
	X(git_plant_bare, BY_ANY, (ANYTHING), (ANYTHING), "make a directory a bare repository")    \
	X(git_plant_link, BY_ANY, (ANYTHING), (ANYTHING), "leave a link that leads to one")        \
	X(git_lease, BY_ANY, (EPERM), (EPERM), "keep the host from writing .git/config")           \
	X(bundle_write, BY_ANY, (EROFS), (EACCES), "write into the bundle")                        \
	X(bundle_chmod, BY_ANY, (EROFS), (0), "change the mode of a bundle's file")                \
	X(linger, BY_ANY, (ANYTHING), (ANYTHING), "leave a daemon behind")                         \
	X(linger_stubborn, BY_ANY, (ANYTHING), (ANYTHING), "leave one that forks on and on")       \
	X(proc_environ, BY_ANY, (ENOENT), (EACCES), "read a process's environment")                \
	X(proc_mem, BY_ANY, (ENOENT), (EACCES), "open a process's memory")                         \
	X(proc_root, BY_ANY, (ENOENT), (EACCES), "pass through a process's root")                  \
	X(proc_one, BY_ANY, (EACCES), (EACCES), "read PID 1's environment")                        \
	X(proc_one_exe, BY_ANY, (EACCES), (EACCES), "open PID 1's program")                        \
	X(proc_one_fd, BY_ANY, (EACCES), (EACCES), "see what PID 1's descriptors are")             \
	X(proc_one_filter, BY_ANY, (EPERM), (ANYTHING), "find PID 1 without a filter")             \
	X(proc_core_pattern, BY_ROOT, (EROFS), (EACCES), "write core_pattern")                     \
	X(proc_sysctl, BY_ROOT, (EROFS), (EACCES), "open a sysctl for writing")                    \
	X(proc_oom, BY_ANY, (EROFS), (EACCES), "write oom_score_adj")                              \
	X(proc_self_mem, BY_ANY, (EROFS), (EACCES), "open the own memory for writing")             \
	X(proc_fd_reopen, BY_ANY, (EROFS), (EACCES), "reopen a read-only descriptor for writing")  \
	X(proc_kernel_memory, BY_ROOT, (EACCES), (0), "read the kernel's memory")                  \
	X(proc_boot_line, BY_ANY, (ENODATA), (0), "read what the kernel was started with")         \
	X(proc_uid_map, BY_ANY, (EROFS), (EACCES), "open the own uid_map for writing")             \
	X(proc_self_files, BY_ANY, (EROFS), (EACCES), "open any own file of /proc for writing")    \
	X(proc_stdin, BY_ANY, (EACCES), (EACCES), "open the inherited terminal once more")         \
	X(proc_parent_environ, BY_ROOT, (EACCES, ENOENT), (EACCES),                                \
		"read the parent's environment")                                                   \
	X(sys_read, BY_ANY, (ENOENT), (EACCES), "read /sys")                                       \
	X(sys_write, BY_ROOT, (ENOENT), (EACCES), "open a file of /sys for writing")               \
	X(ptrace_victim, BY_ANY, (EPERM), (EPERM), "trace a process outside")                      \
	X(ptrace_child, BY_ANY, (EPERM), (EPERM), "trace a child")                                 \
	X(vm_read, BY_ANY, (EPERM), (EPERM), "read another process's memory")                      \
	X(vm_advise, BY_ANY, (EPERM), (EPERM), "have a process's memory swapped out")              \
	X(vm_move, BY_ANY, (EPERM), (EPERM), "see where a process's memory lies")                  \
	X(kcmp_victim, BY_ANY, (EPERM), (EPERM), "compare with another process")                   \
	X(pidfd_getfd, BY_ANY, (EPERM), (EPERM), "take a child's descriptor")                      \
	X(signal_victim, BY_ANY, (ESRCH), (EPERM), "signal a process outside")                     \
	X(signal_launcher, BY_ANY, (ANYTHING), (EPERM), "signal the launcher")                     \
	X(signal_pidfd, BY_ANY, (ESRCH), (EPERM), "signal it by pidfd")                            \
	X(signal_queue, BY_ANY, (ESRCH), (EPERM), "signal it by sigqueue")                         \
	X(signal_group, BY_ANY, (EPERM), (EPERM), "signal the group of its caller")                \
	X(signal_owner, BY_ANY, (ESRCH), (ANYTHING), "have the kernel signal it for a pipe")       \
	X(limit_victim, BY_ANY, (ESRCH), (EPERM), "kill it by a limit on its processor time")      \
	X(tune_victim, BY_USER, (ESRCH), (EPERM), "take it its priority or its processors")        \
	X(fd_leak, BY_ANY, (EBADF), (EBADF), "use an inherited descriptor")                        \
	X(env_leak, BY_ANY, (ENOENT), (ENOENT), "find the caller's environment")                   \
	X(tty_sti, BY_ROOT, (EPERM), (EPERM), "type into the terminal")                            \
	X(tty_sti_high, BY_ROOT, (EPERM), (EPERM), "the same with bit 32 set")                     \
	X(tty_ctty, BY_ANY, (EPERM), (EPERM), "take a terminal as controlling terminal")           \
	X(pty_sti, BY_ANY, (EPERM), (EACCES), "type into a terminal of one's own")                 \
	X(pty_host, BY_ANY, (ENOENT), (EACCES), "make a terminal among the host's")                \
	X(pty_caller, BY_ANY, (EACCES), (EACCES), "read what is typed into the caller's")          \
	X(personality_exec, BY_ANY, (EPERM), (EPERM), "READ_IMPLIES_EXEC")                         \
	X(rlimit_raise, BY_ROOT, (EPERM), (EPERM), "raise a hard limit")                           \
	X(core_dump, BY_ANY, (EPERM), (EPERM), "have a core limit that feeds a handler")           \
	X(userns_unshare, BY_ANY, (EPERM), (EPERM), "new user namespace by unshare")               \
	X(userns_clone, BY_ANY, (EPERM), (EPERM), "new user namespace by clone")                   \
	X(userns_clone3, BY_ANY, (ENOSYS), (ENOSYS), "new user namespace by clone3")               \
	X(ns_setns, BY_ROOT, (EPERM), (EPERM), "enter a namespace")                                \
	X(ns_mount, BY_ROOT, (EPERM), (EPERM), "new mount namespace")                              \
	X(call_int80, BY_ANY, (KILLED), (KILLED), "a 32-bit call")                                 \
	X(call_x32, BY_ANY, (KILLED), (KILLED), "an x32 call")                                     \
	X(call_io_uring, BY_ANY, (ENOSYS), (ENOSYS), "io_uring")                                   \
	X(call_io_setup, BY_ANY, (ENOSYS), (ENOSYS), "a share of the host's asynchronous I/O")     \
	X(call_listener, BY_ANY, (EPERM), (EPERM), "a seccomp listener")                           \
	X(call_userfaultfd, BY_ANY, (EPERM), (EPERM), "userfaultfd")                               \
	X(call_bpf, BY_ROOT, (EPERM), (EPERM), "bpf")                                              \
	X(call_perf, BY_ANY, (EPERM), (EPERM), "perf_event_open")                                  \
	X(call_fanotify, BY_ROOT, (EPERM), (EPERM), "fanotify_init")                               \
	X(call_fanotify_own, BY_ANY, (EPERM), (EPERM), "fanotify_init as anybody may call it")     \
	X(call_keyctl, BY_ANY, (EPERM), (EPERM), "keyctl")                                         \
	X(call_add_key, BY_ANY, (EPERM), (EPERM), "add_key")                                       \
	X(call_request_key, BY_ANY, (EPERM), (EPERM), "have root's helper fetch a key")            \
	X(keyring_read, BY_ANY, (EPERM), (EPERM), "read a key of the caller's session")            \
	X(call_kexec, BY_ROOT, (EPERM), (EPERM), "kexec_load")                                     \
	X(call_module, BY_ROOT, (EPERM), (EPERM), "init_module")                                   \
	X(call_reboot, BY_ROOT, (EPERM), (EPERM), "reboot")                                        \
	X(call_swapon, BY_ROOT, (EPERM), (EPERM), "swapon")                                        \
	X(call_acct, BY_ROOT, (EPERM), (EPERM), "acct")                                            \
	X(call_syslog, BY_ROOT, (EPERM), (EPERM), "syslog")                                        \
	X(call_sethostname, BY_ROOT, (EPERM), (EPERM), "sethostname")                              \
	X(call_settime, BY_ROOT, (EPERM), (EPERM), "clock_settime")                                \
	X(call_adjtimex, BY_ANY, (EPERM), (EPERM), "adjtimex")                                     \
	X(call_quotactl, BY_ANY, (EPERM), (EPERM), "quotactl")                                     \
	X(call_mempolicy, BY_ANY, (EPERM), (EPERM), "set_mempolicy")                               \
	X(call_memfd_secret, BY_ANY, (EPERM), (EPERM), "memfd_secret")                             \
	X(call_sched_fifo, BY_ROOT, (EPERM), (EPERM), "real-time scheduling")                      \
	X(call_sched_attr, BY_ROOT, (EPERM), (EPERM), "the same by sched_setattr")                 \
	X(call_io_priority, BY_ROOT, (EPERM), (EPERM), "real-time input and output")               \
	X(call_prctl_mm, BY_ANY, (EPERM), (EPERM), "PR_SET_MM")                                    \
	X(caps_left, BY_ROOT, (EPERM), (EPERM), "have any capability")                             \
	X(caps_raise, BY_ROOT, (EPERM), (EPERM), "raise an ambient capability")                    \
	X(caps_new, BY_ANY, (EPERM), (EPERM), "be able to gain privileges by execve")              \
	X(id_hostname, BY_ANY, (ENOENT), (0), "learn the host's name")                             \
	X(id_cgroup, BY_ANY, (ENOENT), (ANYTHING), "see the host's control groups")                \
	X(net_tcp4, BY_ANY, (ECONNREFUSED), (EAFNOSUPPORT), "TCP to a service of the host")        \
	X(net_tcp6, BY_ANY, (ECONNREFUSED, EADDRNOTAVAIL), (EAFNOSUPPORT), "TCP over IPv6")        \
	X(net_udp, BY_ANY, (ANYTHING), (EAFNOSUPPORT), "UDP to a service of the host")             \
	X(net_fastopen, BY_ANY, (EPERM), (EAFNOSUPPORT), "TCP fast open by sendto")                \
	X(net_fastopen_msg, BY_ANY, (EPERM), (EAFNOSUPPORT), "TCP fast open by sendmsg")           \
	X(net_mptcp, BY_ANY, (EAFNOSUPPORT), (EAFNOSUPPORT), "multipath TCP")                      \
	X(net_protocols, BY_ANY, (EAFNOSUPPORT), (EAFNOSUPPORT),                                   \
		"UDP-Lite, SCTP, DCCP and others")                                                 \
	X(net_raw, BY_ROOT, (EAFNOSUPPORT), (EAFNOSUPPORT), "a raw socket")                        \
	X(net_ping, BY_ROOT, (EAFNOSUPPORT), (EAFNOSUPPORT), "a ping socket")                      \
	X(net_packet, BY_ROOT, (EAFNOSUPPORT), (EAFNOSUPPORT), "a packet socket")                  \
	X(net_netlink, BY_ANY, (EAFNOSUPPORT), (EAFNOSUPPORT), "generic netlink")                  \
	X(net_vsock, BY_ANY, (EAFNOSUPPORT), (EAFNOSUPPORT), "a vsock to the hypervisor")          \
	X(net_vsock_high, BY_ANY, (EAFNOSUPPORT), (EAFNOSUPPORT), "the same with bit 32 set")      \
	X(net_alg, BY_ANY, (EAFNOSUPPORT), (EAFNOSUPPORT), "the kernel's crypto sockets")          \
	X(net_families, BY_ANY, (EAFNOSUPPORT), (EAFNOSUPPORT), "any other socket family")         \
	X(net_config, BY_ROOT, (EPERM), (EPERM, EAFNOSUPPORT), "bring an interface up or down")    \
	X(unix_abstract, BY_ANY, (ECONNREFUSED, EPERM), (EAFNOSUPPORT), "an abstract socket")      \
	X(unix_outside, BY_ANY, (ENOENT), (EAFNOSUPPORT), "a named socket outside")                \
	X(unix_pair, BY_ANY, (ENOENT), (EAFNOSUPPORT), "the same from a socket of a pair")         \
	X(unix_inside, BY_ANY, (ECONNREFUSED, EACCES), (EAFNOSUPPORT), "one in the workspace")     \
	X(unix_renamed, BY_ANY, (ECONNREFUSED, EACCES), (EAFNOSUPPORT), "the same, moved first")   \
	X(ipc_shm, BY_ANY, (ENOENT), (EPERM), "System V shared memory of the host")                \
	X(ipc_sem, BY_ANY, (ENOENT), (EPERM), "a System V semaphore of the host")                  \
	X(ipc_msg, BY_ANY, (ENOENT), (EPERM), "a System V message queue of the host")              \
	X(ipc_dev_shm, BY_ANY, (ENOENT), (EACCES), "POSIX shared memory of the host")              \
	X(ipc_mqueue, BY_ANY, (ENOENT), (EPERM), "a POSIX message queue of the host")              \
	X(use_forks, BY_USER, (EAGAIN), (EAGAIN), "more processes than allowed")                   \
	X(use_forks_root, BY_ROOT, (EAGAIN), (0), "the same as root")                              \
	X(use_memory, BY_ANY, (ENOMEM, OOM_KILLED), (ENOMEM, OOM_KILLED),                          \
		"more memory than allowed")                                                        \
	X(use_shared, BY_ANY, (OOM_KILLED), (OOM_KILLED), "more shared memory than allowed")       \
	X(use_watches, BY_USER, (EMFILE), (0), "most of the inotify instances of the user")        \
	X(use_files, BY_ANY, (EMFILE), (EMFILE), "more descriptors than allowed")                  \
	X(use_disk, BY_ANY, (EFBIG), (EFBIG), "a larger file than allowed")

/* Returns a target from the driver: ATTACK_`name` of the environment, "" if it is not set. */
const char *target(const char *name);
/* The path of `name` in the decoy outside the workspace; the last few stay valid. */
const char *outside(const char *name);
/* 0 for a result that is not negative, else errno. */
int answer(long result);

/* Prints what the command can find out about its own confinement; see facts.c. */
int facts(void);
/* Writes what every ioctl answers on every kind of descriptor; see ioctls.c. */
int ioctls(void);

#define ATTACK_DECLARE(id, by, strict, hardened, what) int id(void);
ATTACKS(ATTACK_DECLARE)
#endif
