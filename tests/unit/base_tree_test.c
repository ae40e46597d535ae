/* base: directory trees removed, opened up, and copied within limits. */
#include "base/clock.h"
#include "base/io.h"
#include "base/tree.h"
#include "tests/kit/tap.h"
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int top;
static bool never_empty;

/* Every unlinkat of this program: as FUSE has it with a directory of which a file is open. */
int unlinkat(int at, const char *name, int flags)
{
	if (never_empty && flags == AT_REMOVEDIR) {
		errno = ENOTEMPTY;
		return -1;
	}
	return (int)syscall(SYS_unlinkat, at, name, flags);
}

static int make(int at, const char *name)
{
	mkdirat(at, name, 0700);
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void put(int at, const char *name, const char *text, mode_t mode)
{
	AUTO_FD int fd = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || io_write(fd, text, strlen(text)) || fchmod(fd, mode))
		bail("cannot write %s", name);
}

static bool there(int at, const char *name)
{
	return !faccessat(at, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* Root passes every mode: without its capabilities it is an owner like any other. */
static void be_ordinary(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}};
	if (syscall(SYS_capset, &header, none))
		bail("cannot give up capabilities");
}

static void test_remove(void)
{
	AUTO_FD int tree = make(top, "tree");
	AUTO_FD int sub = make(tree, "sub");
	AUTO_FD int shut = make(sub, "shut");
	put(top, "outside", "x", 0600);
	put(shut, "file", "x", 0400);
	is(symlinkat("../outside", tree, "link"), 0, "a link out");
	is(symlinkat("..", sub, "up"), 0, "a link to a directory");
	mkfifoat(tree, "fifo", 0600);
	fchmod(shut, 0500);
	fchmod(sub, 0);
	struct err e = ERR_NONE;
	is(tree_remove(top, "tree", &e), 0, "all of it, read-only directories included");
	ok(!there(top, "tree"), "it is gone");
	ok(there(top, "outside"), "what a link leads to is not");
	is(tree_remove(top, "tree", &e), 0, "what is not there is no error");
	is(tree_remove(top, "outside", &e), 0, "a file");
	is(symlinkat(".", top, "self"), 0, "a link to a directory");
	is(tree_remove(top, "self", &e), 0, "is removed, not followed");
	ok(!there(top, "self"), "it is gone");
}

static void test_remove_shut(void)
{
	AUTO_FD int other = make(top, "other");
	AUTO_FD int tree = make(top, "tree");
	put(tree, "file", "x", 0);
	is(symlinkat("../other", tree, "link"), 0, "a link to a directory that nobody may read");
	fchmod(other, 0);
	fchmod(tree, 0);
	struct err e = ERR_NONE;
	struct stat st;
	is(tree_remove(top, "tree", &e), 0, "one that its owner may not read %s", e.text);
	is(fstatat(top, "other", &st, 0), 0, "what a link leads to");
	is(st.st_mode & 0777, 0, "is not opened up");
	is(symlinkat("other", top, "self"), 0, "a link to it");
	is(tree_remove(top, "self", &e), 0, "is removed");
	is(tree_remove(top, "other", &e), 0, "an empty one");
}

static void test_remove_refused(void)
{
	AUTO_FD int locked = make(top, "locked");
	struct err e = ERR_NONE;
	put(locked, "file", "x", 0600);
	fchmod(locked, 0500);
	is(tree_remove(locked, "file", &e), -1, "a file in a directory that may not be written");
	is_str(e.text, "cannot remove file: Permission denied", "is not called a directory");
	is(tree_remove(top, "locked", NULL), 0, "which goes with the directory");
}

/* Writes ten files into `dir`, then more for a while, or until it is gone. */
static void write_on(int dir)
{
	char name[32];
	int64_t end = clock_monotonic_ms() + 20;
	for (int n = 0; n < 10 || clock_monotonic_ms() < end; n++) {
		snprintf(name, sizeof(name), "%d", n);
		AUTO_FD int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0)
			break;
	}
	_exit(0);
}

static void test_remove_busy(void)
{
	enum { ROUNDS = 20, WRITERS = 4 };
	int failed = 0;
	struct err e = ERR_NONE;
	for (int round = 0; round < ROUNDS; round++) {
		AUTO_FD int tree = make(top, "busy");
		AUTO_FD int sub = make(tree, "sub");
		for (int n = 0; n < WRITERS; n++)
			if (!fork())
				write_on(sub);
		while (!there(sub, "9"))
			usleep(100);
		failed += tree_remove(top, "busy", &e) != 0 || there(top, "busy");
		while (wait(NULL) > 0)
			continue;
		tree_remove(top, "busy", NULL);
	}
	is(failed, 0, "one in which somebody still writes is removed whole %s", e.text);
}

static void test_remove_never_empty(void)
{
	struct err e = ERR_NONE;
	AUTO_FD int tree = make(top, "stays");
	never_empty = true;
	is(tree_remove(top, "stays", &e), -1, "one that never gets empty is given up");
	never_empty = false;
	has_str(e.text, "cannot remove stays: Directory not empty", "and named");
	is(tree_remove(top, "stays", &e), 0, "until it does");
}

static void test_deep(void)
{
	AUTO_FD int at = make(top, "deep");
	for (int i = 0; i < TREE_DEPTH_MAX + 5; i++) {
		int next = make(at, "d");
		close(at);
		at = next;
	}
	struct err e = ERR_NONE;
	AUTO_FD int from = openat(top, "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD int to = make(top, "shallow");
	struct tree_cap cap = {1000, 1000};
	e = ERR_NONE;
	is(tree_copy(from, to, &cap, &e), -1, "deeper than the limit nothing is copied");
	ok(*e.text && strlen(e.text) < sizeof(e.text), "with a reason that fits: %s", e.text);
	e = ERR_NONE;
	is(tree_remove(top, "deep", &e), 0, "but it is removed");
	ok(faccessat(top, "deep", F_OK, 0), "whole");
}

static void expect_copy(int from, const char *name, struct tree_cap cap, int want)
{
	AUTO_FD int to = make(top, name);
	struct err e = ERR_NONE;
	is(tree_copy(from, to, &cap, &e), want, "%s", name);
	ok(!want == !*e.text, "an error says why: %s", e.text);
	ok(!want || (!there(to, "a") && !there(to, "sub")), "and nothing is written");
}

static void test_copy(void)
{
	AUTO_FD int from = make(top, "from");
	AUTO_FD int sub = make(from, "sub");
	AUTO_FD int git = make(from, ".git");
	AUTO_FD int inner = make(sub, ".git");
	put(from, "a", "12345", 0640);
	put(sub, "b", "678", 0755);
	put(git, "config", "x", 0600);
	put(inner, "kept", "", 0600);
	is(symlinkat("/etc/passwd", from, "link"), 0, "a link");
	mkfifoat(from, "fifo", 0600);
	AUTO_FD int socket_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un where = {.sun_family = AF_UNIX};
	snprintf(where.sun_path, sizeof(where.sun_path), "/proc/self/fd/%d/socket", from);
	is(bind(socket_fd, (const void *)&where, sizeof(where)), 0, "a socket");

	AUTO_FD int to = make(top, "to");
	struct tree_cap cap = {100, 100};
	struct err e = ERR_NONE;
	is(tree_copy(from, to, &cap, &e), 0, "copied");
	is(cap.bytes, 92, "bytes are counted");
	char *text = NULL, link[64] = "";
	size_t len = 0;
	ok(!io_read_file(to, "sub/b", 10, &text, &len, &e) && len == 3, "a file's content");
	free(text);
	struct stat st;
	fstatat(to, "sub/b", &st, 0);
	is(st.st_mode & 0777, 0755, "its mode");
	is(readlinkat(to, "link", link, sizeof(link) - 1), 11, "a link as it is");
	is_str(link, "/etc/passwd", "unchanged");
	ok(!there(to, ".git"), "the repository at the top is left out");
	ok(there(to, "sub/.git/kept"), "one further down is not");
	ok(!there(to, "fifo") && !there(to, "socket"), "pipes and sockets are left out");
	expect_copy(from, "exactly enough bytes", (struct tree_cap){100, 8}, 0);
	expect_copy(from, "a byte too few", (struct tree_cap){100, 7}, -1);
	expect_copy(from, "a file too few", (struct tree_cap){3, 100}, -1);
	struct tree_cap few = {3, 5 << 20};
	e = ERR_NONE;
	tree_copy(from, to, &few, &e);
	is_str(e.text, "at most 3 files and directories are copied, and 5 MiB", "the limit alone");
}

static mode_t mode_of(int at, const char *name)
{
	struct stat st;
	return fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) ? 0 : st.st_mode & 07777;
}

static void test_open_up(void)
{
	AUTO_FD int tree = make(top, "opened");
	AUTO_FD int own = make(tree, ".git");
	AUTO_FD int sub = make(tree, "sub");
	AUTO_FD int deep = make(sub, "deep");
	put(top, "not-below", "x", 0);
	put(own, "kept", "x", 0);
	put(deep, "shut", "x", 0);
	put(sub, "tool", "x", 0311);
	put(tree, "plain", "x", 0640);
	is(symlinkat("../not-below", tree, "out"), 0, "a link out");
	mkfifoat(tree, "pipe", 0);
	fchmod(deep, 0);
	fchmod(sub, 0100);
	struct err e = ERR_NONE;
	is(tree_open_up(tree, &e), 0, "a tree is opened up");
	is(mode_of(tree, "sub"), 0700, "a directory");
	is(mode_of(tree, "sub/deep"), 0700, "one below it");
	is(mode_of(tree, "sub/deep/shut"), 0400, "a file there");
	is(mode_of(tree, "sub/tool"), 0711, "what may be executed may be still");
	is(mode_of(tree, "plain"), 0640, "what can be read is as it was");
	is(mode_of(top, "not-below"), 0, "so is what a link leads to");
	is(mode_of(tree, "pipe"), 0, "and what is no file");
	is(mode_of(tree, ".git/kept"), 0, "and the repository");
}

int main(void)
{
	umask(022);
	be_ordinary();
	top = open(tap_scratch(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	test_remove();
	test_remove_shut();
	test_remove_refused();
	test_remove_busy();
	test_remove_never_empty();
	test_deep();
	test_copy();
	test_open_up();
	return tap_done();
}
