#include "launch/launcher.h"

#include "base/clock.h"
#include "base/fdpass.h"
#include "base/io.h"
#include "base/json.h"
#include "launch/orphans.h"
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

enum { STOP_MS = 5000 };

static int policy_file(const struct jail_policy *policy, struct err *e)
{
	AUTO_FREE char *text = jail_policy_text(policy, NULL);
	if (!text)
		return err_set(e, "the jail's policy cannot be written");
	return io_memory_file("policy", text, strlen(text), e);
}

static int start(const char *path, const int fds[], int count, struct child *child, struct err *e)
{
	char *argv[] = {(char[]){"agent6-jail"}, (char[]){"serve"}, (char[]){"--socket-fd"},
		(char[]){"3"}, (char[]){"--status-fd"}, (char[]){"4"}, NULL};
	char *none[] = {NULL};
	struct child_spec spec = {path, argv, none, fds, count, true};
	return child_start(&spec, child, e);
}

int launcher_start(
	const struct jail_policy *policy, int proxy_fd, struct launcher *out, struct err *e)
{
	int pair[2], ends[2], room = LAUNCHER_ORDER_BYTES_MAX;
	AUTO_FREE char *path = child_sibling("agent6-jail", e);
	AUTO_FD int policy_fd = path ? policy_file(policy, e) : -1;
	if (policy_fd < 0)
		return -1;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return err_errno(e, "cannot make a pipe");
	AUTO_FD int words_fd = ends[0], says_fd = ends[1],
		    null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null_fd < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_errno(e, "cannot make the launcher's descriptors");
	AUTO_FD int ours = pair[0], theirs = pair[1];
	int fds[] = {policy_fd, null_fd, null_fd, theirs, says_fd, proxy_fd};
	_Static_assert(ARRAY_LEN(fds) == LAUNCHER_PROXY_FD + 1, "the policy names this descriptor");
	struct launcher l = {.words_fd = -1};
	if (setsockopt(ours, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)))
		return err_errno(e, "cannot make room for an order");
	if (start(path, fds, proxy_fd < 0 ? LAUNCHER_PROXY_FD : LAUNCHER_PROXY_FD + 1, &l.child, e))
		return -1;
	l.socket_fd = TAKE_FD(ours);
	l.words_fd = TAKE_FD(words_fd);
	*out = l;
	return 0;
}

int launcher_order(struct launcher *launcher, const char *order, size_t len,
	const int fds[LAUNCHER_FDS], struct err *e)
{
	if (len > LAUNCHER_ORDER_BYTES_MAX)
		return err_set(e, "the command and its environment are longer than %d KiB",
			LAUNCHER_ORDER_BYTES_MAX / 1024);
	if (!fdpass_send(launcher->socket_fd, order, len, fds, LAUNCHER_FDS))
		return 0;
	return errno == EPIPE || errno == ECONNRESET
		       ? 1
		       : err_errno(e, "cannot give the jail's launcher an order");
}

struct jail_status launcher_status(const struct launcher *launcher, const char *line, size_t len)
{
	char own[LAUNCHER_STATUS_BYTES_MAX];
	if (len)
		return jail_status_of(json_read(line, len, LAUNCHER_STATUS_BYTES_MAX, NULL));
	ssize_t got = read(launcher->words_fd, own, sizeof(own));
	return jail_status_of(got > 0 ? json_read(own, (size_t)got, sizeof(own), NULL) : NULL);
}

bool launcher_gone(const struct launcher *launcher)
{
	struct pollfd end = {.fd = launcher->child.pidfd, .events = POLLIN};
	return launcher->child.pid > 0 && poll(&end, 1, 0) > 0;
}

void launcher_kill(struct launcher *launcher)
{
	if (launcher->child.pid <= 0)
		return;
	/* The shutdown works even for a caller that Landlock keeps from sending signals. */
	shutdown(launcher->socket_fd, SHUT_RDWR);
	kill(launcher->child.pid, SIGKILL);
}

/* Waits until the launcher's processes are gone: each holds the other end, except those inside a
 * finished jail. */
static bool all_gone(const struct launcher *launcher)
{
	struct pollfd other = {.fd = launcher->words_fd};
	return io_poll(&other, 1, clock_monotonic_ms() + STOP_MS) > 0;
}

void launcher_close(struct launcher *launcher)
{
	if (launcher->socket_fd >= 0)
		shutdown(launcher->socket_fd, SHUT_WR);
}

void launcher_stop(struct launcher *launcher)
{
	if (launcher->child.pid <= 0)
		return;
	own_close(&launcher->socket_fd);
	if (!all_gone(launcher)) {
		launcher_kill(launcher);
		all_gone(launcher);
	}
	own_close(&launcher->words_fd);
	child_wait(&launcher->child);
	launcher->child.pid = -1;
	orphans_end(); /* if it was killed before it could end its commands */
}
