/*
 * PID 1 of a strict jail learns of the command's end by a signal, which the kernel gives to
 * whichever thread of it takes it. Here the network's helper is stopped when all it has left to do
 * is to end, and PID 1 before it waits; the command ends; then the helper goes first.
 */
#include "tests/kit/tap.h"
#include "tests/kit/tree.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct jailed {
	pid_t launcher, first, helper, command;
	uint64_t call; /* the helper's last */
	bool helper_stands, first_stands, command_ended;
};

/* The process that a thread belongs to. */
static pid_t process_of(pid_t thread)
{
	char path[40], line[128];
	int pid = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)thread);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "Tgid: %d", &pid) != 1)
		;
	if (f)
		fclose(f);
	return pid;
}

static void meet(struct jailed *j, pid_t pid)
{
	if (!j->helper && process_of(pid) != pid) {
		j->helper = pid;
		j->first = process_of(pid);
	} else if (j->helper && pid != j->launcher && pid != j->helper && pid != j->first) {
		j->command = pid;
	}
}

/* Whether it is to stand still at this stop. */
static bool stands(struct jailed *j, pid_t pid)
{
	struct __ptrace_syscall_info call = {0};
	ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(call), &call);
	bool enters = call.op == PTRACE_SYSCALL_INFO_ENTRY;
	if (pid == j->helper && enters)
		j->call = call.entry.nr;
	else if (pid == j->helper && j->call == SYS_futex)
		return j->helper_stands = true;
	else if (pid == j->first && enters && call.entry.nr == SYS_ppoll && !j->first_stands)
		return j->first_stands = true;
	return false;
}

static void go_on(pid_t pid, int status)
{
	int signal_number = WSTOPSIG(status);
	bool told = signal_number != SIGSTOP && (signal_number & 0x7f) != SIGTRAP;
	ptrace(PTRACE_SYSCALL, pid, NULL, told ? signal_number : 0);
}

/* Returns the launcher's exit status. */
static int follow(struct jailed *j)
{
	int status = 0;
	for (;;) {
		pid_t pid = waitpid(-1, &status, __WALL);
		if (pid < 0 || (pid == j->launcher && !WIFSTOPPED(status)))
			return pid < 0 ? -1 : WEXITSTATUS(status);
		if (WIFSTOPPED(status)) {
			meet(j, pid);
			if (WSTOPSIG(status) != (SIGTRAP | 0x80) || !stands(j, pid))
				go_on(pid, status);
		} else if (pid == j->helper && j->first_stands) {
			ptrace(PTRACE_SYSCALL, j->first, NULL, 0);
		}
		j->command_ended |= pid == j->command && !WIFSTOPPED(status);
		if (j->helper_stands && j->first_stands && j->command_ended) {
			j->helper_stands = false;
			j->call = 0;
			ptrace(PTRACE_SYSCALL, j->helper, NULL, 0);
		}
	}
}

static void launch(void)
{
	const char *bin = getenv("AGENT6_BIN"), *scratch = tap_scratch();
	char jail[PATH_MAX];
	tree_dir(scratch, "ws");
	FILE *policy = tmpfile();
	fprintf(policy,
		"{\"version\":1,\"profile\":\"strict\",\"argv\":[\"true\"],\"cwd\":\"%s/ws\","
		"\"workspace\":{\"path\":\"%s/ws\",\"access\":\"read\"},\"timeout_secs\":10}",
		scratch, scratch);
	rewind(policy);
	dup2(fileno(policy), STDIN_FILENO);
	snprintf(jail, sizeof(jail), "%s/agent6-jail", bin ? bin : "build/bin");
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	execl(jail, "agent6-jail", NULL);
	_exit(252);
}

int main(void)
{
	int status;
	tap_scratch();
	struct jailed j = {.launcher = fork()};
	if (!j.launcher)
		launch();
	waitpid(j.launcher, &status, 0);
	ptrace(PTRACE_SETOPTIONS, j.launcher, NULL,
		PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE |
			PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK);
	ptrace(PTRACE_SYSCALL, j.launcher, NULL, 0);
	is(follow(&j), 0, "the command's end is seen, whichever thread goes on first");
	ok(j.command_ended && j.first_stands && !j.helper_stands, "each stood where it was to");
	return tap_done();
}
