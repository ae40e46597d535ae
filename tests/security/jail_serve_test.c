/*
 * agent6-jail serve: orders over a socket, each in a jail of its own, whatever the host did between
 * building it and using it. As root and as an ordinary user.
 */
#include "base/io.h"
#include "tests/kit/resident.h"
#include "tests/kit/tap.h"
#include "tests/kit/tree.h"
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

enum { USER = 61234, BYTES_MAX = 1 << 20, WIDE = 3000, CHILDREN_MAX = 64, OTHERS = 60 };

/* "DIR/NAME" on the heap. */
static char *in(const char *dir, const char *name)
{
	char *made = NULL;
	if (asprintf(&made, "%s/%s", dir, name) < 0)
		bail("out of memory");
	return made;
}

#define SH(script) "{\"argv\":[\"sh\",\"-c\",\"" script "\"]}"

static void test_orders(const struct resident *resident)
{
	struct reply r = resident_order(
		resident, SH("echo one; id -u; ls /proc/self/fd | tr '\\\\n' ' '; exit 3"));
	is(reply_number(&r, "exit"), 3, "the exit status");
	is_str(r.out, "one\n1000\n0 1 2 3 ", "the output, the id, three descriptors and ls's own");
	ok(json_is_true(json_object_get(json_object_get(r.status, "layers"), "capabilities")),
		"all layers");
	reply_done(&r);
	r = resident_order(
		resident, "{\"argv\":[\"env\"],\"env\":{\"MINE\":\"yes\"},\"timeout_secs\":50}");
	has_str(r.out, "MINE=yes", "the order's environment");
	has_str(r.out, "HOME=/tmp/home", "on top of the policy's");
	reply_done(&r);
	r = resident_order(resident, SH("env; ls /tmp/home"));
	ok(!strstr(r.out, "MINE"), "and of that order only");
	reply_done(&r);
	r = resident_order(resident, "{\"argv\":[\"sleep\",\"20\"],\"timeout_secs\":1}");
	ok(json_is_true(json_object_get(r.status, "timed_out")), "its time-out");
	reply_done(&r);
	r = resident_order(resident, "{\"argv\":[\"nonexistent\"]}");
	is(reply_number(&r, "exit"), 127, "not found");
	reply_done(&r);
	char at[4096] = "";
	for (size_t fd = 3, used = 0; fd < 64; fd++)
		used += (size_t)snprintf(
			at + used, sizeof(at) - used, "/proc/self/fd/%zu/usr/bin:", fd);
	AUTO_FREE char *through = NULL;
	if (asprintf(&through, "{\"argv\":[\"true\"],\"env\":{\"PATH\":\"%s\"}}", at) < 0)
		bail("out of memory");
	r = resident_order(resident, through);
	is(reply_number(&r, "exit"), 127, "nor through a descriptor of the jail's own");
	reply_done(&r);
}

static void test_bad_orders(const struct resident *resident)
{
	static const char *const bad[] = {"", "x", "[]", "{}", "{\"argv\":[]}",
		"{\"argv\":\"true\"}", "{\"argv\":[\"true\"],\"network\":\"host\"}",
		"{\"argv\":[\"true\"],\"timeout_secs\":0}"};
	for (size_t i = 1; i < ARRAY_LEN(bad); i++) {
		struct reply r = resident_order(resident, bad[i]);
		is(reply_number(&r, "exit"), 125, "refused: %s", bad[i]);
		is_str(json_string_value(json_object_get(r.status, "stage")), "order", "by name");
		reply_done(&r);
	}
	unsigned told = 0;
	for (int i = 0; i < 20; i++) {
		int ends[2], out = memfd_create("out", MFD_CLOEXEC);
		if (pipe2(ends, O_CLOEXEC) || out < 0)
			bail("cannot make descriptors");
		resident_send(resident->socket, SH("true"), (int[]){out, out, out, ends[1], out},
			RESIDENT_FDS + 1);
		close(ends[1]);
		struct reply r = resident_finish(ends[0], out);
		const char *why = json_string_value(json_object_get(r.status, "error"));
		told += why && strstr(why, "and 4 descriptors");
		reply_done(&r);
	}
	is(told, 20, "one descriptor too many is refused for that, and for nothing else");
	int one = STDERR_FILENO;
	resident_send(resident->socket, SH("touch lone"), &one, 1);
	struct reply r = resident_order(resident, SH("ls"));
	ok(!strstr(r.out, "lone"),
		"an order without its descriptors runs nothing, the next one runs");
	reply_done(&r);
}

/* Only the descriptor for the status is not there. */
static void test_no_status(const struct resident *resident)
{
	int ends[2];
	AUTO_BUF said;
	buf_init(&said, BYTES_MAX);
	if (pipe2(ends, O_CLOEXEC))
		bail("cannot make descriptors");
	resident_send(resident->socket, SH("echo ran"), (int[]){ends[1], ends[1], ends[1]},
		RESIDENT_FDS - 1);
	close(ends[1]);
	io_read_all(ends[0], &said, "what was said", NULL);
	close(ends[0]);
	is_str(said.data,
		"agent6-jail: order: an order has at most 196608 bytes, and 4 descriptors\n",
		"one descriptor too few is refused where the command's errors go, and nothing "
		"runs");
}

/* The jail was built before any of this happened. */
static void test_stale(const struct resident *resident)
{
	AUTO_FREE char *later = in(resident->ws, ".hg"), *pipe_at = in(resident->ws, "pipe");
	/* Enough to look through that a command which did not wait for it would be first. */
	for (int i = 0; i < WIDE; i++) {
		char name[32];
		snprintf(name, sizeof(name), "wide/%d/file", i);
		tree_file(resident->ws, name, "", 0644);
	}
	if (mkdir(later, 0777) || chmod(later, 0777))
		bail("cannot make %s", later);
	struct reply r = resident_order(resident, SH("echo evil >.hg/hgrc; ls -A .hg"));
	has_str(r.out, "Read-only", "a protected directory that appeared is protected");
	ok(!strstr(r.out, "hgrc\n"), "no command has begun in the jail that was ready before");
	reply_done(&r);
	if (rmdir(later) || mkfifo(pipe_at, 0666))
		bail("cannot change %s", resident->ws);
	r = resident_order(resident, SH("test -p pipe && echo pipe; mkdir .hg"));
	ok(!strstr(r.out, "pipe\n"), "a pipe that appeared is masked");
	is_str(json_string_value(json_array_get(json_object_get(r.status, "appeared"), 0)), later,
		"what the command made in a protected place is reported");
	reply_done(&r);
	unlink(pipe_at);
	rmdir(later);
}

/* Uses up the jails that were prepared before, or while, the host was changed. */
static void use_up(const struct resident *resident)
{
	for (int i = 0; i < 4; i++) {
		struct reply r = resident_order(resident, SH("true"));
		reply_done(&r);
	}
}

/* The same names stand for something else than when the jail was built, and nothing else differs.
 */
static void test_replaced(const struct resident *resident)
{
	AUTO_FREE char *git = in(resident->ws, ".git"), *moved = in(resident->ws, "moved");
	AUTO_FREE char *pipe_at = in(resident->ws, "pipe"), *other = in(resident->ws, "other");
	struct reply r;
	if (mkfifo(pipe_at, 0666))
		bail("cannot make %s", pipe_at);
	use_up(resident);
	if (mkfifo(other, 0666) || rename(other, pipe_at))
		bail("cannot replace %s", pipe_at);
	r = resident_order(resident, SH("test -p pipe && echo pipe"));
	is_str(r.out, "", "a pipe that was replaced is masked");
	reply_done(&r);
	unlink(pipe_at);
	use_up(resident);
	if (rename(git, moved) || mkdir(git, 0777) || chmod(git, 0777))
		bail("cannot replace %s", git);
	r = resident_order(resident, SH("echo evil >.git/config"));
	has_str(r.out, "Read-only", "a protected directory that was replaced is protected");
	reply_done(&r);
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void await_file(const char *path)
{
	for (int i = 0; access(path, F_OK) && i < 100000; i++, nap())
		;
}

/* How many children a process has, and which. */
static int children(pid_t pid, pid_t out[CHILDREN_MAX])
{
	AUTO_FREE char *text = NULL;
	char path[64], *at;
	int count = 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	if (io_read_file(AT_FDCWD, path, 4096, &text, NULL, NULL))
		return 0;
	at = text;
	while (count < CHILDREN_MAX && (out[count] = (pid_t)strtol(at, &at, 10)) > 0)
		count++;
	return count;
}

/* Its PID 1 has started the command's process. */
static bool has_jail(pid_t launcher, pid_t first[CHILDREN_MAX])
{
	pid_t command[CHILDREN_MAX];
	return children(launcher, first) == 1 && children(first[0], command) == 1;
}

/* Kills both prepared jails, so that the order meets a dead one. */
static void test_died(const struct resident *resident)
{
	pid_t launchers[CHILDREN_MAX], first[2][CHILDREN_MAX];
	bool ready = false;
	use_up(resident);
	for (int i = 0; !ready && i < 100000; i++, nap())
		ready = children(resident->pid, launchers) == 2 &&
			has_jail(launchers[0], first[0]) && has_jail(launchers[1], first[1]);
	ok(ready, "two jails are kept ready");
	for (int i = 0; ready && i < 2; i++) { /* until it is dead it would take the order */
		AUTO_FD int fd = (int)syscall(SYS_pidfd_open, first[i][0], 0);
		if (!kill(first[i][0], SIGKILL) && fd >= 0)
			poll(&(struct pollfd){fd, POLLIN, 0}, 1, -1);
	}
	struct reply r = resident_order(resident, SH("echo here"));
	is_str(r.out, "here\n", "where they died, the order's is made again");
	reply_done(&r);
}

/* Checks that of two jails that a launcher built for an order only the second is left. */
static void test_thrown_away(const struct resident *resident)
{
	AUTO_FREE char *later = in(resident->ws, ".hg"), *running = in(resident->ws, "running");
	pid_t launchers[CHILDREN_MAX], first[CHILDREN_MAX];
	int out_fd, most = 2;
	if (mkdir(later, 0777))
		bail("cannot make %s", later);
	int status_fd = resident_begin(
		resident, SH("touch running; while [ -e running ]; do sleep 0.02; done"), &out_fd);
	await_file(running);
	for (int i = 0; most > 1 && i < 10000; i++, nap()) { /* others are being built */
		most = 0;
		for (int n = children(resident->pid, launchers); n-- > 0;)
			most = MAX(most, children(launchers[n], first));
	}
	is(most, 1, "a jail that was thrown away ends before the command begins in another one");
	if (unlink(running) || rmdir(later))
		bail("cannot tidy %s", resident->ws);
	struct reply r = resident_finish(status_fd, out_fd);
	is(reply_number(&r, "exit"), 0, "and that command ends as always");
	reply_done(&r);
}

static const struct sockaddr_un service = {.sun_family = AF_UNIX, .sun_path = "there/socket"};

/* While the jails of the commands behind it are built it has the directory of socket and pipe away,
 * over and over, each second time with another in its place, and puts it back before it ends. */
static const char mover[] =
	SH("perl -e '"
	   "sub pause { select undef, undef, undef, 0.0001 }"
	   "sub touch { open my $f, q(>), shift }"
	   "mkdir q(decoy); touch q(decoy/socket); touch q(decoy/pipe);"
	   "for (my $i = 0; !-e q(enough); $i++) {"
	   "rename q(there), q(moved); rename q(decoy), q(there) if $i % 2; pause;"
	   "rename q(there), q(decoy) if $i % 2; rename q(moved), q(there); pause;"
	   "touch q(moving) if !$i }"
	   "exit(unlink(q(enough), q(moving)) == 2 ? 0 : 1)'");
static const char knocker[] = SH("perl -MSocket -e '"
				 "socket(S, AF_UNIX, SOCK_STREAM, 0) &&"
				 "connect(S, sockaddr_un(q(there/socket))) and die q(reached);"
				 "-p q(there/pipe) and die q(open);"
				 "print q(closed)'");

/* Reports whether a jail that was built during the move reaches either. */
static bool reaches(const struct resident *resident)
{
	int out_fd, status_fd = resident_begin(resident, mover, &out_fd);
	struct reply r;
	await_file("moving");
	for (int i = 0; i < 2; i++) { /* those that were ready before it */
		r = resident_order(resident, SH("true"));
		reply_done(&r);
	}
	nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	tree_file(resident->ws, "enough", "", 0666);
	r = resident_finish(status_fd, out_fd);
	is(reply_number(&r, "exit"), 0, "the mover ends");
	reply_done(&r);
	r = resident_order(resident, knocker);
	bool reached = strcmp(r.out, "closed") != 0;
	reply_done(&r);
	return reached;
}

static void test_moved(const struct resident *resident)
{
	AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int reached = 0;
	if (chdir(resident->ws) || mkdir("there", 0777) || chmod("there", 0777) ||
		bind(fd, (const struct sockaddr *)&service, sizeof(service)) ||
		chmod(service.sun_path, 0777) || listen(fd, 64) || mkfifo("there/pipe", 0666))
		bail("cannot make a socket and a pipe in %s: %s", resident->ws, strerror(errno));
	for (int i = 0; i < 20 && !reached; i++)
		reached = reaches(resident);
	is(reached, 0, "what was elsewhere when it was to be masked is not reached");
	if (unlink(service.sun_path) || unlink("there/pipe") || chdir("/"))
		bail("cannot tidy %s", resident->ws);
}

static void test_side_by_side(const struct resident *resident)
{
	int first_out, second_out;
	int first = resident_begin(resident,
		SH("touch /tmp/mine; while [ ! -e go ]; do sleep 0.02; done; test -e /tmp/mine && "
		   "echo kept"),
		&first_out);
	int second = resident_begin(resident,
		SH("test -e /tmp/mine && echo seen; kill -9 -1 2>/dev/null; touch go"),
		&second_out);
	struct reply b = resident_finish(second, second_out), a = resident_finish(first, first_out);
	is_str(b.out, "", "another command's /tmp is not there");
	is_str(a.out, "kept\n", "and its processes were out of reach");
	reply_done(&a);
	reply_done(&b);
}

/* Prints what a command can see of itself and its surroundings, except numbers that differ in every
 * run: process ids and times, mounts, memory and counts. */
static const char world[] =
	"umask; ulimit -a; env | sort; id; hostname; cd /proc/self\n"
	"awk '!/^(Pid|Tgid|PPid|NS|Vm|Rss|SigQ|State)|ctxt/' /proc/self/status\n"
	"cat limits cgroup uid_map gid_map setgroups oom_score_adj coredump_filter\n"
	"awk '{print $7, $8, $19, $40, $41}' stat\n"
	"sed 's/^[0-9]* [0-9]* [0-9:]* //' mountinfo | sort\n"
	"for fd in 0 1 2; do grep flags fdinfo/$fd; done; ls -d /proc/self/fd/*\n"
	"for dir in / /dev /etc /tmp /dev/shm /tmp/home; do ls -lnA $dir | awk '{print $1, $3, "
	"$4, $9, $11}'; done\n"
	"ls -d /proc/[0-9]*; grep -E 'Cap|NoNew|Seccomp|Umask|[UG]id' /proc/1/status "
	"2>&1\n"
	"cat /proc/net/dev /proc/net/unix /proc/sys/user/max_user_namespaces\n";

/* Runs `argv` in a jail of a launcher for this command alone. */
static char *launch(const struct resident *resident, const char *const argv[2], uid_t uid)
{
	AUTO_FREE char *program = in(getenv("AGENT6_BIN"), "agent6-jail");
	AUTO_FREE char *from = in(resident->ws, "../policy.json"),
		       *to = in(resident->ws, "../alone.json");
	json_auto_t *policy = json_load_file(from, 0, NULL);
	json_object_set_new(policy, "argv", json_pack("[s,s]", argv[0], argv[1]));
	AUTO_FD int out = memfd_create("out", MFD_CLOEXEC);
	AUTO_BUF text;
	buf_init(&text, BYTES_MAX);
	if (!policy || json_dump_file(policy, to, 0) || chmod(to, 0644) || out < 0)
		bail("cannot write %s", to);
	pid_t pid = fork();
	if (!pid) {
		int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (dup2(nothing, 0) || dup2(out, 1) != 1 || dup2(out, 2) != 2 ||
			(uid && (setgroups(0, NULL) || setresgid(uid, uid, uid) ||
					setresuid(uid, uid, uid))))
			_exit(1);
		execl(program, "agent6-jail", "--policy", to, NULL);
		_exit(1);
	}
	if (waitpid(pid, NULL, 0) != pid || lseek(out, 0, SEEK_SET) ||
		io_read_all(out, &text, "output", NULL))
		bail("no output of %s", program);
	return buf_take(&text, NULL);
}

/* The first line in which they differ is told. */
static void same_lines(const char *got, const char *want, const char *name)
{
	while (*got && *got == *want)
		got++, want++;
	ok(!*got && !*want, "%s", name);
	if (*got || *want)
		diag("got \"%.60s\", not \"%.60s\"", got, want);
}

static void test_same_world(const struct resident *resident, uid_t uid)
{
	static const char *const argv[] = {"sh", "world"};
	tree_file(resident->ws, "world", world, 0644);
	AUTO_FREE char *alone = launch(resident, argv, uid);
	ok(strlen(alone) > 4000, "a command launched alone sees %zu bytes", strlen(alone));
	for (int i = 0; i < 2; i++) {
		struct reply before = resident_order(resident,
			SH("umask 0; ulimit -n 99; cd /tmp; touch left; trap '' TERM; exec 1>&-"));
		struct reply r = resident_order(resident, "{\"argv\":[\"sh\",\"world\"]}");
		same_lines(
			r.out, alone, "a command of an order sees the same, whoever was before it");
		reply_done(&before);
		reply_done(&r);
	}
}

static void test_nothing_stays(struct resident *resident)
{
	struct reply r = resident_order(resident, SH("(setsid sleep 6543 &) ; exit 0"));
	reply_done(&r);
	int out_fd;
	AUTO_FD int status = resident_begin(resident, SH("touch running; sleep 6543"), &out_fd);
	AUTO_FREE char *running = in(resident->ws, "running");
	await_file(running);
	close(out_fd);
	resident_stop(resident);
	AUTO_BUF rest;
	buf_init(&rest, BYTES_MAX);
	ok(!io_read_all(status, &rest, "status", NULL) && rest.len &&
			strstr(rest.data, "\"stage\":\"wait\""),
		"what still ran ended with the server, and that is told");
}

/* Its client lives on; what it keeps ready has the pipe, too. */
static void test_killed(const char *name, uid_t uid)
{
	struct resident s;
	int ends[2];
	if (pipe(ends) || fcntl(ends[0], F_SETFD, FD_CLOEXEC))
		bail("cannot make a pipe");
	resident_start(&s, "strict", name, uid);
	close(ends[1]);
	struct reply r = resident_order(&s, SH("true"));
	reply_done(&r);
	kill(s.pid, SIGKILL);
	waitpid(s.pid, NULL, 0);
	struct pollfd held = {.fd = ends[0]};
	ok(poll(&held, 1, 100000) == 1 && held.revents == POLLHUP,
		"what a killed server kept ready ends with it");
	close(ends[0]);
	close(s.socket);
	free(s.ws);
}

/* On hardened the limit of processes is above what the user runs already. What a jail that is
 * thrown away had counted is not counted once more. */
static void test_counted(uid_t uid)
{
	if (!tap_can_harden("counted once"))
		return;
	struct resident s;
	pid_t others[OTHERS];
	for (size_t i = 0; i < OTHERS; i++) {
		others[i] = fork();
		if (!others[i] &&
			((uid && setresuid(uid, uid, uid)) || prctl(PR_SET_PDEATHSIG, SIGKILL)))
			_exit(1);
		while (!others[i])
			pause();
	}
	resident_start(&s, "hardened", "counted", uid);
	AUTO_FREE char *later = in(s.ws, ".hg");
	static const char limit[] = "{\"argv\":[\"bash\",\"-c\",\"ulimit -u\"]}";
	struct reply before = resident_order(&s, limit);
	use_up(&s);
	if (mkdir(later, 0777))
		bail("cannot make %s", later);
	struct reply after = resident_order(&s, limit);
	long first = strtol(before.out, NULL, 10), second = strtol(after.out, NULL, 10);
	ok(first > OTHERS, "what the user runs is counted: %ld", first);
	ok(labs(second - first) < OTHERS / 2, "once: %ld", second);
	reply_done(&before);
	reply_done(&after);
	resident_stop(&s);
	for (size_t i = 0; i < OTHERS; i++) {
		kill(others[i], SIGKILL);
		waitpid(others[i], NULL, 0);
	}
}

static void test_all(const char *name, uid_t uid)
{
	struct resident s;
	diag("as %s", name);
	resident_start(&s, "strict", name, uid);
	test_orders(&s);
	test_bad_orders(&s);
	test_no_status(&s);
	test_moved(&s); /* while little is to be looked through */
	test_stale(&s);
	test_replaced(&s);
	test_died(&s);
	test_thrown_away(&s);
	test_side_by_side(&s);
	test_same_world(&s, uid);
	test_nothing_stays(&s);
	test_killed(name, uid);
}

int main(void)
{
	if (!getenv("AGENT6_BIN"))
		bail("AGENT6_BIN says where the programs are");
	signal(SIGPIPE, SIG_IGN);
	test_all("caller", 0);
	if (geteuid() == 0)
		test_all("user", USER);
	test_counted(geteuid() ? 0 : USER);
	return tap_done();
}
