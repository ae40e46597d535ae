#include "cli/check/probe.h"

#include "base/cleanup.h"
#include "base/num.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

static const char *told(const char *name)
{
	const char *value = getenv(name);
	return value ? value : "";
}

static long long told_number(const char *name)
{
	int64_t number = 0;
	return num_int(told(name), strlen(told(name)), &number) ? 0 : (long long)number;
}

static int answer(long result)
{
	return result < 0 ? errno : 0;
}

static int write_outside(void)
{
	AUTO_FD int fd = open(told(PROBE_ENV_FILE), O_WRONLY | O_APPEND | O_CLOEXEC);
	return fd < 0 ? errno : answer(write(fd, "x", 1));
}

static int read_outside(void)
{
	char byte;
	AUTO_FD int fd = open(told(PROBE_ENV_FILE), O_RDONLY | O_CLOEXEC);
	return fd < 0 ? errno : answer(read(fd, &byte, 1));
}

static struct sockaddr_in local(const char *name)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
		.sin_port = htons((uint16_t)told_number(name)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int tcp(void)
{
	struct sockaddr_in at = local(PROBE_ENV_TCP);
	AUTO_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return fd < 0 ? errno : answer(connect(fd, (struct sockaddr *)&at, sizeof(at)));
}

/* Sends a packet. One to the jail's own loopback is sent too, so only the refusal that comes back
 * counts. */
static int udp(void)
{
	char byte = 'x';
	struct sockaddr_in at = local(PROBE_ENV_UDP);
	struct timeval soon = {.tv_usec = 200000};
	AUTO_FD int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) || send(fd, &byte, 1, 0) < 0)
		return errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
	return recv(fd, &byte, 1, 0) < 0 && errno == ECONNREFUSED ? ECONNREFUSED : 0;
}

static int wait_child(pid_t pid)
{
	int status = 0;
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

static int trace(void)
{
	pid_t pid = fork();
	if (!pid)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) ? errno : 0);
	return pid < 0 ? errno : wait_child(pid);
}

static int user_namespace(void)
{
	pid_t pid = fork();
	if (!pid)
		_exit(unshare(CLONE_NEWUSER) ? errno : 0);
	return pid < 0 ? errno : wait_child(pid);
}

static int set_id(void)
{
	AUTO_FD int fd = open("probe-set-id", O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	int result = fd < 0 ? errno : answer(fchmod(fd, 04700));
	unlink("probe-set-id");
	return result;
}

static int connect_unix(const char *name, size_t skip)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	size_t len = strlen(name);
	if (len + skip >= sizeof(at.sun_path))
		return ENAMETOOLONG;
	memcpy(at.sun_path + skip, name, len);
	AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + skip + len);
	return fd < 0 ? errno : answer(connect(fd, (struct sockaddr *)&at, size));
}

static int abstract_socket(void)
{
	return connect_unix(told(PROBE_ENV_SOCKET), 1);
}

static int named_socket(void)
{
	return connect_unix(told(PROBE_ENV_NAMED), 0);
}

static int signal_outside(void)
{
	pid_t pid = (pid_t)told_number(PROBE_ENV_PID);
	return pid > 1 ? answer(kill(pid, SIGCONT)) : EINVAL;
}

static const struct {
	const char *name;
	int (*attempt)(void);
} probes[] = {
#define PROBE_ROW(name, says) {#name, name},
	PROBES(PROBE_ROW)};

int probe_inside(void)
{
	json_auto_t *results = json_object();
	for (size_t i = 0; i < ARRAY_LEN(probes); i++)
		json_object_set_new(results, probes[i].name, json_integer(probes[i].attempt()));
	return json_dumpf(results, stdout, JSON_COMPACT) || fflush(stdout) ? 1 : 0;
}
