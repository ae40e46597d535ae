/*
 * Which attempts of attack.h it takes several missing layers to let through.
 */
#ifndef TESTS_SECURITY_ATTACKS_HELD_TOGETHER_H
#define TESTS_SECURITY_ATTACKS_HELD_TOGETHER_H

/* Rows that no layer holds alone: id, a profile, and the layers without which it succeeds there.
 * `make teeth` fails when one of these does not, or when a row that is not here never does. */
#define HELD_TOGETHER(X)                                                                           \
	X(call_acct, hardened, "seccomp,capabilities")                                             \
	X(call_bpf, hardened, "seccomp,capabilities")                                              \
	X(call_fanotify, hardened, "seccomp,capabilities")                                         \
	X(call_reboot, hardened, "seccomp,capabilities")                                           \
	X(call_sched_fifo, hardened, "seccomp,capabilities")                                       \
	X(call_sethostname, hardened, "seccomp,capabilities")                                      \
	X(call_swapon, hardened, "seccomp,capabilities")                                           \
	X(call_syslog, hardened, "seccomp,capabilities")                                           \
	X(caps_raise, hardened, "seccomp,capabilities")                                            \
	X(fs_chroot, hardened, "seccomp,capabilities")                                             \
	X(fs_fsopen, hardened, "seccomp,capabilities")                                             \
	X(fs_handle, hardened, "seccomp,capabilities")                                             \
	X(fs_mount_setattr, hardened, "seccomp,capabilities")                                      \
	X(fs_open_tree, hardened, "seccomp,capabilities")                                          \
	X(fs_umount, hardened, "seccomp,capabilities")                                             \
	X(net_config, hardened, "seccomp,capabilities")                                            \
	X(net_packet, hardened, "seccomp,capabilities")                                            \
	X(net_raw, hardened, "seccomp,capabilities")                                               \
	X(ns_mount, hardened, "seccomp,capabilities")                                              \
	X(ns_setns, hardened, "seccomp,capabilities")                                              \
	X(tty_sti, hardened, "seccomp,capabilities")                                               \
	X(tty_sti_high, hardened, "seccomp,capabilities")                                          \
	X(fs_mknod_block, hardened, "seccomp,capabilities,landlock")                               \
	X(fs_mknod_char, hardened, "seccomp,capabilities,landlock")                                \
	X(fs_mount, hardened, "seccomp,capabilities,landlock")                                     \
	X(fs_pivot_root, hardened, "seccomp,capabilities,landlock")                                \
	X(ptrace_victim, hardened, "seccomp,capabilities,landlock")                                \
	X(fs_whiteout_mknod, hardened, "seccomp,landlock")                                         \
	X(fs_open_kmsg, hardened, "capabilities,landlock")                                         \
	X(proc_mem, hardened, "capabilities,landlock")                                             \
	X(proc_root, hardened, "capabilities,landlock")                                            \
	X(ipc_mqueue, hardened, "seccomp_no_host,landlock")                                        \
	X(caps_new, hardened, "no_new_privs,capabilities")                                         \
	X(suid_run, hardened, "no_new_privs,seccomp,landlock")                                     \
	X(use_memory, strict, "limits,memory_watch,cgroup")
#endif
