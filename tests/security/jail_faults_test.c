/*
 * Every system call that the launcher, PID 1 and the command's process make until the command runs,
 * failed in turn. Whatever fails, there are three ends: 125 with the name of a stage and no command
 * run; a command in exactly the usual confinement, as it sees it from inside (attacks/facts.c); or
 * one whose confinement differs by a documented fallback that "layers" shows. Never a command that
 * runs with a layer missing and nobody told.
 *
 * Calls that build the confinement fail with EPERM, ENOSYS and ENOMEM, the others with one of
 * these; AGENT6_FAULTS=all fails them with each. Other builds than release take a sample.
 *
 *   jail_faults_test [CALL]    only faults of this system call; VERBOSE=1 shows what fell back
 */
#include "base/io.h"
#include "tests/kit/tap.h"
#include "tests/security/attacks/decoy_run.h"

#include <fcntl.h>
#include <jansson.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#ifdef __x86_64__

enum {
	CALL_NUMBERS = 512,
	PROCESSES_MAX = 8,
	CALLS_MAX = 4096,
	TRACE_SECS = 100,
	ERRORS = 3,
	SHOWN_MAX = 20
};
enum { NOTHING = -1, KILLED_LATE = 255 };
static const int errors[ERRORS] = {EPERM, ENOSYS, ENOMEM};

/* Layers that a kernel may lack: the status line tells, and a policy may require them. */
static const char *const fallbacks[] = {"landlock", "landlock_scopes", "keyring", "userns_limit",
	"watches", "proc", "memory", "processes", "scan"};
/* Layers that an incomplete search changes as well: there is no mask, and unix sockets are
 * closed. */
static const char *const beside_scan[] = {"masked", "unix_sockets"};

/* The `nth` call of `nr` by that process, in the order in which they were started. */
struct call {
	int process, nth;
	long nr;
};

struct fault {
	struct call at;
	int error;
};

struct process {
	pid_t pid;
	int seen[CALL_NUMBERS];
	bool stopped_once, inside, hit, executed;
};

struct trace {
	struct process processes[PROCESSES_MAX];
	int process_count, alive;
	struct call *calls; /* NULL: not recorded */
	int call_count;
	bool late;
	char temp_dir[32]; /* of a hardened jail: it stays where the fault hits its removal */
	int status;        /* the launcher's exit status, 128+signal, KILLED_LATE */
};

/* The result of one run. */
struct end {
	int status;
	bool ran;     /* the command printed its facts */
	char *facts;  /* heap, never NULL */
	json_t *line; /* the status line, NULL: there was none */
};

/* --- the tracer ------------------------------------------------------------------------------- */

static volatile sig_atomic_t rung;

static void ring(int signal_number)
{
	(void)signal_number;
	rung = 1;
}

static struct process *process_of(struct trace *trace, pid_t pid)
{
	for (int i = 0; i < trace->process_count; i++)
		if (trace->processes[i].pid == pid)
			return &trace->processes[i];
	if (trace->process_count == PROCESSES_MAX)
		bail("the jail has more than %d processes", PROCESSES_MAX);
	trace->alive++;
	trace->processes[trace->process_count] = (struct process){.pid = pid};
	return &trace->processes[trace->process_count++];
}

/* The others do not return, or never fail, or have done their work when they do. */
static bool can_fail(long nr)
{
	static const long calls[] = {SYS_exit, SYS_exit_group, SYS_rt_sigreturn,
		SYS_restart_syscall, SYS_umask, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid,
		SYS_getpid, SYS_getppid, SYS_gettid, SYS_close, SYS_munmap, SYS_kill, SYS_wait4};
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		if (calls[i] == nr)
			return false;
	return true;
}

/* The names are as long as a template of mkdtemp(3). */
static void note_temp_dir(struct trace *trace, pid_t pid, uintptr_t at)
{
	for (size_t i = 0; i < sizeof(trace->temp_dir); i += sizeof(long)) {
		long word = ptrace(PTRACE_PEEKDATA, pid, (void *)(at + i), NULL);
		memcpy(trace->temp_dir + i, &word, sizeof(word));
	}
	trace->temp_dir[strlen("/tmp/agent6-jail-XXXXXX")] = '\0';
}

static void enter_call(struct trace *trace, struct process *process, const struct fault *fault)
{
	struct user_regs_struct r;
	int number = (int)(process - trace->processes);
	ptrace(PTRACE_GETREGS, process->pid, NULL, &r);
	struct call now = {number, 0, (long)r.orig_rax};
	if (now.nr < 0 || now.nr >= CALL_NUMBERS || !can_fail(now.nr))
		return;
	now.nth = process->seen[now.nr]++;
	if (now.nr == SYS_mkdir && !number)
		note_temp_dir(trace, process->pid, r.rdi);
	if (trace->calls && trace->call_count < CALLS_MAX)
		trace->calls[trace->call_count++] = now;
	process->hit =
		fault->at.process == number && fault->at.nr == now.nr && fault->at.nth == now.nth;
	if (!process->hit)
		return;
	r.orig_rax = SYS_getpid; /* harmless, and in every filter */
	ptrace(PTRACE_SETREGS, process->pid, NULL, &r);
}

static void leave_call(struct process *process, const struct fault *fault)
{
	struct user_regs_struct r;
	if (!process->hit)
		return;
	ptrace(PTRACE_GETREGS, process->pid, NULL, &r);
	r.rax = (unsigned long long)-fault->error;
	ptrace(PTRACE_SETREGS, process->pid, NULL, &r);
	process->hit = false;
}

/* The command itself is let go: what it calls is its own affair. */
static bool is_command(const struct trace *trace, const struct process *process, int status)
{
	return status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8) && process != trace->processes;
}

static void step(
	struct trace *trace, struct process *process, int status, const struct fault *fault)
{
	int deliver = 0;
	if (is_command(trace, process, status)) {
		process->executed = true;
		trace->alive--;
		ptrace(PTRACE_DETACH, process->pid, NULL, NULL);
		return;
	}
	if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
		process->inside = !process->inside;
		if (process->inside)
			enter_call(trace, process, fault);
		else
			leave_call(process, fault);
	} else if (WSTOPSIG(status) != SIGTRAP &&
		   (WSTOPSIG(status) != SIGSTOP || process->stopped_once)) {
		deliver = WSTOPSIG(status);
	}
	process->stopped_once = true;
	ptrace(PTRACE_SYSCALL, process->pid, NULL, deliver);
}

static void end_process(struct trace *trace, const struct process *process, int status)
{
	trace->alive -= !process->executed;
	if (process == trace->processes)
		trace->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void kill_all(struct trace *trace)
{
	trace->late = true;
	for (int i = 0; i < trace->process_count; i++)
		if (!trace->processes[i].executed)
			kill(trace->processes[i].pid, SIGKILL);
	alarm(TRACE_SECS);
}

/* Until every process of the jail but the command has ended. */
static void follow(struct trace *trace, pid_t launcher, pid_t victim, const struct fault *fault)
{
	int status = 0;
	waitpid(launcher, &status, 0);
	ptrace(PTRACE_SETOPTIONS, launcher, NULL,
		PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE |
			PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC);
	struct process *first = process_of(trace, launcher);
	first->stopped_once = true;
	rung = 0;
	alarm(TRACE_SECS);
	ptrace(PTRACE_SYSCALL, launcher, NULL, NULL);
	while (trace->alive > 0) {
		pid_t pid = waitpid(-1, &status, __WALL);
		if (pid < 0 && rung) {
			rung = 0;
			kill_all(trace);
		}
		if (pid <= 0 || pid == victim)
			continue;
		struct process *p = process_of(trace, pid);
		if (WIFSTOPPED(status))
			step(trace, p, status, fault);
		else
			end_process(trace, p, status);
	}
	alarm(0);
}

/* --- one run ---------------------------------------------------------------------------------- */

static char *beside(const struct decoy *decoy, const char *name)
{
	char *path = NULL;
	if (asprintf(&path, "%s/%s", decoy->root, name) < 0)
		bail("out of memory");
	return path;
}

static pid_t start(const struct decoy *decoy)
{
	AUTO_FREE char *facts = beside(decoy, "facts"), *line = beside(decoy, "status");
	pid_t pid = fork();
	if (pid)
		return pid;
	int out = open(facts, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	int told = open(line, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	decoy_run_prepare(decoy, "facts");
	if (dup2(out, 1) < 0 || dup2(told, 7) < 0)
		_exit(251);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	execl(decoy->jail, "agent6-jail", "--policy", decoy->policy, "--status-fd", "7", NULL);
	_exit(252);
}

static char *slurp(const struct decoy *decoy, const char *name)
{
	AUTO_FREE char *path = beside(decoy, name);
	char *text = NULL;
	if (io_read_file(AT_FDCWD, path, 1 << 20, &text, NULL, NULL))
		bail("cannot read %s", path);
	return text;
}

static struct end run(const struct decoy *decoy, struct trace *trace, const struct fault *fault)
{
	struct end end = {0};
	trace->process_count = trace->alive = trace->call_count = 0;
	trace->late = false;
	trace->temp_dir[0] = '\0';
	follow(trace, start(decoy), decoy->victim, fault);
	if (!strncmp(trace->temp_dir, "/tmp/agent6-jail-", strlen("/tmp/agent6-jail-")))
		rmdir(trace->temp_dir);
	end.status = trace->late ? KILLED_LATE : trace->status;
	end.facts = slurp(decoy, "facts");
	end.ran = *end.facts != '\0';
	AUTO_FREE char *line = slurp(decoy, "status");
	end.line = json_loads(line, 0, NULL);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return end;
}

static void end_done(struct end *end)
{
	free(end->facts);
	json_decref(end->line);
}

/* --- judging ---------------------------------------------------------------------------------- */

static const char *only; /* from the command line */

enum verdict { REFUSED, UNNOTICED, FALLBACK, DIED, BAD, VERDICTS };

static bool is_among(const char *layer, const char *const *names, size_t count)
{
	while (count)
		if (!strcmp(layer, names[--count]))
			return true;
	return false;
}

static json_t *layer_of(const struct end *end, const char *name)
{
	return json_object_get(json_object_get(end->line, "layers"), name);
}

/* How many layers are told differently; -1 when one of them is not a documented fallback. */
static int count_fallbacks(const struct end *usual, const struct end *end)
{
	int count = 0;
	const char *name, *scan = json_string_value(layer_of(end, "scan")),
			  *unix_sockets = json_string_value(layer_of(end, "unix_sockets"));
	bool cut = scan && !strcmp(scan, "cut") && !strcmp(unix_sockets, "closed");
	json_t *layer;
	json_object_foreach (json_object_get(usual->line, "layers"), name, layer) {
		if (json_equal(layer, layer_of(end, name)))
			continue;
		if (!is_among(name, fallbacks, ARRAY_LEN(fallbacks)) &&
			!(cut && is_among(name, beside_scan, ARRAY_LEN(beside_scan))))
			return -1;
		count++;
	}
	return count;
}

static const char *stage_of(const struct end *end)
{
	const char *stage = json_string_value(json_object_get(end->line, "stage"));
	return stage ? stage : "";
}

/* The command's own execve fails as a shell says it. A launcher that a signal ends tells nobody
 * why: only its loader may fail before there is a jail. */
static enum verdict judge(const struct end *usual, const struct end *end, const struct call *call)
{
	bool no_jail = !call->process && !end->ran && !end->line; /* its loader said why */
	if (end->status == 126 && call->nr == SYS_execve && !end->ran)
		return REFUSED;
	if (end->status == 125)
		return *stage_of(end) || !end->line ? REFUSED : BAD;
	if (end->status != 0)
		return no_jail && end->status != KILLED_LATE ? DIED : BAD;
	int layers = end->line ? count_fallbacks(usual, end) : -1;
	if (layers > 0)
		return FALLBACK;
	return layers == 0 && !strcmp(usual->facts, end->facts) ? UNNOTICED : BAD;
}

static void show_difference(const char *was, const char *is)
{
	while (*was && *is) {
		size_t a = strcspn(was, "\n"), b = strcspn(is, "\n");
		if (a != b || strncmp(was, is, a) != 0) {
			diag("    usually: %.*s", (int)a, was);
			diag("    now:     %.*s", (int)b, is);
			return;
		}
		was += a + (was[a] == '\n');
		is += b + (is[b] == '\n');
	}
}

static const char *name_of(long nr)
{
	static char name[64];
	char *found = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, (int)nr);
	snprintf(name, sizeof(name), "%s", found ? found : "?");
	free(found);
	return name;
}

static void show_layers(const struct end *usual, const struct end *end)
{
	const char *name;
	json_t *layer;
	json_object_foreach (json_object_get(end->line, "layers"), name, layer) {
		AUTO_FREE char *now = json_dumps(layer, JSON_ENCODE_ANY);
		if (!json_equal(layer, layer_of(usual, name)))
			diag("    %s: %s", name, now);
	}
}

static void show(const struct call *call, int error, const struct end *usual, const struct end *end)
{
	diag("process %d, %s %d fails with %s: status %d, stage \"%s\"%s", call->process,
		name_of(call->nr), call->nth, strerrorname_np(error), end->status, stage_of(end),
		end->ran ? ", the command ran" : "");
	show_layers(usual, end);
	if (end->ran)
		show_difference(usual->facts, end->facts);
}

/* --- all of them ------------------------------------------------------------------------------ */

/* Calls that put up a wall; of the rest most read or close something. */
static bool builds(long nr)
{
	static const long calls[] = {SYS_mount, SYS_umount2, SYS_pivot_root, SYS_mount_setattr,
		SYS_move_mount, SYS_open_tree, SYS_clone, SYS_prctl, SYS_seccomp, SYS_capset,
		SYS_setresuid, SYS_setresgid, SYS_setgroups, SYS_setsid, SYS_keyctl,
		SYS_close_range, SYS_prlimit64, SYS_setrlimit, SYS_chdir, SYS_fchdir, SYS_openat2,
		SYS_write, SYS_mkdirat, SYS_mknodat, SYS_symlinkat, SYS_mkdir, SYS_mknod,
		SYS_symlink, SYS_ioctl, SYS_sethostname, SYS_dup2, SYS_dup3,
		444 /* landlock_create_ruleset, add_rule, restrict_self */, 445, 446};
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		if (calls[i] == nr)
			return true;
	return false;
}

static bool is_due(const struct call *call, int which)
{
	const char *all = getenv("AGENT6_FAULTS"), *config = getenv("AGENT6_CONFIG");
	if (all && !strcmp(all, "all"))
		return true;
	/* Each takes ten times as long, and a sanitizer that gets no memory or no stack for signals
	 * ends the program. */
	if (config && strcmp(config, "release") != 0)
		return call->nr != SYS_mmap && call->nr != SYS_sigaltstack && call->nth % 4 == 0 &&
		       which == call->nr % ERRORS;
	return builds(call->nr) || call->nth % ERRORS == which;
}

static void fail_each(const struct decoy *decoy, const struct end *usual, const struct call *calls,
	int call_count, const char *name)
{
	struct trace *t = calloc(1, sizeof(*t));
	struct {
		const struct call *call;
		int error;
		struct end end;
	} bad[SHOWN_MAX]; /* shown behind the result, where a summary looks for the reasons */
	int counts[VERDICTS] = {0}, cases = 0, kept = 0;
	for (int i = 0; t && i < call_count; i++) {
		for (int which = 0; which < ERRORS; which++) {
			const struct call *c = &calls[i];
			if (!is_due(c, which) || (only && strcmp(only, name_of(c->nr)) != 0))
				continue;
			struct end end = run(decoy, t, &(struct fault){*c, errors[which]});
			enum verdict v = judge(usual, &end, c);
			counts[v]++;
			cases++;
			if ((v == FALLBACK || v == DIED) && getenv("VERBOSE"))
				show(c, errors[which], usual, &end);
			bad[kept].call = c;
			bad[kept].error = errors[which];
			bad[kept].end = end;
			if (v == BAD && kept < SHOWN_MAX - 1)
				kept++;
			else
				end_done(&end);
		}
	}
	free(t);
	ok((only || cases > 100) && !counts[BAD],
		"%s: %d calls failed in %d ways: %d refused by stage, %d without effect, %d "
		"documented "
		"fallbacks, %d ended the launcher at its start, %d bad",
		name, call_count, cases, counts[REFUSED], counts[UNNOTICED], counts[FALLBACK],
		counts[DIED], counts[BAD]);
	for (int i = 0; i < kept; i++) {
		show(bad[i].call, bad[i].error, usual, &bad[i].end);
		end_done(&bad[i].end);
	}
}

static void check_profile(struct decoy *decoy, const char *who, const char *profile)
{
	char name[64];
	struct trace *t = calloc(1, sizeof(*t));
	struct call *calls = calloc(CALLS_MAX, sizeof(*calls));
	if (!t || !calls)
		bail("out of memory");
	snprintf(name, sizeof(name), "%s, %s", profile, who);
	decoy_fill(decoy);
	decoy_run_policy(decoy, "facts", profile);
	struct end again = run(decoy, t, &(struct fault){.at = {.process = NOTHING}});
	t->calls = calls;
	struct end usual = run(decoy, t, &(struct fault){.at = {.process = NOTHING}});
	int count = t->call_count;
	if (!ok(!usual.status && usual.ran && !strcmp(usual.facts, again.facts),
		    "%s: the same facts twice", name))
		show_difference(usual.facts, again.facts);
	else
		fail_each(decoy, &usual, calls, count, name);
	AUTO_FREE char *harm = decoy_harm(decoy);
	ok(!harm, "%s: nothing happened outside, and nothing is left", name);
	if (harm)
		diag("%s", harm);
	if (getenv("VERBOSE"))
		fputs(usual.facts, stderr);
	decoy_clear(decoy);
	end_done(&again);
	end_done(&usual);
	free(calls);
	free(t);
}

static void check_user(const char *who, bool as_user)
{
	struct decoy d;
	decoy_init(&d, tap_scratch(), as_user);
	check_profile(&d, who, "strict");
	if (tap_can_harden(who))
		check_profile(&d, who, "hardened");
	decoy_done(&d);
}

int main(int argc, char **argv)
{
	only = argc > 1 ? argv[1] : NULL;
	struct sigaction action = {.sa_handler = ring};
	sigaction(SIGALRM, &action, NULL);
	if (geteuid() == 0)
		check_user("root", false);
	check_user("user", true);
	return tap_done();
}

#else

int main(void)
{
	skip_all("faults are injected through the registers of x86_64");
}

#endif
