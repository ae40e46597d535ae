/*
 * The resident launcher: started before any secret is loaded, it keeps the next jails ready while
 * the present one works, and gives one a command when an order comes. An order names the command
 * and its descriptors (stdin, stdout, stderr, status), as one message of JSON over a SOCK_SEQPACKET
 * socket.
 *
 *   {"argv":["make"], "env":{"LANG":"C"}, "timeout_secs":60}     only argv is needed
 *
 * Attack: what one command leaves for the next, and an order that widens a jail. Every command has
 * a jail of its own, with all namespaces, as if it had been launched alone; only the time to build
 * it is spent beforehand. Everything but those three members is the policy's, fixed when the
 * launcher started. A jail that was built for another state of the host (a protected path that has
 * appeared or been replaced, a new socket in the workspace) is thrown away and built again before
 * the command is let in.
 */
#include "base/clock.h"
#include "base/fdpass.h"
#include "base/io.h"
#include "jail/jail.h"
#include <poll.h>
#include <sched.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { ORDER_BYTES_MAX = 192 * 1024, ORDER_FDS = 4, READY = 2, SHORT_MS = 10 };

struct received_order {
	char text[ORDER_BYTES_MAX];
	size_t len;
	struct fdpass with;
};

/* Waits for an order. 0: there is one; 1: the other side has gone; -1: the message is not an
 * order. */
static int receive(int socket_fd, struct received_order *order, int count, struct err *e)
{
	ssize_t len = fdpass_receive(socket_fd, order->text, sizeof(order->text), &order->with);
	if (len < 0)
		return err_errno(e, "cannot receive an order");
	if (!len)
		return 1;
	order->len = (size_t)len;
	if (order->with.cut || order->with.count != count)
		return err_set(e, "an order has at most %d bytes, and %d descriptors",
			ORDER_BYTES_MAX, count);
	return 0;
}

/* Handles a made-up order, so that the pages it writes to are this process's own when somebody
 * waits. */
static void practise(struct jail *jail, struct received_order *order)
{
	static const char any[] = "{\"argv\":[\"true\"]}";
	memcpy(order->text, any, sizeof(any));
	order->with.count = 0;
	policy_order(&jail->policy, order->text, strlen(any), NULL);
}

/* Takes the order, in the command's process with all layers in force. A jail launched alone has
 * nothing to wait for. */
int serve_take(struct jail *jail, struct err *e)
{
	static struct received_order o;
	if (jail->order_fd < 0)
		return 0;
	practise(jail, &o);
	int failed = receive(jail->order_fd, &o, 3, e);
	for (int fd = 0; fd < 3; fd++)
		if (!failed && dup2(o.with.fds[fd], fd) < 0)
			failed = err_errno(e, "cannot use the order's descriptors");
	failed = failed || policy_order(&jail->policy, o.text, o.len, e);
	return failed ? err_set(e, "the launcher has ended") : 0;
}

/* Waits for the launcher's byte: the order comes before the launcher knows whether this jail is
 * still right. */
int serve_begin(struct jail *jail, struct err *e)
{
	char byte;
	bool begins = jail->order_fd < 0 || read(jail->order_fd, &byte, 1) == 1;
	return begins ? 0 : err_set(e, "the policy's paths keep changing while jails are built");
}

/* Makes a jail that waits at serve_take. Returns the end for the order; -1: it could not be made,
 * and the report tells why. A command whose jail failed gets another one, made when it comes. */
static int prepare(struct jail *jail, bool ordered)
{
	int pair[2];
	struct err e = ERR_NONE;
	jail->report = jail_report_new();
	/* The listener of a proxy can be handed over once, so the command's jail must get it. */
	if (jail->policy.network == NETWORK_PROXY && !ordered)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		err_errno(&e, "cannot make a socket pair");
		return jail_report_fail(jail->report, "order", &e);
	}
	jail->order_fd = pair[1];
	prctl(PR_SET_DUMPABLE, 1); /* an ordinary user's id maps need it */
	jail_start(jail);
	layout_done(
		&jail->layout); /* the jail has them, and an order's descriptors need room here */
	own_close(&jail->order_fd);
	return pair[0];
}

static bool is_stale(const struct jail *jail, bool scan)
{
	static struct layout now;
	return jail->report->moved ||
	       layout_init(&now, &jail->policy, scan ? repositories_scan(jail, true) : SCAN_NOTHING,
		       NULL) ||
	       !layout_same(&now, &jail->layout);
}

/* Sends the order, then checks the jail; only then may the command begin. If this fails the jail
 * has ended, and its own reason is already in the report. */
static bool hand_over(const struct jail *jail, int ready_fd, const struct received_order *order)
{
	return !fdpass_send(ready_fd, order->text, order->len, order->with.fds, 3) &&
	       !is_stale(jail, true) && send(ready_fd, "", 1, MSG_NOSIGNAL) == 1;
}

/* Lets the command begin, or reports why not. */
static void carry_out(struct jail *jail, bool begun, const struct received_order *order)
{
	struct err e = ERR_NONE;
	if (!begun) {
		supervise_clean(jail);
		AUTO_FD int ready_fd = prepare(jail, true);
		hand_over(
			jail, ready_fd, order); /* or ready_fd hangs up, and serve_begin says why */
	}
	/* PID 1 waits for this signal before it watches. */
	if (jail->strict && memory_watched(jail))
		syscall(SYS_pidfd_send_signal, jail->child_pidfd, SIGCHLD, NULL, 0);
	/* Read the order here too, for its time-out; the command has started meanwhile. */
	if (policy_order(&jail->policy, order->text, order->len, &e))
		jail_report_fail(jail->report, "order", &e);
}

/* There is a process for each order, with a jail that is ready. It tells the launcher: */
enum { SAYS_TAKEN = 't', SAYS_TOLD = 'o', SAYS_ENDED = 'e' };

struct word {
	pid_t pid;
	int says;
};

/* Tells the launcher. If that has gone, life_fd has hung up, and the running command is ended. */
static void say(const struct jail *jail, int says)
{
	const struct word word = {getpid(), says};
	send(jail->life_fd, &word, sizeof(word), MSG_NOSIGNAL);
}

/* Waits for an order like receive. Another ready process may get it. If the launcher dies or is
 * asked to end, a ready process has a jail to remove. */
static int await(struct jail *jail, int socket_fd, struct received_order *order, struct err *e)
{
	struct pollfd any[] = {
		{socket_fd, POLLIN, 0}, {jail->life_fd, 0, 0}, {jail->asked_fd, POLLIN, 0}};
	int rc;
	do {
		*e = ERR_NONE;
		poll(any, ARRAY_LEN(any), -1);
		if (any[2].revents)
			lifeline_read(jail);
		rc = any[1].revents || any[2].revents ? 1 : receive(socket_fd, order, ORDER_FDS, e);
	} while (rc < 0 && e->number == EAGAIN);
	return rc;
}

static void serve_one(struct jail *jail, int socket_fd)
{
	static struct received_order o;
	struct err e = ERR_NONE;
	/* A stopped process must notice the launcher's end, too. */
	prctl(PR_SET_PDEATHSIG, SIGCONT);
	int ready_fd = prepare(jail, false);
	is_stale(jail, false); /* for the same reason */
	practise(jail, &o);
	int rc = await(jail, socket_fd, &o, &e);
	if (rc == 1) {
		supervise_clean(jail);
		say(jail, SAYS_ENDED);
		lifeline_end(jail, 0);
	}
	bool begun = !rc && hand_over(jail, ready_fd, &o); /* first of all: somebody waits */
	sched_yield(); /* gives the command its turn, if both are on one processor */
	say(jail, SAYS_TAKEN);
	dup2(o.with.fds[STDERR_FILENO], STDERR_FILENO); /* messages about the jail go there */
	if (rc)
		jail_report_fail(jail->report, "order", &e);
	else
		carry_out(jail, begun, &o);
	supervise(jail, o.with.fds[3]);
	if (jail->stuck)
		shutdown(socket_fd, SHUT_RDWR); /* no further command may begin */
	close(STDERR_FILENO);
	for (int fd = 0; fd < 3; fd++) /* readers see the end here */
		own_close(&o.with.fds[fd]);
	say(jail, SAYS_TOLD);
	supervise_clean(jail);
	lifeline_end(jail, 0);
}

/* --- the launcher ----------------------------------------------------------------------------- */

enum { ONES_MAX = 256, END_MS = 4000 };

/* Those processes, and what each told last; 0: it is ready, or about to be. */
struct resident {
	struct jail *base;
	int socket_fd, says[2], ended_fd;
	pid_t ones[ONES_MAX + 1]; /* ends with 0 */
	int said[ONES_MAX];
	int count;
	int wanted; /* how many should be ready */
	bool last;  /* no order will follow */
};

static int count_of(const struct resident *resident, int said)
{
	int count = 0;
	for (int i = 0; i < resident->count; i++)
		count += resident->said[i] == said;
	return count;
}

static int start_one(struct resident *resident, struct err *e)
{
	pid_t pid = fork();
	if (!pid) {
		close(resident->says[0]);
		resident->base->life_fd = resident->says[1];
		serve_one(resident->base, resident->socket_fd);
	}
	if (pid < 0)
		return err_errno(e, "cannot start the next launcher");
	resident->said[resident->count] = 0;
	resident->ones[resident->count++] = pid;
	return 0;
}

static int find_one(const struct resident *resident, pid_t pid)
{
	int at = 0;
	while (at < resident->count && resident->ones[at] != pid)
		at++;
	return at;
}

static void hear(struct resident *resident)
{
	struct word word;
	while (recv(resident->says[0], &word, sizeof(word), MSG_DONTWAIT) == sizeof(word)) {
		int at = find_one(resident, word.pid);
		if (at < resident->count)
			resident->said[at] = word.says;
		if (word.says == SAYS_TOLD)
			resident->wanted = READY;
	}
}

/* Removes ended processes after reading their last words. One without any was killed: its command
 * may have left processes, which are now this process's children. */
static int collect(struct resident *resident, struct err *e)
{
	struct signalfd_siginfo info;
	pid_t pid;
	bool killed = false;
	while (read(resident->ended_fd, &info, sizeof(info)) > 0)
		continue;
	hear(resident);
	for (int at; (pid = waitpid(-1, NULL, WNOHANG)) > 0;) {
		if ((at = find_one(resident, pid)) == resident->count)
			continue;
		killed = killed || !resident->said[at] || resident->said[at] == SAYS_TAKEN;
		resident->count--;
		resident->ones[at] = resident->ones[resident->count];
		resident->said[at] = resident->said[resident->count];
		resident->ones[resident->count] = 0;
	}
	return killed && !resident->base->strict ? hardened_sweep(resident->base, resident->ones, e)
						 : 0;
}

/* Waits for all of them, which notice that life_fd has hung up; stopped or hanging ones are
 * killed. */
static int end_all(struct resident *resident, struct err *e)
{
	static const pid_t nobody;
	int64_t until_ms = clock_monotonic_ms() + END_MS;
	struct pollfd ended = {resident->ended_fd, POLLIN, 0};
	own_close(&resident->says[0]);
	own_close(&resident->socket_fd);
	while (resident->count && io_poll(&ended, 1, until_ms) > 0)
		if (collect(resident, e))
			return -1;
	for (int i = 0; i < resident->count; i++)
		kill(resident->ones[i], SIGKILL);
	for (int i = 0; i < resident->count; i++)
		waitpid(resident->ones[i], NULL, 0);
	return resident->base->strict ? 0 : hardened_sweep(resident->base, &nobody, e);
}

static int open_resident(struct resident *resident, struct err *e)
{
	sigset_t ended;
	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	resident->ended_fd = sigprocmask(SIG_BLOCK, &ended, NULL)
				     ? -1
				     : signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
	if (resident->ended_fd < 0 ||
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, resident->says) ||
		fcntl(resident->socket_fd, F_SETFL, O_NONBLOCK))
		return err_errno(e, "cannot make a socket pair");
	return resident->base->strict ? 0 : hardened_adopt(resident->base, e);
}

static bool has_order(int socket_fd)
{
	char byte;
	return recv(socket_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

/* Waits once. Returns false if the other side has gone, or a signal asks for the end. */
static bool turn(struct resident *resident)
{
	struct pollfd watched[] = {{resident->says[0], POLLIN, 0},
		{resident->socket_fd, resident->last ? 0 : POLLRDHUP, 0},
		{resident->ended_fd, POLLIN, 0}, {resident->base->asked_fd, POLLIN, 0}};
	int idle = count_of(resident, 0);
	/* Do not disturb a short command by building other jails; when commands follow one another,
	 * the next jail is built meanwhile. */
	bool woken =
		poll(watched, ARRAY_LEN(watched), !resident->last && idle < READY ? SHORT_MS : -1);
	resident->wanted = woken ? 0 : idle + 1;
	if (watched[3].revents)
		lifeline_read(resident->base);
	if (watched[3].revents || watched[1].revents & POLLHUP)
		return false;
	resident->last = resident->last || watched[1].revents;
	hear(resident);
	return true;
}

/* Serves. The other side closes its half after its last order: then no more jails are built, and
 * running commands come to their end. When it has gone, everything ends. */
int serve_run(struct jail *base, int socket_fd, struct err *e)
{
	static struct resident r;
	r = (struct resident){.base = base, .socket_fd = socket_fd, .wanted = 1};
	if (open_resident(&r, e))
		return -1;
	do {
		for (int idle = count_of(&r, 0);
			r.count < ONES_MAX &&
			(r.last ? !idle && has_order(socket_fd) : idle < r.wanted);
			idle++)
			if (start_one(&r, e))
				return -1;
		if (!turn(&r))
			break;
		if (collect(&r, e))
			return -1;
	} while (!r.last || count_of(&r, 0) || count_of(&r, SAYS_TAKEN) || has_order(socket_fd));
	return end_all(&r, e);
}
