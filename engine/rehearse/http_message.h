/*
 * The little of HTTP/1.1 (RFC 9112) that a loopback provider needs: requests with a Content-Length,
 * replies whole or chunked, connections kept.
 */
#ifndef REHEARSE_HTTP_MESSAGE_H
#define REHEARSE_HTTP_MESSAGE_H
#include "base/buf.h"
#include <stdbool.h>

enum { HTTP_HEAD_MAX = 64 * 1024, HTTP_BODY_MAX = 32 * 1024 * 1024 };

/* A request. It points into the bytes it was parsed from, which are NUL-separated in place. */
struct http_request {
	const char *method, *target;
	const char *content_type, *anthropic_version; /* NULL: absent */
	const char *body;
	size_t body_len;
	bool close;
};

/* Parses one request at the start of `bytes`. Returns how many bytes it took; 0: more are needed;
 * -1: it is not understood, and *status is the answer (400, 411, 413, 431). `*expects`: the client
 * waits for "100 Continue" before it sends the body. */
long http_message_parse(
	char *bytes, size_t len, struct http_request *out, int *status, bool *expects);

struct http_reply {
	int status;
	bool event_stream;
	long retry_after_secs; /* -1: none */
	size_t number;         /* request-id */
	bool close;
};
void http_message_write(struct buf *out, const struct http_reply *reply, const struct buf *body);
#endif
