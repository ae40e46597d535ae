/*
 * An agent whose model has taken over: everything agent6-agent does until it is confined, by its
 * own modules, and then every attempt of the corpus, in this process and as a command, and what can
 * be tried through its channels. It says what came of them as its result.
 *
 * The targets are in the file `targets` beside the program.
 */
#include "agent/channels.h"
#include "agent/emit.h"
#include "agent/loop.h"
#include "agent/self_confine.h"
#include "agent/tools/jailed.h"
#include "base/buf.h"
#include "base/exit.h"
#include "base/io.h"
#include "provider/channel.h"
#include "provider/http.h"
#include "tests/security/egress/attempts.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

enum { ANSWER_BYTES_MAX = 64 * 1024, COMMAND_SECS = 20, CONNECT_MS = 5000, DRIPS_MAX = 100000 };

struct intruder {
	struct agent_order order;
	struct channels channels;
	struct agent_task task;
	struct buf said;
	struct launcher launcher;
	char endpoint[128]; /* of the first channel */
};

static void note(const char *id, int got, void *ctx)
{
	struct intruder *in = ctx;
	buf_addf(&in->said, "%s %d\n", id, got);
}

/* --- through the channels --------------------------------------------------------------------- */

/* 0: the other side said something. */
static int ask(int fd, const void *bytes, size_t len)
{
	char byte;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	if (send(fd, bytes, len, MSG_NOSIGNAL) < 0)
		return errno;
	if (poll(&p, 1, CONNECT_MS) <= 0)
		return ETIMEDOUT;
	ssize_t n = recv(fd, &byte, 1, 0);
	return n == 1 ? 0 : n < 0 ? errno : ECONNRESET;
}

static int exchange(const struct intruder *in, size_t channel, const void *bytes, size_t len)
{
	if (channel >= in->channels.count)
		return ENOENT;
	AUTO_FD int fd = channel_connect(in->channels.fds[channel], CONNECT_MS, NULL);
	return fd < 0 ? ENOTCONN : ask(fd, bytes, len);
}

static int request(const struct intruder *in, size_t channel, const char *line, const char *host)
{
	char text[512];
	int len = snprintf(text, sizeof(text), "%s HTTP/1.1\r\nHost: %s\r\n\r\n", line, host);
	return exchange(in, channel, text, (size_t)len);
}

static size_t from_hex(const char *hex, unsigned char *out, size_t cap)
{
	size_t len = 0;
	for (unsigned byte; len < cap && sscanf(hex + 2 * len, "%2x", &byte) == 1; len++)
		out[len] = (unsigned char)byte;
	return len;
}

static int hello(const struct intruder *in, size_t channel, const char *name)
{
	unsigned char bytes[1024];
	size_t len = from_hex(egress_told(name), bytes, sizeof(bytes));
	return exchange(in, channel, bytes, len);
}

static int reconnect(const struct intruder *in)
{
	struct sockaddr none = {.sa_family = AF_UNSPEC};
	struct sockaddr_in at = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)egress_number("PORT")),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	AUTO_FD int fd = channel_connect(in->channels.fds[0], CONNECT_MS, NULL);
	if (fd < 0 || syscall(SYS_connect, fd, &none, sizeof(none)) ||
		syscall(SYS_connect, fd, &at, sizeof(at)))
		return errno;
	return egress_say(fd, "channel_reconnect");
}

/* One byte at a time, over as many connections as it takes, until nothing is let through any more:
 * what arrived is counted at the other end. Each byte waits for its answer: the end of a connection
 * throws away what is still under way on it. */
static int drip(const struct intruder *in)
{
	size_t sent = 0;
	for (int closed = 0; closed < 3 && sent < DRIPS_MAX; closed++) {
		char text[256];
		AUTO_FD int fd = channel_connect(in->channels.fds[0], CONNECT_MS, NULL);
		int len = snprintf(
			text, sizeof(text), "POST / HTTP/1.1\r\nHost: %s\r\n\r\n", in->endpoint);
		bool open = fd >= 0 && ask(fd, text, (size_t)len) == 0;
		for (int i = 0; open && i < 100 && sent < DRIPS_MAX; i++, sent++)
			open = ask(fd, "x", 1) == 0;
		if (open)
			closed = -1;
	}
	return sent < DRIPS_MAX ? EDQUOT : 0;
}

/* Tries attacks that Landlock alone stops in this process. */
static void try_host(struct intruder *in)
{
	AUTO_FD int fd = open(egress_told("SECRET"), O_RDONLY | O_CLOEXEC);
	note("host_file", fd < 0 ? errno : 0, in);
	note("host_signal", kill(egress_number("HOLDER"), 0) ? errno : 0, in);
}

static void try_channels(struct intruder *in)
{
	char target[256];
	note("channel_endpoint", request(in, 0, "GET /", in->endpoint), in);
	note("channel_other_host", request(in, 0, "GET /", "evil.test"), in);
	note("channel_metadata_host", request(in, 0, "GET /", "169.254.169.254"), in);
	note("channel_connect_other", request(in, 0, "CONNECT evil.test:443", "evil.test:443"), in);
	snprintf(target, sizeof(target), "CONNECT %s", in->endpoint);
	note("channel_connect_own", request(in, 0, target, in->endpoint), in);
	note("channel_absolute", request(in, 0, "GET http://evil.test/", in->endpoint), in);
	note("channel_hello", hello(in, 0, "HELLO_EVIL"), in);
	note("channel_reconnect", reconnect(in), in);
	if (in->channels.count < 4)
		return;
	note("channel_tls", hello(in, 1, "HELLO_OWN"), in);
	note("channel_other_sni", hello(in, 1, "HELLO_EVIL"), in);
	note("channel_no_sni", hello(in, 1, "HELLO_NONE"), in);
	note("channel_rebound", request(in, 2, "GET /", in->order.channels[2].endpoint), in);
	note("channel_metadata", request(in, 3, "GET /", in->order.channels[3].endpoint), in);
}

/* --- as a command ----------------------------------------------------------------------------- */

static void try_command(struct intruder *in)
{
	const char *bundle = in->order.commands->policy.bundle;
	json_auto_t *argv = json_pack(
		"[o, s]", json_sprintf("%s/scripts/attempt", bundle ? bundle : ""), "command");
	struct jailed done;
	struct err e = ERR_NONE;
	if (jailed_run(&in->launcher, argv, COMMAND_SECS, &done, &e)) {
		buf_addf(&in->said, "command failed: %s\n", e.text);
		return;
	}
	buf_adds(&in->said, "command\n");
	jailed_text(&done.out, &in->said);
	jailed_done(&done);
}

/* --- the life of an agent --------------------------------------------------------------------- */

static int read_targets(void)
{
	char program[4096], path[4200];
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);
	if (len <= 0)
		return -1;
	program[len] = '\0';
	*strrchr(program, '/') = '\0';
	snprintf(path, sizeof(path), "%s/targets", program);
	return egress_read_targets(path);
}

/* The driver hears where this agent works, puts its sockets there, and says who this agent is
 * and whose process it may aim at. */
static void announce(const struct intruder *in)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char mark[64] = "", *holder;
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", egress_told("CONTROL"));
	AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || syscall(SYS_connect, fd, &at, sizeof(at)) ||
		io_write(fd, in->order.workspace, strlen(in->order.workspace)) ||
		shutdown(fd, SHUT_WR) || read(fd, mark, sizeof(mark) - 1) <= 0)
		_exit(EXIT_FAILED);
	holder = strchr(mark, ' ');
	if (!holder)
		_exit(EXIT_FAILED);
	*holder++ = '\0';
	setenv("EGRESS_MARK", mark, 1);
	setenv("EGRESS_HOLDER", holder, 1);
}

static void tell_known(const struct intruder *in)
{
	AUTO_BUF known;
	buf_init(&known, ANSWER_BYTES_MAX);
	buf_addf(&known, ",%d,%d,", in->channels.control_fd, in->launcher.socket_fd);
	for (size_t i = 0; i < in->channels.count; i++)
		buf_addf(&known, "%d,", in->channels.fds[i]);
	setenv("EGRESS_KNOWN", known.data, 1);
}

static int prepare(struct intruder *in, json_t *layers, struct err *e)
{
	signal(SIGPIPE, SIG_IGN);
	if (order_read(STDIN_FILENO, &in->order, e))
		return -1;
	announce(in);
	if (chdir(in->order.workspace))
		return err_errno(e, "cannot enter the workspace");
	if (in->order.commands && launcher_start(&in->order.commands->policy, -1, &in->launcher, e))
		return -1;
	if (http_global(e) || channels_start(&in->order, &in->channels, e))
		return -1;
	snprintf(in->endpoint, sizeof(in->endpoint), "%s", in->order.channels[0].endpoint);
	tell_known(in);
	return self_confine(&in->order, layers, e);
}

static void intrude(struct intruder *in)
{
	buf_adds(&in->said, "agent\n");
	egress_all("agent", note, in);
	try_host(in);
	try_channels(in);
	if (in->launcher.socket_fd >= 0)
		try_command(in);
	if (in->order.max_egress_bytes >= 0)
		note("drip", drip(in), in);
}

int main(void)
{
	struct intruder in = {.channels = {.control_fd = -1}, .launcher = LAUNCHER_NONE};
	const struct record *record;
	struct err e = ERR_NONE;
	json_t *layers = json_object();
	buf_init(&in.said, ANSWER_BYTES_MAX);
	if (read_targets() || prepare(&in, layers, &e)) {
		emit(EVENT_RESULT, loop_failure(e.text));
		return EXIT_SANDBOX;
	}
	emit(EVENT_CONFINED, json_pack("{s:o}", "layers", layers));
	if (task_read(STDIN_FILENO, &in.task, &record, &e)) {
		emit(EVENT_RESULT, loop_failure(e.text));
		return 0;
	}
	intrude(&in);
	channels_stop(&in.channels);
	launcher_stop(&in.launcher);
	struct loop_result result = {
		.payload = json_pack("{s:s}", "text", in.said.data), .turns = 1};
	emit(EVENT_RESULT, loop_result_json(&result));
	return 0;
}
