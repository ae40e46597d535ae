/*
 * The one table of system calls: which are allowed, refused (EPERM), absent (ENOSYS), or decided by
 * their arguments. jail/gen turns it into the filter programs at build time; the tests simulate
 * those programs against it for every number.
 *
 * A call that is not listed is absent, so that tomorrow's calls are closed and programs fall back.
 * Rows are names; CALL_SINCE also gives the number for calls newer than the build's libseccomp
 * (numbers from 424 on are the same on every architecture).
 */
#ifndef JAIL_SECCOMP_TABLE_H
#define JAIL_SECCOMP_TABLE_H
#include <stdint.h>

enum answer {
	ANSWER_ABSENT,
	ANSWER_ALLOW,
	ANSWER_DENY,
	ANSWER_FAMILY,
	ANSWER_TOO_LARGE,
	ANSWER_KILL
};

/* One argument, always compared as 32 bits: the kernel takes these as int or unsigned, and a
 * 64-bit compare is bypassed by setting bit 32. A length has 64: UPPER(n) is the upper half of
 * argument n. True when ((arg & mask) == value) != negate. */
struct arg_test {
	uint8_t arg;
	uint8_t negate;
	uint32_t mask, value;
};

enum { ARG_TESTS_MAX = 3 };

/* `answer` when all of `tests` hold; a test with mask 0 ends the list. */
struct arg_rule {
	const char *name;
	enum answer answer;
	struct arg_test tests[ARG_TESTS_MAX];
};

/* clang-format off */
#define IS(n, m, v)  {.arg = (n), .mask = (m), .value = (v)}
#define ANY(n, m)    {.arg = (n), .negate = 1, .mask = (m), .value = 0}
#define UPPER(n)     ((n) | 8u)
#define WHOLE        0xffffffffu
#define TEBIBYTES    0xffffff00u /* of an upper half: 2^40 and more */
#define MODE_SETID   06000u
#define MODE_DEVICE  0130000u /* 0020000 of these bits: a character or block device */
#define OPEN_CREATES (0100u | 020000000u) /* O_CREAT, O_TMPFILE */
#define TYPE_BITS    0xfu
#define CLONE_SPACES 0x7e020000u /* NEWNS CGROUP UTS IPC USER PID NET */

/* First match wins; a call whose rules all fail to match is allowed. */
#define SECCOMP_RULES(X) \
	X(clone, DENY, ANY(0, CLONE_SPACES)) \
	X(unshare, DENY, ANY(0, CLONE_SPACES | 0x80u /* NEWTIME */)) \
	/* Files with a set-id bit: a root's command would leave a root program on the host. */ \
	X(open, DENY, ANY(1, OPEN_CREATES), ANY(2, MODE_SETID)) \
	X(openat, DENY, ANY(2, OPEN_CREATES), ANY(3, MODE_SETID)) \
	X(creat, DENY, ANY(1, MODE_SETID)) \
	X(chmod, DENY, ANY(1, MODE_SETID)) \
	X(fchmod, DENY, ANY(1, MODE_SETID)) \
	X(fchmodat, DENY, ANY(2, MODE_SETID)) \
	X(fchmodat2, DENY, ANY(2, MODE_SETID)) \
	X(mknod, DENY, ANY(1, MODE_SETID)) \
	X(mknod, DENY, IS(1, MODE_DEVICE, 0020000u)) \
	X(mknodat, DENY, ANY(2, MODE_SETID)) \
	X(mknodat, DENY, IS(2, MODE_DEVICE, 0020000u)) \
	/* Runtimes reserve terabytes as a file in memory, and do without where that fails; beyond \
	 * RLIMIT_FSIZE they would be killed (.NET). */ \
	X(ftruncate, TOO_LARGE, ANY(UPPER(1), TEBIBYTES)) \
	/* A whiteout is a device of number 0, which nobody needs a capability for: on an overlay's \
	 * upper directory it hides what lies below. mknod of one is refused above. */ \
	X(renameat2, DENY, ANY(4, 4u)) /* RENAME_WHITEOUT */ \
	/* Network namespaces do not cover vsock before Linux 7.0; packet, alg and friends are \
	 * kernel surface: families are an allow-list. */ \
	X(socket, ALLOW, IS(0, WHOLE, 1)) /* AF_UNIX */ \
	X(socket, ALLOW, IS(0, WHOLE, 2), IS(1, TYPE_BITS, 1), IS(2, WHOLE, 0)) \
	X(socket, ALLOW, IS(0, WHOLE, 2), IS(1, TYPE_BITS, 1), IS(2, WHOLE, 6)) \
	X(socket, ALLOW, IS(0, WHOLE, 2), IS(1, TYPE_BITS, 2), IS(2, WHOLE, 0)) \
	X(socket, ALLOW, IS(0, WHOLE, 2), IS(1, TYPE_BITS, 2), IS(2, WHOLE, 17)) \
	X(socket, ALLOW, IS(0, WHOLE, 10), IS(1, TYPE_BITS, 1), IS(2, WHOLE, 0)) \
	X(socket, ALLOW, IS(0, WHOLE, 10), IS(1, TYPE_BITS, 1), IS(2, WHOLE, 6)) \
	X(socket, ALLOW, IS(0, WHOLE, 10), IS(1, TYPE_BITS, 2), IS(2, WHOLE, 0)) \
	X(socket, ALLOW, IS(0, WHOLE, 10), IS(1, TYPE_BITS, 2), IS(2, WHOLE, 17)) \
	X(socket, ALLOW, IS(0, WHOLE, 16), IS(2, WHOLE, 0)) /* netlink, route */ \
	X(socket, FAMILY, IS(0, 0, 0)) \
	X(socketpair, ALLOW, IS(0, WHOLE, 1)) \
	X(socketpair, FAMILY, IS(0, 0, 0)) \
	/* TCP fast open carries its payload past Landlock's connect check. */ \
	X(sendto, DENY, ANY(3, 0x20000000u)) \
	X(sendmsg, DENY, ANY(2, 0x20000000u)) \
	X(sendmmsg, DENY, ANY(3, 0x20000000u)) \
	X(setsockopt, DENY, IS(1, WHOLE, 6), IS(2, WHOLE, 30)) /* TCP_FASTOPEN_CONNECT */ \
	X(setsockopt, DENY, IS(1, WHOLE, 6), IS(2, WHOLE, 31)) /* TCP_ULP */ \
	X(setsockopt, DENY, IS(1, WHOLE, 6), IS(2, WHOLE, 19)) /* TCP_REPAIR */ \
	X(setsockopt, DENY, IS(1, WHOLE, 279))                 /* SOL_ALG */ \
	X(setsockopt, DENY, IS(1, WHOLE, 1), IS(2, WHOLE, 26)) /* SO_ATTACH_FILTER */ \
	X(setsockopt, DENY, IS(1, WHOLE, 1), IS(2, WHOLE, 50)) /* SO_ATTACH_BPF */ \
	X(setsockopt, DENY, IS(1, WHOLE, 1), IS(2, WHOLE, 51)) /* ..._REUSEPORT_CBPF */ \
	X(setsockopt, DENY, IS(1, WHOLE, 1), IS(2, WHOLE, 52)) /* ..._REUSEPORT_EBPF */ \
	X(ioctl, DENY, IS(1, WHOLE, 0x5412u))                  /* TIOCSTI: types for the user */ \
	X(ioctl, DENY, IS(1, WHOLE, 0x541cu))                  /* TIOCLINUX */ \
	X(ioctl, DENY, IS(1, WHOLE, 0x541du))                  /* TIOCCONS */ \
	X(ioctl, DENY, IS(1, WHOLE, 0x5423u))                  /* TIOCSETD */ \
	X(ioctl, DENY, IS(1, WHOLE, 0x540cu))                  /* TIOCEXCL: outlasts the command */ \
	X(ioctl, DENY, IS(1, 0xffffff00u, 0x4b00u))            /* KD*: what a console's keys say */ \
	X(ioctl, DENY, IS(1, 0xffffff00u, 0x5600u))            /* VT_*: switches consoles */ \
	X(ioctl, DENY, IS(1, 0xfffffffeu, 0x8940u))            /* SIOC[GS]IFBR: loads a module */ \
	X(ioctl, DENY, IS(1, 0xfffffffcu, 0x89a0u))            /* SIOCBR* */ \
	X(ioctl, DENY, IS(1, 0xfffffffeu, 0x8982u))            /* SIOC[GS]IFVLAN: the same */ \
	X(ioctl, DENY, IS(1, WHOLE, 0x40086602u))              /* FS_IOC_SETFLAGS: immutable */ \
	X(ioctl, DENY, IS(1, WHOLE, 0x40046602u))              /* the same, 32-bit form */ \
	X(ioctl, DENY, IS(1, WHOLE, 0x401c5820u))              /* FS_IOC_FSSETXATTR */ \
	/* Keys of the user's that lie in a whole file system: who takes his last claim on one away \
	 * locks what is encrypted with it. Nobody needs a capability for that. */ \
	X(ioctl, DENY, IS(1, WHOLE, 0xc0506617u))              /* FS_IOC_ADD_ENCRYPTION_KEY */ \
	X(ioctl, DENY, IS(1, WHOLE, 0xc0406618u))              /* FS_IOC_REMOVE_ENCRYPTION_KEY */ \
	/* A snapshot of the workspace shows what is hidden in it, below Linux 6.7 all of its \
	 * volume; a volume made read-only stays when its owner removes it. */ \
	X(ioctl, DENY, IS(1, 0xffffff00u, 0x50009400u))        /* btrfs: snapshots, volumes */ \
	X(ioctl, DENY, IS(1, WHOLE, 0x4008941au))              /* btrfs: a volume's flags */ \
	X(ioctl, DENY, IS(1, 0xff00u, 0xbc00u))                /* bcachefs: the same */ \
	X(ioctl, DENY, IS(1, WHOLE, 0x400454cau))              /* TUNSETIFF */ \
	X(ioctl, DENY, IS(1, 0xffffff00u, 0x4c00u))            /* LOOP_* */ \
	/* Whoever opens a leased file for writing waits for it, most of a minute each time. */ \
	X(fcntl, DENY, IS(1, 0xffffffefu, 1024))               /* F_SETLEASE, F_SETDELEG */ \
	X(prctl, DENY, IS(0, WHOLE, 35))                       /* PR_SET_MM */ \
	X(prctl, DENY, IS(0, WHOLE, 28))                       /* PR_SET_SECUREBITS */ \
	X(prctl, DENY, IS(0, WHOLE, 47), IS(1, WHOLE, 2))      /* PR_CAP_AMBIENT_RAISE */ \
	X(prctl, DENY, IS(0, WHOLE, 62))                       /* PR_SCHED_CORE */ \
	X(prctl, DENY, IS(0, WHOLE, 0x59616d61u))              /* PR_SET_PTRACER */ \
	X(personality, ALLOW, IS(0, WHOLE, 0)) \
	X(personality, ALLOW, IS(0, WHOLE, WHOLE))   /* query */ \
	X(personality, ALLOW, IS(0, WHOLE, 0x8))     /* PER_LINUX32 */ \
	X(personality, ALLOW, IS(0, WHOLE, 0x20000)) /* UNAME26 */ \
	X(personality, ALLOW, IS(0, WHOLE, 0x40000)) /* ADDR_NO_RANDOMIZE */ \
	X(personality, DENY, IS(0, 0, 0)) \
	X(sched_setscheduler, DENY, IS(1, 0xffu, 1)) /* FIFO */ \
	X(sched_setscheduler, DENY, IS(1, 0xffu, 2)) /* RR */ \
	X(sched_setscheduler, DENY, IS(1, 0xffu, 6)) /* DEADLINE */ \
	X(seccomp, DENY, ANY(1, 8u))                 /* NEW_LISTENER: approves its own calls */

/* Filters laid on top of the table; the stricter of two answers holds. */
#define SECCOMP_NO_INTERNET_RULES(X) \
	X(socket, FAMILY, IS(0, WHOLE, 2)) \
	X(socket, FAMILY, IS(0, WHOLE, 10)) \
	X(socket, FAMILY, IS(0, WHOLE, 16))

/* A datagram socket can send to and connect to any name, even one of a pair; the others of a pair
 * stay connected to each other. */
#define SECCOMP_NO_UNIX_RULES(X) \
	X(socket, FAMILY, IS(0, WHOLE, 1)) \
	X(socketpair, FAMILY, IS(1, TYPE_BITS & ~1u, 2)) /* datagram, and raw, which is the same */

/* Closed only for a command without terminals of its own; one that has them may take one of those,
 * and has no other. */
#define SECCOMP_NO_TERMINAL_RULES(X) X(ioctl, DENY, IS(1, WHOLE, 0x540eu)) /* TIOCSCTTY */

/* Without namespaces a command can name other processes, and Landlock stops only signals and
 * tracing: a limit of no processor time kills as well. 0 is the caller itself. Its own number, which
 * pthread_setaffinity_np passes, cannot be told from another process's. */
#define SECCOMP_NO_HOST_RULES(X) \
	X(prlimit64, DENY, ANY(0, WHOLE)) \
	X(setpriority, DENY, IS(0, WHOLE, 2)) /* PRIO_USER */ \
	X(setpriority, DENY, ANY(1, WHOLE)) \
	X(ioprio_set, DENY, IS(0, WHOLE, 3)) /* IOPRIO_WHO_USER */ \
	X(ioprio_set, DENY, ANY(1, WHOLE)) \
	X(sched_setaffinity, DENY, ANY(0, WHOLE)) \
	X(sched_setattr, DENY, ANY(0, WHOLE)) \
	X(sched_setparam, DENY, ANY(0, WHOLE)) \
	X(sched_setscheduler, DENY, ANY(0, WHOLE))

/* Nor is there an IPC namespace: these reach the host's objects. */
#define SECCOMP_HOST_IPC(X) \
	X(shmget) X(shmat) X(shmctl) X(shmdt) X(msgget) X(msgsnd) X(msgrcv) X(msgctl) \
	X(semget) X(semop) X(semtimedop) X(semctl) X(mq_open) X(mq_unlink) X(mq_timedsend) \
	X(mq_timedreceive) X(mq_notify) X(mq_getsetattr)

/* Everything that is neither here, nor ruled above, nor refused below is absent. */
#define SECCOMP_ALLOWED(X, S) \
	X(accept) X(accept4) X(access) X(alarm) X(arch_prctl) X(bind) X(brk) X(capget) \
	X(capset) X(chdir) X(chown) X(clock_getres) X(clock_gettime) X(clock_nanosleep) \
	X(close) X(close_range) X(connect) X(copy_file_range) X(dup) X(dup2) X(dup3) \
	X(epoll_create) X(epoll_create1) X(epoll_ctl) X(epoll_pwait) X(epoll_pwait2) \
	X(epoll_wait) X(eventfd) X(eventfd2) X(execve) X(execveat) X(exit) X(exit_group) \
	X(faccessat) X(faccessat2) X(fadvise64) X(fallocate) X(fchdir) X(fchown) X(fchownat) \
	X(fcntl) X(fdatasync) X(fgetxattr) X(flistxattr) X(flock) X(fork) X(fremovexattr) \
	X(fsetxattr) X(fstat) X(fstatfs) X(fsync) X(futex) X(futex_waitv) \
	X(futimesat) X(get_mempolicy) X(get_robust_list) X(get_thread_area) X(getcpu) \
	X(getcwd) X(getdents) X(getdents64) X(getegid) X(geteuid) X(getgid) X(getgroups) \
	X(getitimer) X(getpeername) X(getpgid) X(getpgrp) X(getpid) X(getppid) \
	X(getpriority) X(getrandom) X(getresgid) X(getresuid) X(getrlimit) X(getrusage) \
	X(getsid) X(getsockname) X(getsockopt) X(gettid) X(gettimeofday) X(getuid) \
	X(getxattr) X(inotify_add_watch) X(inotify_init) X(inotify_init1) \
	X(inotify_rm_watch) X(io_cancel) X(io_destroy) X(io_getevents) X(io_pgetevents) \
	X(io_submit) X(ioprio_get) X(ioprio_set) X(kill) X(landlock_add_rule) \
	X(landlock_create_ruleset) X(landlock_restrict_self) X(lchown) X(lgetxattr) X(link) \
	X(linkat) X(listen) X(listxattr) X(llistxattr) X(lremovexattr) X(lseek) X(lsetxattr) \
	X(lstat) X(madvise) X(membarrier) X(memfd_create) X(mincore) X(mkdir) X(mkdirat) \
	X(mlock) X(mlock2) X(mlockall) X(mmap) X(mprotect) X(mremap) X(msync) X(munlock) \
	X(munlockall) X(munmap) X(nanosleep) X(newfstatat) X(pause) X(pidfd_open) \
	X(pidfd_send_signal) X(pipe) X(pipe2) X(pkey_alloc) X(pkey_free) X(pkey_mprotect) \
	X(poll) X(ppoll) X(pread64) X(preadv) X(preadv2) X(prlimit64) X(pselect6) \
	X(pwrite64) X(pwritev) X(pwritev2) X(read) X(readahead) X(readlink) X(readlinkat) \
	X(readv) X(recvfrom) X(recvmmsg) X(recvmsg) X(remap_file_pages) X(removexattr) \
	X(rename) X(renameat) X(restart_syscall) X(rmdir) X(rseq) \
	X(rt_sigaction) X(rt_sigpending) X(rt_sigprocmask) X(rt_sigqueueinfo) \
	X(rt_sigreturn) X(rt_sigsuspend) X(rt_sigtimedwait) X(rt_tgsigqueueinfo) \
	X(sched_get_priority_max) X(sched_get_priority_min) X(sched_getaffinity) \
	X(sched_getattr) X(sched_getparam) X(sched_getscheduler) X(sched_rr_get_interval) \
	X(sched_setaffinity) X(sched_setattr) X(sched_setparam) X(sched_yield) X(select) \
	X(sendfile) X(set_robust_list) X(set_thread_area) X(set_tid_address) X(setfsgid) \
	X(setfsuid) X(setgid) X(setgroups) X(setitimer) X(setpgid) X(setpriority) \
	X(setregid) X(setresgid) X(setresuid) X(setreuid) X(setrlimit) X(setsid) X(setuid) \
	X(setxattr) X(shutdown) X(sigaltstack) X(signalfd) X(signalfd4) X(splice) X(stat) \
	X(statfs) X(statx) X(symlink) X(symlinkat) X(sync) X(sync_file_range) X(syncfs) \
	X(sysinfo) X(tee) X(tgkill) X(time) X(timer_create) X(timer_delete) \
	X(timer_getoverrun) X(timer_gettime) X(timer_settime) X(timerfd_create) \
	X(timerfd_gettime) X(timerfd_settime) X(times) X(tkill) X(truncate) X(umask) \
	X(uname) X(unlink) X(unlinkat) X(utime) X(utimensat) X(utimes) X(vfork) X(vmsplice) \
	X(wait4) X(waitid) X(write) X(writev) SECCOMP_HOST_IPC(X) \
	S(cachestat, 451) S(map_shadow_stack, 453) \
	S(futex_wake, 454) S(futex_wait, 455) S(futex_requeue, 456) S(mseal, 462) \
	S(setxattrat, 463) S(getxattrat, 464) S(listxattrat, 465) S(removexattrat, 466)

/* Answer EPERM although the kernel has them: a program that asks should learn that it may not. */
#define SECCOMP_REFUSED(X, S) \
	X(_sysctl) X(acct) X(add_key) X(adjtimex) X(afs_syscall) X(bpf) X(chroot) \
	X(clock_adjtime) X(clock_settime) X(delete_module) X(fanotify_init) X(fanotify_mark) \
	X(finit_module) X(fsconfig) X(fsmount) X(fsopen) X(fspick) X(init_module) X(ioperm) \
	X(iopl) X(kcmp) X(kexec_file_load) X(kexec_load) X(keyctl) X(lookup_dcookie) \
	X(mbind) X(memfd_secret) X(migrate_pages) X(modify_ldt) X(mount) X(mount_setattr) \
	X(move_mount) X(move_pages) X(name_to_handle_at) X(nfsservctl) X(open_by_handle_at) \
	X(open_tree) X(perf_event_open) X(pidfd_getfd) X(pivot_root) X(process_madvise) \
	X(process_mrelease) X(process_vm_readv) X(process_vm_writev) X(ptrace) X(quotactl) \
	X(quotactl_fd) X(reboot) X(request_key) X(set_mempolicy) X(set_mempolicy_home_node) \
	X(setdomainname) X(sethostname) X(setns) X(settimeofday) X(swapoff) X(swapon) \
	X(sysfs) X(syslog) X(umount2) X(userfaultfd) X(uselib) X(ustat) X(vhangup) \
	S(lsm_set_self_attr, 460) S(open_tree_attr, 467)

/* Known to the kernel, and answered as absent on purpose: their arguments lie in memory, where a
 * filter cannot look, or programs fall back only from ENOSYS. Asynchronous input and output, which
 * needs io_setup, draws on one pool of the whole host (fs.aio-max-nr). Programs that ask for mounts
 * and security modules (statmount, listmount, lsm_get_self_attr, lsm_list_modules) fall back to
 * /proc. */
#define SECCOMP_ABSENT(X) \
	X(clone3) X(openat2) X(io_uring_setup) X(io_uring_enter) X(io_uring_register) \
	X(io_setup)

/* The calls of a jail's PID 1 once the command runs: wait, reap, end, and look at the memory. All
 * others are refused. */
#define SECCOMP_REAPER(X) \
	X(memfd_create) X(openat) X(getdents64) X(statx) X(statfs) X(shmctl) X(msgctl) X(clock_gettime) \
	X(wait4) X(waitid) X(poll) X(ppoll) X(read) X(close) X(exit) X(exit_group) \
	X(restart_syscall) X(rt_sigreturn) X(getpid) X(kill) X(getrusage)

/* Calls that only protect together; `make teeth` lets each group pass in turn. */
#define SECCOMP_GROUPS(X) \
	X(set_id, "open openat creat chmod fchmod fchmodat fchmodat2 mknod mknodat openat2") \
	X(namespaces, "clone clone3 unshare setns") \
	X(mounts, "mount umount2 pivot_root open_tree move_mount fsopen fsconfig fsmount " \
		  "mount_setattr chroot open_by_handle_at name_to_handle_at") \
	X(sockets, "socket sendto sendmsg sendmmsg setsockopt") \
	X(terminal, "ioctl") \
	X(tracing, "ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd") \
	X(keys, "add_key keyctl request_key") \
	X(io_uring, "io_uring_setup io_uring_enter io_uring_register io_setup") \
	X(whiteouts, "renameat2 mknod mknodat") \
	X(kernel, "acct adjtimex bpf clock_settime fanotify_init init_module kexec_load " \
		  "memfd_secret perf_event_open prctl personality quotactl reboot seccomp " \
		  "set_mempolicy sethostname swapon syslog userfaultfd sched_setscheduler")

/* Calls newer than the build's libseccomp that have argument rules above. */
#define SECCOMP_RULED_SINCE(S) S(fchmodat2, 452)
/* clang-format on */

#endif
