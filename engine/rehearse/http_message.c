#include "rehearse/http_message.h"

#include "base/num.h"
#include <string.h>
#include <strings.h>

/* Returns the value of the header line at `line` if its name is `name`; it ends with the line. */
static const char *header(const char *line, const char *name)
{
	size_t len = strlen(name);
	if (strncasecmp(line, name, len) || line[len] != ':')
		return NULL;
	line += len + 1;
	return line + strspn(line, " \t");
}

struct head {
	struct http_request request;
	int64_t body_len; /* -1: not given */
	bool chunked, expects, bad;
};

static void read_header(struct head *head, const char *line, size_t len)
{
	const char *value;
	if ((value = header(line, "content-length"))) {
		int64_t given = -1;
		head->bad |= num_int(value, strcspn(value, " \t\r"), &given) || given < 0 ||
			     (head->body_len >= 0 && head->body_len != given);
		head->body_len = given;
	} else if ((value = header(line, "transfer-encoding"))) {
		head->chunked = true;
	} else if ((value = header(line, "expect"))) {
		head->expects = true;
	} else if ((value = header(line, "content-type"))) {
		head->request.content_type = value;
	} else if ((value = header(line, "anthropic-version"))) {
		head->request.anthropic_version = value;
	} else if ((value = header(line, "connection"))) {
		head->request.close = !strncasecmp(value, "close\r", 6);
	}
	head->bad |= !memchr(line, ':', len) || memchr(line, '\r', len);
}

/* Reads "METHOD TARGET HTTP/1.1". */
static bool read_request_line(const char *line, struct http_request *out)
{
	const char *target = line + strcspn(line, " \r") + 1;
	const char *version = target + strcspn(target, " \r") + 1;
	out->method = line;
	out->target = target;
	return target[-1] == ' ' && version[-1] == ' ' && !strncmp(version, "HTTP/1.1\r", 9);
}

/* Reads the lines up to `end`, without changing them: the head is read again with every piece of a
 * body that arrives. */
static bool read_head(const char *bytes, const char *end, struct head *head)
{
	if (!read_request_line(bytes, &head->request))
		return false;
	for (const char *at = strstr(bytes, "\r\n"); at < end && !head->bad;) {
		const char *line = at + 2;
		at = strstr(line, "\r\n");
		read_header(head, line, (size_t)(at - line));
	}
	return !head->bad;
}

/* Ends every part of the head with a NUL. */
static void cut_up(char *bytes, const char *end)
{
	char *at = strstr(bytes, "\r\n");
	for (char *part = bytes; part < at; part++)
		*part = *part == ' ' ? '\0' : *part;
	for (; at <= end; at = strstr(at + 2, "\r\n"))
		*at = '\0';
}

static long answer(int *status, int code)
{
	*status = code;
	return -1;
}

long http_message_parse(
	char *bytes, size_t len, struct http_request *out, int *status, bool *expects)
{
	const char *end = len ? strstr(bytes, "\r\n\r\n") : NULL;
	size_t head_len = end ? (size_t)(end - bytes) + 4 : len;
	struct head h = {.body_len = -1};
	*expects = false;
	if (head_len > HTTP_HEAD_MAX)
		return answer(status, 431);
	if (!end)
		return 0;
	if (!read_head(bytes, end, &h))
		return answer(status, 400);
	if (h.chunked || (h.body_len < 0 && !strncmp(bytes, "POST ", 5)))
		return answer(status, 411);
	if (h.body_len > HTTP_BODY_MAX)
		return answer(status, 413);
	size_t body_len = h.body_len > 0 ? (size_t)h.body_len : 0;
	if (len - head_len < body_len) {
		*expects = len == head_len && h.expects;
		return 0;
	}
	cut_up(bytes, end);
	*out = h.request;
	out->body = bytes + head_len;
	out->body_len = body_len;
	return (long)(head_len + body_len);
}

static void write_chunks(struct buf *out, const struct buf *body)
{
	/* Small and odd, so that events are cut in any place. */
	enum { CHUNK_BYTES = 509 };
	for (size_t at = 0; at < body->len; at += CHUNK_BYTES) {
		size_t n = body->len - at < CHUNK_BYTES ? body->len - at : CHUNK_BYTES;
		buf_addf(out, "%zx\r\n", n);
		buf_add(out, body->data + at, n);
		buf_adds(out, "\r\n");
	}
	buf_adds(out, "0\r\n\r\n");
}

void http_message_write(struct buf *out, const struct http_reply *reply, const struct buf *body)
{
	buf_addf(out, "HTTP/1.1 %d %s\r\nrequest-id: req_rehearsed_%zu\r\ncontent-type: %s\r\n",
		reply->status, reply->status == 200 ? "OK" : "Error", reply->number,
		reply->event_stream ? "text/event-stream; charset=utf-8" : "application/json");
	if (reply->retry_after_secs >= 0)
		buf_addf(out, "retry-after: %ld\r\n", reply->retry_after_secs);
	if (reply->close)
		buf_adds(out, "connection: close\r\n");
	if (reply->event_stream) {
		buf_adds(out, "transfer-encoding: chunked\r\n\r\n");
		write_chunks(out, body);
		return;
	}
	buf_addf(out, "content-length: %zu\r\n\r\n", body->len);
	buf_add(out, body->data, body->len);
}
