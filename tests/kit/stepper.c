#include "tests/kit/stepper.h"

#ifdef __x86_64__
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define X(fault, says, error) [fault] = {says, error},
static const struct {
	const char *says;
	int error;
} faults[] = {STEPPER_FAULTS(X)};
#undef X

const char *stepper_says(enum stepper_fault fault)
{
	return faults[fault].says;
}

void stepper_traced(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
}

void stepper_peek(pid_t pid, unsigned long long at, char *text, size_t bytes)
{
	memset(text, 0, bytes);
	for (size_t i = 0; i + sizeof(long) < bytes && strlen(text) == i; i += sizeof(long)) {
		long word = ptrace(PTRACE_PEEKDATA, pid, (void *)(uintptr_t)(at + i), NULL);
		memcpy(text + i, &word, sizeof(word));
	}
}

static bool is_in(long nr, const long *calls, size_t count)
{
	size_t i = 0;
	while (i < count && calls[i] != nr)
		i++;
	return i < count;
}

/* Reports whether the call can fail for this reason: a full or broken disk, or a lack of
 * descriptors or processes. */
static bool can_fail(enum stepper_fault fault, long nr)
{
	static const long disk[] = {SYS_write, SYS_pwrite64, SYS_fsync, SYS_fdatasync, SYS_syncfs,
		SYS_ftruncate, SYS_openat, SYS_mkdirat, SYS_mkdir, SYS_rename, SYS_renameat,
		SYS_renameat2, SYS_linkat, SYS_symlinkat, SYS_unlinkat, SYS_unlink, SYS_rmdir,
		SYS_fchmod, SYS_memfd_create, SYS_pipe2};
	static const long descriptor[] = {SYS_openat, SYS_openat2, SYS_memfd_create, SYS_pipe2,
		SYS_dup, SYS_fcntl, SYS_timerfd_create, SYS_inotify_init1, SYS_signalfd4,
		SYS_eventfd2, SYS_socket, SYS_socketpair, SYS_pidfd_open};
	static const long process[] = {SYS_clone, SYS_clone3, SYS_fork, SYS_vfork};
	if (fault == FAIL_EAGAIN)
		return is_in(nr, process, ARRAY_LEN(process));
	return fault == FAIL_EMFILE ? is_in(nr, descriptor, ARRAY_LEN(descriptor))
				    : is_in(nr, disk, ARRAY_LEN(disk));
}

static bool is_write(long nr)
{
	return nr == SYS_write || nr == SYS_pwrite64;
}

static bool counts(enum stepper_fault fault, const struct user_regs_struct *r)
{
	long nr = (long)r->orig_rax;
	if (fault == SHORT_WRITE)
		return is_write(nr) && r->rdx > 1;
	if (!faults[fault].error)
		return true;
	if (nr == SYS_fcntl && r->rsi != F_DUPFD && r->rsi != F_DUPFD_CLOEXEC)
		return false;
	return can_fail(fault, nr) && !(is_write(nr) && r->rdi <= 2);
}

static void inject_entry(pid_t pid, enum stepper_fault fault, struct user_regs_struct r)
{
	if (fault == KILL_BEFORE)
		kill(pid, SIGKILL);
	if (faults[fault].error)
		r.orig_rax = (unsigned long long)-1;
	if (fault == SHORT_WRITE)
		r.rdx /= 2;
	ptrace(PTRACE_SETREGS, pid, NULL, &r);
}

static void inject_exit(pid_t pid, enum stepper_fault fault, struct user_regs_struct r)
{
	if (fault == KILL_AFTER)
		kill(pid, SIGKILL);
	if (faults[fault].error) {
		r.rax = (unsigned long long)-faults[fault].error;
		ptrace(PTRACE_SETREGS, pid, NULL, &r);
	}
}

/* To the next entry into, or exit from, a system call. False: it has ended. */
static bool next_stop(pid_t pid, int *status)
{
	for (int deliver = 0;;) {
		if (ptrace(PTRACE_SYSCALL, pid, NULL, deliver) || waitpid(pid, status, 0) != pid ||
			!WIFSTOPPED(*status))
			return false;
		if (WSTOPSIG(*status) == (SIGTRAP | 0x80))
			return true;
		deliver = WSTOPSIG(*status) == SIGTRAP ? 0 : WSTOPSIG(*status);
	}
}

struct stepped stepper_run(const struct stepper *stepper)
{
	struct stepped t = {0};
	struct user_regs_struct r;
	bool inside = false, begun = false, over = false, now = false;
	waitpid(stepper->pid, &t.status, 0);
	ptrace(PTRACE_SETOPTIONS, stepper->pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
	while (next_stop(stepper->pid, &t.status)) {
		ptrace(PTRACE_GETREGS, stepper->pid, NULL, &r);
		inside = !inside;
		if (!inside && now)
			inject_exit(stepper->pid, stepper->fault, r);
		now = false;
		if (!inside)
			continue;
		begun = begun || stepper->first(stepper->pid, &r);
		if (!begun || over || !counts(stepper->fault, &r))
			continue;
		over = stepper->last && stepper->last(stepper->pid, &r);
		now = t.calls++ == stepper->at || (over && stepper->at == STEPPER_AT_LAST);
		if (now) {
			t.reached = true;
			t.nr = (long)r.orig_rax;
			inject_entry(stepper->pid, stepper->fault, r);
		}
	}
	return t;
}
#endif
