#include "cli/verb/jail_call.h"

#include "base/child.h"
#include "base/io.h"
#include "base/json.h"
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

enum { STATUS_BYTES_MAX = 64 * 1024 };

static int start(
	const json_t *policy, const int stdio[3], int status_fd, struct child *child, struct err *e)
{
	AUTO_FREE char *path = child_sibling("agent6-jail", e);
	AUTO_FREE char *text = json_text(policy);
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

int jail_call(const json_t *policy, const int stdio[3], json_t **status, struct err *e)
{
	int ends[2];
	struct child child;
	*status = NULL;
	if (pipe2(ends, O_CLOEXEC))
		return err_errno(e, "cannot make a pipe");
	AUTO_FD int from = ends[0], to = ends[1];
	if (start(policy, stdio, to, &child, e))
		return -1;
	own_close(&to);
	AUTO_BUF line = BUF_INIT(STATUS_BYTES_MAX);
	int unread = io_read_all(from, &line, "the jail's status", e);
	int ended = child_wait(&child);
	if (!unread && line.len)
		*status = json_read(line.data, line.len, STATUS_BYTES_MAX, NULL);
	return WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
}
