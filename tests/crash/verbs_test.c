/* Kills the verbs that write at, and injects faults into, each of their system calls: what they
 * write is there whole, as it was or as it shall be; the exit code and the words say which; and the
 * same command, given again, makes it so and leaves nothing else behind.
 *
 * AGENT6_FAULTS=all goes through every call (`make torture`); by default a random one in so many is
 * taken for each fault. */
#include "base/io.h"
#include "tests/kit/stepper.h"
#include "tests/kit/tap.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifdef __x86_64__

enum { PATH_BYTES = 4096, SAMPLES = 2, VIEW_BYTES = 64 * 1024, OF_SIGNAL = 256 };

struct verb {
	const char *argv[16];
	const char *answers; /* on standard input */
	const char *view;    /* a script that prints a line for each thing that is written whole */
	int again;           /* exit code of the second one once the first has done it all */
	bool kills;          /* alone: of what fails it speaks and goes on */
	bool adds;           /* the second one does it twice */
	bool removes;        /* alone: nothing is lost when that is undone */
	bool held;           /* while somebody runs the instance `waiting` */
};

/* Run beside the place that it makes; what is compared is looked at in its workspace. */
static const char *const prepare =
	"mkdir place && cd place && mkdir ws config tmp || exit\n"
	"ssh-keygen -q -t ed25519 -N '' -C key -f key; cd ws &&"
	"mkdir -p b/scripts && cat >b/machine.yaml <<'END'\n"
	"machine: ended\nversion: 1\ninitial: done\nbudget: {max_transitions: 5}\n"
	"states: {done: {kind: terminal, status: ok, reason: done}}\n"
	"END\n"
	"printf '#!/bin/sh\\nexit 0\\n' >b/scripts/a.sh && chmod 755 b/scripts/a.sh &&"
	"mkdir w && cat >w/machine.yaml <<'END'\n"
	"machine: waiting\nversion: 1\ninitial: pause\nbudget: {max_transitions: 5}\n"
	"states:\n"
	"  pause: {kind: wait, on: {signal: done}}\n"
	"  done: {kind: terminal, status: ok, reason: done}\n"
	"END\n"
	"for b in w b 'w --id poked'; do\n"
	"  $AGENT6 machine run --quiet --exit-on-wait $b || exit\n"
	"done\n"
	"$AGENT6 machine poke poked &&"
	"$AGENT6 machine pack b -o signed.asm && $AGENT6 machine pack w -o old.asm &&"
	"$AGENT6 config set agent.max_output_tokens 4096";

static const struct verb verbs[] = {
	{.argv = {"machine", "pack", "b", "-o", "new.asm"}, .view = "cat new.asm | sha256sum"},
	{.argv = {"machine", "pack", "b", "-o", "old.asm"}, .view = "cat old.asm | sha256sum"},
	{.argv = {"machine", "sign", "--key", "../key", "signed.asm"},
		.view = "cat signed.asm.sig | sha256sum"},
	{.argv = {"machine", "new", "fresh"},
		.view = "find fresh -type f | sort | xargs -r cat | sha256sum",
		.again = 2},
	{.argv = {"machine", "report", "ended", "-o", "page.html"},
		/* A data directory that could not be searched is told of, and hides nothing else.
		 */
		.view = "sed '/^<nav /d; /^<section [^>]*\"repositories\"/,/^<\\/section>/d' "
			"page.html | "
			"sha256sum"},
	{.argv = {"machine", "prune", "ended"},
		.view = "cd ../state/*/machines/ended && "
			"find . -type f ! -name lock | sort | xargs cat | sha256sum",
		.again = 2,
		.removes = true},
	{.argv = {"machine", "poke", "waiting", "--message", "hello"},
		.view = "cat ../state/*/machines/waiting/pokes/*.json",
		.adds = true},
	{.argv = {"machine", "run", "w", "--id", "poked", "--record", "../tape"},
		.view = "look() { grep -qs \"$1\" $2 && echo there || echo not there; }\n"
			"look '\"poke\"' ../tape/waiting.jsonl\n"
			"look '\"end\"' '../state/*/machines/poked/journal.jsonl'",
		.again = 2,
		.kills = true},
	{.argv = {"machine", "stop", "waiting"},
		.view = "ls ../state/*/machines/waiting/stop",
		.held = true},
	{.argv = {"config", "set", "sandbox.profile", "strict"},
		.view = "cat ../config/agent6/config.yaml | sha256sum"},
	{.argv = {"connect", "--name", "own", "--format", "openai", "--base-url",
		 "https://127.0.0.1:9", "--model", "m"},
		.answers = "sk-key-0123456789\n",
		.view = "for f in secrets config; do cat ../config/agent6/$f.yaml | sha256sum; "
			"done"},
};

/* Files that a kill may leave until the next call, and that must be gone after it. */
static const char *const litter =
	"find .. \\( -name '.?*' ! -name .. ! -name .lock -o -path '../tmp/*' \\) -print";

static char agent6[PATH_BYTES], dir[PATH_BYTES], kept[PATH_BYTES];

/* --- running ---------------------------------------------------------------------------------- */

static void in_place(void)
{
	char path[2 * PATH_BYTES];
	snprintf(path, sizeof(path), "%s/ws", dir);
	if (chdir(path) && chdir(tap_scratch())) /* before there is a workspace */
		_exit(97);
	setenv("HOME", dir, 1);
	setenv("AGENT6", agent6, 1);
	snprintf(path, sizeof(path), "%s/tmp", dir);
	setenv("TMPDIR", path, 1);
	snprintf(path, sizeof(path), "%s/state", dir);
	setenv("AGENT6_STATE_HOME", path, 1);
	snprintf(path, sizeof(path), "%s/config", dir);
	setenv("XDG_CONFIG_HOME", path, 1);
	setenv("AGENT6_ALLOW_ROOT", "1", 1);
	setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* what is traced cannot trace itself */
}

/* Runs a script and copies its output to `out`. */
static void shell(const char *script, char out[VIEW_BYTES])
{
	int ends[2];
	size_t len = 0;
	if (pipe(ends))
		bail("no pipe");
	pid_t pid = fork();
	if (!pid) {
		in_place();
		dup2(ends[1], 1);
		dup2(open("/dev/null", O_WRONLY), 2);
		execl("/bin/sh", "sh", "-c", script, NULL);
		_exit(99);
	}
	close(ends[1]);
	for (ssize_t n; (n = read(ends[0], out + len, VIEW_BYTES - 1 - len)) > 0;)
		len += (size_t)n;
	out[len] = '\0';
	close(ends[0]);
	waitpid(pid, NULL, 0);
}

static pid_t start(const struct verb *verb, bool traced)
{
	char *argv[ARRAY_LEN(verb->argv) + 1] = {agent6}, path[2 * PATH_BYTES];
	pid_t pid = fork();
	if (pid)
		return pid;
	in_place();
	for (size_t i = 0; verb->argv[i]; i++)
		argv[i + 1] = (char *)(uintptr_t)verb->argv[i];
	snprintf(path, sizeof(path), "%s/output", dir);
	int out = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	int in = memfd_create("answers", 0);
	if (verb->answers && write(in, verb->answers, strlen(verb->answers)) > 0)
		lseek(in, 0, SEEK_SET);
	dup2(in, 0);
	dup2(out, 1);
	dup2(out, 2);
	if (traced)
		stepper_traced();
	execv(agent6, argv);
	_exit(98);
}

static int code_of(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : OF_SIGNAL;
}

static int run_untouched(const struct verb *verb)
{
	int status = -1;
	waitpid(start(verb, false), &status, 0);
	return code_of(status);
}

static void fresh(void)
{
	char script[4 * PATH_BYTES], out[VIEW_BYTES];
	snprintf(script, sizeof(script), "cd / && rm -rf %s && cp -a %s %s", dir, kept, dir);
	shell(script, out);
}

/* A lock as a runner's; -1: nobody holds it. */
static int hold(const struct verb *verb)
{
	char pattern[2 * PATH_BYTES];
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	glob_t found;
	if (!verb->held)
		return -1;
	snprintf(pattern, sizeof(pattern), "%s/state/*/machines/waiting/lock", dir);
	if (glob(pattern, 0, NULL, &found))
		bail("no instance");
	int fd = open(found.gl_pathv[0], O_RDWR | O_TRUNC | O_CLOEXEC);
	globfree(&found);
	if (fd < 0 || dprintf(fd, "%d here now\n", (int)getpid()) < 0 ||
		fcntl(fd, F_OFD_SETLK, &lock))
		bail("no lock");
	return fd;
}

/* The loader is done: what is opened now is no library. */
static bool opens_ours(pid_t pid, const struct user_regs_struct *r)
{
	char path[256];
	if (r->orig_rax != SYS_openat)
		return false;
	stepper_peek(pid, r->rsi, path, sizeof(path));
	return !strstr(path, ".so");
}

/* The first that changes anything: a kill before has nothing to spoil. */
static bool changes(pid_t pid, const struct user_regs_struct *r)
{
	(void)pid;
	return (r->orig_rax == SYS_openat && r->rdx & O_CREAT) || r->orig_rax == SYS_mkdir ||
	       r->orig_rax == SYS_unlinkat || r->orig_rax == SYS_renameat;
}

static bool is_kill(enum stepper_fault fault)
{
	return fault == KILL_BEFORE || fault == KILL_AFTER;
}

static struct stepped step_through(const struct verb *verb, enum stepper_fault fault, int at)
{
	return stepper_run(&(struct stepper){.pid = start(verb, true),
		.fault = fault,
		.at = at,
		.first = is_kill(fault) ? changes : opens_ours});
}

/* --- one fault -------------------------------------------------------------------------------- */

struct views {
	char before[VIEW_BYTES], after[VIEW_BYTES];
};

struct tally {
	int tried, torn, silent, again, left;
};

/* Each line as in one of both. */
static bool is_whole(const struct views *views, const char *now)
{
	const char *a = views->before, *b = views->after;
	while (*now || (*a && *b)) {
		size_t n = strcspn(now, "\n"), na = strcspn(a, "\n"), nb = strcspn(b, "\n");
		if ((n != na || memcmp(now, a, n)) && (n != nb || memcmp(now, b, n)))
			return false;
		now += n + (now[n] == '\n');
		a += na + (a[na] == '\n');
		b += nb + (b[nb] == '\n');
	}
	return true;
}

static char *output(void)
{
	char path[2 * PATH_BYTES], *text = NULL;
	size_t len;
	snprintf(path, sizeof(path), "%s/output", dir);
	return io_read_file(AT_FDCWD, path, VIEW_BYTES, &text, &len, NULL) ? strdup("") : text;
}

/* The exit code and the words go with what is there. */
static bool is_told(const struct views *views, const char *now, int code, const char *words)
{
	if (code == OF_SIGNAL)
		return true;
	if (!code)
		return !strcmp(now, views->after);
	/* If there are several files, some may be new. */
	const char *end = strchr(views->after, '\n');
	bool several = end && end[1];
	return (strstr(words, "agent6: ") || strstr(words, "error[")) &&
	       (several || !strcmp(now, views->before) || strstr(words, " is written, but ") ||
		       strstr(words, "removed"));
}

static void one_fault(const struct verb *verb, enum stepper_fault fault, int at,
	const struct views *views, struct tally *sum)
{
	static char now[VIEW_BYTES], then[VIEW_BYTES], rest[VIEW_BYTES];
	fresh();
	AUTO_FD int lock = hold(verb);
	struct stepped t = step_through(verb, fault, at);
	if (!t.reached)
		return;
	sum->tried++;
	AUTO_FREE char *words = output();
	shell(verb->view, now);
	int code = code_of(t.status), second = run_untouched(verb);
	AUTO_FREE char *others = output();
	shell(verb->view, then);
	shell(litter, rest);
	bool done = !strcmp(now, views->after), torn = !is_whole(views, now);
	bool silent = !is_told(views, now, code, words);
	bool again = second != (done ? verb->again : 0) ||
		     (!(verb->adds && done) && strcmp(then, views->after));
	if (torn || silent || again || *rest)
		diag("%s %s: %s at call %d (system call %ld): exit %d, %s; torn %d; silent %d; "
		     "again %d: exit %d, %s; left: %s",
			verb->argv[0], verb->argv[1], stepper_says(fault), at, t.nr, code, words,
			torn, silent, again, second, others, rest);
	sum->torn += torn;
	sum->silent += silent;
	sum->again += again;
	sum->left += *rest != '\0';
}

static void test_verb(const struct verb *verb, enum stepper_fault fault, bool all)
{
	static struct views w;
	struct tally sum = {0};
	unsigned noise = 0;
	fresh();
	AUTO_FD int lock = hold(verb);
	shell(verb->view, w.before);
	struct stepped t = step_through(verb, fault, STEPPER_NEVER);
	shell(verb->view, w.after);
	own_close(&lock);
	AUTO_FREE char *words = output();
	int stride = all ? 1 : t.calls / SAMPLES + 1;
	if (!ok(!t.status && strcmp(w.before, w.after) != 0, "%s %s, %s at %d calls", verb->argv[0],
		    verb->argv[1], stepper_says(fault), t.calls))
		diag("%s", words);
	if (getrandom(&noise, sizeof(noise), 0) < 0)
		noise = 0;
	for (int at = (int)(noise % (unsigned)stride); at < t.calls; at += stride)
		one_fault(verb, fault, at, &w, &sum);
	is(sum.torn, 0, "what is there is whole");
	is(sum.silent, 0, "the exit code says so");
	is(sum.again, 0, "the same command makes it so");
	is(sum.left, 0, "and leaves nothing else");
}

/* --- the power -------------------------------------------------------------------------------- */

enum { WRITTEN_MAX = 32 };

/* Files that a power failure would lose: written and not synced since; and a name whose directory
 * was not synced. */
static struct {
	char files[WRITTEN_MAX][PATH_BYTES];
	size_t count;
	bool early; /* a file got its name before its bytes were safe */
	bool named;
} unsafe;

static bool is_lock(const char *path)
{
	size_t len = strlen(path);
	return len > 4 && !strcmp(path + len - 4, "lock");
}

static void forget(const char *path)
{
	for (size_t i = 0; i < unsafe.count; i++)
		if (!strcmp(unsafe.files[i], path))
			memmove(unsafe.files[i], unsafe.files[--unsafe.count], PATH_BYTES);
}

/* Sees all of them, and counts none. */
static bool watch(pid_t pid, const struct user_regs_struct *r)
{
	char link[64], path[PATH_BYTES];
	long nr = (long)r->orig_rax;
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, (int)r->rdi);
	ssize_t len = readlink(link, path, sizeof(path) - 1);
	path[len < 0 ? 0 : len] = '\0';
	bool ours = !strncmp(path, dir, strlen(dir)) && r->rdi > 2 && !is_lock(path);
	if ((nr == SYS_write || nr == SYS_pwrite64 || nr == SYS_writev) && ours) {
		forget(path);
		if (unsafe.count == WRITTEN_MAX)
			bail("too many files");
		snprintf(unsafe.files[unsafe.count++], PATH_BYTES, "%s", path);
	} else if (nr == SYS_fsync || nr == SYS_fdatasync) {
		forget(path);
		unsafe.named = false;
	} else if (nr == SYS_syncfs) {
		unsafe.count = 0;
		unsafe.named = false;
	} else if (nr == SYS_rename || nr == SYS_renameat || nr == SYS_renameat2) {
		unsafe.early = unsafe.early || unsafe.count;
		unsafe.named = true;
	}
	return false;
}

static void test_power(const struct verb *verb)
{
	memset(&unsafe, 0, sizeof(unsafe));
	fresh();
	AUTO_FD int lock = hold(verb);
	struct stepped t = stepper_run(&(struct stepper){.pid = start(verb, true), .first = watch});
	ok(!t.status && !unsafe.early, "%s %s: no name before its bytes are safe", verb->argv[0],
		verb->argv[1]);
	if (!ok(!unsafe.count && !unsafe.named, "and nothing is at stake when it says so"))
		diag("%zu files, such as %s; a name: %d", unsafe.count, unsafe.files[0],
			unsafe.named);
}

int main(void)
{
	static char out[VIEW_BYTES];
	const char *bin = getenv("AGENT6_BIN"), *faults = getenv("AGENT6_FAULTS");
	bool all = faults && !strcmp(faults, "all");
	if (!bin)
		bail("AGENT6_BIN is not set: run tests/run");
	snprintf(agent6, sizeof(agent6), "%s/agent6", bin);
	snprintf(dir, sizeof(dir), "%s/place", tap_scratch());
	snprintf(kept, sizeof(kept), "%s/kept", tap_scratch());
	shell(prepare, out);
	if (rename(dir, kept))
		bail("nothing was prepared");
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		if (!strcmp(verbs[i].argv[1], "sign") && access("/usr/bin/ssh-keygen", X_OK)) {
			skip("ssh-keygen is not there");
			continue;
		}
		if (!verbs[i].kills && !verbs[i].removes)
			test_power(&verbs[i]);
		for (enum stepper_fault f = 0; f < STEPPER_FAULT_COUNT; f++)
			if (!verbs[i].kills || is_kill(f))
				test_verb(&verbs[i], f, all);
	}
	return tap_done();
}

#else

int main(void)
{
	skip_all("the stepper knows x86-64 only");
}

#endif
