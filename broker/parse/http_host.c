/*
 * The Host pin of plain-text endpoints: decides which bytes of an HTTP/1 request stream may go
 * upstream.
 *
 * Pure. The first head is held until it is whole and names the endpoint. Then Content-Length is
 * followed to the next request, whose head is held from its target on. Everything that could make a
 * server see another boundary or host than we do is refused: bare line feeds, folded lines, doubled
 * Host or length, Transfer-Encoding, Upgrade, CONNECT and absolute targets. Bytes after a request
 * that are no HTTP request line pass unread, since no server answers them. One hole stays open: a
 * server that ignores a body it was told about and reads it as its next request. Source: RFC 9112
 * sections 2-7.
 */
#include "broker/parse/pin.h"

#include "base/num.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { METHOD_MIN_BYTES = 3, METHOD_MAX_BYTES = 32 };

/* A request line: `m`, `t` and `d` stand for method, target and digit; the rest is literal. */
static const char shape[] = "m t HTTP/1.d\r";
static const char mark[] = "http\n"; /* `http` and what ends a line, which is not part of it */
enum { SHAPE_BYTES = sizeof(shape) - 1, MARK_BYTES = sizeof(mark) - 2 };

/* The contents of one head. */
struct head {
	unsigned hosts, lengths;
	bool bad;
	int64_t length;
};

static size_t refuse(struct pin *pin)
{
	pin->refused = REFUSED_HOST;
	return 0;
}

static bool is_token(char c)
{
	return isalnum((unsigned char)c) || (c != '\0' && strchr("!#$%&'*+-.^_`|~", c));
}

/* Takes one step through the shape. */
static bool line_fits(struct http_line *http_line, char c)
{
	char want = shape[http_line->at];
	bool word = want == 'm' || want == 't', first = http_line->in_word == 0;
	if (want == 'm' ? is_token(c) && http_line->in_word < METHOD_MAX_BYTES
			: want == 't' && (first ? c == '/' || c == '*' : c > ' ' && c < 0x7f)) {
		http_line->in_word++;
		return true;
	}
	bool fits = word          ? c == ' ' && !first
		    : want == 'd' ? c == '0' || c == '1'
				  : want && c == want;
	http_line->at += fits ? 1 + word : 0;
	http_line->in_word = 0;
	return fits;
}

/* Reports whether a server may take the line for a request once it has this byte: after "HTTP", or
 * after a method, since HTTP/0.9 has no version and is still answered: by nginx for "GET
 * http://other/", by Node.js for any method, with the headers after it. */
static bool asks_with(const struct http_line *http_line, char c)
{
	bool method = http_line->at > 0 && http_line->capitals >= METHOD_MIN_BYTES;
	return (method && (c == '/' || c == '*' || c == ':')) ||
	       (http_line->matched == MARK_BYTES && c == '/');
}

/* Reads the line without its line feed, or up to the byte where it may first be a request. Returns
 * how many bytes it read. */
static size_t line_see(struct http_line *http_line, const char *bytes, size_t len)
{
	const char *c = bytes;
	for (; c < bytes + len && (http_line->asks || !asks_with(http_line, *c)); c++) {
		char lower = (char)tolower((unsigned char)*c);
		http_line->matched = lower == mark[http_line->matched] ? http_line->matched + 1
								       : lower == mark[0];
		http_line->capitals += http_line->at == 0 && lower != *c;
		http_line->solid += !isblank((unsigned char)*c) && *c != '\r';
		bool leads = *c == '\r' && !http_line->asks &&
			     http_line->solid == 0; /* servers skip it */
		http_line->lax = http_line->lax || !(leads || line_fits(http_line, *c));
	}
	http_line->asks = http_line->asks || c < bytes + len;
	return (size_t)(c - bytes);
}

/* Reports whether the value names the endpoint, with or without the port. */
static bool names_endpoint(const struct host_port *host_port, const char *value, size_t len)
{
	size_t whole = strlen(host_port->text),
	       host = (size_t)(strrchr(host_port->text, ':') - host_port->text);
	return (len == whole || len == host) && strncasecmp(host_port->text, value, len) == 0;
}

static bool is_field(const char *line, size_t len, const char *name)
{
	return len == strlen(name) && strncasecmp(line, name, len) == 0;
}

/* Reads a header line up to its line feed. */
static void see_field(
	struct head *head, const struct host_port *host_port, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len), *end = line + len - 1;
	head->bad |= !colon || colon == line || memchr(line, '\0', len) ||
		     memchr(line, '\r', len) != end;
	if (head->bad)
		return;
	const char *value = colon + 1;
	size_t name_len = (size_t)(colon - line);
	for (size_t i = 0; i < name_len; i++)
		head->bad |= !is_token(line[i]);
	while (value < end && isblank((unsigned char)*value))
		value++;
	while (end > value && isblank((unsigned char)end[-1]))
		end--;
	size_t value_len = (size_t)(end - value);
	if (is_field(line, name_len, "host")) {
		head->hosts++;
		head->bad |= !names_endpoint(host_port, value, value_len);
	} else if (is_field(line, name_len, "content-length")) {
		head->lengths++;
		/* Also refuses the end of the line. */
		head->bad |= !isdigit((unsigned char)*value) ||
			     num_int(value, value_len, &head->length) < 0;
	} else {
		head->bad |= is_field(line, name_len, "transfer-encoding") ||
			     is_field(line, name_len, "upgrade");
	}
}

static size_t take_headers(struct pin *pin, const char *bytes, size_t len)
{
	bool full = len >= HTTP_HEAD_MAX_BYTES;
	const char *at = bytes, *end = bytes + (full ? HTTP_HEAD_MAX_BYTES : len), *feed;
	struct head head = {.hosts = 0};
	while ((feed = memchr(at, '\n', (size_t)(end - at))) && feed != at + 1) {
		see_field(&head, &pin->endpoint->at, at, (size_t)(feed - at));
		at = feed + 1;
	}
	if (head.bad || (feed ? *at != '\r' || head.hosts != 1 || head.lengths > 1 : full))
		return refuse(pin);
	if (!feed)
		return 0;
	pin->passing = (uint64_t)head.length;
	pin->state = PIN_LINE;
	pin->line = (struct http_line){.solid = 0};
	return (size_t)(feed + 1 - bytes);
}

size_t http_take_head(struct pin *pin, const char *bytes, size_t len)
{
	bool full = len >= HTTP_HEAD_MAX_BYTES;
	const char *feed = memchr(bytes, '\n', full ? HTTP_HEAD_MAX_BYTES : len);
	size_t line_len = feed ? (size_t)(feed - bytes) : len;
	struct http_line line = pin->line;
	line_see(&line, bytes, line_len);
	if (line.lax || (feed ? line.at != SHAPE_BYTES : full))
		return refuse(pin);
	size_t taken = feed ? take_headers(pin, feed + 1, len - line_len - 1) : 0;
	return taken > 0 ? line_len + 1 + taken : 0;
}

size_t http_take_line(struct pin *pin, const char *bytes, size_t len)
{
	const char *feed = memchr(bytes, '\n', len);
	struct http_line *l = &pin->line;
	size_t seen = line_see(l, bytes, feed ? (size_t)(feed - bytes) : len);
	if (l->asks) {
		pin->state = PIN_NEXT_HEAD;
		return seen > 0 ? seen : http_take_head(pin, bytes, len);
	}
	if (feed && l->solid > 0)
		pin->state = PIN_OPEN;
	else if (feed)
		*l = (struct http_line){.solid = 0};
	return seen + (feed != NULL);
}
