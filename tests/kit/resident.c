#include "tests/kit/resident.h"

#include "base/io.h"
#include "base/json.h"
#include "tests/kit/tap.h"
#include "tests/kit/tree.h"
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { BYTES_MAX = 1 << 20 };

/* None of it is for a command to see. */
static void odd_world(void)
{
	sigset_t blocked;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	umask(0);
	if (chdir("/") || setenv("ODD", "leak", 1) || fcntl(STDERR_FILENO, F_DUPFD, 20) < 0)
		_exit(1);
}

void resident_start(struct resident *resident, const char *profile, const char *name, uid_t uid)
{
	int pair[2];
	const char *program = tree_path(getenv("AGENT6_BIN"), "agent6-jail");
	resident->ws = strdup(tree_path(tap_scratch(), name));
	const char *file = tree_path(resident->ws, "../policy.json");
	tree_file(resident->ws, ".git/config", "original\n", 0644);
	const char *git = tree_path(resident->ws, ".git"), *later = tree_path(resident->ws, ".hg");
	json_auto_t *policy = json_pack("{s:i,s:s,s:[s],s:s,s:{s:s,s:s},s:i,s:[s,s]}", "version", 1,
		"profile", profile, "argv", "true", "cwd", resident->ws, "workspace", "path",
		resident->ws, "access", "write", "timeout_secs", 100, "protect", git, later);
	if (chmod(tap_scratch(), 0755) || json_dump_file(policy, file, 0) || chmod(file, 0644) ||
		(uid && chown(resident->ws, uid, uid)) ||
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		bail("cannot set up the server: %s", strerror(errno));
	resident->pid = fork();
	if (!resident->pid) {
		odd_world();
		if ((uid && (setgroups(0, NULL) || setresgid(uid, uid, uid) ||
				    setresuid(uid, uid, uid))) ||
			dup2(pair[1], 9) < 0)
			_exit(1);
		execl(program, "agent6-jail", "serve", "--socket-fd", "9", "--policy", file, NULL);
		_exit(1);
	}
	close(pair[1]);
	resident->socket = pair[0];
}

void resident_stop(struct resident *resident)
{
	int status = -1;
	close(resident->socket);
	ok(waitpid(resident->pid, &status, 0) == resident->pid && status == 0,
		"the server ends with its client");
	free(resident->ws);
}

void resident_send(int socket_fd, const char *order, const int *fds, size_t count)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE((RESIDENT_FDS + 1) * sizeof(int))];
	} control = {.space = {0}};
	struct iovec data = {(void *)(uintptr_t)order, strlen(order)};
	struct msghdr message = {.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = CMSG_SPACE(count * sizeof(int))};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(count * sizeof(int));
	memcpy(CMSG_DATA(header), fds, count * sizeof(int));
	if (sendmsg(socket_fd, &message, MSG_NOSIGNAL) < 0)
		bail("cannot send: %s", strerror(errno));
}

int resident_begin(const struct resident *resident, const char *order, int *out_fd)
{
	int ends[2];
	AUTO_FD int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	*out_fd = memfd_create("out", MFD_CLOEXEC);
	if (pipe2(ends, O_CLOEXEC) || nothing < 0 || *out_fd < 0)
		bail("cannot make descriptors");
	int fds[RESIDENT_FDS] = {nothing, *out_fd, *out_fd, ends[1]};
	resident_send(resident->socket, order, fds, RESIDENT_FDS);
	close(ends[1]);
	return ends[0];
}

struct reply resident_finish(int status_fd, int out_fd)
{
	struct reply r = {NULL, NULL};
	AUTO_BUF status, out;
	buf_init(&status, BYTES_MAX);
	buf_init(&out, BYTES_MAX);
	struct err e = ERR_NONE;
	if (io_read_all(status_fd, &status, "status", &e) || lseek(out_fd, 0, SEEK_SET) ||
		io_read_all(out_fd, &out, "output", &e))
		bail("%s", e.text);
	close(status_fd);
	close(out_fd);
	r.status = json_read(status.data, status.len, BYTES_MAX, &e);
	r.out = buf_take(&out, NULL);
	if (!r.status)
		bail("no status: %s", e.text);
	return r;
}

void reply_done(struct reply *reply)
{
	json_decref(reply->status);
	free(reply->out);
}

struct reply resident_order(const struct resident *resident, const char *order)
{
	int out_fd, status_fd = resident_begin(resident, order, &out_fd);
	return resident_finish(status_fd, out_fd);
}

json_int_t reply_number(const struct reply *reply, const char *key)
{
	return json_is_integer(json_object_get(reply->status, key))
		       ? json_integer_value(json_object_get(reply->status, key))
		       : -1;
}
