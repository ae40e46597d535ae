#include "cli/verb/jail_call.h"

#include "base/child.h"
#include "base/io.h"
#include "base/json.h"
#include "launch/orphans.h"
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

enum { STATUS_BYTES_MAX = 64 * 1024 };

static int start(
	const char *text, const int stdio[3], int status_fd, struct child *child, struct err *e)
{
	AUTO_FREE char *path = child_sibling("agent6-jail", e);
	AUTO_FD int policy_fd = path && text ? io_memory_file("policy", text, strlen(text), e) : -1;
	if (policy_fd < 0)
		return -1;
	char *argv[] = {"agent6-jail", "--policy-fd", "3", "--status-fd", "4", NULL};
	char *env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", NULL};
	int fds[] = {stdio[0], stdio[1], stdio[2], policy_fd, status_fd};
	struct child_spec spec = {.path = path,
		.argv = argv,
		.env = env,
		.fds = fds,
		.fd_count = (int)ARRAY_LEN(fds)};
	return child_start(&spec, child, e);
}

/* --- its end ---------------------------------------------------------------------------------- */

struct call_of_jail {
	struct child child;
	int status_fd, asked_fd;
	int asked; /* the first signal; 0: none */
	struct relay *relay;
	struct buf line;
	sigset_t before;
};

static void block_signals(struct call_of_jail *jail)
{
	static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_LEN(ending); i++)
		sigaddset(&set, ending[i]);
	sigprocmask(SIG_BLOCK, &set, &jail->before);
	jail->asked_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Passes a signal on. The launcher has it from the terminal already, or gets it now, even if it is
 * stopped; a second signal kills it. */
static void pass_signal(struct call_of_jail *jail)
{
	struct signalfd_siginfo info;
	if (read(jail->asked_fd, &info, sizeof(info)) != sizeof(info))
		return;
	kill(jail->child.pid, jail->asked ? SIGKILL : (int)info.ssi_signo);
	kill(jail->child.pid, SIGCONT);
	jail->asked = jail->asked ? jail->asked : (int)info.ssi_signo;
}

static void read_status(struct call_of_jail *jail)
{
	char chunk[4096];
	ssize_t got = read(jail->status_fd, chunk, sizeof(chunk));
	if (got > 0)
		buf_add(&jail->line, chunk, (size_t)got);
	else if (!got || errno != EINTR)
		own_close(&jail->status_fd);
}

enum { CHILD, STATUS, ASKED, WAYS, WATCHED = WAYS + 3 };

/* Waits until the launcher has ended and the command's output is delivered; a signal ends the wait
 * for delivery. */
static int wait_for(struct call_of_jail *jail, struct err *e)
{
	bool ended = false;
	while (!ended || jail->status_fd >= 0 ||
		(jail->relay && !jail->asked && !relay_is_empty(jail->relay))) {
		struct pollfd watched[WATCHED] = {
			[CHILD] = {ended ? -1 : jail->child.pidfd, POLLIN, 0},
			[STATUS] = {jail->status_fd, POLLIN, 0},
			[ASKED] = {jail->asked_fd, POLLIN, 0},
			[WAYS] = {-1, 0, 0},
			{-1, 0, 0},
			{-1, 0, 0}};
		if (jail->relay)
			relay_want(jail->relay, watched + WAYS);
		if (poll(watched, WATCHED, -1) < 0 && errno != EINTR)
			return err_errno(e, "cannot wait for agent6-jail");
		if (watched[ASKED].revents)
			pass_signal(jail);
		if (watched[STATUS].revents)
			read_status(jail);
		if (jail->relay)
			relay_carry(jail->relay, watched + WAYS);
		ended = ended || watched[CHILD].revents;
	}
	return 0;
}

int jail_call(const struct jail_policy *policy, const struct jail_order *order, const int stdio[3],
	struct relay *relay, struct jail_status *status, struct err *e)
{
	int ends[2];
	struct call_of_jail c = {.relay = relay, .line = BUF_INIT(STATUS_BYTES_MAX)};
	*status = (struct jail_status){.given = false};
	if (pipe2(ends, O_CLOEXEC))
		return err_errno(e, "cannot make a pipe");
	AUTO_FD int from = ends[0], to = ends[1];
	block_signals(&c);
	AUTO_FREE char *text = jail_policy_text(policy, order);
	int code = start(text, stdio, to, &c.child, e);
	own_close(&to);
	if (!code) {
		c.status_fd = TAKE_FD(from);
		int failed = wait_for(&c, e);
		if (failed)
			kill(c.child.pid, SIGKILL);
		int ended = child_wait(&c.child);
		orphans_end(); /* if the launcher was killed */
		code = failed ? -1 : WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
		own_close(&c.status_fd);
	}
	own_close(&c.asked_fd);
	if (c.asked)
		raise(c.asked);
	sigprocmask(SIG_SETMASK, &c.before, NULL);
	if (c.line.len)
		*status =
			jail_status_of(json_read(c.line.data, c.line.len, STATUS_BYTES_MAX, NULL));
	buf_done(&c.line);
	return code;
}
