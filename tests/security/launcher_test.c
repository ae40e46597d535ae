/* The engine's launcher: what one command through it can see of another, and what becomes of a
 * command when its launcher dies. As root and as an ordinary user. */
#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include "launch/launcher.h"
#include "tests/kit/tap.h"
#include "tests/kit/tree.h"
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { USER = 61235, SOON_MS = 100 * 1000, BYTES_MAX = 1 << 20 };

static char ws[PATH_MAX];

/* A command under way. */
struct running {
	int status_fd, out_fd;
};

struct ended {
	json_t *status; /* NULL: there is no status line */
	char *out;
};

static struct jail_policy policy(const char *profile)
{
	return jail_policy_of(jail_profile_find(profile), ws, JAIL_WRITE);
}

static struct launcher start(const char *profile)
{
	struct launcher l = LAUNCHER_NONE;
	struct err e = ERR_NONE;
	AUTO_JAIL_POLICY p = policy(profile);
	if (launcher_start(&p, -1, &l, &e))
		bail("%s", e.text);
	return l;
}

/* launcher_order's answer; 0: `running` is under way. */
static int give(
	struct launcher *launcher, const char *script, int64_t secs, struct running *running)
{
	int ends[2];
	struct err e = ERR_NONE;
	AUTO_FD int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	running->out_fd = memfd_create("out", MFD_CLOEXEC);
	if (in < 0 || running->out_fd < 0 || pipe2(ends, O_CLOEXEC))
		bail("no descriptors");
	json_auto_t *order = json_pack("{s:[s,s,s],s:{s:s},s:I}", "argv", "sh", "-c", script, "env",
		"TOKEN", "of-this-order", "timeout_secs", (json_int_t)secs);
	AUTO_FREE char *text = json_text(order);
	int fds[LAUNCHER_FDS] = {in, running->out_fd, running->out_fd, ends[1]};
	int rc = launcher_order(launcher, text, strlen(text), fds, &e);
	close(ends[1]);
	running->status_fd = ends[0];
	if (rc) {
		own_close(&running->status_fd);
		own_close(&running->out_fd);
	}
	return rc;
}

static struct ended finish(struct running *running)
{
	struct ended end = {NULL, NULL};
	struct err e = ERR_NONE;
	AUTO_BUF line, out;
	buf_init(&line, BYTES_MAX);
	buf_init(&out, BYTES_MAX);
	struct pollfd told = {.fd = running->status_fd, .events = POLLIN};
	if (poll(&told, 1, SOON_MS) <= 0)
		bail("a command is never told the end of");
	if (io_read_all(running->status_fd, &line, "status", &e) ||
		lseek(running->out_fd, 0, SEEK_SET) ||
		io_read_all(running->out_fd, &out, "output", &e))
		bail("%s", e.text);
	own_close(&running->status_fd);
	own_close(&running->out_fd);
	end.status = line.len ? json_read(line.data, line.len, BYTES_MAX, NULL) : NULL;
	end.out = buf_take(&out, NULL);
	return end;
}

static void ended_done(struct ended *end)
{
	json_decref(end->status);
	free(end->out);
}

static struct ended run(struct launcher *launcher, const char *script)
{
	struct running r;
	if (give(launcher, script, 20, &r))
		bail("the launcher takes no order");
	return finish(&r);
}

static const char *stage_of(const struct ended *end)
{
	return json_string_value(json_object_get(end->status, "stage"));
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static bool appears(const char *name)
{
	int64_t until = clock_monotonic_ms() + SOON_MS;
	while (access(tree_path(ws, name), F_OK) && clock_monotonic_ms() < until)
		pause_ms(2);
	return !unlink(tree_path(ws, name));
}

/* This program collects what its descendants leave. */
static void nothing_is_left(const char *when)
{
	int64_t until = clock_monotonic_ms() + SOON_MS;
	pid_t got;
	while ((got = waitpid(-1, NULL, WNOHANG)) >= 0 && clock_monotonic_ms() < until)
		pause_ms(2);
	ok(got < 0 && errno == ECHILD, "no process is left %s", when);
}

static int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;
	while (dir && readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* --- isolation -------------------------------------------------------------------------------- */

#define NAMESPACES "for n in mnt pid ipc net uts user cgroup; do readlink /proc/self/ns/$n; done; "

static void expect_apart(const char *first, const char *second)
{
	static const char *const names[] = {"mnt", "pid", "ipc", "net", "uts", "user", "cgroup"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char host[64] = "", path[64], *a = strstr(first, names[i]),
		     *b = strstr(second, names[i]);
		snprintf(path, sizeof(path), "/proc/self/ns/%s", names[i]);
		size_t len = a ? strcspn(a, "\n") : 0;
		ok(readlink(path, host, sizeof(host) - 1) > 0 && a && b && len &&
				strncmp(a, b, len + 1) != 0 && strncmp(a, host, len) != 0 &&
				strncmp(b, host, len) != 0,
			"a %s namespace of its own", names[i]);
	}
}

static void test_apart(void)
{
	struct launcher l = start("strict");
	struct running first;
	if (give(&l,
		    NAMESPACES "echo mine >/tmp/mine; echo mine >/dev/shm/mine; ipcmk -M 64 >&2; "
			       "sleep 300 & touch up; while [ ! -e go ]; do sleep 0.02; done; "
			       "test -e /tmp/mine && kill -0 $! && echo kept",
		    60, &first) ||
		!appears("up"))
		bail("the first command does not run");
	struct ended b = run(&l,
		NAMESPACES "ls -A /tmp /dev/shm | grep mine; cat /proc/[0-9]*/cmdline | "
			   "tr '\\0' ' ' | grep 'sleep 300$'; tail -n +2 /proc/sysvipc/shm; "
			   "echo $TOKEN; echo second; kill -9 -1 2>/dev/null; touch go");
	struct ended c = run(&l, "touch go");
	struct ended a = finish(&first);
	has_str(a.out, "kept\n", "the first is not touched by the second");
	expect_apart(a.out, b.out);
	const char *seen = strstr(b.out, "cgroup");
	is_str(seen ? strchr(seen, '\n') + 1 : NULL, "of-this-order\nsecond\n",
		"nothing of its /tmp, its /dev/shm, its processes and its shared memory is seen");
	ended_done(&a);
	ended_done(&b);
	ended_done(&c);
	unlink(tree_path(ws, "go"));
	launcher_stop(&l);
	nothing_is_left("after two commands at once");
}

/* Whatever this process holds is not in the resident one, which a jail is made from. */
static void test_bare(void)
{
	setenv("SECRET_OF_THE_ENGINE", "hunter2hunter2", 1);
	struct launcher l = start("strict");
	struct ended end = run(&l, "env; ls /proc/self/fd | wc -l");
	ok(!strstr(end.out, "hunter2"), "no command has the engine's environment");
	has_str(end.out, "\n4\n", "or a descriptor more than three and ls's own");
	char path[64], bytes[4096];
	snprintf(path, sizeof(path), "/proc/%d/environ", l.child.pid);
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	ok(fd < 0 || read(fd, bytes, sizeof(bytes)) <= 0, "nor has the launcher");
	ended_done(&end);
	launcher_stop(&l);
}

/* --- ends ------------------------------------------------------------------------------------- */

static void test_time_out(const char *profile)
{
	struct launcher l = start(profile);
	struct running r;
	if (give(&l, "echo begun; sleep 300 & sleep 300", 1, &r))
		bail("no order is taken");
	struct ended end = finish(&r);
	ok(json_is_true(json_object_get(end.status, "timed_out")), "%s: the order's time-out",
		profile);
	is_str(end.out, "begun\n", "%s: with what it printed", profile);
	ended_done(&end);
	end = run(&l, "echo next");
	is_str(end.out, "next\n", "%s: and the next command runs", profile);
	ended_done(&end);
	launcher_stop(&l);
	nothing_is_left("after a time-out");
}

static void test_killed(const char *profile)
{
	struct launcher l = start(profile);
	struct running r;
	struct ended end = run(&l, "true");
	ended_done(&end);
	launcher_kill(&l);
	while (!give(&l, "touch never", 20, &r)) /* until it is dead */
		pause_ms(2), own_close(&r.status_fd), own_close(&r.out_fd);
	is(give(&l, "touch never", 20, &r), 1, "%s: a launcher that is gone says so", profile);
	launcher_stop(&l);
	nothing_is_left("of a launcher killed between two commands");
	ok(access(tree_path(ws, "never"), F_OK), "%s: and nothing ran", profile);

	l = start(profile);
	if (give(&l, "touch up; sleep 300", 60, &r) || !appears("up"))
		bail("the command does not run");
	kill(l.child.pid, SIGKILL);
	end = finish(&r);
	is_str(stage_of(&end), "wait", "%s: a command whose launcher is killed is a failed set-up",
		profile);
	ended_done(&end);
	launcher_stop(&l);
	nothing_is_left("of a launcher killed during a command");

	l = start(profile);
	if (give(&l, "touch up; sleep 300", 60, &r) || !appears("up"))
		bail("the command does not run");
	launcher_stop(&l);
	nothing_is_left("of a launcher stopped during a command");
	end = finish(&r);
	is_str(stage_of(&end), "wait", "%s: and is told as that", profile);
	ended_done(&end);
}

/* It ends what it runs before it ends itself: nobody is left to collect. */
static void test_asked(const char *profile)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
	for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
		struct launcher l = start(profile);
		struct running r;
		int status = 0;
		if (give(&l, "(setsid sleep 300 &); (setsid sleep 300 &); touch up; sleep 300", 60,
			    &r) ||
			!appears("up"))
			bail("the command does not run");
		kill(l.child.pid, signals[i]);
		while (waitpid(l.child.pid, &status, 0) < 0 && errno == EINTR)
			continue;
		ok(WIFSIGNALED(status) && WTERMSIG(status) == signals[i],
			"%s: signal %d ends a resident launcher", profile, signals[i]);
		ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "%s: after all that it ran",
			profile);
		struct ended end = finish(&r);
		is_str(stage_of(&end), "wait", "%s: and the command is told as lost", profile);
		ended_done(&end);
		l.child.pid = -1;
		own_close(&l.child.pidfd);
		own_close(&l.socket_fd);
		own_close(&l.words_fd);
	}
}

static long read_number(const char *name)
{
	AUTO_FREE char *text = NULL;
	return io_read_file(AT_FDCWD, tree_path(ws, name), 64, &text, NULL, NULL)
		       ? 0
		       : strtol(text, NULL, 10);
}

/* One of its processes is killed, as for want of memory; the resident launcher sees to the rest. */
static void test_one_killed(void)
{
	struct launcher l = start("hardened");
	struct running r;
	if (give(&l,
		    "echo $PPID >one; (setsid sh -c 'echo $$ >daemon; touch up; exec sleep 300' "
		    "&); "
		    "sleep 300",
		    60, &r) ||
		!appears("up"))
		bail("the command does not run");
	pid_t one = (pid_t)read_number("one"), daemon = (pid_t)read_number("daemon");
	ok(one > 1 && daemon > 1 && !kill(one, SIGKILL), "the process of an order is killed");
	struct ended end = finish(&r);
	ok(!end.status, "its command has no status line");
	ended_done(&end);
	int64_t until = clock_monotonic_ms() + SOON_MS;
	while (!kill(daemon, 0) && clock_monotonic_ms() < until)
		pause_ms(2);
	ok(kill(daemon, 0) && errno == ESRCH, "what it left is ended while the launcher lives on");
	end = run(&l, "echo next");
	is_str(end.out, "next\n", "which takes the next order");
	ended_done(&end);
	launcher_stop(&l);
	nothing_is_left("of a launcher that lost one");
}

static void *start_in_thread(void *launcher)
{
	*(struct launcher *)launcher = start("strict");
	return NULL;
}

/* The kernel's death signal is about the thread that started a process. */
static void test_thread(void)
{
	struct launcher l = LAUNCHER_NONE;
	pthread_t thread;
	if (pthread_create(&thread, NULL, start_in_thread, &l) || pthread_join(thread, NULL))
		bail("no thread");
	struct ended end = run(&l, "sleep 0.2; echo on");
	is_str(end.out, "on\n", "a launcher outlives the thread that started it");
	ended_done(&end);
	launcher_stop(&l);
}

/* --- orders ----------------------------------------------------------------------------------- */

/* Gives orders as fast as the engine does, whatever is ready by then. */
static void test_last(const char *profile)
{
	int told = 0;
	for (int i = 0; i < 40; i++) {
		struct launcher l = start(profile);
		for (int before = i % 4; before > 0; before--) {
			struct ended end = run(&l, "true");
			ended_done(&end);
		}
		pause_ms(i % 8 * 2);
		struct running r;
		if (give(&l, i % 5 ? "echo last" : "sleep 0.05; echo last", 20, &r))
			bail("the last order is not taken");
		launcher_close(&l);
		struct ended end = finish(&r);
		struct pollfd over = {.fd = l.child.pidfd, .events = POLLIN};
		told += !strcmp(end.out, "last\n") && poll(&over, 1, SOON_MS) == 1;
		ended_done(&end);
		launcher_stop(&l);
	}
	is(told, 40, "%s: the last order is carried out, and then the launcher ends", profile);
	nothing_is_left("of forty launchers");
}

static void test_sizes(void)
{
	struct launcher l = start("strict");
	struct running r;
	AUTO_FREE char *long_text = malloc(LAUNCHER_ORDER_BYTES_MAX + 1);
	if (!long_text)
		bail("out of memory");
	memset(long_text, ' ', LAUNCHER_ORDER_BYTES_MAX);
	long_text[LAUNCHER_ORDER_BYTES_MAX] = '\0';
	is(give(&l, long_text, 20, &r), -1, "an order over the limit is refused");
	memcpy(long_text + 120 * 1024, "echo $#", 8);
	struct ended end = run(&l, long_text);
	is_str(end.out, "0\n", "one of 120 KiB in a single argument runs");
	ended_done(&end);
	launcher_stop(&l);
}

static long first_child(long pid)
{
	char path[64];
	AUTO_FREE char *text = NULL;
	snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", pid, pid);
	return pid > 0 && !io_read_file(AT_FDCWD, path, 4096, &text, NULL, NULL)
		       ? strtol(text, NULL, 10)
		       : 0;
}

static bool holds(long pid, const char *tree)
{
	char path[64], to[PATH_MAX];
	bool found = false;
	for (int fd = 0; !found && fd < 64; fd++) {
		snprintf(path, sizeof(path), "/proc/%ld/fd/%d", pid, fd);
		ssize_t len = readlink(path, to, sizeof(to) - 1);
		to[len < 0 ? 0 : len] = '\0';
		found = !strcmp(to, tree);
	}
	return found;
}

/* The trees that a jail was built of have gone with it: an order's descriptors need room. An
 * ordinary user's are opened by PID 1, and its launcher would not show what it holds. */
static void test_room(void)
{
	struct launcher l = start("strict");
	int64_t until = clock_monotonic_ms() + SOON_MS;
	long ready = 0;
	while (clock_monotonic_ms() < until &&
		(!first_child(first_child(ready)) || holds(ready, "/usr"))) {
		pause_ms(2);
		ready = first_child(l.child.pid);
	}
	ok(first_child(first_child(ready)), "a jail is ready");
	ok(!holds(ready, "/usr"), "and its launcher has closed what was mounted there");
	launcher_stop(&l);
}

static void test_bad_policy(void)
{
	struct launcher l = LAUNCHER_NONE;
	struct err e = ERR_NONE;
	AUTO_JAIL_POLICY bad = jail_policy_of(JAIL_STRICT, "not/absolute", JAIL_WRITE);
	if (launcher_start(&bad, -1, &l, &e))
		bail("%s", e.text);
	struct pollfd over = {.fd = l.child.pidfd, .events = POLLIN};
	is(poll(&over, 1, SOON_MS), 1, "a launcher with a bad policy ends");
	AUTO_JAIL_STATUS own = launcher_status(&l, "", 0);
	is_str(own.stage, "policy", "and says why");
	launcher_stop(&l);
	launcher_stop(&l);
	nothing_is_left("of it");
}

/* Directories of hardened jails in /tmp that belong to `owner`. */
static int directories(uid_t owner)
{
	int count = 0;
	struct stat st;
	DIR *dir = opendir("/tmp");
	for (const struct dirent *d; dir && (d = readdir(dir));)
		count += !strncmp(d->d_name, "agent6-jail-", 12) &&
			 !fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
			 st.st_uid == owner;
	closedir(dir);
	return count;
}

/* However it ends, and whatever it has made ready. */
static void test_directories(uid_t owner)
{
	int before = directories(owner);
	for (int i = 0; i < 20; i++) {
		struct launcher l = start("hardened");
		struct ended end = run(&l, "true");
		ended_done(&end);
		pause_ms(i % 4 * 5);
		if (i % 2)
			launcher_kill(&l);
		launcher_stop(&l);
	}
	nothing_is_left("of twenty launchers on hardened");
	/* Those of other tests come and go. */
	for (int tries = 0; directories(owner) > before && tries < 500; tries++)
		pause_ms(20);
	ok(directories(owner) <= before, "nor a directory in /tmp");
}

static void test_many(void)
{
	struct launcher l = start("strict");
	int before = descriptors();
	for (int i = 0; i < 100; i++) {
		struct ended end = run(&l, "(setsid sleep 300 &); exit 7");
		if (json_integer_value(json_object_get(end.status, "exit")) != 7)
			bail("command %d does not end with its own status", i);
		ended_done(&end);
	}
	is(descriptors(), before, "a hundred commands cost no descriptor");
	launcher_stop(&l);
	nothing_is_left("after a hundred commands that left one each");
}

static void test_all(const char *who, uid_t uid)
{
	diag("as %s", who);
	snprintf(ws, sizeof(ws), "%s/%s", tap_scratch(), who);
	/* If root owns the workspace, hardened would run commands as root, and refuses. */
	uid_t owner = uid ? uid : USER + 1;
	if (chmod(tap_scratch(), 0755) || mkdir(ws, 0755) ||
		(geteuid() == 0 && chown(ws, owner, owner)) ||
		(uid && chown(tap_scratch(), uid, uid)))
		bail("no workspace");
	if (uid && (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid)))
		bail("cannot become an ordinary user");
	static const char *const profiles[] = {"strict", "hardened"};
	test_apart();
	test_bare();
	size_t count = tap_can_harden("hardened orders") ? ARRAY_LEN(profiles) : 1;
	for (size_t i = 0; i < count; i++) {
		test_time_out(profiles[i]);
		test_killed(profiles[i]);
		test_asked(profiles[i]);
		test_last(profiles[i]);
	}
	test_thread();
	if (count > 1)
		test_one_killed();
	if (count > 1)
		test_directories(geteuid() ? geteuid() : owner);
	test_sizes();
	if (geteuid() == 0)
		test_room();
	test_bad_policy();
	test_many();
}

/* agent6-jail is looked for beside the program that starts it. */
static void move_in(char **argv)
{
	const char *bin = getenv("AGENT6_BIN");
	char self[PATH_MAX] = "";
	size_t len;
	AUTO_FREE char *bytes = NULL;
	struct err e = ERR_NONE;
	if (!bin)
		bail("AGENT6_BIN says where the programs are");
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) > 0 &&
		!strncmp(self, bin, strlen(bin)))
		return;
	if (io_read_file(AT_FDCWD, self, 64 << 20, &bytes, &len, &e))
		bail("%s", e.text);
	snprintf(self, sizeof(self), "%s/launcher_test.%d", bin, getpid());
	AUTO_FD int fd = open(self, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (fd < 0 || io_write(fd, bytes, len) || fchmod(fd, 0755))
		bail("cannot write %s", self);
	own_close(&fd);
	execv(self, argv);
	bail("cannot run %s", self);
}

int main(int argc, char **argv)
{
	(void)argc;
	move_in(argv);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	test_all("caller", 0);
	if (geteuid() == 0)
		test_all("user", USER);
	return tap_done();
}
