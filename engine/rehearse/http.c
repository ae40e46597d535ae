#include "rehearse/http.h"

#include "base/num.h"
#include <string.h>
#include <strings.h>

/* The value of the header line at `line` when its name is `name`. */
static const char *header(const char *line, const char *name)
{
	size_t len = strlen(name);
	if (strncasecmp(line, name, len) || line[len] != ':')
		return NULL;
	line += len + 1;
	return line + strspn(line, " \t");
}

struct head {
	struct http_request *out;
	int64_t body_len; /* -1: not given */
	bool chunked, bad;
};

static void read_header(struct head *h, const char *line)
{
	const char *value;
	if ((value = header(line, "content-length"))) {
		int64_t given;
		h->bad |= num_int(value, strcspn(value, " \t"), &given) || given < 0 ||
			  (h->body_len >= 0 && h->body_len != given);
		h->body_len = h->bad ? 0 : given;
	} else if ((value = header(line, "transfer-encoding"))) {
		h->chunked = true;
	} else if ((value = header(line, "content-type"))) {
		h->out->content_type = value;
	} else if ((value = header(line, "anthropic-version"))) {
		h->out->anthropic_version = value;
	} else if ((value = header(line, "connection"))) {
		h->out->close = !strcasecmp(value, "close");
	}
	h->bad |= !strchr(line, ':');
}

/* "METHOD TARGET HTTP/1.1" */
static bool read_request_line(char *line, struct http_request *out)
{
	char *target = strchr(line, ' ');
	char *version = target ? strchr(target + 1, ' ') : NULL;
	if (!version || strcmp(version + 1, "HTTP/1.1"))
		return false;
	*target = *version = '\0';
	out->method = line;
	out->target = target + 1;
	return true;
}

static bool read_head(char *bytes, const char *end, struct head *h)
{
	char *line = bytes;
	for (bool first = true; line < end; first = false) {
		char *next = strstr(line, "\r\n");
		*next = '\0';
		if (!first)
			read_header(h, line);
		else if (!read_request_line(line, h->out))
			return false;
		line = next + 2;
	}
	return !h->bad;
}

static long answer(int *status, int code)
{
	*status = code;
	return -1;
}

/* The value of the last header `name`; NULL: there is none. The head is parsed for every piece of
 * a body that arrives, and parsing cuts it up in place, so the first look only measures. */
static const char *announced(const char *bytes, const char *end, const char *name)
{
	const char *value = NULL;
	for (const char *line = strstr(bytes, "\r\n") + 2; line < end;
		line = strstr(line, "\r\n") + 2)
		value = header(line, name) ? header(line, name) : value;
	return value;
}

long http_parse(char *bytes, size_t len, struct http_request *out, int *status, bool *expects)
{
	char *end = len ? strstr(bytes, "\r\n\r\n") : NULL;
	struct head h = {.out = out, .body_len = -1};
	*expects = false;
	if (!end)
		return len > HTTP_HEAD_MAX ? answer(status, 431) : 0;
	size_t head_len = (size_t)(end - bytes) + 4;
	const char *length = announced(bytes, end, "content-length");
	int64_t body_len = 0;
	if (length) /* read_head refuses what is no number */
		num_int(length, strcspn(length, " \t\r"), &body_len);
	if (head_len > HTTP_HEAD_MAX)
		return answer(status, 431);
	if (body_len > HTTP_BODY_MAX)
		return answer(status, 413);
	if (body_len > 0 && len - head_len < (size_t)body_len) {
		*expects = len == head_len && announced(bytes, end, "expect");
		return 0;
	}
	*out = (struct http_request){0};
	if (!read_head(bytes, end + 2, &h))
		return answer(status, 400);
	if (h.chunked || (h.body_len < 0 && !strcmp(out->method, "POST")))
		return answer(status, 411);
	if (h.body_len > 0 && (size_t)h.body_len > len - head_len)
		return answer(status, 400); /* two lengths that disagree */
	out->body = bytes + head_len;
	out->body_len = h.body_len > 0 ? (size_t)h.body_len : 0;
	return (long)(head_len + out->body_len);
}

static void write_chunks(struct buf *out, const struct buf *body)
{
	/* Small and of an odd size, so that a client sees events cut anywhere. */
	enum { CHUNK_BYTES = 509 };
	for (size_t at = 0; at < body->len; at += CHUNK_BYTES) {
		size_t n = body->len - at < CHUNK_BYTES ? body->len - at : CHUNK_BYTES;
		buf_addf(out, "%zx\r\n", n);
		buf_add(out, body->data + at, n);
		buf_adds(out, "\r\n");
	}
	buf_adds(out, "0\r\n\r\n");
}

void http_write(struct buf *out, const struct http_reply *reply, const struct buf *body)
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
