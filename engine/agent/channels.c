#include "agent/channels.h"

#include "agent/emit.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include <curl/curl.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum {
	FIRST_FD = 4,
	CONTROL_FD = 3,
	CHANNELS_MAX = 32,
	REPORT_CAP_BYTES = 8192,
	LAST_WORDS_MS = 2000,
	REFUSAL_MS = 50
};

struct launch {
	char *argv[2 * CHANNELS_MAX + 16];
	size_t argc;
	int fds[FIRST_FD + CHANNELS_MAX];
};

static int add(struct launch *launch, const char *option, char *value)
{
	if (!value)
		return -1;
	launch->argv[launch->argc++] = strdup(option);
	launch->argv[launch->argc++] = value;
	return launch->argv[launch->argc - 2] ? 0 : -1;
}

static int add_channel(struct launch *launch, const struct agent_channel *channel, size_t at)
{
	char *value = NULL;
	if (asprintf(&value, "%zu=%s,%s%s%s", FIRST_FD + at, channel->endpoint,
		    channel->tls ? "tls" : "plain", channel->local ? ",local" : "",
		    channel->private ? ",private" : "") < 0)
		return -1;
	return add(launch, "--channel", value);
}

static int make_argv(struct launch *launch, const struct agent_order *order, struct err *e)
{
	char *number = NULL;
	launch->argv[launch->argc++] = strdup("agent6-broker");
	int rc = add(launch, "--control", strdup("3"));
	for (size_t i = 0; !rc && i < order->channel_count; i++)
		rc = add_channel(launch, &order->channels[i], i);
	if (!rc && order->max_egress_bytes >= 0)
		rc = asprintf(&number, "%lld", (long long)order->max_egress_bytes) < 0
			     ? -1
			     : add(launch, "--max-bytes", number);
	if (!rc && order->upstream_proxy)
		rc = add(launch, "--upstream-proxy", strdup(order->upstream_proxy));
	return rc || !launch->argv[0] ? err_set(e, "out of memory") : 0;
}

static void launch_done(struct launch *launch)
{
	for (size_t i = 0; i < launch->argc; i++)
		free(launch->argv[i]);
	for (size_t i = CONTROL_FD; i < ARRAY_LEN(launch->fds); i++)
		own_close(&launch->fds[i]);
}

static int make_pairs(const struct agent_order *order, struct launch *launch,
	struct channels *channels, struct err *e)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_errno(e, "cannot make the broker's control socket");
	channels->control_fd = pair[0];
	launch->fds[CONTROL_FD] = pair[1];
	fcntl(channels->control_fd, F_SETFL, O_NONBLOCK);
	for (size_t i = 0; i < order->channel_count; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
			return err_errno(e, "cannot make a broker channel");
		channels->fds[channels->count++] = pair[0];
		launch->fds[FIRST_FD + i] = pair[1];
	}
	return 0;
}

static int start(const struct agent_order *order, struct launch *launch, struct channels *channels,
	struct err *e)
{
	AUTO_FD int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null_fd < 0)
		return err_errno(e, "cannot open /dev/null");
	AUTO_FREE char *path = child_sibling("agent6-broker", e);
	if (!path || make_argv(launch, order, e) || make_pairs(order, launch, channels, e))
		return -1;
	char *none[] = {NULL};
	launch->fds[0] = launch->fds[1] = null_fd;
	launch->fds[2] = STDERR_FILENO;
	struct child_spec spec = {.path = path,
		.argv = launch->argv,
		.env = none,
		.fds = launch->fds,
		.fd_count = (int)(FIRST_FD + order->channel_count)};
	struct child child;
	if (child_start(&spec, &child, e))
		return -1;
	channels->broker = child.pid;
	own_close(&child.pidfd);
	return 0;
}

int channels_start(const struct agent_order *order, struct channels *out, struct err *e)
{
	if (order->channel_count > CHANNELS_MAX)
		return err_set(e, "more than %d provider endpoints", CHANNELS_MAX);
	struct channels c = {.control_fd = -1, .proxied = order->upstream_proxy};
	buf_init(&c.report, 4 * REPORT_CAP_BYTES);
	c.fds = calloc(CHANNELS_MAX, sizeof(*c.fds));
	struct launch l = {.argc = 0};
	memset(l.fds, -1, sizeof(l.fds));
	int rc = c.fds ? start(order, &l, &c, e) : err_set(e, "out of memory");
	launch_done(&l);
	if (rc)
		channels_stop(&c);
	else
		*out = c;
	return rc ? err_wrap(e, "the broker cannot be started") : 0;
}

int channels_find(
	const struct channels *channels, const struct agent_order *order, const char *name)
{
	for (size_t i = 0; i < channels->count; i++)
		if (!strcmp(order->channels[i].name, name))
			return channels->fds[i];
	return -1;
}

static void report_line(struct channels *channels, const char *line, size_t len)
{
	json_t *report = json_read(line, len, REPORT_CAP_BYTES, NULL);
	const char *refused = json_string_value(json_object_get(report, "refused"));
	const char *notice = json_string_value(json_object_get(report, "notice"));
	if (notice) {
		emit_notice("%s", notice);
		json_decref(report);
		return;
	}
	snprintf(channels->refused, sizeof(channels->refused), "%s", refused ? refused : "");
	snprintf(channels->cause, sizeof(channels->cause), "%s", json_get_text(report, "cause"));
	channels->proxy_status = json_get_int(report, "proxy");
	if (json_is_object(report))
		emit(EVENT_EGRESS, report);
	else
		json_decref(report);
}

static void report_lines(struct channels *channels)
{
	struct buf *report = &channels->report;
	char *end;
	while (report->len && (end = memchr(report->data, '\n', report->len))) {
		report_line(channels, report->data, (size_t)(end - report->data));
		buf_drop(report, (size_t)(end - report->data) + 1);
	}
}

/* Reads the broker's reports. Returns false when the broker has ended. */
static bool take_reports(struct channels *channels)
{
	char text[REPORT_CAP_BYTES];
	for (;;) {
		ssize_t n = recv(channels->control_fd, text, sizeof(text), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 && errno == EAGAIN;
		if (buf_add(&channels->report, text, (size_t)n))
			return false;
		report_lines(channels);
	}
}

void channels_report(struct channels *channels)
{
	if (channels->control_fd >= 0 && !take_reports(channels))
		own_close(&channels->control_fd);
}

/* Returns words for HTTP's status, or for libcurl's number of a SOCKS error. */
static const char *proxy_words(struct channels *channels)
{
	bool socks = channels->proxy_status < 100;
	bool keys = socks ? channels->proxy_status == CURLPX_NO_AUTH ||
				    channels->proxy_status == CURLPX_USER_REJECTED
			  : channels->proxy_status == 407;
	char answer[32] = "with a SOCKS error";
	if (!socks)
		snprintf(answer, sizeof(answer), "%lld", (long long)channels->proxy_status);
	snprintf(channels->words, sizeof(channels->words),
		"sandbox.upstream_proxy answers %s; look whether it %s%s%s", answer,
		keys ? "has the right credentials, as " : "lets this host through and reaches it",
		keys ? socks ? "socks5h" : "http" : "", keys ? "://USER:PASSWORD@PROXY:PORT" : "");
	return channels->words;
}

static const char *dial_words(struct channels *channels)
{
	static const struct {
		const char *cause, *words;
	} causes[] = {
		{"name", "its host name is not found"},
		{"refused", "the connection is refused"},
		{"timeout", "nothing answered in time"},
		{"unreachable", "no way leads to its host"},
	};
	for (size_t i = 0; i < ARRAY_LEN(causes); i++)
		if (!strcmp(causes[i].cause, channels->cause)) {
			snprintf(channels->words, sizeof(channels->words),
				"no answer from %s: %s; look whether %s",
				channels->proxied ? "sandbox.upstream_proxy" : "the provider",
				causes[i].words,
				channels->proxied
					? "it runs, takes its credentials and lets this through"
					: "base_url is right and something answers there");
			return channels->words;
		}
	return NULL;
}

static const char *refusal_words(struct channels *channels)
{
	static const struct {
		const char *refused, *words;
	} known[] = {
		{"budget", "sandbox.max_egress_bytes is used up"},
		{"address", "its name leads to no address that is allowed; private_network of the "
			    "provider allows private ones"},
	};
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (!strcmp(known[i].refused, channels->refused))
			return known[i].words;
	if (channels->proxy_status)
		return proxy_words(channels);
	return *channels->refused ? dial_words(channels) : NULL;
}

const char *channels_refusal(struct channels *channels)
{
	/* The connection ends before the broker reports why. */
	struct pollfd p = {.fd = channels->control_fd, .events = POLLIN};
	if (!*channels->refused && channels->control_fd >= 0 && poll(&p, 1, REFUSAL_MS) > 0)
		channels_report(channels);
	const char *words = refusal_words(channels);
	channels->refused[0] = channels->cause[0] = '\0';
	channels->proxy_status = 0;
	return words;
}

void channels_stop(struct channels *channels)
{
	for (size_t i = 0; i < channels->count; i++)
		own_close(&channels->fds[i]);
	free(channels->fds);
	int64_t end_ms = clock_monotonic_ms() + LAST_WORDS_MS;
	struct pollfd p = {.fd = channels->control_fd, .events = POLLIN};
	while (channels->control_fd >= 0 && channels->broker > 0 && io_poll(&p, 1, end_ms) > 0)
		channels_report(channels);
	own_close(&channels->control_fd);
	buf_done(&channels->report);
	*channels = (struct channels){.control_fd = -1};
}
