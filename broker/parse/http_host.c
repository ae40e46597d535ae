#include "broker/parse/http_host.h"

#include "base/num.h"
#include <string.h>
#include <strings.h>

enum { PART_METHOD, PART_TARGET, PART_VERSION, PART_END };
enum { METHOD_MAX_BYTES = 32 };

/* What one head said. */
struct head {
	const struct endpoint *endpoint;
	unsigned hosts, lengths, encodings;
	bool bad;
	uint64_t length;
};

static const char token_marks[] = "!#$%&'*+-.^_`|~";

static bool is_token(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr(token_marks, c));
}

void http_host_init(struct http_host *h)
{
	*h = (struct http_host){.state = HTTP_FIRST};
}

static void line_init(struct http_line *l)
{
	*l = (struct http_line){.strict = true, .empty = true};
}

static bool fits_word(const struct http_line *l, char c)
{
	static const char version[] = "HTTP/1.";
	switch (l->part) {
	case PART_METHOD: return is_token(c) && l->in_word < METHOD_MAX_BYTES;
	case PART_TARGET: return l->in_word == 0 ? c == '/' || c == '*' : c > ' ' && c < 0x7f;
	case PART_VERSION:
		return l->in_word < 7 ? c == version[l->in_word]
				      : l->in_word == 7 && (c == '0' || c == '1');
	default: return false;
	}
}

/* Everything but the line feed that ends the line. */
static void line_see(struct http_line *l, char c)
{
	static const char mark[] = "http/";
	if (!strchr(" \t\r", c) || c == '\0')
		l->empty = false;
	char lower = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
	l->matched = lower == mark[l->matched] ? l->matched + 1 : lower == mark[0];
	if (l->matched == sizeof(mark) - 1) {
		l->versioned = true;
		l->matched = 0;
	}
	if (c == ' ' && l->part < PART_VERSION && l->in_word > 0) {
		l->part++;
		l->in_word = 0;
	} else if (c == '\r' && l->part == PART_VERSION && l->in_word == 8) {
		l->part = PART_END;
	} else {
		l->strict &= fits_word(l, c);
		l->in_word++;
	}
	l->bytes++;
}

static bool line_is_request(const struct http_line *l)
{
	return l->strict && l->versioned && l->part == PART_END;
}

static bool names_endpoint(const struct endpoint *p, const char *value, size_t len)
{
	const char *colon = memrchr(value, ':', len);
	if (colon && !memchr(colon, ']', (size_t)(value + len - colon))) {
		int64_t port;
		if (num_int(colon + 1, (size_t)(value + len - colon - 1), &port) < 0 ||
			port != p->port)
			return false;
		len = (size_t)(colon - value);
	}
	return endpoint_names(p, value, len);
}

static bool is_field(const char *line, const char *end, const char *name)
{
	return (size_t)(end - line) == strlen(name) && strncasecmp(line, name, strlen(name)) == 0;
}

static void see_field(struct head *h, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len), *end = line + len;
	h->bad |= !colon || colon == line || memchr(line, '\0', len) || memchr(line, '\r', len);
	for (const char *p = line; !h->bad && p < colon; p++)
		h->bad = !is_token(*p);
	if (h->bad)
		return;
	const char *value = colon + 1;
	while (value < end && (*value == ' ' || *value == '\t'))
		value++;
	while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	size_t value_len = (size_t)(end - value);
	int64_t length = 0;
	if (is_field(line, colon, "host")) {
		h->hosts++;
		h->bad |= !names_endpoint(h->endpoint, value, value_len);
	} else if (is_field(line, colon, "content-length")) {
		h->lengths++;
		h->bad |= value_len == 0 || *value < '0' || *value > '9' ||
			  num_int(value, value_len, &length) < 0;
		h->length = (uint64_t)length;
	} else if (is_field(line, colon, "transfer-encoding")) {
		h->encodings++;
		h->bad |= value_len != 7 || strncasecmp(value, "chunked", 7) != 0;
	} else if (is_field(line, colon, "upgrade")) {
		h->bad = true;
	}
}

/* Header lines up to the empty one. Returns the bytes they took, 0 when more are needed; `bad`
 * as soon as a whole line is wrong. */
static size_t see_fields(struct head *h, const char *bytes, size_t len)
{
	const char *at = bytes, *end = bytes + len, *feed;
	while (!h->bad && (feed = memchr(at, '\n', (size_t)(end - at)))) {
		if (feed == at || feed[-1] != '\r') {
			h->bad = true;
		} else if (feed == at + 1) {
			h->bad |= h->hosts != 1 || h->lengths + h->encodings > 1;
			return (size_t)(feed + 1 - bytes);
		} else {
			see_field(h, at, (size_t)(feed - 1 - at));
		}
		at = feed + 1;
	}
	h->bad |= len > HTTP_HEAD_MAX_BYTES;
	return 0;
}

static void begin_message(struct http_host *h, const struct head *head)
{
	h->chunked = head->encodings > 0;
	h->body_left = head->length;
	h->state = h->chunked ? HTTP_CHUNK : head->length > 0 ? HTTP_BODY : HTTP_LINE;
	line_init(&h->line);
}

/* Each step returns how many bytes it passes: 0 needs more, -1 refuses. */

static ssize_t take_first(
	struct http_host *h, const struct endpoint *p, const char *bytes, size_t len)
{
	struct head head = {.endpoint = p};
	size_t line_len = 0;
	line_init(&h->line);
	while (line_len < len && bytes[line_len] != '\n' && h->line.strict)
		line_see(&h->line, bytes[line_len++]);
	if (!h->line.strict || line_len > HTTP_HEAD_MAX_BYTES)
		return -1;
	if (line_len == len)
		return 0;
	line_len++;
	size_t taken =
		line_is_request(&h->line) ? see_fields(&head, bytes + line_len, len - line_len) : 0;
	if (!line_is_request(&h->line) || head.bad || line_len + taken > HTTP_HEAD_MAX_BYTES)
		return -1;
	if (taken == 0)
		return 0;
	begin_message(h, &head);
	return (ssize_t)(line_len + taken);
}

static ssize_t take_line(struct http_host *h, const char *bytes, size_t len)
{
	const char *feed = memchr(bytes, '\n', len);
	size_t line_len = feed ? (size_t)(feed - bytes) : len;
	for (size_t i = 0; i < line_len; i++)
		line_see(&h->line, bytes[i]);
	if (h->line.versioned && !(feed ? line_is_request(&h->line) : h->line.strict))
		return -1;
	if (!feed && h->line.bytes > HTTP_LINE_MAX_BYTES) {
		h->state = HTTP_OPAQUE;
		return h->line.strict ? -1 : (ssize_t)len;
	}
	if (!feed)
		return (ssize_t)len;
	if (h->line.empty)
		line_init(&h->line);
	else
		h->state = h->line.versioned ? HTTP_HEADERS : HTTP_OPAQUE;
	return (ssize_t)line_len + 1;
}

static ssize_t take_headers(
	struct http_host *h, const struct endpoint *p, const char *bytes, size_t len)
{
	struct head head = {.endpoint = p};
	size_t taken = see_fields(&head, bytes, len);
	if (head.bad)
		return -1;
	if (taken > 0)
		begin_message(h, &head);
	return (ssize_t)taken;
}

static ssize_t take_body(struct http_host *h, size_t len)
{
	size_t taken = len < h->body_left ? len : (size_t)h->body_left;
	h->body_left -= taken;
	if (h->body_left == 0)
		h->state = h->chunked ? HTTP_CHUNK_END : HTTP_LINE;
	return (ssize_t)taken;
}

/* "1a3f" or "1a3f;extension"; nothing a laxer reader could take for another number. */
static bool decode_chunk_size(const char *line, size_t len, uint64_t *out)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t value = 0;
	size_t at = 0;
	for (; at < len && at < 16 && line[at] != ';'; at++) {
		char lower =
			(char)(line[at] >= 'A' && line[at] <= 'F' ? line[at] | 0x20 : line[at]);
		const char *digit = lower ? strchr(digits, lower) : NULL;
		if (!digit)
			return false;
		value = value << 4 | (uint64_t)(digit - digits);
	}
	*out = value;
	return at > 0 && at < 16 && (at == len || line[at] == ';') && !memchr(line, '\r', len);
}

/* A chunk-size line, the end of a chunk, or a trailer line: each is one line. */
static ssize_t take_chunk_line(struct http_host *h, const char *bytes, size_t len)
{
	const char *feed = memchr(bytes, '\n', len);
	size_t line_len = feed ? (size_t)(feed - bytes) : len;
	if (line_len > HTTP_CHUNK_LINE_MAX_BYTES || (feed && (line_len == 0 || feed[-1] != '\r')))
		return -1;
	if (!feed)
		return 0;
	line_len--;
	if (h->state == HTTP_CHUNK_END) {
		h->state = HTTP_CHUNK;
		return line_len == 0 ? 2 : -1;
	}
	if (h->state == HTTP_CHUNK) {
		if (!decode_chunk_size(bytes, line_len, &h->body_left))
			return -1;
		h->state = h->body_left > 0 ? HTTP_BODY : HTTP_TRAILER;
	} else if (line_len == 0) {
		h->state = HTTP_LINE;
		line_init(&h->line);
	}
	return (ssize_t)line_len + 2;
}

static ssize_t take_step(
	struct http_host *h, const struct endpoint *p, const char *bytes, size_t len)
{
	switch (h->state) {
	case HTTP_FIRST: return take_first(h, p, bytes, len);
	case HTTP_LINE: return take_line(h, bytes, len);
	case HTTP_HEADERS: return take_headers(h, p, bytes, len);
	case HTTP_BODY: return take_body(h, len);
	case HTTP_CHUNK:
	case HTTP_CHUNK_END:
	case HTTP_TRAILER: return take_chunk_line(h, bytes, len);
	case HTTP_OPAQUE: break;
	}
	return (ssize_t)len;
}

int http_host_take(struct http_host *h, const struct endpoint *endpoint, const char *bytes,
	size_t len, size_t *passed)
{
	size_t done = 0;
	ssize_t taken = 1;
	while (done < len && taken > 0) {
		taken = take_step(h, endpoint, bytes + done, len - done);
		if (taken > 0)
			done += (size_t)taken;
	}
	*passed = done;
	return taken < 0 ? -1 : 0;
}
