#include "tests/security/egress/reach.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

const char *reach_role = "";

const char *egress_told(const char *name)
{
	char key[64];
	snprintf(key, sizeof(key), "EGRESS_%s", name);
	const char *value = getenv(key);
	return value ? value : "";
}

int egress_number(const char *name)
{
	return (int)strtol(egress_told(name), NULL, 10);
}

int egress_read_targets(const char *path)
{
	char line[4096];
	FILE *file = fopen(path, "re");
	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file)) {
		char *value = strchr(line, '=');
		line[strcspn(line, "\n")] = '\0';
		if (value)
			*value++ = '\0';
		if (value && setenv(line, value, 1))
			break;
	}
	return fclose(file);
}

size_t reach_message(char out[MESSAGE_BYTES], const char *id)
{
	return (size_t)snprintf(
		out, MESSAGE_BYTES, "%s %s %s\n", egress_told("MARK"), reach_role, id);
}

/* One byte from the other side. */
int reach_answered(int fd)
{
	char byte;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	if (poll(&p, 1, ANSWER_MS) <= 0)
		return ETIMEDOUT;
	ssize_t n = recv(fd, &byte, 1, 0);
	return n == 1 ? 0 : n < 0 ? errno : ECONNRESET;
}

int egress_say(int fd, const char *id)
{
	char text[MESSAGE_BYTES];
	size_t len = reach_message(text, id);
	if (send(fd, text, len, MSG_NOSIGNAL) != (ssize_t)len)
		return errno;
	return reach_answered(fd);
}

/* --- addresses -------------------------------------------------------------------------------- */

struct target reach_port(const char *host, int port)
{
	struct target t = {.len = sizeof(t.at.four)};
	t.at.four = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	if (inet_pton(AF_INET, host, &t.at.four.sin_addr) == 1)
		return t;
	t.len = sizeof(t.at.six);
	t.at.six =
		(struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
	inet_pton(AF_INET6, host, &t.at.six.sin6_addr);
	return t;
}

struct target reach_canary(const char *host)
{
	return reach_port(host, egress_number("PORT"));
}

struct target reach_unix(const char *name, size_t skip)
{
	struct target t = {.at.named.sun_family = AF_UNIX};
	size_t room = sizeof(t.at.named.sun_path) - skip - 1, len = strlen(name);
	len = len < room ? len : room;
	memcpy(t.at.named.sun_path + skip, name, len);
	t.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + skip + len);
	return t;
}

static void hurry(int fd)
{
	struct timeval soon = {.tv_sec = ANSWER_MS / 1000, .tv_usec = ANSWER_MS % 1000 * 1000};
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
}

/* A connected socket; -1 with errno. */
int reach_call(const struct target *target, int type, int protocol)
{
	int fd = socket(target->at.any.sa_family, type | SOCK_CLOEXEC, protocol);
	if (fd < 0)
		return -1;
	hurry(fd);
	if (!connect(fd, &target->at.any, target->len))
		return fd;
	int number = errno;
	close(fd);
	errno = number;
	return -1;
}

int reach_send(struct target t, int type, int protocol, const char *id)
{
	int fd = reach_call(&t, type, protocol);
	if (fd < 0)
		return errno;
	int got = egress_say(fd, id);
	close(fd);
	return got;
}

void egress_all(const char *as, void (*told)(const char *id, int got, void *ctx), void *ctx)
{
	reach_role = as;
#define ATTEMPT(id, ...) told(#id, id(#id), ctx);
	ATTEMPTS(ATTEMPT)
}
