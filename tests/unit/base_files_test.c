/* base: whole reads and writes, durable replacement, paths beneath a descriptor, children. */
#include "base/beneath.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/io.h"
#include "tests/kit/tap.h"
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

static void test_files(int dir)
{
	struct err e = ERR_NONE;
	char *text = NULL;
	size_t len = 0;
	ok(!io_replace_file(dir, "a", "one\0two", 7, 0600, &e), "written");
	ok(!io_read_file(dir, "a", 7, &text, &len, &e), "read");
	is_mem(text, len, "one\0two", 7, "what was written");
	free(text);
	struct stat st;
	fstatat(dir, "a", &st, 0);
	is(st.st_mode & 07777, 0600, "its mode");
	ok(!io_replace_file(dir, "a", "", 0, 0600, &e), "replaced by nothing");
	ok(!io_read_file(dir, "a", 7, &text, &len, &e) && !len, "an empty file");
	free(text);
	io_replace_file(dir, "a", "12345678", 8, 0600, &e);
	is(io_read_file(dir, "a", 7, &text, &len, &e), -1, "larger than allowed");
	has_str(e.text, "7", "the limit is named");
	e = ERR_NONE;
	is(io_read_file(dir, "none", 7, &text, &len, &e), -1, "no such file");
	is(e.number, ENOENT, "its errno");
	mkfifoat(dir, "fifo", 0600);
	e = ERR_NONE;
	is(io_read_file(dir, "fifo", 7, &text, &len, &e), -1, "a FIFO does not block");
	mkdirat(dir, "d", 0700);
	e = ERR_NONE;
	is(io_read_file(dir, "d", 7, &text, &len, &e), -1, "a directory");
	is(io_replace_file(dir, "d", "x", 1, 0600, &e), -1, "a directory is not replaced");
	is(faccessat(dir, ".d.tmp", F_OK, 0), -1, "and nothing is left behind");
	mkfifoat(dir, ".trap.tmp", 0600);
	ok(!io_replace_file(dir, "trap", "x", 1, 0600, &(struct err){0}),
		"a FIFO in the temporary file's place does not block");
	ok(!symlinkat("a", dir, "link") && !io_read_file(dir, "link", 8, &text, &len, NULL),
		"a link is followed");
	free(text);
	is(io_read_plain(dir, "link", 8, &text, &len, NULL), -1, "but not where one is refused");
	AUTO_FD int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	is(io_write(full, "x", 1), -1, "a full device");
	is(errno, ENOSPC, "says so");
}

/* Writers of one file at once: each succeeds, and nobody ever sees a part of what one wrote. */
static void test_shared(int dir)
{
	enum { WRITERS = 4, TIMES = 100, BYTES = 50000 };
	static char bytes[BYTES];
	int failed = 0, torn = 0, looks = 0, running = WRITERS, status;
	for (int n = 0; n < WRITERS; n++) {
		if (fork())
			continue;
		memset(bytes, 'a' + n, BYTES);
		for (int times = 0; times < TIMES; times++)
			failed += io_replace_shared(dir, "shared", bytes, BYTES, NULL) != 0;
		_exit(failed);
	}
	while (running) {
		AUTO_FREE char *text = NULL;
		size_t len = 0;
		if (!io_read_file(dir, "shared", BYTES, &text, &len, NULL)) {
			looks++;
			torn += len != BYTES || memcmp(text, text + 1, BYTES - 1) != 0;
		}
		if (waitpid(-1, &status, WNOHANG) > 0) {
			running--;
			failed += !!status;
		}
	}
	is(failed, 0, "no writer fails");
	ok(looks > 0 && !torn, "%d of %d looks saw a part", torn, looks);
}

/* Checks output paths of every kind, as a person may name them. */
static void test_publish(int dir)
{
	struct stat st;
	struct err e = ERR_NONE;
	AUTO_FD int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (before < 0 || fchdir(dir))
		bail("cannot enter the scratch directory");
	ok(!io_publish_file("out", "x", 1, &e), "a new file %s", e.text);
	ok(!io_publish_file("./out", "y", 1, &e), "an old one %s", e.text);
	ok(!symlink("nowhere", "dangling"), "a link");
	ok(!io_publish_file("dangling", "y", 1, &e), "a link to nothing %s", e.text);
	mkfifo("pipe", 0600);
	ok(!symlink("pipe", "to-pipe"), "a link to a FIFO");
	is(io_publish_file("pipe", "x", 1, &e), -1, "a FIFO stays");
	has_str(e.text, "pipe is there and is not a regular file", "and is named");
	is(io_publish_file("to-pipe", "x", 1, &e), -1, "so does a link to one");
	ok(!lstat("pipe", &st) && S_ISFIFO(st.st_mode), "it is still there");
	ok(!lstat("to-pipe", &st) && S_ISLNK(st.st_mode), "as is the link");
	ok(!mkdir(".out.agent6.tmp", 0700) && !io_publish_file("out", "z", 1, NULL) &&
			access(".out.agent6.tmp", F_OK),
		"what a killed one left goes with the next");
	AUTO_FD int busy = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ok(!flock(busy, LOCK_EX) && !mkfifo(".out.agent6.tmp", 0600) &&
			!io_publish_file("out", "z", 1, NULL) && !access(".out.agent6.tmp", F_OK),
		"but not what somebody who still works has there");
	is(io_publish_file("", "x", 1, &e), -1, "no name");
	is(io_publish_file("-", "x", 1, &e), -1, "standard output");
	is(io_publish_file("none/", "x", 1, &e), -1, "no file name");
	is(io_publish_file("none/x", "x", 1, &e), -1, "no directory");
	if (fchdir(before))
		bail("cannot go back");
}

static int beneath(int dir, const char *path)
{
	AUTO_FD int fd = beneath_open(dir, path, O_RDONLY, 0, 0);
	return fd < 0 ? errno : 0;
}

static void test_beneath(int dir)
{
	mkdirat(dir, "in", 0700);
	io_replace_file(dir, "secret", "x", 1, 0600, NULL);
	AUTO_FD int in = openat(dir, "in", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	io_replace_file(in, "file", "x", 1, 0600, NULL);
	static const char *const links[][2] = {
		{"../secret", "out"}, {"/etc/passwd", "abs"}, {"file", "good"}, {"loop", "loop"}};
	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		is(symlinkat(links[i][0], in, links[i][1]), 0, "a link to %s", links[i][0]);
	is(beneath(in, "file"), 0, "a file");
	is(beneath(in, "./good"), 0, "a link that stays inside");
	is(beneath(in, "../secret"), EXDEV, "dot-dot");
	is(beneath(in, "/etc/passwd"), EXDEV, "an absolute path");
	is(beneath(in, "out"), EXDEV, "a link out");
	is(beneath(in, "abs"), EXDEV, "an absolute link");
	is(beneath(in, "loop"), ELOOP, "a loop");
	is(beneath(in, "none"), ENOENT, "nothing");
	AUTO_FD int made = beneath_open(in, "made", O_WRONLY | O_CREAT, 0640, 0);
	ok(made >= 0, "created");
	is(fcntl(made, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC, "close-on-exec");
}

static const char *relative(int dir_fd, int at, const char *path, char place[PATH_MAX])
{
	AUTO_FD int fd = openat(at, path, O_PATH | O_CLOEXEC);
	const char *found = beneath_relative(dir_fd, fd, place);
	return found ? found : "nowhere";
}

static void test_place(int dir)
{
	char place[PATH_MAX];
	AUTO_FD int in = openat(dir, "in", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	mkdirat(dir, "inside", 0700);
	is_str(relative(in, in, "./good", place), "file", "where a link leads");
	is_str(relative(dir, in, "../in/file", place), "in/file", "whatever dots led there");
	is_str(relative(in, in, ".", place), "nowhere", "a directory is not below itself");
	is_str(relative(in, in, "..", place), "nowhere", "nor is what is above it");
	is_str(relative(in, dir, "inside", place), "nowhere", "nor what begins as its name does");
	is_str(relative(root, root, "/usr/bin", place), "usr/bin", "everything is below the root");
	is_str(relative(root, root, "/", place), "nowhere", "but the root");
	is(beneath_place(-1, place), -1, "a descriptor that is not open lies nowhere");
}

static int run(char *const *argv, char *const *env, const int *fds, int count)
{
	struct child_spec spec = {
		.path = argv[0], .argv = argv, .env = env, .fds = fds, .fd_count = count};
	struct child c;
	struct err e = ERR_NONE;
	if (child_start(&spec, &c, &e)) {
		diag("%s", e.text);
		return -e.number;
	}
	return child_wait(&c);
}

static void test_children(void)
{
	int in[2], out[2];
	/* Close descriptors that this test's caller left open: they are not tested. */
	close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		bail("no pipe");
	char *env[] = {(char[]){"ONLY=this"}, NULL};
	char script[] = "printf '%s.%s.' \"$ONLY\" \"$HOME\"; for f in /proc/$$/fd/*; do printf ' "
			"%s' ${f##*/}; done; exit 7";
	char *argv[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, script, NULL};
	int fds[] = {in[0], out[1], -1};
	int status = run(argv, env, fds, 3);
	close(out[1]);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 7, "its exit status");
	AUTO_BUF b;
	buf_init(&b, 100);
	io_read_all(out[0], &b, "the pipe", NULL);
	/* 2 is where the shell opens the directory: it was free. */
	is_str(b.data, "this.. 0 1 2", "only the given environment and descriptors");
	char *missing[] = {(char[]){"/nonexistent/x"}, NULL};
	is(run(missing, env, fds, 3), -ENOENT, "a failed exec is reported at once");
	char *killed[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, (char[]){"kill -9 $$"}, NULL};
	fds[1] = -1;
	status = run(killed, env, fds, 3);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "death by signal");
	close(in[0]);
	close(in[1]);
	close(out[0]);
}

/* A source that is another's target must not be overwritten before it is used. */
static void test_crossed_descriptors(void)
{
	int a[2], b[2];
	if (pipe2(a, O_CLOEXEC) || pipe2(b, O_CLOEXEC))
		bail("no pipe");
	char *env[] = {NULL};
	char *argv[] = {
		(char[]){"/bin/sh"}, (char[]){"-c"}, (char[]){"echo one >&3; echo two >&4"}, NULL};
	int fds[] = {-1, -1, -1, b[1], a[1]};
	int status = run(argv, env, fds, 5);
	ok(WIFEXITED(status) && !WEXITSTATUS(status), "ran");
	char text[8] = "";
	ok(read(b[0], text, sizeof(text)) == 4 && !memcmp(text, "one\n", 4), "descriptor 3");
	ok(read(a[0], text, sizeof(text)) == 4 && !memcmp(text, "two\n", 4), "descriptor 4");
	close(a[0]);
	close(b[0]);
}

static void test_pidfd(void)
{
	char *env[] = {NULL};
	char *argv[] = {(char[]){"/bin/sleep"}, (char[]){"60"}, NULL};
	int fds[] = {-1, -1, -1};
	struct child_spec spec = {
		.path = argv[0], .argv = argv, .env = env, .fds = fds, .fd_count = 3};
	struct child c;
	if (!ok(!child_start(&spec, &c, NULL), "started"))
		return;
	struct pollfd p = {.fd = c.pidfd, .events = POLLIN};
	is(poll(&p, 1, 0), 0, "not readable while it runs");
	kill(c.pid, SIGTERM);
	is(poll(&p, 1, 10000), 1, "readable when it has ended");
	ok(WIFSIGNALED(child_wait(&c)), "its status");
	is(c.pidfd, -1, "closed");
}

/* In a child, whose other descriptors nobody misses. */
static int closed_in_child(const int *keep, size_t count, const int *gone, size_t gone_count)
{
	pid_t pid = fork();
	if (pid == 0) {
		int wrong = io_close_others(keep, count) < 0;
		for (size_t i = 0; i < count; i++)
			wrong |= keep[i] >= 0 && fcntl(keep[i], F_GETFD) < 0;
		for (size_t i = 0; i < gone_count; i++)
			wrong |= fcntl(gone[i], F_GETFD) >= 0;
		_exit(wrong || fcntl(2, F_GETFD) < 0);
	}
	int status = -1;
	waitpid(pid, &status, 0);
	return status;
}

static void test_close_others(void)
{
	enum { LOW = 40, COUNT = 8 };
	int fds[COUNT];
	for (int i = 0; i < COUNT; i++)
		fds[i] = dup2(2, LOW + i);
	const int some[] = {LOW + 5, -1, LOW, LOW + 1, 2}, gone[] = {LOW + 2, LOW + 4, LOW + 6};
	is(closed_in_child(some, ARRAY_LEN(some), gone, ARRAY_LEN(gone)), 0,
		"all but the named ones are closed, in whatever order these come");
	is(closed_in_child(NULL, 0, fds, COUNT), 0, "all are, where none is named");
	is(closed_in_child(fds, COUNT, gone, 0), 0, "none is, where all are named");
	for (int i = 0; i < COUNT; i++)
		close(fds[i]);
}

static void woken(int number)
{
	(void)number;
}

static void test_poll(void)
{
	int ends[2];
	if (!ok(!pipe2(ends, O_CLOEXEC), "a pipe"))
		return;
	struct pollfd p = {.fd = ends[0], .events = POLLIN};
	const struct itimerval soon = {.it_interval.tv_usec = 5000, .it_value.tv_usec = 5000},
			       never = {.it_interval.tv_usec = 0};
	int64_t until_ms = clock_monotonic_ms() + 60;
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = woken}, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	is(io_poll(&p, 1, until_ms), 0, "nothing comes, whatever signals do");
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	ok(clock_monotonic_ms() >= until_ms, "until the deadline");
	is(io_write(ends[1], "x", 1), 0, "a byte");
	is(io_poll(&p, 1, clock_monotonic_ms() + 60000), 1, "is seen at once");
	is(io_poll(&p, 1, INT64_MAX), 1, "also where the deadline is further than poll goes");
	is(io_poll(&p, 1, clock_monotonic_ms()), 0, "but not at the deadline");
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	test_close_others();
	AUTO_FD int dir = open(tap_scratch(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	test_files(dir);
	test_shared(dir);
	test_publish(dir);
	test_beneath(dir);
	test_place(dir);
	test_children();
	test_crossed_descriptors();
	test_pidfd();
	test_poll();
	struct err e = ERR_NONE;
	AUTO_FREE char *none = child_sibling("agent6-nothing", &e);
	ok(!none, "no such sibling");
	has_str(e.text, "agent6-nothing", "it is named");
	return tap_done();
}
