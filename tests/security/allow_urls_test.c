/*
 * sandbox.allow_urls, from the configuration to the wire: the order a run would give its agent, the
 * agent's own channels and confinement, the real broker. The confined process reaches the host that
 * was added, by that host's name alone, and no other.
 */
#include "agent/channels.h"
#include "agent/request.h"
#include "agent/self_confine.h"
#include "base/io.h"
#include "base/json.h"
#include "config/config.h"
#include "confine/confine.h"
#include "provider/channel.h"
#include "tests/kit/tap.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { WAIT_SECS = 100, NOT_CONFINED = 240, NO_CONNECTION = 241, WRONG_ANSWER = 242 };

struct world {
	struct agent_order order;
	struct channels channels;
	char added[64]; /* HOST:PORT of the host that was added */
};

static int listen_on(uint16_t *port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) || listen(fd, 16) ||
		getsockname(fd, (struct sockaddr *)&at, &size))
		bail("cannot listen on loopback");
	*port = ntohs(at.sin_port);
	return fd;
}

/* Answers each connection with `word`. */
static pid_t serve(int listen_fd, const char *word)
{
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	for (;;) {
		char head[512];
		int fd = accept(listen_fd, NULL, NULL);
		if (fd >= 0 && recv(fd, head, sizeof(head), 0) > 0 &&
			send(fd, word, strlen(word), MSG_NOSIGNAL) > 0)
			recv(fd, head, sizeof(head), 0);
		close(fd);
	}
}

static void read_order(json_t *line, struct agent_order *out)
{
	struct err e = ERR_NONE;
	int ends[2];
	AUTO_FREE char *text = json_text(line);
	if (pipe2(ends, O_CLOEXEC) || io_write(ends[1], text, strlen(text)) ||
		io_write(ends[1], "\n", 1))
		bail("cannot pass the order on");
	if (order_read(ends[0], out, &e))
		bail("%s", e.text);
	close(ends[0]);
	close(ends[1]);
}

/* Makes the order that the supervisor would send under this configuration, for a provider at
 * `provider`. */
static void make_order(struct world *world, uint16_t provider, const char *profile)
{
	static const char *const names[] = {"p"};
	char url[64], entry[80];
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", provider);
	snprintf(entry, sizeof(entry), "http://%s", world->added);
	const char *const entries[] = {entry, NULL};
	struct config *config = config_rehearsal(names, 1, API_ANTHROPIC, url, tap_scratch());
	config->sandbox.allow_urls = (struct config_list){entries, 1};
	struct confine c = {.config = config, .profile = profile, .workspace = tap_scratch()};
	const struct config_provider *asked = &config->providers[0];
	struct agent_order order;
	struct err e = ERR_NONE;
	if (confine_agent(&c, &asked, 1, tap_scratch(), &order, &e))
		bail("%s", e.text);
	json_auto_t *line = agent_order_encode(&order);
	read_order(line, &world->order);
	agent_order_done(&order);
	config_free(config);
}

static int request(int channel, const char *host, const char *want)
{
	char text[256], answer[16] = "";
	AUTO_FD int fd = channel_connect(channel, WAIT_SECS * 1000, NULL);
	if (fd < 0)
		return NO_CONNECTION;
	int len = snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host);
	if (send(fd, text, (size_t)len, MSG_NOSIGNAL) != len || recv(fd, answer, 3, 0) != 3)
		return ECONNRESET;
	return strcmp(answer, want) ? WRONG_ANSWER : 0;
}

/* Makes a request as the agent would: confined, with only its channels. */
static int confined_request(struct world *world, size_t channel, const char *host, const char *want)
{
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(WAIT_SECS);
		json_auto_t *layers = json_object();
		struct err e = ERR_NONE;
		if (self_confine(&world->order, layers, &e)) {
			fprintf(stderr, "# %s\n", e.text);
			_exit(NOT_CONFINED);
		}
		_exit(request(world->channels.fds[channel], host, want));
	}
	int status;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void test_profile(const char *profile, uint16_t provider, uint16_t added)
{
	struct world w = {.channels = {.control_fd = -1}};
	struct err e = ERR_NONE;
	snprintf(w.added, sizeof(w.added), "127.0.0.1:%u", added);
	make_order(&w, provider, profile);
	is(w.order.channel_count, 2, "%s: the provider and the host that was added", profile);
	if (!ok(channels_start(&w.order, &w.channels, &e) == 0, "%s: a broker for both (%s)",
		    profile, e.text))
		return;
	is(confined_request(&w, 0, "127.0.0.1", "one"), 0, "%s: the provider answers", profile);
	is(confined_request(&w, 1, w.added, "two"), 0, "%s: the added host answers", profile);
	is(confined_request(&w, 1, "169.254.169.254", "two"), ECONNRESET,
		"%s: its channel leads to no other host", profile);
	is(channels_find(&w.channels, &w.order, "p"), w.channels.fds[0],
		"%s: the provider's channel is the one that providers use", profile);
	channels_stop(&w.channels);
	agent_order_done(&w.order);
}

/* The agent looks for its broker beside itself: this program runs once more, beside one. */
static int run_beside_broker(void)
{
	char command[1024];
	snprintf(command, sizeof(command),
		"cp /proc/%d/exe '%s/agent' && ln -s \"$AGENT6_BIN/agent6-broker\" '%s' && "
		"BESIDE_BROKER=1 '%s/agent'",
		getpid(), tap_scratch(), tap_scratch(), tap_scratch());
	pid_t pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	int status;
	waitpid(pid, &status, 0);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

int main(void)
{
	if (!getenv("BESIDE_BROKER"))
		return run_beside_broker();
	uint16_t provider, added;
	int provider_fd = listen_on(&provider), added_fd = listen_on(&added);
	pid_t servers[] = {serve(provider_fd, "one"), serve(added_fd, "two")};
	test_profile("strict", provider, added);
	if (tap_can_harden("all of it"))
		test_profile("hardened", provider, added);
	for (size_t i = 0; i < ARRAY_LEN(servers); i++) {
		kill(servers[i], SIGKILL);
		waitpid(servers[i], NULL, 0);
	}
	return tap_done();
}
