/* Kills the runner at, and injects faults into, each of its system calls from the moment it opens
 * the journal; resumes it untouched, and checks that nothing committed was lost or repeated and
 * that the run ends as an undisturbed one does.
 *
 * AGENT6_FAULTS=all goes through every call (`make torture`); by default a random one in so many is
 * taken for each mode, so that every run of the suite visits other places. */
#include "base/io.h"
#include "base/json.h"
#include "tests/kit/tap.h"

#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>

#ifdef __x86_64__

enum { PATH_BYTES = 4096, SAMPLES = 5 };

enum mode { KILL_BEFORE, KILL_AFTER, FAIL_ENOSPC, FAIL_EIO, FAIL_EINTR, SHORT_WRITE, MODE_COUNT };
static const char *const mode_names[] = {
	"kill before", "kill after", "ENOSPC", "EIO", "EINTR", "a short write"};

/* What a run that is only counted is given. */
enum { NEVER = -1 };

struct scenario {
	const char *name;
	const char *bundle; /* below scratch */
	const char *verb;   /* run or rehearse */
};

struct traced {
	int calls;    /* seen in all */
	int status;   /* wait status of the runner */
	bool reached; /* the fault was injected */
	long nr;      /* into this call */
};

static char agent6[PATH_BYTES], dir[PATH_BYTES];

/* --- the stepper ------------------------------------------------------------------------------ */

/* Calls that can fail for want of space or a broken disk, and those that make a child. */
static bool can_fail(long nr)
{
	static const long calls[] = {SYS_write, SYS_pwrite64, SYS_fsync, SYS_fdatasync,
		SYS_ftruncate, SYS_openat, SYS_mkdirat, SYS_mkdir, SYS_rename, SYS_renameat,
		SYS_unlinkat, SYS_unlink, SYS_memfd_create, SYS_pipe2};
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		if (calls[i] == nr)
			return true;
	return false;
}

static bool is_write(long nr)
{
	return nr == SYS_write || nr == SYS_pwrite64;
}

/* Whether this entry counts as a place for `mode`. */
static bool counts(enum mode mode, const struct user_regs_struct *r)
{
	if (mode == SHORT_WRITE)
		return is_write((long)r->orig_rax) && r->rdx > 1;
	/* Standard output and error are not the runner's to keep. */
	if (mode >= FAIL_ENOSPC)
		return can_fail((long)r->orig_rax) && !(is_write((long)r->orig_rax) && r->rdi <= 2);
	return true;
}

/* The runner has begun when it creates the journal. */
static bool opens_journal(pid_t pid, const struct user_regs_struct *r)
{
	char path[16] = "";
	if ((long)r->orig_rax != SYS_openat || !(r->rdx & O_CREAT))
		return false;
	for (size_t i = 0; i < sizeof(path); i += sizeof(long)) {
		long word = ptrace(PTRACE_PEEKDATA, pid, (void *)(uintptr_t)(r->rsi + i), NULL);
		memcpy(path + i, &word, sizeof(word));
	}
	return !strncmp(path, "journal.jsonl", 14);
}

static void inject_entry(pid_t pid, enum mode mode, struct user_regs_struct r)
{
	if (mode == KILL_BEFORE)
		kill(pid, SIGKILL);
	if (mode >= FAIL_ENOSPC && mode <= FAIL_EINTR)
		r.orig_rax = (unsigned long long)-1;
	if (mode == SHORT_WRITE)
		r.rdx /= 2;
	if (mode >= FAIL_ENOSPC)
		ptrace(PTRACE_SETREGS, pid, NULL, &r);
}

static void inject_exit(pid_t pid, enum mode mode, struct user_regs_struct r)
{
	static const int errors[] = {
		[FAIL_ENOSPC] = ENOSPC, [FAIL_EIO] = EIO, [FAIL_EINTR] = EINTR};
	if (mode == KILL_AFTER)
		kill(pid, SIGKILL);
	if (mode >= FAIL_ENOSPC && mode <= FAIL_EINTR) {
		r.rax = (unsigned long long)-errors[mode];
		ptrace(PTRACE_SETREGS, pid, NULL, &r);
	}
}

static struct traced step_through(pid_t pid, enum mode mode, int at)
{
	struct traced t = {0};
	bool inside = false, begun = false, now = false;
	int deliver = 0;
	waitpid(pid, &t.status, 0);
	ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
	while (!ptrace(PTRACE_SYSCALL, pid, NULL, deliver) && waitpid(pid, &t.status, 0) == pid &&
		WIFSTOPPED(t.status)) {
		struct user_regs_struct r;
		deliver = 0;
		if (WSTOPSIG(t.status) != (SIGTRAP | 0x80)) {
			deliver = WSTOPSIG(t.status) == SIGTRAP ? 0 : WSTOPSIG(t.status);
			continue;
		}
		ptrace(PTRACE_GETREGS, pid, NULL, &r);
		inside = !inside;
		if (!inside && now)
			inject_exit(pid, mode, r);
		now = false;
		if (!inside)
			continue;
		begun = begun || opens_journal(pid, &r);
		if (!begun || !counts(mode, &r))
			continue;
		now = t.calls++ == at;
		if (now) {
			t.reached = true;
			t.nr = (long)r.orig_rax;
			inject_entry(pid, mode, r);
		}
	}
	return t;
}

/* --- running ---------------------------------------------------------------------------------- */

static pid_t start(const struct scenario *s, bool traced)
{
	pid_t pid = fork();
	if (pid)
		return pid;
	char bundle[PATH_BYTES], path[2 * PATH_BYTES];
	snprintf(bundle, sizeof(bundle), "%s/%s", tap_scratch(), s->bundle);
	snprintf(path, sizeof(path), "%s/ws", dir);
	if (chdir(path))
		_exit(99);
	snprintf(path, sizeof(path), "%s/state", dir);
	setenv("AGENT6_STATE_HOME", path, 1);
	setenv("XDG_CONFIG_HOME", dir, 1);
	setenv("AGENT6_ALLOW_ROOT", "1", 1);
	setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* what is traced cannot trace itself */
	snprintf(path, sizeof(path), "%s/output", dir);
	int out = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	dup2(out, 1);
	dup2(out, 2);
	snprintf(path, sizeof(path), "%s/kept", dir);
	bool rehearse = !strcmp(s->verb, "rehearse");
	char *argv[] = {agent6, "machine", (char *)(uintptr_t)s->verb, bundle,
		rehearse ? "--dir" : NULL, path, NULL};
	if (traced) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
	}
	execv(agent6, argv);
	_exit(98);
}

static int run_untouched(const struct scenario *s)
{
	int status = -1;
	waitpid(start(s, false), &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 256;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void fresh(void)
{
	char path[2 * PATH_BYTES];
	nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	mkdir(dir, 0755);
	snprintf(path, sizeof(path), "%s/ws", dir);
	mkdir(path, 0755);
}

/* A file of the only instance; NULL: there is none yet. */
static char *instance_file(const struct scenario *s, const char *name, size_t *len)
{
	char pattern[2 * PATH_BYTES];
	snprintf(pattern, sizeof(pattern), "%s/%s/*/machines/*/%s", dir,
		strcmp(s->verb, "rehearse") ? "state" : "kept/state", name);
	glob_t found;
	char *text = NULL;
	if (!glob(pattern, 0, NULL, &found) && found.gl_pathc == 1)
		io_read_file(AT_FDCWD, found.gl_pathv[0], 1 << 24, &text, len, NULL);
	globfree(&found);
	return text;
}

/* Cuts the text behind its last whole line. */
static char *whole_lines(char *text)
{
	char *last = text ? strrchr(text, '\n') : NULL;
	if (last)
		last[1] = '\0';
	else if (text)
		text[0] = '\0';
	return text;
}

/* The end line's blackboard. */
static void blackboard_of(const char *journal, char out[128])
{
	const char *end = journal ? strstr(journal, "{\"t\":\"end\"") : NULL;
	const char *at = end ? strstr(end, "\"blackboard\":\"") : NULL;
	snprintf(out, 128, "%.71s", at ? at + 14 : "none");
}

/* How often the tool of step `seq` was started. */
static int executions_of(const char *log, int seq)
{
	char key[64];
	int n = 0;
	snprintf(key, sizeof(key), "-%d\n", seq);
	for (const char *at = log; at && (at = strstr(at, key)); at++)
		n++;
	return n;
}

/* A step whose line was durable before the resume must not have been started again by it. */
static int repeated(const char *committed, const char *before, const char *after)
{
	int again = 0;
	for (const char *at = committed; at && (at = strstr(at, "{\"t\":\"step\"")); at++) {
		const char *seq = strstr(at, "\"seq\":");
		int n = seq ? (int)strtol(seq + 6, NULL, 10) : 0;
		again += executions_of(after, n) != executions_of(before, n);
	}
	return again;
}

/* --- one fault -------------------------------------------------------------------------------- */

struct tally {
	int tried, lost, repeated, differs, failed;
};

static void one_fault(
	const struct scenario *s, enum mode mode, int at, const char *want, struct tally *sum)
{
	size_t len;
	fresh();
	struct traced t = step_through(start(s, true), mode, at);
	if (!t.reached)
		return;
	sum->tried++;
	AUTO_FREE char *committed = whole_lines(instance_file(s, "journal.jsonl", &len));
	AUTO_FREE char *before = instance_file(s, "data/executions", &len);
	int code = run_untouched(s);
	AUTO_FREE char *journal = instance_file(s, "journal.jsonl", &len);
	AUTO_FREE char *after = instance_file(s, "data/executions", &len);
	char got[128];
	blackboard_of(journal, got);
	bool lost = committed && (!journal || strncmp(committed, journal, strlen(committed)) != 0);
	int again = repeated(committed, before, after);
	if (code || lost || again || strcmp(got, want) != 0)
		diag("%s: %s at call %d (system call %ld): exit %d, lost %d, repeated %d, %s",
			s->name, mode_names[mode], at, t.nr, code, lost, again, got);
	sum->lost += lost;
	sum->repeated += again != 0;
	sum->differs += strcmp(got, want) != 0;
	sum->failed += code != 0;
}

static int count_calls(const struct scenario *s, enum mode mode, char want[128])
{
	size_t len;
	fresh();
	struct traced t = step_through(start(s, true), mode, NEVER);
	AUTO_FREE char *journal = instance_file(s, "journal.jsonl", &len);
	AUTO_FREE char *output = NULL;
	char path[2 * PATH_BYTES];
	blackboard_of(journal, want);
	snprintf(path, sizeof(path), "%s/output", dir);
	if (t.status != 0 && !io_read_file(AT_FDCWD, path, 1 << 20, &output, &len, NULL))
		diag("%s", output);
	ok(t.status == 0 && strcmp(want, "none") != 0, "%s: an undisturbed run ends ok", s->name);
	return t.calls;
}

static void test_mode(const struct scenario *s, enum mode mode, bool all)
{
	char want[128];
	int calls = count_calls(s, mode, want);
	struct tally sum = {0};
	int stride = all ? 1 : calls / SAMPLES + 1;
	unsigned noise = 0;
	if (getrandom(&noise, sizeof(noise), 0) < 0)
		noise = 0;
	for (int at = (int)(noise % (unsigned)stride); at < calls; at += stride)
		one_fault(s, mode, at, want, &sum);
	ok(sum.tried > 0, "%s: %s at %d of %d calls", s->name, mode_names[mode], sum.tried, calls);
	is(sum.lost, 0, "nothing committed is lost");
	is(sum.repeated, 0, "nothing committed is repeated");
	is(sum.differs, 0, "the blackboard is that of an undisturbed run");
	is(sum.failed, 0, "and the resumed run ends ok");
}

static const char *const every_kind =
	"machine: kinds\nversion: 1\ninitial: first\nbudget: {max_transitions: 20}\n"
	"schemas: {r: {n: int}}\n"
	"vars: {code: {n: {type: int, default: 0}}}\n"
	"states:\n"
	"  first: {kind: tool, command: [scripts/step.sh, '1'], timeout_secs: 20, notify: begins,\n"
	"    output_schema: r, capture: {set: {n: '{{ result.n }}'}},\n"
	"    on: {ok: choose, nonzero: bad, timeout: bad}}\n"
	"  choose: {kind: branch, when: [{if: 'n == 1', goto: pause}, {else: true, goto: bad}]}\n"
	"  pause: {kind: wait, until: '2001-01-01', on: {tick: again, signal: bad}}\n"
	"  again: {kind: tool, command: [scripts/step.sh, '2', once], timeout_secs: 20,\n"
	"    retry: {on: [nonzero], max: 2, backoff_secs: 0}, output_schema: r,\n"
	"    capture: {set: {n: '{{ result.n }}'}},\n"
	"    on: {ok: done, nonzero: bad, timeout: bad}}\n"
	"  done: {kind: terminal, status: ok, reason: '{{ n }}'}\n"
	"  bad: {kind: terminal, status: failed, reason: bad}\n";

static const char *const step_sh =
	"#!/bin/sh\n"
	"cd \"$AGENT6_MACHINE_DATA_DIR\" && echo \"$AGENT6_STEP_KEY\" >>executions\n"
	"if [ \"$2\" = once ] && [ ! -e tried ]; then touch tried; exit 1; fi\n"
	"echo \"{\\\"n\\\": $1}\"\n";

static void write_bundle(const char *name)
{
	char path[2 * PATH_BYTES];
	snprintf(path, sizeof(path), "%s/%s", tap_scratch(), name);
	mkdir(path, 0755);
	int at = open(path, O_RDONLY | O_DIRECTORY);
	mkdirat(at, "scripts", 0755);
	if (io_replace_file(at, "machine.yaml", every_kind, strlen(every_kind), 0644, NULL))
		bail("cannot write the bundle");
	close(at);
	snprintf(path, sizeof(path), "%s/%s/scripts", tap_scratch(), name);
	at = open(path, O_RDONLY | O_DIRECTORY);
	if (io_replace_file(at, "step.sh", step_sh, strlen(step_sh), 0755, NULL))
		bail("cannot write the script");
	close(at);
}

int main(void)
{
	const char *bin = getenv("AGENT6_BIN"), *src = getenv("AGENT6_SRC");
	const char *faults = getenv("AGENT6_FAULTS");
	bool all = faults && !strcmp(faults, "all");
	if (!bin || !src)
		bail("AGENT6_BIN and AGENT6_SRC are not set: run tests/run");
	snprintf(agent6, sizeof(agent6), "%s/agent6", bin);
	snprintf(dir, sizeof(dir), "%s/instance", tap_scratch());
	write_bundle("kinds");
	char hello[2 * PATH_BYTES], link[2 * PATH_BYTES];
	snprintf(hello, sizeof(hello), "%s/examples/hello", src);
	snprintf(link, sizeof(link), "%s/hello", tap_scratch());
	if (symlink(hello, link))
		bail("cannot link the example");
	static const struct scenario scenarios[] = {
		{"tool, branch, wait, retry, end", "kinds", "run"}, {"agent", "hello", "rehearse"}};
	for (size_t i = 0; i < ARRAY_LEN(scenarios); i++)
		for (enum mode m = KILL_BEFORE; m < MODE_COUNT; m++)
			test_mode(&scenarios[i], m, all);
	return tap_done();
}

#else

int main(void)
{
	skip_all("the stepper knows x86-64 only");
}

#endif
