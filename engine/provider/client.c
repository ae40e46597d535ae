#include "provider/client.h"

#include "base/clock.h"
#include "base/secrets.h"
#include "base/utf8.h"
#include <poll.h>

enum { HEADERS_MAX = CLIENT_HEADERS_MAX + 5, ERROR_CAP_BYTES = 64 * 1024, KEY_PART_BYTES = 8 };

struct attempt {
	const struct client *client;
	const struct wire_request *request;
	size_t sent_bytes;
	struct wire_stream *stream;
	bool fed;         /* the stream has begun */
	bool begun;       /* it has told its usage, and that was passed on */
	struct buf whole; /* an error's body, or a reply that does not stream */
	struct http_head head;
};

static bool is_ok(const struct http_head *head)
{
	return head->status >= 200 && head->status < 300;
}

/* At three bytes a token, which errs on the high side. */
static int64_t estimate(size_t bytes)
{
	return (int64_t)(bytes / 3);
}

static void open_bill(const struct attempt *a)
{
	struct usage told = *wire_stream_usage(a->stream), most = told;
	most.input = told.input ? told.input : estimate(a->sent_bytes);
	if (most.output < a->request->max_tokens)
		most.output = a->request->max_tokens;
	told.known = most.known = true;
	told.cost_microusd = told.input ? told.cost_microusd : 0;
	a->client->open(a->client->context, &told, &most);
}

static int feed(struct attempt *a, const char *bytes, size_t len, struct fault *f)
{
	a->fed = true;
	int rc = wire_stream_feed(a->stream, bytes, len, f);
	const struct usage *u = wire_stream_usage(a->stream);
	if (u->input && rc != 1 && !a->begun) { /* an exchange that has ended tells it all itself */
		a->begun = true;
		open_bill(a);
	}
	return rc;
}

/* A byte-order mark, which says nothing before JSON: RFC 8259, 8.1. */
static size_t mark_bytes(const char *body, size_t len)
{
	return len > 3 && !memcmp(body, "\xef\xbb\xbf", 3) ? 3 : 0;
}

/* Some gateways call everything a stream; none begins like this. */
static bool is_document(const char *body, size_t len)
{
	char first = body[mark_bytes(body, len)];
	return first == '{' || first == '[' || first == '<';
}

static int on_body(
	void *context, const struct http_head *head, const char *bytes, size_t len, struct fault *f)
{
	struct attempt *a = context;
	if (is_ok(head) && head->is_encoded)
		return fault_set(f, FAULT_FATAL,
			"the provider compressed its answer, which it was not asked to do");
	if (!a->fed && !a->whole.len && is_document(bytes, len))
		a->head.is_stream = false;
	if (is_ok(head) && head->is_stream)
		return feed(a, bytes, len, f);
	size_t cap = is_ok(head) ? WIRE_CONTENT_CAP_BYTES : ERROR_CAP_BYTES;
	size_t room = cap - a->whole.len;
	if (len > room && is_ok(head))
		return fault_set(f, FAULT_FATAL, "the reply holds more than %d MiB of content",
			WIRE_CONTENT_CAP_BYTES / (1024 * 1024));
	if (buf_add(&a->whole, bytes, len < room ? len : room))
		return fault_set(f, FAULT_FATAL, "out of memory");
	return 0;
}

/* What the provider's support asks for. */
static void name_request(struct fault *f, const char *id)
{
	size_t len = strlen(f->text);
	bool plain = *id && !id[strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_-.")];
	if (plain && len + strlen(id) + sizeof(" (request )") <= sizeof(f->text))
		snprintf(f->text + len, sizeof(f->text) - len, " (request %s)", id);
}

/* Some gateways lose the type of a stream. */
static bool is_stream(const char *body)
{
	static const char *const begins[] = {"data:", "event:", ":"};
	for (size_t i = 0; i < ARRAY_LEN(begins); i++)
		if (!strncmp(body, begins[i], strlen(begins[i])))
			return true;
	return false;
}

static int take_whole(struct attempt *a, const char *body, struct fault *f)
{
	if (is_stream(body))
		return wire_stream_feed(a->stream, body, a->whole.len, f) < 0 ? -1 : 0;
	return wire_stream_body(a->stream, body, a->whole.len, f);
}

static int settle(struct attempt *a, struct wire_reply *out, struct fault *f)
{
	buf_drop(&a->whole, mark_bytes(a->whole.data, a->whole.len));
	const char *body = a->whole.data;
	if (!is_ok(&a->head)) {
		f->retry_after_ms = a->head.retry_after_ms;
		if (a->head.is_encoded)
			body = "(compressed)";
		fault_reply(f, a->head.status, body, strlen(body), a->head.should_retry);
		name_request(f, a->head.request_id);
		return -1;
	}
	if (!a->head.is_stream && take_whole(a, body, f))
		return -1;
	return wire_stream_end(a->stream, out, f);
}

static int post(const struct client *c, const struct buf *body, struct attempt *a, struct fault *f)
{
	char version[64];
	AUTO_FREE char *auth = NULL;
	bool bearer = !strcmp(c->auth, "bearer");
	const char *headers[HEADERS_MAX] = {
		"content-type: application/json", "accept: text/event-stream"};
	size_t n = 2;
	snprintf(version, sizeof(version), "anthropic-version: %s", c->api_version);
	if (c->format == &anthropic_format)
		headers[n++] = version;
	if (c->key && (bearer || !strcmp(c->auth, "x-api-key"))) {
		if (asprintf(&auth, "%s%s",
			    bearer ? "authorization: Bearer " : "x-api-key: ", c->key) < 0)
			return fault_set(f, FAULT_FATAL, "out of memory");
		headers[n++] = auth;
	}
	for (size_t i = 0; c->headers && c->headers[i] && n + 1 < HEADERS_MAX; i++)
		headers[n++] = c->headers[i];
	int64_t own_ms = clock_monotonic_ms() + c->call_timeout_ms;
	struct http_post p = {.path = c->format->path,
		.headers = headers,
		.body = body->data,
		.body_len = body->len,
		.on_body = on_body,
		.context = a,
		.deadline_ms = own_ms < c->deadline_ms ? own_ms : c->deadline_ms};
	int rc = http_post(c->http, &p, &a->head, f);
	if (auth)
		explicit_bzero(auth, strlen(auth));
	if (!rc || f->kind != FAULT_TIMEOUT || own_ms >= c->deadline_ms)
		return rc;
	/* The provider's own time-out is passing; only the caller's ends everything. */
	*f = FAULT_INIT;
	return fault_set(f, FAULT_RETRY, "the call took longer than its timeout_secs, %lld",
		(long long)(c->call_timeout_ms / 1000));
}

/* A stream that broke before it told its usage, be it with all of the turn, was paid for all the
 * same: it is estimated, so that a budget still binds. So is a request that a model was at when
 * time was over, and whatever a reply does not tell, or tells as what is no count; that stays
 * unknown. */
static void bill_attempt(const struct client *c, const struct attempt *a, bool replied)
{
	struct usage u = *wire_stream_usage(a->stream), none = {.known = true};
	if (!is_ok(&a->head) && !a->head.is_unanswered) {
		c->open(c->context, &none, &none);
		return;
	}
	if (!u.known) {
		int64_t written = estimate(wire_stream_bytes(a->stream));
		u.input = u.input ? u.input : estimate(a->sent_bytes);
		u.output = u.output > written ? u.output : written;
		u.known = !replied;
	}
	c->bill(c->context, &u);
}

/* Who made no connection knows better why than who saw it end. */
static void explain(const struct client *c, bool replied, struct fault *f)
{
	bool broken = f->kind == FAULT_RETRY && !f->status;
	if (broken && http_broker_gone(c->http)) {
		*f = FAULT_INIT;
		fault_set(f, FAULT_FATAL, "the broker has ended");
		return;
	}
	const char *why = broken && !replied ? c->explain(c->context) : NULL;
	if (why) {
		*f = FAULT_INIT;
		fault_set(f, FAULT_RETRY, "%s", why);
	}
}

static int attempt(struct client *c, const struct wire_request *r, size_t serial,
	struct wire_reply *out, struct fault *f)
{
	AUTO_BUF body = BUF_INIT(HTTP_RAW_CAP_BYTES);
	struct wire_request request = *r;
	request.quirks = c->quirks;
	if (c->format->encode(&request, &body))
		return fault_set(f, FAULT_CONTEXT, "the request is longer than 64 MiB");
	struct attempt a = {.client = c,
		.request = r,
		.sent_bytes = body.len,
		.stream = wire_stream_new(c->format, serial)};
	buf_init(&a.whole, WIRE_CONTENT_CAP_BYTES);
	if (!a.stream)
		return fault_set(f, FAULT_FATAL, "out of memory");
	open_bill(&a);
	struct fault broken = FAULT_INIT, ended = FAULT_INIT;
	int rc = post(c, &body, &a, &broken);
	/* A connection that breaks behind the terminal event has delivered the whole turn. */
	int settled = !rc || (is_ok(&a.head) && a.head.is_stream) ? settle(&a, out, &ended) : -1;
	bill_attempt(c, &a, !settled && !rc);
	if (settled)
		*f = rc ? broken : ended;
	if (settled)
		explain(c, !rc || a.head.status, f);
	wire_stream_free(a.stream);
	buf_done(&a.whole);
	return settled;
}

static int pause_for(struct client *c, const struct fault *why, int tried, struct fault *f)
{
	int64_t wait_ms = fault_delay_ms(why, tried, &c->seed);
	if (wait_ms < 0)
		return fault_set(f, FAULT_FATAL, "%s; it asks to wait %lld s, more than 120 s",
			why->text, (long long)(why->retry_after_ms / 1000));
	int64_t left_ms = c->deadline_ms - clock_monotonic_ms();
	if (wait_ms >= left_ms)
		return fault_set(f, FAULT_TIMEOUT, "a retry in %.1f s would come too late: %s",
			(double)wait_ms / 1000, why->text);
	char text[600];
	snprintf(text, sizeof(text), "retry %d of %lld in %.1f s: %s", tried + 1,
		(long long)c->max_retries, (double)wait_ms / 1000, why->text);
	c->notice(c->context, text);
	poll(NULL, 0, (int)wait_ms);
	return 0;
}

/* A provider may echo what it was sent, and a long message is cut: the beginning of the key is
 * hidden as well. */
static void hide_key(const char *key, struct fault *f)
{
	size_t len = key ? strlen(key) : 0;
	struct secrets own = {0};
	AUTO_BUF out = BUF_INIT(2 * sizeof(f->text));
	secrets_add(&own, key ? key : "");
	for (const char *at = f->text; *at;) {
		size_t same = secrets_match(&own, at, strlen(at));
		for (size_t i = 0; i < len && at[i] == key[i]; i++)
			same = i + 1 > same ? i + 1 : same;
		if (same >= KEY_PART_BYTES) {
			buf_adds(&out, "[REDACTED:key]");
			at += same;
		} else {
			buf_addc(&out, *at++);
		}
	}
	utf8_copy(f->text, sizeof(f->text), out.data);
	secrets_done(&own);
}

static void tell_learned(const struct client *c, const char *why)
{
	char text[600];
	snprintf(text, sizeof(text), "asking again as the provider wants it: %s", why);
	c->notice(c->context, text);
}

int client_call(struct client *c, const struct wire_request *r, size_t serial,
	struct wire_reply *out, struct fault *f)
{
	for (int tried = 0;;) {
		struct fault why = FAULT_INIT;
		if (!attempt(c, r, serial, out, &why))
			return 0;
		hide_key(c->key, &why);
		for (size_t i = 0; c->headers && c->headers[i]; i++)
			hide_key(strstr(c->headers[i], ": ") + 2, &why);
		if (fault_blames_request(&why) && c->format->adapt(&c->quirks, why.text)) {
			tell_learned(c, why.text);
			continue;
		}
		if (why.kind != FAULT_RETRY || tried >= c->max_retries) {
			*f = why;
			return -1;
		}
		if (pause_for(c, &why, tried, f))
			return -1;
		tried++;
	}
}
