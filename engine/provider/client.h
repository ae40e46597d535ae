/*
 * A client for one provider: a wire format over a transport, with retries and their bill.
 */
#ifndef PROVIDER_CLIENT_H
#define PROVIDER_CLIENT_H
#include "provider/http.h"
#include "provider/wire.h"

/* Takes a notice for a person: a retry, a learned quirk. */
typedef void client_notice_fn(void *context, const char *text);

/* Takes the usage of one attempt: every attempt that reached the model was charged. */
typedef void client_bill_fn(void *context, const struct usage *usage);

/* Called before an attempt is sent, and again when it reports usage before its end: the usage
 * `told` so far, and the `most` possible. An attempt that is not billed takes this back. */
typedef void client_open_fn(void *context, const struct usage *told, const struct usage *most);

/* Returns why a connection was not made, in a sentence valid until the next call; NULL: it was
 * made. */
typedef const char *client_explain_fn(void *context);

enum { CLIENT_HEADERS_MAX = 32 };

struct client {
	const struct wire_format *format;
	struct http *http;          /* borrowed */
	const char *auth;           /* "x-api-key", "bearer", "none" */
	const char *key;            /* NULL with "none"; borrowed */
	const char *const *headers; /* the operator's, NULL after the last; NULL: none; borrowed */
	const char *api_version;    /* anthropic */
	int64_t call_timeout_ms;
	int64_t deadline_ms; /* clock_monotonic_ms; for all requests */
	int64_t max_retries;
	uint64_t seed; /* for the jitter of retries; not 0 */
	struct wire_quirks quirks;
	client_notice_fn *notice;
	client_bill_fn *bill;
	client_open_fn *open;
	client_explain_fn *explain;
	void *context;
};

/* Asks once, with retries. Returns 0 with *out owned by the caller, or -1 with *fault. Calls `bill`
 * once per attempt that was answered with 2xx, or that was sent and not answered in time. */
int client_call(struct client *client, const struct wire_request *request, size_t serial,
	struct wire_reply *out, struct fault *fault);
#endif
