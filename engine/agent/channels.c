#include "agent/channels.h"

#include "agent/emit.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include <curl/curl.h>
#include <fcntl.h>
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

static int add(struct launch *l, const char *option, char *value)
{
	if (!value)
		return -1;
	l->argv[l->argc++] = strdup(option);
	l->argv[l->argc++] = value;
	return l->argv[l->argc - 2] ? 0 : -1;
}

static int add_channel(struct launch *l, const struct order_channel *c, size_t at)
{
	char *value = NULL;
	if (asprintf(&value, "%zu=%s,%s%s%s", FIRST_FD + at, c->endpoint, c->tls ? "tls" : "plain",
		    c->local ? ",local" : "", c->private ? ",private" : "") < 0)
		return -1;
	return add(l, "--channel", value);
}

static int make_argv(struct launch *l, const struct order *o, struct err *e)
{
	char *number = NULL;
	l->argv[l->argc++] = strdup("agent6-broker");
	int rc = add(l, "--control", strdup("3"));
	for (size_t i = 0; !rc && i < o->channel_count; i++)
		rc = add_channel(l, &o->channels[i], i);
	if (!rc && o->max_egress_bytes >= 0)
		rc = asprintf(&number, "%lld", (long long)o->max_egress_bytes) < 0
			     ? -1
			     : add(l, "--max-bytes", number);
	if (!rc && o->upstream_proxy)
		rc = add(l, "--upstream-proxy", strdup(o->upstream_proxy));
	return rc || !l->argv[0] ? err_set(e, "out of memory") : 0;
}

static void launch_done(struct launch *l)
{
	for (size_t i = 0; i < l->argc; i++)
		free(l->argv[i]);
	for (size_t i = CONTROL_FD; i < ARRAY_LEN(l->fds); i++)
		own_close(&l->fds[i]);
}

static int make_pairs(const struct order *o, struct launch *l, struct channels *c, struct err *e)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_errno(e, "cannot make the broker's control socket");
	c->control_fd = pair[0];
	l->fds[CONTROL_FD] = pair[1];
	fcntl(c->control_fd, F_SETFL, O_NONBLOCK);
	for (size_t i = 0; i < o->channel_count; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
			return err_errno(e, "cannot make a broker channel");
		c->fds[c->count++] = pair[0];
		l->fds[FIRST_FD + i] = pair[1];
	}
	return 0;
}

static int start(const struct order *o, struct launch *l, struct channels *c, struct err *e)
{
	AUTO_FD int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null_fd < 0)
		return err_errno(e, "cannot open /dev/null");
	AUTO_FREE char *path = child_sibling("agent6-broker", e);
	if (!path || make_argv(l, o, e) || make_pairs(o, l, c, e))
		return -1;
	char *none[] = {NULL};
	l->fds[0] = l->fds[1] = null_fd;
	l->fds[2] = STDERR_FILENO;
	struct child_spec spec = {.path = path,
		.argv = l->argv,
		.env = none,
		.fds = l->fds,
		.fd_count = (int)(FIRST_FD + o->channel_count)};
	struct child child;
	if (child_start(&spec, &child, e))
		return -1;
	c->broker = child.pid;
	own_close(&child.pidfd);
	return 0;
}

int channels_start(const struct order *o, struct channels *out, struct err *e)
{
	if (o->channel_count > CHANNELS_MAX)
		return err_set(e, "more than %d provider endpoints", CHANNELS_MAX);
	struct channels c = {.control_fd = -1, .proxied = o->upstream_proxy};
	buf_init(&c.report, 4 * REPORT_CAP_BYTES);
	c.fds = calloc(CHANNELS_MAX, sizeof(*c.fds));
	struct launch l = {.argc = 0};
	memset(l.fds, -1, sizeof(l.fds));
	int rc = c.fds ? start(o, &l, &c, e) : err_set(e, "out of memory");
	launch_done(&l);
	if (rc)
		channels_stop(&c);
	else
		*out = c;
	return rc ? err_wrap(e, "the broker cannot be started") : 0;
}

int channels_find(const struct channels *c, const struct order *o, const char *name)
{
	for (size_t i = 0; i < c->count; i++)
		if (!strcmp(o->channels[i].name, name))
			return c->fds[i];
	return -1;
}

static void report_line(struct channels *c, const char *line, size_t len)
{
	json_t *report = json_read(line, len, REPORT_CAP_BYTES, NULL);
	const char *refused = json_string_value(json_object_get(report, "refused"));
	const char *notice = json_string_value(json_object_get(report, "notice"));
	if (notice) {
		emit_notice("%s", notice);
		json_decref(report);
		return;
	}
	snprintf(c->refused, sizeof(c->refused), "%s", refused ? refused : "");
	snprintf(c->cause, sizeof(c->cause), "%s", json_get_text(report, "cause"));
	c->proxy_status = json_get_int(report, "proxy");
	if (json_is_object(report))
		emit("egress", report);
	else
		json_decref(report);
}

static void report_lines(struct channels *c)
{
	struct buf *report = &c->report;
	char *end;
	while (report->len && (end = memchr(report->data, '\n', report->len))) {
		report_line(c, report->data, (size_t)(end - report->data));
		buf_drop(report, (size_t)(end - report->data) + 1);
	}
}

/* False at the broker's end. */
static bool take_reports(struct channels *c)
{
	char text[REPORT_CAP_BYTES];
	for (;;) {
		ssize_t n = recv(c->control_fd, text, sizeof(text), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 && errno == EAGAIN;
		if (buf_add(&c->report, text, (size_t)n))
			return false;
		report_lines(c);
	}
}

void channels_report(struct channels *c)
{
	if (c->control_fd >= 0 && !take_reports(c))
		own_close(&c->control_fd);
}

/* HTTP's status, or libcurl's number of a SOCKS error. */
static const char *proxy_words(struct channels *c)
{
	bool socks = c->proxy_status < 100;
	bool keys =
		socks ? c->proxy_status == CURLPX_NO_AUTH || c->proxy_status == CURLPX_USER_REJECTED
		      : c->proxy_status == 407;
	char answer[32] = "with a SOCKS error";
	if (!socks)
		snprintf(answer, sizeof(answer), "%lld", (long long)c->proxy_status);
	snprintf(c->words, sizeof(c->words),
		"sandbox.upstream_proxy answers %s; look whether it %s%s%s", answer,
		keys ? "has the right credentials, as " : "lets this host through and reaches it",
		keys ? socks ? "socks5h" : "http" : "", keys ? "://USER:PASSWORD@PROXY:PORT" : "");
	return c->words;
}

static const char *dial_words(struct channels *c)
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
		if (!strcmp(causes[i].cause, c->cause)) {
			snprintf(c->words, sizeof(c->words),
				"no answer from %s: %s; look whether %s",
				c->proxied ? "sandbox.upstream_proxy" : "the provider",
				causes[i].words,
				c->proxied ? "it runs, takes its credentials and lets this through"
					   : "base_url is right and something answers there");
			return c->words;
		}
	return NULL;
}

static const char *refusal_words(struct channels *c)
{
	static const struct {
		const char *refused, *words;
	} known[] = {
		{"budget", "sandbox.max_egress_bytes is used up"},
		{"address", "its name leads to no address that is allowed; private_network of the "
			    "provider allows private ones"},
	};
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (!strcmp(known[i].refused, c->refused))
			return known[i].words;
	if (c->proxy_status)
		return proxy_words(c);
	return *c->refused ? dial_words(c) : NULL;
}

const char *channels_refusal(struct channels *c)
{
	/* The connection ends before its report does. */
	struct pollfd p = {.fd = c->control_fd, .events = POLLIN};
	if (!*c->refused && c->control_fd >= 0 && poll(&p, 1, REFUSAL_MS) > 0)
		channels_report(c);
	const char *words = refusal_words(c);
	c->refused[0] = c->cause[0] = '\0';
	c->proxy_status = 0;
	return words;
}

void channels_stop(struct channels *c)
{
	for (size_t i = 0; i < c->count; i++)
		own_close(&c->fds[i]);
	free(c->fds);
	int64_t end_ms = clock_monotonic_ms() + LAST_WORDS_MS;
	struct pollfd p = {.fd = c->control_fd, .events = POLLIN};
	while (c->control_fd >= 0 && c->broker > 0 && io_poll(&p, 1, end_ms) > 0)
		channels_report(c);
	own_close(&c->control_fd);
	buf_done(&c->report);
	*c = (struct channels){.control_fd = -1};
}
