#include "jail/serve.h"

#include "jail/order.h"
#include "jail/supervise.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { SHORT_MS = 10 };

/* In the command's process, all layers in force. Launched alone there is nothing to wait for. */
int serve_take(struct jail *j, struct err *e)
{
	struct order o;
	if (j->order_fd < 0)
		return 0;
	int failed = order_receive(j->order_fd, &o, 3, e);
	for (int fd = 0; !failed && fd < 3; fd++)
		if (dup2(o.fds[fd], fd) < 0)
			failed = err_errno(e, "cannot use the order's descriptors");
	failed = failed || policy_order(&j->policy, o.text, o.len, e);
	order_done(&o);
	own_close(&j->order_fd);
	return failed ? err_set(e, "the launcher has ended") : 0;
}

/* A jail that waits at serve_take; returns the end that the order goes to. A failure is in the
 * report and is told with the next order. */
static int prepare(struct jail *j)
{
	int pair[2];
	struct err e = ERR_NONE;
	/* The listener of a proxy can be handed over once: it is the command's jail that has it. */
	if (j->policy.profile != PROFILE_STRICT || j->policy.network == NETWORK_PROXY)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		err_errno(&e, "cannot make a socket pair");
		return report_fail(j->report, "order", &e);
	}
	j->order_fd = pair[1];
	prctl(PR_SET_DUMPABLE, 1); /* an ordinary user's id maps need it */
	jail_start(j);
	own_close(&j->order_fd);
	return pair[0];
}

static bool is_stale(struct jail *j)
{
	AUTO_LAYOUT now;
	struct err e = ERR_NONE;
	return layout_init(&now, &j->policy, &e) || !layout_same(&now, &j->layout);
}

static void discard(struct jail *j)
{
	if (j->child > 0)
		kill(j->child, SIGKILL);
	jail_clean(j);
	j->report = report_new();
	if (!j->report)
		_exit(1);
}

/* The command runs, or the report says why not. */
static void carry_out(struct jail *j, int *ready, const struct order *o, struct outcome *out)
{
	struct err e = ERR_NONE;
	for (int fd = 0; fd < 3; fd++)
		dup2(o->fds[fd], fd);
	if (policy_order(&j->policy, o->text, o->len, &e)) {
		report_fail(j->report, "order", &e);
		if (j->child > 0)
			kill(j->child, SIGKILL);
	} else if (*ready < 0) {
		jail_start(j);
	} else {
		if (is_stale(j)) {
			discard(j);
			own_close(ready);
			*ready = prepare(j);
		}
		/* Where this fails the jail has ended, and its own reason is already in the report.
		 */
		if (order_send(*ready, o, 3, &e) && j->child < 0)
			report_fail(j->report, "order", &e);
	}
	jail_wait(j, out);
}

/* Does not die with the launcher from here on, but ends with it: what it runs and what it has on
 * the host are its own to remove. */
static void take_over(int taken_fd)
{
	prctl(PR_SET_PDEATHSIG, 0);
	if (write(taken_fd, "", 1) != 1)
		_exit(1);
}

static void serve_one(struct jail *j, int socket_fd, int taken_fd)
{
	struct order o;
	struct outcome out = {0};
	struct err e = ERR_NONE;
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	j->report = report_new();
	if (!j->report)
		_exit(1);
	int ready = prepare(j);
	int rc = order_receive(socket_fd, &o, ORDER_FDS, &e);
	if (rc == 1) {
		discard(j);
		_exit(0); /* without a byte: the launcher ends too */
	}
	take_over(taken_fd);
	if (rc) {
		report_fail(j->report, "order", &e);
		if (j->child > 0)
			kill(j->child, SIGKILL);
		jail_wait(j, &out);
	} else {
		carry_out(j, &ready, &o, &out);
	}
	/* Whoever is told may be gone; the host is cleaned all the same. */
	signal(SIGPIPE, SIG_IGN);
	int failed = supervise_tell(j, &out, o.fds[3]);
	order_done(&o); /* its readers see the end here */
	close(taken_fd);
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	jail_clean(j);
	_exit(failed ? 1 : 0);
}

int serve_run(struct jail *base, int socket_fd, struct err *e)
{
	int life[2];
	signal(SIGCHLD, SIG_IGN); /* nobody waits for those that have told their outcome */
	while (open("/dev/null", O_RDWR) <= STDERR_FILENO)
		; /* an order's descriptors shall not land on these */
	if (pipe2(life, O_CLOEXEC))
		return err_errno(e, "cannot make a pipe");
	supervise_within(life[0]);
	for (;;) {
		int taken[2];
		char byte;
		if (pipe2(taken, O_CLOEXEC))
			return err_errno(e, "cannot make a pipe");
		pid_t pid = fork();
		if (!pid) {
			close(life[1]);
			serve_one(base, socket_fd, taken[1]);
		}
		close(taken[1]);
		ssize_t got = pid < 0 ? -1 : read(taken[0], &byte, 1);
		/* A short command is not disturbed by the building of the next jail. */
		struct pollfd told = {.fd = taken[0]};
		if (got == 1)
			poll(&told, 1, SHORT_MS);
		close(taken[0]);
		if (pid < 0)
			return err_errno(e, "cannot start the next launcher");
		if (got != 1)
			return 0;
	}
}
