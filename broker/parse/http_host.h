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
#include "broker/parse/endpoint.h"

enum {
	HTTP_HEAD_MAX_BYTES = 16 * 1024,
	HTTP_LINE_MAX_BYTES = 2 * 1024 * 1024, /* longer than any server reads */
};

/* One request line, seen byte by byte. */
struct http_line {
	size_t bytes;
	size_t in_word;   /* bytes of this word */
	unsigned part;    /* method, target, version: which word we are in */
	unsigned matched; /* of "HTTP/", anywhere and in any case */
	bool strict;      /* METHOD SP /target SP HTTP/1.x CR so far */
	bool versioned;   /* a server may take it for a request */
	bool empty;
};

struct http_host {
	enum http_state {
		HTTP_FIRST,   /* the whole first head is held */
		HTTP_LINE,    /* between requests: bytes pass while we watch the line */
		HTTP_HEADERS, /* a later request's header lines are held */
		HTTP_BODY,
		HTTP_OPAQUE,
	} state;
	struct http_line line;
	uint64_t body_left;
};

void http_host_init(struct http_host *h);
/* Offers the bytes that are not yet approved. `passed` (out) of them may go upstream now; the rest
 * must be offered again with more behind it. -1: refused. `bytes` beyond HTTP_HEAD_MAX_BYTES are
 * never needed to decide. */
int http_host_take(struct http_host *h, const struct endpoint *endpoint, const char *bytes,
	size_t len, size_t *passed);
#endif
