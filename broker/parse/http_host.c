/*
 * The Host pin of plain-text endpoints: which bytes of an HTTP/1 request stream may go upstream.
 *
 * Pure. The first head is held until it is whole and names the endpoint. After it Content-Length
 * is followed to where the next request begins, and that head is held from its target on. Whatever
 * could make a server see another boundary or host than we do is refused: bare line feeds, folded
 * lines, doubled Host or length, Transfer-Encoding, Upgrade, CONNECT and absolute targets. Bytes
 * behind a request that are no HTTP request line pass unread, since no server answers them. Not
 * closed: a server that ignores a body it was told about and reads it as its next request. Source:
 * RFC 9112 sections 2-7.
 */
#include "broker/parse/pin.h"

#include "base/num.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { METHOD_MIN_BYTES = 3, METHOD_MAX_BYTES = 32 };

/* A request line: method, target and digit are letters here, the rest is meant. */
static const char shape[] = "m t HTTP/1.d\r";
static const char mark[] = "http\n"; /* what ends a line is not in it */
enum { SHAPE_BYTES = sizeof(shape) - 1, MARK_BYTES = sizeof(mark) - 2 };

/* What one head said. */
struct head {
	unsigned hosts, lengths;
	bool bad;
	int64_t length;
};

static size_t refuse(struct pin *p)
{
	p->refused = REFUSED_HOST;
	return 0;
}

static bool is_token(char c)
{
	return isalnum((unsigned char)c) || (c != '\0' && strchr("!#$%&'*+-.^_`|~", c));
}

/* Takes one step through the shape. */
static bool line_fits(struct http_line *l, char c)
{
	char want = shape[l->at];
	bool word = want == 'm' || want == 't', first = l->in_word == 0;
	if (want == 'm' ? is_token(c) && l->in_word < METHOD_MAX_BYTES
			: want == 't' && (first ? c == '/' || c == '*' : c > ' ' && c < 0x7f)) {
		l->in_word++;
		return true;
	}
	bool fits = word          ? c == ' ' && !first
		    : want == 'd' ? c == '0' || c == '1'
				  : want && c == want;
	l->at += fits ? 1 + word : 0;
	l->in_word = 0;
	return fits;
}

/* With this byte a server may take it for a request: behind "HTTP", or behind a method, since
 * HTTP/0.9 has no version and is still answered: by nginx "GET http://other/", by Node.js any
 * method, with the headers behind it. */
static bool asks_with(const struct http_line *l, char c)
{
	bool method = l->at > 0 && l->capitals >= METHOD_MIN_BYTES;
	return (method && (c == '/' || c == '*' || c == ':')) ||
	       (l->matched == MARK_BYTES && c == '/');
}

/* Everything but the line feed that ends the line, or up to where it first asks. Returns how many
 * bytes it saw. */
static size_t line_see(struct http_line *l, const char *bytes, size_t len)
{
	const char *c = bytes;
	for (; c < bytes + len && (l->asks || !asks_with(l, *c)); c++) {
		char lower = (char)tolower((unsigned char)*c);
		l->matched = lower == mark[l->matched] ? l->matched + 1 : lower == mark[0];
		l->capitals += l->at == 0 && lower != *c;
		l->solid += !isblank((unsigned char)*c) && *c != '\r';
		bool leads = *c == '\r' && !l->asks && l->solid == 0; /* servers skip it */
		l->lax = l->lax || !(leads || line_fits(l, *c));
	}
	l->asks = l->asks || c < bytes + len;
	return (size_t)(c - bytes);
}

/* Its text with or without the port. */
static bool names_endpoint(const struct host_port *p, const char *value, size_t len)
{
	size_t whole = strlen(p->text), host = (size_t)(strrchr(p->text, ':') - p->text);
	return (len == whole || len == host) && strncasecmp(p->text, value, len) == 0;
}

static bool is_field(const char *line, size_t len, const char *name)
{
	return len == strlen(name) && strncasecmp(line, name, len) == 0;
}

/* A header line up to its line feed. */
static void see_field(struct head *h, const struct host_port *p, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len), *end = line + len - 1;
	h->bad |= !colon || colon == line || memchr(line, '\0', len) ||
		  memchr(line, '\r', len) != end;
	if (h->bad)
		return;
	const char *value = colon + 1;
	size_t name_len = (size_t)(colon - line);
	for (size_t i = 0; i < name_len; i++)
		h->bad |= !is_token(line[i]);
	while (value < end && isblank((unsigned char)*value))
		value++;
	while (end > value && isblank((unsigned char)end[-1]))
		end--;
	size_t value_len = (size_t)(end - value);
	if (is_field(line, name_len, "host")) {
		h->hosts++;
		h->bad |= !names_endpoint(p, value, value_len);
	} else if (is_field(line, name_len, "content-length")) {
		h->lengths++;
		h->bad |= !isdigit((unsigned char)*value) || /* the end of the line, too */
			  num_int(value, value_len, &h->length) < 0;
	} else {
		h->bad |= is_field(line, name_len, "transfer-encoding") ||
			  is_field(line, name_len, "upgrade");
	}
}

static size_t take_headers(struct pin *p, const char *bytes, size_t len)
{
	bool full = len >= HTTP_HEAD_MAX_BYTES;
	const char *at = bytes, *end = bytes + (full ? HTTP_HEAD_MAX_BYTES : len), *feed;
	struct head head = {.hosts = 0};
	while ((feed = memchr(at, '\n', (size_t)(end - at))) && feed != at + 1) {
		see_field(&head, &p->endpoint->at, at, (size_t)(feed - at));
		at = feed + 1;
	}
	if (head.bad || (feed ? *at != '\r' || head.hosts != 1 || head.lengths > 1 : full))
		return refuse(p);
	if (!feed)
		return 0;
	p->passing = (uint64_t)head.length;
	p->state = PIN_LINE;
	p->line = (struct http_line){.solid = 0};
	return (size_t)(feed + 1 - bytes);
}

size_t http_take_head(struct pin *p, const char *bytes, size_t len)
{
	bool full = len >= HTTP_HEAD_MAX_BYTES;
	const char *feed = memchr(bytes, '\n', full ? HTTP_HEAD_MAX_BYTES : len);
	size_t line_len = feed ? (size_t)(feed - bytes) : len;
	struct http_line line = p->line;
	line_see(&line, bytes, line_len);
	if (line.lax || (feed ? line.at != SHAPE_BYTES : full))
		return refuse(p);
	size_t taken = feed ? take_headers(p, feed + 1, len - line_len - 1) : 0;
	return taken > 0 ? line_len + 1 + taken : 0;
}

size_t http_take_line(struct pin *p, const char *bytes, size_t len)
{
	const char *feed = memchr(bytes, '\n', len);
	struct http_line *l = &p->line;
	size_t seen = line_see(l, bytes, feed ? (size_t)(feed - bytes) : len);
	if (l->asks) {
		p->state = PIN_NEXT_HEAD;
		return seen > 0 ? seen : http_take_head(p, bytes, len);
	}
	if (feed && l->solid > 0)
		p->state = PIN_OPEN;
	else if (feed)
		*l = (struct http_line){.solid = 0};
	return seen + (feed != NULL);
}
