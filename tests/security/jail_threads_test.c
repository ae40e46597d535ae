/*
 * Two orders in which the processes of a jail seldom go on, made by a tracer.
 *
 * PID 1 of a strict jail learns of the command's end by a signal, which the kernel gives to
 * whichever thread of it takes it. So the network's helper has to be gone before there is a
 * command. Here it is stopped when all it has left to do is to end, until PID 1 waits for it.
 */
#include "tests/kit/tap.h"
#include "tests/kit/tree.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { USER = 61234, TEMP_DIR_BYTES = sizeof("/tmp/agent6-jail-XXXXXX") };

struct jailed {
	pid_t launcher, first, helper, command;
	uint64_t call; /* the helper's last */
	bool helper_stands, helper_ended, first_waits, command_ended, early;
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

static void meet(struct jailed *jailed, pid_t pid)
{
	if (!jailed->helper && process_of(pid) != pid) {
		jailed->helper = pid;
		jailed->first = process_of(pid);
	} else if (jailed->helper && pid != jailed->launcher && pid != jailed->helper &&
		   pid != jailed->first) {
		jailed->command = pid;
		jailed->early = !jailed->helper_ended;
	}
}

/* Reports whether the process must be held at this stop. */
static bool stands(struct jailed *jailed, pid_t pid)
{
	struct __ptrace_syscall_info call = {0};
	ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(call), &call);
	bool enters = call.op == PTRACE_SYSCALL_INFO_ENTRY;
	if (pid == jailed->helper && enters)
		jailed->call = call.entry.nr;
	else if (pid == jailed->helper && jailed->call == SYS_close)
		return jailed->helper_stands = true;
	jailed->first_waits |= pid == jailed->first && enters && call.entry.nr == SYS_futex;
	return false;
}

static void go_on(pid_t pid, int status)
{
	int signal_number = WSTOPSIG(status);
	bool told = signal_number != SIGSTOP && (signal_number & 0x7f) != SIGTRAP;
	ptrace(PTRACE_SYSCALL, pid, NULL, told ? signal_number : 0);
}

/* To the end of all of them. Returns the launcher's exit status. */
static int follow(struct jailed *jailed)
{
	int status, last = -1;
	pid_t pid;
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (pid == jailed->launcher && WIFEXITED(status))
			last = WEXITSTATUS(status);
		if (WIFSTOPPED(status)) {
			meet(jailed, pid);
			if (WSTOPSIG(status) != (SIGTRAP | 0x80) || !stands(jailed, pid))
				go_on(pid, status);
		}
		jailed->helper_ended |= pid == jailed->helper && !WIFSTOPPED(status);
		jailed->command_ended |= pid == jailed->command && !WIFSTOPPED(status);
		if (jailed->helper_stands && jailed->first_waits) {
			jailed->helper_stands = false;
			jailed->call = 0;
			ptrace(PTRACE_SYSCALL, jailed->helper, NULL, 0);
		}
	}
	return last;
}

/* A launcher that waits to be followed; the command is `argv`, a list. */
static pid_t launch(const char *profile, const char *argv)
{
	const char *bin = getenv("AGENT6_BIN"), *scratch = tap_scratch();
	char jail[PATH_MAX];
	int status;
	pid_t pid = fork();
	if (pid) {
		waitpid(pid, &status, 0);
		ptrace(PTRACE_SETOPTIONS, pid, NULL,
			PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE |
				PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK);
		ptrace(PTRACE_SYSCALL, pid, NULL, 0);
		return pid;
	}
	FILE *policy = tmpfile();
	fprintf(policy,
		"{\"version\":1,\"profile\":\"%s\",\"argv\":%s,\"cwd\":\"%s/ws\",\"workspace\":"
		"{\"path\":\"%s/ws\",\"access\":\"write\"},\"timeout_secs\":100}",
		profile, argv, scratch, scratch);
	rewind(policy);
	dup2(fileno(policy), STDIN_FILENO);
	snprintf(jail, sizeof(jail), "%s/agent6-jail", bin ? bin : "build/bin");
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	execl(jail, "agent6-jail", NULL);
	_exit(252);
}

static void helper_goes_first(void)
{
	struct jailed j = {.launcher = launch("strict", "[\"true\"]")};
	is(follow(&j), 0, "a helper that is slow to end only delays the command");
	ok(j.command_ended && j.first_waits && j.helper_ended && !j.early,
		"which is started when it is gone");
}

/* The launcher is killed when it has begun to wait, at which its private directory stays. Whether
 * it has been. */
static bool is_killed(pid_t launcher, char temp_dir[TEMP_DIR_BYTES])
{
	struct __ptrace_syscall_info call = {0};
	ptrace(PTRACE_GET_SYSCALL_INFO, launcher, (void *)sizeof(call), &call);
	if (call.op != PTRACE_SYSCALL_INFO_ENTRY)
		return false;
	struct iovec to = {temp_dir, TEMP_DIR_BYTES - 1},
		     from = {(void *)(uintptr_t)call.entry.args[0], TEMP_DIR_BYTES - 1};
	if (call.entry.nr == SYS_mkdir)
		process_vm_readv(launcher, &to, 1, &from, 1, 0);
	return call.entry.nr == SYS_poll && !kill(launcher, SIGKILL);
}

/* Without namespaces nothing ends with the launcher but what has asked for it. */
static void launcher_goes_first(void)
{
	if (!tap_can_harden("the launcher goes first"))
		return;
	pid_t launcher = launch("hardened", "[\"touch\",\"ran\"]"), command = 0, pid;
	char temp_dir[TEMP_DIR_BYTES] = "", ran[PATH_MAX];
	int status, last = -1;
	bool gone = false; /* the launcher, which may be before its command was seen */
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		bool first = pid != launcher && !command;
		command = first ? pid : command;
		if (pid == launcher && !WIFSTOPPED(status)) {
			gone = true;
			ptrace(PTRACE_SYSCALL, command, NULL, 0);
		} else if (pid == launcher && !is_killed(pid, temp_dir))
			go_on(pid, status);
		else if (first && !gone)
			; /* until then */
		else if (pid == command && WIFSTOPPED(status))
			go_on(pid, status);
		else if (pid == command)
			last = status;
	}
	snprintf(ran, sizeof(ran), "%s/ws/ran", tap_scratch());
	ok(access(ran, F_OK), "who finds the launcher gone runs nothing");
	ok(WIFEXITED(last) && WEXITSTATUS(last) == 125, "and ends");
	ok(!rmdir(temp_dir), "%s was the private directory", temp_dir);
}

int main(void)
{
	const char *scratch = tap_scratch();
	tree_dir(scratch, "ws");
	char ws[PATH_MAX];
	snprintf(ws, sizeof(ws), "%s/ws", scratch);
	if (chmod(scratch, 0755) || (geteuid() == 0 && chown(ws, USER, USER)))
		bail("cannot give %s away", ws);
	helper_goes_first();
	launcher_goes_first();
	return tap_done();
}
