/*
 * The only transport: HTTP and TLS by libcurl over sockets that the broker hands out.
 *
 * No name is resolved and no address dialled here: each connection is a connected AF_UNIX
 * descriptor, asked for over the provider's channel. The URL's host is used for the certificate and
 * SNI only. There is no redirect, proxy, compression or protocol other than the configured one.
 */
#ifndef PROVIDER_HTTP_H
#define PROVIDER_HTTP_H
#include "provider/fault.h"

#include "base/buf.h"
#include "base/err.h"

struct http_options {
	const char *base_url; /* with or without a trailing "/" or "/v1" */
	bool any_version;     /* a version in its path replaces "/v1" */
	const char *query;    /* appended to every path; NULL or empty: none */
	const char *ca_file;  /* NULL: the system's store */
	int channel_fd;       /* borrowed */
	bool proxied;         /* the server is reached through a proxy */
	int64_t connect_timeout_ms, idle_timeout_ms;
};

struct http_head {
	long status;
	bool is_stream;         /* text/event-stream */
	bool is_encoded;        /* compressed, though never asked for */
	bool is_unanswered;     /* no status came in time after all of the request was sent */
	int should_retry;       /* x-should-retry: 1, 0, -1 not sent */
	int64_t retry_after_ms; /* -1 not sent */
	char request_id[80];
};

/* Takes a piece of a reply. 0: go on; 1: the reply is complete, whatever the server does; -1: stop,
 * *fault is filled. */
typedef int http_body_fn(void *context, const struct http_head *head, const char *bytes, size_t len,
	struct fault *fault);

struct http_post {
	const char *path;           /* "/v1/messages" */
	const char *const *headers; /* "name: value", NULL-terminated */
	const char *body;
	size_t body_len;
	int64_t deadline_ms; /* clock_monotonic_ms; of this call */
	http_body_fn *on_body;
	void *context;
};

struct http;

enum { HTTP_RAW_CAP_BYTES = 64 * 1024 * 1024 };

/* Initialises libcurl. Call it once per process, before the first http_open. */
int http_global(struct err *e);
/* Opens a transport. Copies the texts of `options`; the channel must outlive it. */
struct http *http_open(const struct http_options *options, struct err *e);
void http_close(struct http *http);
/* Reports whether a connection broke because the broker has ended. */
bool http_broker_gone(const struct http *http);
/* Sends the request and passes the whole reply to on_body, whatever its status. Returns 0, or -1
 * with *fault: a header value outside TAB and printable ASCII and a failed certificate are FATAL;
 * the deadline is TIMEOUT; everything else that breaks a connection is RETRY. */
int http_post(struct http *http, const struct http_post *post, struct http_head *head,
	struct fault *fault);
#endif
