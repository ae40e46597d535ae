#include "cli/check/probe_target.h"

#include "base/io.h"
#include "cli/check/probe.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

static const char original[] = "original\n";

enum { TCP, UDP, ABSTRACT, NAMED };

static int set_variable(struct probe_target *target, const char *name, char *value)
{
	int failed = !value || json_object_set_new(target->env, name, json_string(value));
	free(value);
	return failed;
}

static char *text(const char *format, ...) PRINTF(1, 2);

static char *text(const char *format, ...)
{
	va_list args;
	char *made = NULL;
	va_start(args, format);
	if (vasprintf(&made, format, args) < 0)
		made = NULL;
	va_end(args);
	return made;
}

static int listen_at(int type, const void *at, socklen_t len)
{
	int family = ((const struct sockaddr *)at)->sa_family;
	AUTO_FD int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, at, len) || (type == SOCK_STREAM && listen(fd, 8)))
		return -1;
	return TAKE_FD(fd);
}

static int listen_local(struct probe_target *target, int which, int type, const char *name)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	target->listeners[which] = listen_at(type, &at, len);
	if (target->listeners[which] < 0 ||
		getsockname(target->listeners[which], (struct sockaddr *)&at, &len))
		return -1;
	return set_variable(target, name, text("%u", ntohs(at.sin_port)));
}

static int listen_unix(struct probe_target *target, int which, const char *name, size_t skip)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	size_t len = strlen(name);
	if (len + skip >= sizeof(at.sun_path))
		return -1;
	memcpy(at.sun_path + skip, name, len);
	target->listeners[which] = listen_at(
		SOCK_STREAM, &at, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + skip + len));
	return target->listeners[which] < 0;
}

/* Copies this program to a place where every user can execute it. */
static int copy_program(const char *to)
{
	struct stat st;
	AUTO_FD int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	AUTO_FD int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (in < 0 || out < 0 || fstat(in, &st) || fchmod(out, 0755))
		return -1;
	for (off_t left = st.st_size; left > 0;) {
		ssize_t n = sendfile(out, in, NULL, (size_t)left);
		if (n <= 0)
			return -1;
		left -= n;
	}
	return 0;
}

static int make_tree(struct probe_target *target)
{
	AUTO_FREE char *bundle = text("%s/bundle", target->dir);
	AUTO_FREE char *outside = text("%s/outside", target->dir);
	target->workspace = text("%s/workspace", target->dir);
	target->file = text("%s/file", outside);
	target->named = text("%s/socket", outside);
	target->program = text("%s/agent6", bundle);
	if (chmod(target->dir, 0755) || mkdir(target->workspace, 0755) || mkdir(bundle, 0755) ||
		mkdir(outside, 0755) || chmod(bundle, 0755) || chmod(outside, 0755))
		return -1;
	AUTO_FD int fd = open(target->file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 || io_write(fd, original, sizeof(original) - 1) || fchmod(fd, 0666))
		return -1;
	return copy_program(target->program);
}

static int start_victim(struct probe_target *target)
{
	target->victim = fork();
	while (!target->victim)
		pause();
	return target->victim < 0 ||
	       set_variable(target, PROBE_ENV_PID, text("%d", (int)target->victim));
}

int probe_target_init(struct probe_target *target, struct err *e)
{
	char name[64], dir[] = "/tmp/agent6-check-XXXXXX";
	*target = (struct probe_target){.listeners = {-1, -1, -1, -1}, .env = json_object()};
	snprintf(name, sizeof(name), "agent6-check-%d", (int)getpid());
	if (!mkdtemp(dir))
		return err_errno(e, "cannot make a directory in /tmp");
	target->dir = strdup(dir);
	if (!target->dir || make_tree(target) ||
		listen_local(target, TCP, SOCK_STREAM, PROBE_ENV_TCP) ||
		listen_local(target, UDP, SOCK_DGRAM, PROBE_ENV_UDP) ||
		listen_unix(target, ABSTRACT, name, 1) ||
		listen_unix(target, NAMED, target->named, 0) ||
		set_variable(target, PROBE_ENV_SOCKET, strdup(name)) ||
		set_variable(target, PROBE_ENV_NAMED, strdup(target->named)) ||
		set_variable(target, PROBE_ENV_FILE, strdup(target->file)) ||
		start_victim(target)) {
		err_errno(e, "cannot set up the targets of the probes in %s", dir);
		probe_target_done(target);
		return -1;
	}
	chmod(target->named, 0666); /* so that any user could connect */
	return 0;
}

void probe_target_done(struct probe_target *target)
{
	char *files[] = {target->file, target->named, target->program, target->workspace};
	static const char *const dirs[] = {"/bundle", "/outside", ""};
	if (target->victim > 0) {
		kill(target->victim, SIGKILL);
		waitpid(target->victim, NULL, 0);
	}
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		if (files[i] && unlink(files[i]))
			rmdir(files[i]);
		free(files[i]);
	}
	for (size_t i = 0; target->dir && i < ARRAY_LEN(dirs); i++) {
		AUTO_FREE char *path = text("%s%s", target->dir, dirs[i]);
		rmdir(path);
	}
	for (int i = 0; i < PROBE_LISTENERS; i++)
		own_close(&target->listeners[i]);
	json_decref(target->env);
	free(target->dir);
}

bool probe_target_hit(struct probe_target *target)
{
	struct stat st;
	int status;
	char byte;
	bool hit = stat(target->file, &st) || st.st_size != (off_t)sizeof(original) - 1;
	for (int i = 0; i < PROBE_LISTENERS; i++) {
		int fd = i == UDP ? (int)recv(target->listeners[i], &byte, 1, 0) - 1
				  : accept(target->listeners[i], NULL, NULL);
		hit = hit || fd >= 0;
		if (i != UDP)
			own_close(&fd);
	}
	hit = hit || waitpid(target->victim, &status, WNOHANG) != 0;
	return truncate(target->file, sizeof(original) - 1) || hit;
}
