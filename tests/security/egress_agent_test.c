/*
 * The confined agent as the attacker: it has its broker's channel and nothing else. Every attempt
 * of the attack corpus to reach a service of the host fails, on both profiles, and the canaries
 * stay silent; through the channel there is the endpoint alone.
 */
#include "agent/confine.h"
#include "base/child.h"
#include "provider/channel.h"
#include "tests/kit/tap.h"
#include "tests/security/attacks/decoy.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { RUN_SECS = 20, NOT_CONFINED = 240, NO_CONNECTION = 241, WRONG_ANSWER = 242 };

static const char *const attempts[] = {"net_tcp4", "net_tcp6", "net_udp", "net_fastopen",
	"net_fastopen_msg", "net_mptcp", "net_raw", "net_ping", "net_packet", "net_netlink",
	"net_vsock", "net_vsock_high", "net_alg", "net_families", "net_config", "unix_abstract",
	"unix_outside", "unix_inside", "call_io_uring", "ns_setns"};

struct world {
	struct decoy decoy;
	struct child broker;
	int channel;   /* the agent's end */
	int server_fd; /* the endpoint */
	uint16_t port;
};

static int become_agent(const struct world *w, const char *profile)
{
	struct order o = {.profile = profile,
		.agent_network = "providers",
		.workspace = w->decoy.root,
		.state_dir = w->decoy.root,
		.max_egress_bytes = -1};
	struct err e = ERR_NONE;
	json_auto_t *layers = json_object();
	if (confine(&o, layers, &e) == 0)
		return 0;
	printf("# %s: %s\n", profile, e.text);
	return -1;
}

static int run(struct world *w, const char *profile, int (*attempt)(struct world *, const char *),
	const char *id)
{
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		bool failed = profile && become_agent(w, profile) < 0;
		int answer = failed ? NOT_CONFINED : attempt(w, id);
		fflush(stdout);
		_exit(answer);
	}
	return decoy_wait(pid, RUN_SECS);
}

static int attack(struct world *w, const char *id)
{
	for (size_t i = 0; i < w->decoy.told_count; i++)
		setenv(w->decoy.told[i].name, w->decoy.told[i].value, 1);
	setenv("ATTACK_FIRST", "1", 1);
	execl(w->decoy.attack, w->decoy.attack, id, NULL);
	return 252;
}

/* --- through the channel ---------------------------------------------------------------------- */

static int ask(const struct world *w)
{
	return channel_connect(w->channel, RUN_SECS * 1000, NULL);
}

/* 0 when the request is answered by the endpoint. */
static int request(struct world *w, const char *host)
{
	char text[256], answer[16] = "";
	AUTO_FD int fd = ask(w);
	if (fd < 0)
		return NO_CONNECTION;
	int len = snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host);
	if (send(fd, text, (size_t)len, MSG_NOSIGNAL) != len || recv(fd, answer, 2, 0) != 2)
		return ECONNRESET;
	return memcmp(answer, "ok", 2) == 0 ? 0 : WRONG_ANSWER;
}

static int own_host(struct world *w, const char *id)
{
	(void)id;
	return request(w, "127.0.0.1");
}

static int other_host(struct world *w, const char *id)
{
	(void)id;
	return request(w, "169.254.169.254");
}

static int reconnect(struct world *w, const char *id)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
		.sin_port = htons(w->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr none = {.sa_family = AF_UNSPEC};
	AUTO_FD int fd = ask(w);
	(void)id;
	if (fd < 0)
		return NO_CONNECTION;
	if (connect(fd, &none, sizeof(none)) == 0)
		return 0;
	return connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ? errno : 0;
}

/* The TCP socket itself, out of the broker. */
static int steal(struct world *w, const char *id)
{
	char path[64];
	AUTO_FD int held = ask(w);
	(void)id;
	int pidfd = (int)syscall(SYS_pidfd_open, w->broker.pid, 0);
	for (int fd = 3; fd < 40; fd++) {
		if (pidfd >= 0 && syscall(SYS_pidfd_getfd, pidfd, fd, 0) >= 0)
			return 0;
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", w->broker.pid, fd);
		if (open(path, O_RDONLY | O_CLOEXEC) >= 0)
			return 0;
	}
	return EPERM;
}

/* --- the stage ---------------------------------------------------------------------------------
 */

static void start_server(struct world *w)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	w->server_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(w->server_fd, (struct sockaddr *)&at, size) || listen(w->server_fd, 16) ||
		getsockname(w->server_fd, (struct sockaddr *)&at, &size))
		bail("cannot listen");
	w->port = ntohs(at.sin_port);
}

static pid_t serve(const struct world *w)
{
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	for (;;) {
		char head[512];
		int fd = accept(w->server_fd, NULL, NULL);
		if (fd >= 0 && recv(fd, head, sizeof(head), 0) > 0 &&
			send(fd, "ok", 2, MSG_NOSIGNAL) == 2)
			recv(fd, head, sizeof(head), 0);
		close(fd);
	}
}

static void start_broker(struct world *w)
{
	int pair[2];
	char path[512], channel[64];
	struct err e = ERR_NONE;
	const char *bin = getenv("AGENT6_BIN");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		bail("socketpair");
	snprintf(path, sizeof(path), "%s/agent6-broker", bin ? bin : "build/bin");
	snprintf(channel, sizeof(channel), "3=127.0.0.1:%u,plain", w->port);
	char *argv[] = {(char[]){"agent6-broker"}, (char[]){"--channel"}, channel, NULL};
	char *env[] = {NULL};
	int fds[] = {0, 1, 2, pair[1]};
	struct child_spec spec = {.path = path,
		.argv = argv,
		.env = env,
		.fds = fds,
		.fd_count = (int)ARRAY_LEN(fds)};
	if (child_start(&spec, &w->broker, &e))
		bail("%s", e.text);
	close(pair[1]);
	w->channel = pair[0];
}

/* The same attempts do get through when nothing stands in their way. */
static void test_unconfined(struct world *w)
{
	static const char *const some[] = {"net_tcp4", "net_udp", "unix_abstract", "unix_outside"};
	for (size_t i = 0; i < ARRAY_LEN(some); i++) {
		decoy_fill(&w->decoy);
		is(run(w, NULL, attack, some[i]), 0, "without confinement: %s succeeds", some[i]);
		decoy_clear(&w->decoy);
	}
}

static void test_profile(struct world *w, const char *profile)
{
	for (size_t i = 0; i < ARRAY_LEN(attempts); i++) {
		decoy_fill(&w->decoy);
		int got = run(w, profile, attack, attempts[i]);
		AUTO_FREE char *harm = decoy_harm(&w->decoy);
		ok(got != 0 && got < NOT_CONFINED, "%s: %s is refused (%s)", profile, attempts[i],
			got < 134 ? strerror(got) : "by a signal");
		is_str(harm, NULL, "%s: %s touches nothing", profile, attempts[i]);
		decoy_clear(&w->decoy);
	}
	is(run(w, profile, own_host, NULL), 0, "%s: the endpoint answers through the channel",
		profile);
	is(run(w, profile, other_host, NULL), ECONNRESET, "%s: another Host does not", profile);
	ok(run(w, profile, reconnect, NULL) != 0, "%s: its socket leads nowhere else", profile);
	is(run(w, profile, steal, NULL), EPERM, "%s: the broker's sockets cannot be taken",
		profile);
}

int main(void)
{
	static struct world w;
	decoy_init(&w.decoy, tap_scratch(), false);
	start_server(&w);
	pid_t server = serve(&w);
	start_broker(&w);
	test_unconfined(&w);
	test_profile(&w, "strict");
	test_profile(&w, "hardened");
	close(w.channel);
	is(child_wait(&w.broker), 0, "the broker ends with its channel");
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	decoy_done(&w.decoy);
	return tap_done();
}
