#include "agent/tools/launch.h"

#include "base/child.h"
#include "base/io.h"
#include "base/json.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { STREAMS = 3, STATUS_BYTES_MAX = 64 * 1024, TIMEOUT_MAX_SECS = 86400 };
enum { POLICY_FD = 3, STATUS_FD = 4 };

struct launcher {
	const json_t *policy;
	const char *jail;
	int socket_fd;
};

/* --- the launcher's side ------------------------------------------------------------------- */

static ssize_t receive(int fd, char *text, size_t size, int fds[STREAMS])
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(STREAMS * sizeof(int))];
	} control;
	struct iovec io = {.iov_base = text, .iov_len = size};
	struct msghdr m = {.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof(control.space)};
	ssize_t n;
	do
		n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(STREAMS * sizeof(int)) ||
		(m.msg_flags & MSG_TRUNC))
		return -1;
	memcpy(fds, CMSG_DATA(c), STREAMS * sizeof(int));
	return n;
}

/* The fixed policy with this command in it, as a file that nobody else can reach. */
static int policy_file(const struct launcher *l, const json_t *request)
{
	const json_t *argv = json_object_get(request, "argv");
	const json_t *secs = json_object_get(request, "timeout_secs");
	json_int_t allowed = json_integer_value(secs);
	if (!json_is_array(argv) || allowed < 1 || allowed > TIMEOUT_MAX_SECS)
		return -1;
	json_auto_t *policy = json_deep_copy(l->policy);
	json_object_set(policy, "argv", (json_t *)(uintptr_t)argv);
	json_object_set(policy, "timeout_secs", (json_t *)(uintptr_t)secs);
	AUTO_FREE char *text = json_text(policy);
	AUTO_FD int fd = memfd_create("policy", MFD_CLOEXEC);
	if (!text || fd < 0 || io_write(fd, text, strlen(text)) || lseek(fd, 0, SEEK_SET))
		return -1;
	return TAKE_FD(fd);
}

static void run_jail(const struct launcher *l, int policy_fd, const int fds[STREAMS])
{
	char *argv[] = {(char *)(uintptr_t) "agent6-jail", (char *)(uintptr_t) "--policy-fd",
		(char *)(uintptr_t) "3", (char *)(uintptr_t) "--status-fd", (char *)(uintptr_t) "4",
		NULL};
	char *none[] = {NULL};
	AUTO_FD int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int given[] = {null_fd, fds[0], fds[1], policy_fd, fds[2]};
	struct child_spec spec = {.path = l->jail,
		.argv = argv,
		.env = none,
		.fds = given,
		.fd_count = (int)ARRAY_LEN(given)};
	struct child child;
	if (null_fd >= 0 && !child_start(&spec, &child, NULL))
		child_wait(&child);
}

/* One command at a time, until the agent is gone. */
static void serve(const struct launcher *l)
{
	static char text[LAUNCH_ARGV_BYTES_MAX + 256];
	for (;;) {
		int fds[STREAMS] = {-1, -1, -1};
		ssize_t n = receive(l->socket_fd, text, sizeof(text), fds);
		if (n < 0)
			_exit(0);
		json_auto_t *request = json_read(text, (size_t)n, sizeof(text), NULL);
		AUTO_FD int policy_fd = policy_file(l, request);
		if (policy_fd >= 0)
			run_jail(l, policy_fd, fds);
		for (int i = 0; i < STREAMS; i++)
			own_close(&fds[i]);
	}
}

int launch_start(const json_t *policy, int *socket_fd, struct err *e)
{
	AUTO_FREE char *jail = child_sibling("agent6-jail", e);
	int pair[2];
	if (!jail)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_errno(e, "cannot make the launcher's socket");
	pid_t agent = getpid(), pid = fork();
	if (pid == 0) {
		struct launcher l = {.policy = policy, .jail = jail, .socket_fd = pair[1]};
		close(pair[0]);
		/* The agent's own pipes carry the key; this process has no business with them. */
		close(STDIN_FILENO);
		close(STDOUT_FILENO);
		open("/dev/null", O_RDWR);
		open("/dev/null", O_RDWR);
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) || prctl(PR_SET_DUMPABLE, 0) ||
			getppid() != agent)
			_exit(1);
		serve(&l);
	}
	close(pair[1]);
	*socket_fd = pair[0];
	return pid < 0 ? err_errno(e, "cannot start the launcher") : 0;
}

/* --- the agent's side ---------------------------------------------------------------------- */

static int send_request(int socket_fd, const char *text, const int fds[STREAMS], struct err *e)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(STREAMS * sizeof(int))];
	} control = {.space = {0}};
	struct iovec io = {.iov_base = (char *)(uintptr_t)text, .iov_len = strlen(text)};
	struct msghdr m = {.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof(control.space)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(STREAMS * sizeof(int));
	memcpy(CMSG_DATA(c), fds, STREAMS * sizeof(int));
	if (sendmsg(socket_fd, &m, MSG_NOSIGNAL) < 0)
		return err_errno(e, "the launcher has ended");
	return 0;
}

static bool drain(int fd, struct capture *c)
{
	char chunk[65536];
	ssize_t n = read(fd, chunk, sizeof(chunk));
	if (n > 0)
		capture_add(c, chunk, (size_t)n);
	return n > 0 || (n < 0 && errno == EINTR);
}

/* Reads all three streams to their ends; a full pipe never holds the command up. */
static void collect(int fds[STREAMS], struct launched *l, struct capture *status)
{
	struct capture *to[STREAMS] = {&l->out, &l->err, status};
	for (int open_count = STREAMS; open_count;) {
		struct pollfd p[STREAMS];
		for (int i = 0; i < STREAMS; i++)
			p[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
		if (poll(p, STREAMS, -1) < 0 && errno != EINTR)
			return;
		for (int i = 0; i < STREAMS; i++)
			if (p[i].revents && fds[i] >= 0 && !drain(fds[i], to[i])) {
				own_close(&fds[i]);
				open_count--;
			}
	}
}

static int converse(int socket_fd, const char *request, struct launched *out, struct err *e)
{
	int ends[STREAMS][2], readers[STREAMS], writers[STREAMS];
	for (int i = 0; i < STREAMS; i++) {
		if (pipe2(ends[i], O_CLOEXEC)) {
			err_errno(e, "cannot make a pipe");
			for (int k = 0; k < i; k++)
				close(readers[k]), close(writers[k]);
			return -1;
		}
		readers[i] = ends[i][0];
		writers[i] = ends[i][1];
	}
	int rc = send_request(socket_fd, request, writers, e);
	struct capture status;
	if (capture_init(&status))
		rc = err_set(e, "out of memory");
	for (int i = 0; i < STREAMS; i++)
		own_close(&writers[i]);
	if (!rc)
		collect(readers, out, &status);
	for (int i = 0; i < STREAMS; i++)
		own_close(&readers[i]);
	if (!rc && status.head.len)
		out->status = json_read(status.head.data, status.head.len, STATUS_BYTES_MAX, NULL);
	capture_done(&status);
	return rc;
}

int launch_run(int socket_fd, const json_t *argv, int64_t timeout_secs, struct launched *out,
	struct err *e)
{
	json_auto_t *request =
		json_pack("{s:O, s:I}", "argv", argv, "timeout_secs", (json_int_t)timeout_secs);
	AUTO_FREE char *text = request ? json_text(request) : NULL;
	*out = (struct launched){.status = NULL};
	if (!text || strlen(text) > LAUNCH_ARGV_BYTES_MAX)
		return err_set(
			e, "the command line is longer than %d bytes", LAUNCH_ARGV_BYTES_MAX);
	int rc = capture_init(&out->out) || capture_init(&out->err)
			 ? err_set(e, "out of memory")
			 : converse(socket_fd, text, out, e);
	if (rc)
		launched_done(out);
	return rc;
}

void launched_done(struct launched *l)
{
	capture_done(&l->out);
	capture_done(&l->err);
	json_decref(l->status);
	l->status = NULL;
}
