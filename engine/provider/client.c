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
	bool begun;       /* usage was reported and passed on */
	struct buf whole; /* the body of an error, or a reply that is not streamed */
	struct http_head head;
};

static bool is_ok(const struct http_head *head)
{
	return head->status >= 200 && head->status < 300;
}

/* Estimates tokens at three bytes each, which is rather too high. */
static int64_t estimate(size_t bytes)
{
	return (int64_t)(bytes / 3);
}

static void open_bill(const struct attempt *attempt)
{
	struct usage told = *wire_stream_usage(attempt->stream), most = told;
	most.input = told.input ? told.input : estimate(attempt->sent_bytes);
	if (most.output < attempt->request->max_tokens)
		most.output = attempt->request->max_tokens;
	told.known = most.known = true;
	told.cost_microusd = told.input ? told.cost_microusd : 0;
	attempt->client->open(attempt->client->context, &told, &most);
}

static int feed(struct attempt *attempt, const char *bytes, size_t len, struct fault *fault)
{
	attempt->fed = true;
	int rc = wire_stream_feed(attempt->stream, bytes, len, fault);
	const struct usage *u = wire_stream_usage(attempt->stream);
	if (u->input && rc != 1 &&
		!attempt->begun) { /* an exchange that has ended reports all of its usage */
		attempt->begun = true;
		open_bill(attempt);
	}
	return rc;
}

/* Returns the length of a byte-order mark, which may be ignored before JSON: RFC 8259, 8.1. */
static size_t mark_bytes(const char *body, size_t len)
{
	return len > 3 && !memcmp(body, "\xef\xbb\xbf", 3) ? 3 : 0;
}

/* Reports whether the body is a JSON document. Some gateways call everything a stream, but no
 * stream begins like this. */
static bool is_document(const char *body, size_t len)
{
	char first = body[mark_bytes(body, len)];
	return first == '{' || first == '[' || first == '<';
}

static int on_body(void *context, const struct http_head *head, const char *bytes, size_t len,
	struct fault *fault)
{
	struct attempt *a = context;
	if (is_ok(head) && head->is_encoded)
		return fault_set(fault, FAULT_FATAL,
			"the provider compressed its answer, which it was not asked to do");
	if (!a->fed && !a->whole.len && is_document(bytes, len))
		a->head.is_stream = false;
	if (is_ok(head) && head->is_stream)
		return feed(a, bytes, len, fault);
	size_t cap = is_ok(head) ? WIRE_CONTENT_CAP_BYTES : ERROR_CAP_BYTES;
	size_t room = cap - a->whole.len;
	if (len > room && is_ok(head))
		return fault_set(fault, FAULT_FATAL, "the reply holds more than %d MiB of content",
			WIRE_CONTENT_CAP_BYTES / (1024 * 1024));
	if (buf_add(&a->whole, bytes, len < room ? len : room))
		return fault_set(fault, FAULT_FATAL, "out of memory");
	return 0;
}

/* Adds the request id, which the provider's support asks for. */
static void name_request(struct fault *fault, const char *id)
{
	size_t len = strlen(fault->text);
	bool plain = *id && !id[strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_-.")];
	if (plain && len + strlen(id) + sizeof(" (request )") <= sizeof(fault->text))
		snprintf(fault->text + len, sizeof(fault->text) - len, " (request %s)", id);
}

/* Recognises a stream by its content, since some gateways omit its type. */
static bool is_stream(const char *body)
{
	static const char *const begins[] = {"data:", "event:", ":"};
	for (size_t i = 0; i < ARRAY_LEN(begins); i++)
		if (!strncmp(body, begins[i], strlen(begins[i])))
			return true;
	return false;
}

static int take_whole(struct attempt *attempt, const char *body, struct fault *fault)
{
	if (is_stream(body))
		return wire_stream_feed(attempt->stream, body, attempt->whole.len, fault) < 0 ? -1
											      : 0;
	return wire_stream_body(attempt->stream, body, attempt->whole.len, fault);
}

static int settle_attempt(struct attempt *attempt, struct wire_reply *out, struct fault *fault)
{
	buf_drop(&attempt->whole, mark_bytes(attempt->whole.data, attempt->whole.len));
	const char *body = attempt->whole.data;
	if (!is_ok(&attempt->head)) {
		fault->retry_after_ms = attempt->head.retry_after_ms;
		if (attempt->head.is_encoded)
			body = "(compressed)";
		fault_reply(fault, attempt->head.status, body, strlen(body),
			attempt->head.should_retry);
		name_request(fault, attempt->head.request_id);
		return -1;
	}
	if (!attempt->head.is_stream && take_whole(attempt, body, fault))
		return -1;
	return wire_stream_end(attempt->stream, out, fault);
}

static int post(const struct client *client, const struct buf *body, struct attempt *attempt,
	struct fault *fault)
{
	char version[64];
	AUTO_FREE char *auth = NULL;
	bool bearer = !strcmp(client->auth, "bearer");
	const char *headers[HEADERS_MAX] = {
		"content-type: application/json", "accept: text/event-stream"};
	size_t n = 2;
	snprintf(version, sizeof(version), "anthropic-version: %s", client->api_version);
	if (client->format == &anthropic_format)
		headers[n++] = version;
	if (client->key && (bearer || !strcmp(client->auth, "x-api-key"))) {
		if (asprintf(&auth, "%s%s",
			    bearer ? "authorization: Bearer " : "x-api-key: ", client->key) < 0)
			return fault_set(fault, FAULT_FATAL, "out of memory");
		headers[n++] = auth;
	}
	for (size_t i = 0; client->headers && client->headers[i] && n + 1 < HEADERS_MAX; i++)
		headers[n++] = client->headers[i];
	int64_t own_ms = clock_monotonic_ms() + client->call_timeout_ms;
	struct http_post p = {.path = client->format->path,
		.headers = headers,
		.body = body->data,
		.body_len = body->len,
		.on_body = on_body,
		.context = attempt,
		.deadline_ms = own_ms < client->deadline_ms ? own_ms : client->deadline_ms};
	int rc = http_post(client->http, &p, &attempt->head, fault);
	if (auth)
		explicit_bzero(auth, strlen(auth));
	if (!rc || fault->kind != FAULT_TIMEOUT || own_ms >= client->deadline_ms)
		return rc;
	/* The provider's own time-out may be temporary; only the caller's ends the call. */
	*fault = FAULT_INIT;
	return fault_set(fault, FAULT_RETRY, "the call took longer than its timeout_secs, %lld",
		(long long)(client->call_timeout_ms / 1000));
}

/* Bills an attempt. A stream that broke before it reported its usage was charged all the same, so
 * its usage is estimated and a budget still binds; so is that of a request that was being answered
 * when time ran out, and every count that a reply omits or gets wrong. Estimated usage is marked
 * unknown. */
static void bill_attempt(const struct client *client, const struct attempt *attempt, bool replied)
{
	struct usage u = *wire_stream_usage(attempt->stream), none = {.known = true};
	if (!is_ok(&attempt->head) && !attempt->head.is_unanswered) {
		client->open(client->context, &none, &none);
		return;
	}
	if (!u.known) {
		int64_t written = estimate(wire_stream_bytes(attempt->stream));
		u.input = u.input ? u.input : estimate(attempt->sent_bytes);
		u.output = u.output > written ? u.output : written;
		u.known = !replied;
	}
	client->bill(client->context, &u);
}

/* Replaces the fault by the broker's, which knows better why a connection failed. */
static void explain(const struct client *client, bool replied, struct fault *fault)
{
	bool broken = fault->kind == FAULT_RETRY && !fault->status;
	if (broken && http_broker_gone(client->http)) {
		*fault = FAULT_INIT;
		fault_set(fault, FAULT_FATAL, "the broker has ended");
		return;
	}
	const char *why = broken && !replied ? client->explain(client->context) : NULL;
	if (why) {
		*fault = FAULT_INIT;
		fault_set(fault, FAULT_RETRY, "%s", why);
	}
}

static int attempt(struct client *client, const struct wire_request *r, size_t serial,
	struct wire_reply *out, struct fault *fault)
{
	AUTO_BUF body = BUF_INIT(HTTP_RAW_CAP_BYTES);
	struct wire_request request = *r;
	request.quirks = client->quirks;
	if (client->format->encode(&request, &body))
		return fault_set(fault, FAULT_CONTEXT, "the request is longer than 64 MiB");
	struct attempt a = {.client = client,
		.request = r,
		.sent_bytes = body.len,
		.stream = wire_stream_new(client->format, serial)};
	buf_init(&a.whole, WIRE_CONTENT_CAP_BYTES);
	if (!a.stream)
		return fault_set(fault, FAULT_FATAL, "out of memory");
	open_bill(&a);
	struct fault broken = FAULT_INIT, ended = FAULT_INIT;
	int rc = post(client, &body, &a, &broken);
	/* A connection that breaks after the last event has delivered the whole turn. */
	int settled =
		!rc || (is_ok(&a.head) && a.head.is_stream) ? settle_attempt(&a, out, &ended) : -1;
	bill_attempt(client, &a, !settled && !rc);
	if (settled)
		*fault = rc ? broken : ended;
	if (settled)
		explain(client, !rc || a.head.status, fault);
	wire_stream_free(a.stream);
	buf_done(&a.whole);
	return settled;
}

static int pause_for(struct client *client, const struct fault *why, int tried, struct fault *fault)
{
	int64_t wait_ms = fault_delay_ms(why, tried, &client->seed);
	if (wait_ms < 0)
		return fault_set(fault, FAULT_FATAL, "%s; it asks to wait %lld s, more than 120 s",
			why->text, (long long)(why->retry_after_ms / 1000));
	int64_t left_ms = client->deadline_ms - clock_monotonic_ms();
	if (wait_ms >= left_ms)
		return fault_set(fault, FAULT_TIMEOUT, "a retry in %.1f s would come too late: %s",
			(double)wait_ms / 1000, why->text);
	char text[600];
	snprintf(text, sizeof(text), "retry %d of %lld in %.1f s: %s", tried + 1,
		(long long)client->max_retries, (double)wait_ms / 1000, why->text);
	client->notice(client->context, text);
	poll(NULL, 0, (int)wait_ms);
	return 0;
}

/* Hides the key in a fault. A provider may repeat what was sent, and cut it, so the beginning of
 * the key is hidden as well. */
static void hide_key(const char *key, struct fault *fault)
{
	size_t len = key ? strlen(key) : 0;
	struct secrets own = {0};
	AUTO_BUF out = BUF_INIT(2 * sizeof(fault->text));
	secrets_add(&own, key ? key : "");
	for (const char *at = fault->text; *at;) {
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
	utf8_copy(fault->text, sizeof(fault->text), out.data);
	secrets_done(&own);
}

static void tell_learned(const struct client *client, const char *why)
{
	char text[600];
	snprintf(text, sizeof(text), "asking again as the provider wants it: %s", why);
	client->notice(client->context, text);
}

int client_call(struct client *client, const struct wire_request *request, size_t serial,
	struct wire_reply *out, struct fault *fault)
{
	for (int tried = 0;;) {
		struct fault why = FAULT_INIT;
		if (!attempt(client, request, serial, out, &why))
			return 0;
		hide_key(client->key, &why);
		for (size_t i = 0; client->headers && client->headers[i]; i++)
			hide_key(strstr(client->headers[i], ": ") + 2, &why);
		if (fault_blames_request(&why) &&
			client->format->adapt(&client->quirks, why.text)) {
			tell_learned(client, why.text);
			continue;
		}
		if (why.kind != FAULT_RETRY || tried >= client->max_retries) {
			*fault = why;
			return -1;
		}
		if (pause_for(client, &why, tried, fault))
			return -1;
		tried++;
	}
}
