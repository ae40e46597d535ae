#include "broker/parse/http_host.h"

#include "base/num.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

enum { PART_METHOD, PART_TARGET, PART_VERSION, PART_END };
enum { METHOD_MAX_BYTES = 32 };

/* What one head said. */
struct head {
	const struct endpoint *endpoint;
	unsigned hosts, lengths;
	bool bad;
	int64_t length;
};

static bool is_token(char c)
{
	return isalnum((unsigned char)c) || (c != '\0' && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void line_init(struct http_line *l)
{
	*l = (struct http_line){.strict = true, .empty = true};
}

void http_host_init(struct http_host *h)
{
	*h = (struct http_host){.state = HTTP_FIRST};
	line_init(&h->line);
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
static void line_see(struct http_line *l, const char *bytes, size_t len)
{
	static const char mark[] = "http/";
	for (const char *c = bytes; c < bytes + len; c++) {
		char lower = (char)tolower((unsigned char)*c);
		l->matched = lower == mark[l->matched] ? l->matched + 1 : lower == mark[0];
		l->versioned |= l->matched == sizeof(mark) - 1;
		l->matched %= sizeof(mark) - 1;
		l->empty &= is_blank(*c) || *c == '\r';
		if ((*c == ' ' && l->part < PART_VERSION && l->in_word > 0) ||
			(*c == '\r' && l->part == PART_VERSION && l->in_word == 8)) {
			l->part++;
			l->in_word = 0;
		} else {
			l->strict &= fits_word(l, *c);
			l->in_word++;
		}
	}
	l->bytes += len;
}

static bool line_is_request(const struct http_line *l)
{
	return l->strict && l->part == PART_END;
}

/* Its text with or without the port. */
static bool names_endpoint(const struct endpoint *p, const char *value, size_t len)
{
	size_t whole = strlen(p->text), host = (size_t)(strrchr(p->text, ':') - p->text);
	return (len == whole || len == host) && strncasecmp(p->text, value, len) == 0;
}

static bool is_field(const char *line, size_t len, const char *name)
{
	return len == strlen(name) && strncasecmp(line, name, len) == 0;
}

static void see_field(struct head *h, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len), *end = line + len, *value;
	size_t name_len = colon ? (size_t)(colon - line) : 0;
	h->bad |= name_len == 0 || memchr(line, '\0', len) || memchr(line, '\r', len);
	for (size_t i = 0; i < name_len; i++)
		h->bad |= !is_token(line[i]);
	if (h->bad)
		return;
	for (value = colon + 1; value < end && is_blank(*value);)
		value++;
	while (end > value && is_blank(end[-1]))
		end--;
	size_t value_len = (size_t)(end - value);
	if (is_field(line, name_len, "host")) {
		h->hosts++;
		h->bad |= !names_endpoint(h->endpoint, value, value_len);
	} else if (is_field(line, name_len, "content-length")) {
		h->lengths++;
		h->bad |= value_len == 0 || !isdigit((unsigned char)*value) ||
			  num_int(value, value_len, &h->length) < 0;
	} else {
		h->bad |= is_field(line, name_len, "transfer-encoding") ||
			  is_field(line, name_len, "upgrade");
	}
}

/* Each step returns how many bytes it passes: 0 needs more, -1 refuses. */

static ssize_t take_headers(
	struct http_host *h, const struct endpoint *p, const char *bytes, size_t len)
{
	struct head head = {.endpoint = p};
	const char *at = bytes, *feed;
	while ((feed = memchr(at, '\n', len - (size_t)(at - bytes)))) {
		if (feed == at || feed[-1] != '\r')
			return -1;
		if (feed == at + 1)
			break;
		see_field(&head, at, (size_t)(feed - 1 - at));
		at = feed + 1;
	}
	if (head.bad || (!feed && len > HTTP_HEAD_MAX_BYTES))
		return -1;
	if (!feed)
		return 0;
	if (head.hosts != 1 || head.lengths > 1)
		return -1;
	h->body_left = (uint64_t)head.length;
	h->state = head.length > 0 ? HTTP_BODY : HTTP_LINE;
	line_init(&h->line);
	return feed + 1 - bytes;
}

static ssize_t take_first(
	struct http_host *h, const struct endpoint *p, const char *bytes, size_t len)
{
	const char *feed = memchr(bytes, '\n', len);
	size_t line_len = feed ? (size_t)(feed - bytes) : len;
	line_init(&h->line);
	line_see(&h->line, bytes, line_len);
	if (feed ? !line_is_request(&h->line) : !h->line.strict || len > HTTP_HEAD_MAX_BYTES)
		return -1;
	ssize_t taken = feed ? take_headers(h, p, feed + 1, len - line_len - 1) : 0;
	ssize_t whole = taken > 0 ? taken + (ssize_t)line_len + 1 : taken;
	return whole > HTTP_HEAD_MAX_BYTES ? -1 : whole;
}

static ssize_t take_line(struct http_host *h, const char *bytes, size_t len)
{
	const char *feed = memchr(bytes, '\n', len);
	struct http_line *l = &h->line;
	line_see(l, bytes, feed ? (size_t)(feed - bytes) : len);
	if (l->versioned && !(feed ? line_is_request(l) : l->strict))
		return -1;
	if (!feed) {
		bool endless = l->bytes > HTTP_LINE_MAX_BYTES;
		h->state = endless ? HTTP_OPAQUE : HTTP_LINE;
		return endless && l->strict ? -1 : (ssize_t)len;
	}
	if (l->empty)
		line_init(l);
	else
		h->state = l->versioned ? HTTP_HEADERS : HTTP_OPAQUE;
	return feed + 1 - bytes;
}

static ssize_t take_body(struct http_host *h, size_t len)
{
	size_t taken = len < h->body_left ? len : (size_t)h->body_left;
	h->body_left -= taken;
	h->state = h->body_left == 0 ? HTTP_LINE : HTTP_BODY;
	return (ssize_t)taken;
}

int http_host_take(struct http_host *h, const struct endpoint *endpoint, const char *bytes,
	size_t len, size_t *passed)
{
	ssize_t taken = 1;
	for (*passed = 0; *passed < len && taken > 0; *passed += taken > 0 ? (size_t)taken : 0) {
		const char *rest = bytes + *passed;
		size_t left = len - *passed;
		switch (h->state) {
		case HTTP_FIRST: taken = take_first(h, endpoint, rest, left); break;
		case HTTP_LINE: taken = take_line(h, rest, left); break;
		case HTTP_HEADERS: taken = take_headers(h, endpoint, rest, left); break;
		case HTTP_BODY: taken = take_body(h, left); break;
		case HTTP_OPAQUE: taken = (ssize_t)left; break;
		}
	}
	return taken < 0 ? -1 : 0;
}
