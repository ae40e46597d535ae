/*
 * The Host pin of plain-text endpoints: which bytes of an HTTP/1 request stream may go upstream.
 *
 * Pure. The first head is held until it is whole and names the endpoint. After it Content-Length
 * is followed to where the next request begins, and that head is pinned too. Whatever could make a
 * server see another boundary or host than we do is refused: bare line feeds, folded lines, doubled
 * Host or length, Transfer-Encoding, Upgrade, CONNECT and absolute targets. Bytes behind a request
 * that are no HTTP request line pass unread, since no server answers them. Not closed: a server
 * that ignores a body it was told about and reads it as its next request. Source: RFC 9112
 * sections 2-7.
 */
#ifndef BROKER_PARSE_HTTP_HOST_H
#define BROKER_PARSE_HTTP_HOST_H
#include <stdbool.h>
#include <stddef.h>

enum {
	HTTP_HEAD_MAX_BYTES = 16 * 1024,
	HTTP_LINE_MAX_BYTES = 2 * 1024 * 1024, /* longer than any server reads */
};

/* One request line, seen byte by byte. */
struct http_line {
	size_t bytes;
	size_t in_word;   /* bytes of its method or target */
	unsigned at;      /* how far it has the shape of a request line */
	unsigned matched; /* of "HTTP/", anywhere and in any case */
	bool lax;         /* it has another shape */
	bool versioned;   /* a server may take it for a request */
	bool filled;      /* with more than blanks */
};

/* The pin's steps for it. `bytes` beyond HTTP_HEAD_MAX_BYTES are never needed to decide. */
struct pin;
size_t http_take_head(struct pin *p, const char *bytes, size_t len);
size_t http_take_line(struct pin *p, const char *bytes, size_t len);
size_t http_take_headers(struct pin *p, const char *bytes, size_t len);
#endif
