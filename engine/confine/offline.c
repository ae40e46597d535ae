#include "confine/offline.h"

#include "base/child.h"
#include "base/cleanup.h"
#include "base/exit.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

enum { FAMILIES = 46, RING_BYTES = 256 };

static const char nothing[] = "nothing";

static socklen_t abstract_address(const char *name, struct sockaddr_un *out)
{
	*out = (struct sockaddr_un){.sun_family = AF_UNIX};
	int len = snprintf(out->sun_path + 1, sizeof(out->sun_path) - 1, "%s", name);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
}

int offline_open(struct offline *offline, struct err *e)
{
	struct sockaddr_un at;
	snprintf(offline->name, sizeof(offline->name), "agent6-offline-%d", (int)getpid());
	socklen_t len = abstract_address(offline->name, &at);
	AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, len) || listen(fd, 1))
		return err_errno(e, "cannot make the socket that a probe aims at");
	offline->listen_fd = TAKE_FD(fd);
	return 0;
}

void offline_close(struct offline *offline)
{
	own_close(&offline->listen_fd);
}

int offline_command(const struct offline *offline, json_t **argv, char **directory, struct err *e)
{
	AUTO_FREE char *program = child_sibling("agent6", e);
	if (!program)
		return -1;
	*argv = json_pack("[s,s,s,s,s]", program, "check", "sandbox", "--offline", offline->name);
	*strrchr(program, '/') = '\0';
	*directory = TAKE_PTR(program);
	return *argv ? 0 : err_set(e, "out of memory");
}

/* --- inside ----------------------------------------------------------------------------------- */

static int try_sockets(void)
{
	static const int types[] = {
		SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_RDM, SOCK_SEQPACKET, SOCK_DCCP};
	int open_count = 0;
	for (int family = 0; family < FAMILIES; family++)
		for (size_t i = 0; i < ARRAY_LEN(types) && family != AF_UNIX; i++) {
			AUTO_FD int fd = socket(family, types[i] | SOCK_CLOEXEC, 0);
			if (fd < 0)
				continue;
			printf("%sa socket of family %d", open_count++ ? ", " : "", family);
			break;
		}
	return open_count;
}

int offline_attempt(const char *abstract_name)
{
	struct sockaddr_un at;
	char ring[RING_BYTES] __attribute__((aligned(8))) = "";
	int open_count = try_sockets();
	socklen_t len = abstract_address(abstract_name, &at);
	AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&at, len))
		printf("%san abstract socket of this host", open_count++ ? ", " : "");
	AUTO_FD int ring_fd = (int)syscall(SYS_io_uring_setup, 1, ring);
	if (ring_fd >= 0)
		printf("%sio_uring", open_count++ ? ", " : "");
	if (!open_count)
		fputs(nothing, stdout);
	return fflush(stdout) || open_count ? EXIT_FAILED : EXIT_OK;
}

/* --- outside ---------------------------------------------------------------------------------- */

/* Judges by the command's words, not by its status: a sanitizer that may not trace has a status of
 * its own. */
int offline_judge(const struct offline *offline, const struct fact *fact, struct err *e)
{
	const char *through = fact->kind == FACT_TOOL ? fact->tool.output : NULL;
	AUTO_FD int caller = accept(offline->listen_fd, NULL, NULL);
	if (through && !strcmp(through, nothing) && caller < 0)
		return 0;
	if (through && *through && strcmp(through, nothing) != 0)
		return err_set(e,
			"a command that is to be offline can open %s; what sandbox.agent_network "
			"and sandbox.tool_network demand cannot be kept here, use sandbox.profile "
			"strict",
			through);
	return err_set(e, "the probe that is to be kept offline did not run to its end");
}
