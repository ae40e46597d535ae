/* Kills the runner at, and injects faults into, each of its system calls from the moment it opens
 * the journal; resumes it untouched, and checks that nothing committed was lost or repeated and
 * that the run ends as an undisturbed one does. A start that was killed before it began has left
 * nothing that the next one would go by: it begins at what was committed in between.
 *
 * AGENT6_FAULTS=all goes through every call (`make torture`); by default a random one in so many is
 * taken for each mode, so that every run of the suite visits other places. */
#include "base/io.h"
#include "tests/kit/stepper.h"
#include "tests/kit/tap.h"

#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>

#ifdef __x86_64__

enum { PATH_BYTES = 4096, SAMPLES = 5 };

struct scenario {
	const char *name;
	const char *bundle; /* below scratch */
	const char *verb;   /* run or rehearse */
	bool writes;        /* in a repository; killed only at its start */
};

static char agent6[PATH_BYTES], dir[PATH_BYTES];

/* The runner has begun when it creates the journal. */
static bool opens_journal(pid_t pid, const struct user_regs_struct *r)
{
	char path[24];
	if ((long)r->orig_rax != SYS_openat || !(r->rdx & O_CREAT))
		return false;
	stepper_peek(pid, r->rsi, path, sizeof(path));
	return !strcmp(path, "journal.jsonl");
}

/* Right before, the branch is made. */
static bool writes_begin(pid_t pid, const struct user_regs_struct *r)
{
	char text[16];
	if (r->orig_rax != SYS_pwrite64)
		return false;
	stepper_peek(pid, r->rsi, text, sizeof(text));
	return !strncmp(text, "{\"t\":\"be", 8);
}

/* --- running ---------------------------------------------------------------------------------- */

static pid_t start(const struct scenario *scenario, bool traced)
{
	pid_t pid = fork();
	if (pid)
		return pid;
	char bundle[PATH_BYTES], path[2 * PATH_BYTES];
	snprintf(bundle, sizeof(bundle), "%s/%s", tap_scratch(), scenario->bundle);
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
	bool rehearse = !strcmp(scenario->verb, "rehearse");
	char *argv[] = {agent6, "machine", (char *)(uintptr_t)scenario->verb, bundle,
		rehearse ? "--dir" : NULL, path, NULL};
	if (traced)
		stepper_traced();
	execv(agent6, argv);
	_exit(98);
}

static struct stepped step_through(
	const struct scenario *scenario, enum stepper_fault fault, int at)
{
	return stepper_run(&(struct stepper){.pid = start(scenario, true),
		.fault = fault,
		.at = at,
		.first = opens_journal,
		.last = scenario->writes ? writes_begin : NULL});
}

static int run_untouched(const struct scenario *scenario)
{
	int status = -1;
	waitpid(start(scenario, false), &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 256;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

/* Makes the repository that the machine writes to one commit longer. */
static void commit_there(void)
{
	static const char script[] =
		"cd \"$1\" && git init -q -b main && exec git -c user.name=op -c "
		"user.email=op@host commit -q --allow-empty -m more";
	char path[2 * PATH_BYTES];
	int status;
	snprintf(path, sizeof(path), "%s/kept/workspace", dir);
	pid_t pid = fork();
	if (!pid)
		execl("/bin/sh", "sh", "-c", script, "sh", path, NULL);
	if (waitpid(pid, &status, 0) != pid || status)
		bail("cannot commit in %s", path);
}

static void fresh(const struct scenario *scenario)
{
	char path[2 * PATH_BYTES];
	nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	mkdir(dir, 0755);
	snprintf(path, sizeof(path), "%s/ws", dir);
	mkdir(path, 0755);
	if (!scenario->writes)
		return;
	snprintf(path, sizeof(path), "%s/kept", dir);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/kept/workspace", dir);
	mkdir(path, 0755);
	commit_there();
}

/* A file of the only instance; NULL: there is none yet. */
static char *instance_file(const struct scenario *scenario, const char *name, size_t *len)
{
	char pattern[2 * PATH_BYTES];
	snprintf(pattern, sizeof(pattern), "%s/%s/*/machines/*/%s", dir,
		strcmp(scenario->verb, "rehearse") ? "state" : "kept/state", name);
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
	int tried, lost, repeated, differs, failed, stale;
};

/* Reports whether the instance did not begin at the last commit. */
static bool is_stale(const struct scenario *scenario)
{
	char path[2 * PATH_BYTES];
	size_t len;
	AUTO_FREE char *record = instance_file(scenario, "workspace.json", &len);
	AUTO_FREE char *tip = NULL;
	snprintf(path, sizeof(path), "%s/kept/workspace/.git/refs/heads/main", dir);
	if (io_read_file(AT_FDCWD, path, 128, &tip, &len, NULL))
		return true;
	tip[strcspn(tip, "\n")] = '\0';
	const char *base = record ? strstr(record, "\"base\":\"") : NULL;
	return !base || strncmp(base + 8, tip, strlen(tip)) != 0;
}

static void one_fault(const struct scenario *scenario, enum stepper_fault mode, int at,
	const char *want, struct tally *sum)
{
	size_t len;
	fresh(scenario);
	struct stepped t = step_through(scenario, mode, at);
	if (!t.reached)
		return;
	sum->tried++;
	AUTO_FREE char *committed = whole_lines(instance_file(scenario, "journal.jsonl", &len));
	AUTO_FREE char *before = instance_file(scenario, "data/executions", &len);
	char got[128];
	if (scenario->writes && !(committed && strstr(committed, "{\"t\":\"begin\"")))
		commit_there();
	/* A run that has ended is refused, with 2: the fault came behind its end. */
	bool ended = committed && strstr(committed, "{\"t\":\"end\"");
	int code = run_untouched(scenario);
	code = ended && code == 2 ? 0 : code;
	AUTO_FREE char *journal = instance_file(scenario, "journal.jsonl", &len);
	AUTO_FREE char *after = instance_file(scenario, "data/executions", &len);
	blackboard_of(journal, got);
	bool stale = scenario->writes && is_stale(scenario);
	bool lost = committed && (!journal || strncmp(committed, journal, strlen(committed)) != 0);
	int again = repeated(committed, before, after);
	if (code || lost || again || stale || strcmp(got, want) != 0)
		diag("%s: %s at call %d (system call %ld): exit %d, lost %d, repeated %d, stale "
		     "%d, %s",
			scenario->name, stepper_says(mode), at, t.nr, code, lost, again, stale,
			got);
	sum->lost += lost;
	sum->repeated += again != 0;
	sum->differs += strcmp(got, want) != 0;
	sum->failed += code != 0;
	sum->stale += stale;
}

static int count_calls(const struct scenario *scenario, enum stepper_fault mode, char want[128])
{
	size_t len;
	fresh(scenario);
	struct stepped t = step_through(scenario, mode, STEPPER_NEVER);
	AUTO_FREE char *journal = instance_file(scenario, "journal.jsonl", &len);
	AUTO_FREE char *output = NULL;
	char path[2 * PATH_BYTES];
	blackboard_of(journal, want);
	snprintf(path, sizeof(path), "%s/output", dir);
	if (t.status != 0 && !io_read_file(AT_FDCWD, path, 1 << 20, &output, &len, NULL))
		diag("%s", output);
	ok(t.status == 0 && strcmp(want, "none") != 0, "%s: an undisturbed run ends ok",
		scenario->name);
	return t.calls;
}

static void test_mode(const struct scenario *scenario, enum stepper_fault mode, bool all)
{
	char want[128];
	int calls = count_calls(scenario, mode, want);
	struct tally sum = {0};
	int stride = all ? 1 : calls / SAMPLES + 1;
	unsigned noise = 0;
	if (getrandom(&noise, sizeof(noise), 0) < 0)
		noise = 0;
	for (int at = (int)(noise % (unsigned)stride); at < calls; at += stride)
		one_fault(scenario, mode, at, want, &sum);
	if (scenario->writes)
		one_fault(scenario, mode, STEPPER_AT_LAST, want, &sum);
	ok(sum.tried > 0, "%s: %s at %d of %d calls", scenario->name, stepper_says(mode), sum.tried,
		calls);
	is(sum.lost, 0, "nothing committed is lost");
	is(sum.repeated, 0, "nothing committed is repeated");
	is(sum.differs, 0, "the blackboard is that of an undisturbed run");
	is(sum.failed, 0, "and the resumed run ends ok");
	is(sum.stale, 0, "it begins at what is committed then");
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

static const char *const writer =
	"machine: writer\nversion: 1\ninitial: edit\nbudget: {max_transitions: 20, max_usd: 5.0}\n"
	"config: {workflow: {verify_command: ['true']}}\n"
	"schemas: {note: {text: str}}\n"
	"states:\n"
	"  edit: {kind: agent, mode: run, prompt: Edit it., output_schema: note, \n"
	"    timeout_secs: 60,\n"
	"    on: {ok: done, failed: bad, budget_exhausted: bad, timeout: bad}}\n"
	"  done: {kind: terminal, status: ok, reason: done}\n"
	"  bad: {kind: terminal, status: failed, reason: bad}\n";

static const char *const replies =
	"{\"state\":\"edit\",\"match\":{\"turn\":0},\"reply\":{\"tool_calls\":["
	"{\"name\":\"apply_edit\",\"arguments\":{\"path\":\"new\",\"edits\":["
	"{\"kind\":\"create\",\"new_string\":\"x\"}]}}]}}\n"
	"{\"state\":\"edit\",\"match\":{\"turn\":1},\"reply\":{\"tool_calls\":["
	"{\"name\":\"finish_run\",\"arguments\":{\"text\":\"done\"}}]}}\n";

static void write_file(const char *bundle, const char *below, const char *name, const char *text)
{
	char path[2 * PATH_BYTES];
	snprintf(path, sizeof(path), "%s/%s", tap_scratch(), bundle);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/%s/%s", tap_scratch(), bundle, below);
	mkdir(path, 0755);
	AUTO_FD int at = open(path, O_RDONLY | O_DIRECTORY);
	if (io_replace_file(at, name, text, strlen(text), 0755, NULL))
		bail("cannot write %s/%s", path, name);
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
	write_file("kinds", ".", "machine.yaml", every_kind);
	write_file("kinds", "scripts", "step.sh", step_sh);
	write_file("writer", ".", "machine.yaml", writer);
	write_file("writer", "rehearsal", "a.jsonl", replies);
	char hello[2 * PATH_BYTES], link[2 * PATH_BYTES];
	snprintf(hello, sizeof(hello), "%s/examples/hello", src);
	snprintf(link, sizeof(link), "%s/hello", tap_scratch());
	if (symlink(hello, link))
		bail("cannot link the example");
	static const struct scenario scenarios[] = {
		{"tool, branch, wait, retry, end", "kinds", "run", false},
		{"agent", "hello", "rehearse", false}, {"the start", "writer", "rehearse", true}};
	for (size_t i = 0; i < ARRAY_LEN(scenarios); i++)
		for (enum stepper_fault m = KILL_BEFORE;
			m <= (scenarios[i].writes ? FAIL_EAGAIN : SHORT_WRITE); m++)
			test_mode(&scenarios[i], m, all);
	return tap_done();
}

#else

int main(void)
{
	skip_all("the stepper knows x86-64 only");
}

#endif
