/*
 * Faults: why a provider call failed, and what to do: try again, make room, or give up.
 *
 * The classes come from the vendors' error tables (type first, then status), because an overload
 * may arrive as 529, as 429 or inside a stream that began with 200.
 */
#ifndef PROVIDER_FAULT_H
#define PROVIDER_FAULT_H
#include "base/cleanup.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fault_kind {
	FAULT_NONE,
	/* Temporary: overload, rate limit, broken connection, cut or malformed stream. */
	FAULT_RETRY,
	FAULT_CONTEXT, /* the conversation is too long for the model */
	FAULT_FATAL,   /* another attempt cannot help */
	FAULT_TIMEOUT, /* the caller's own deadline */
};

struct fault {
	enum fault_kind kind;
	long status; /* HTTP status with this meaning; 0: nothing with a status was received */
	int64_t retry_after_ms; /* the provider's wish; -1: none */
	char text[512];         /* one sentence, safe to show */
};

#define FAULT_INIT                                                                                 \
	(struct fault)                                                                             \
	{                                                                                          \
		.retry_after_ms = -1                                                               \
	}

/* Fills kind and text; the first cause wins. Always returns -1. */
int fault_set(struct fault *fault, enum fault_kind kind, const char *format, ...) PRINTF(3, 4);
/* Copies a server's text for a fault, at most `bytes` with the NUL. Characters that could move a
 * cursor become spaces. */
void fault_show(char *out, size_t bytes, const char *text, size_t len);
/* Classifies an error reply: `status` (0 for an in-stream error) and its body in either vendor's
 * shape, HTML or anything else. `should_retry` is the x-should-retry header: 1, 0, -1 unset.
 * Always returns -1. */
int fault_reply(struct fault *fault, long status, const char *body, size_t len, int should_retry);
/* Sets the fault for text that is not JSON, such as a captive portal's page: `why`, and how it
 * begins. Always returns -1. */
int fault_malformed(struct fault *fault, const char *why, const char *body, size_t len);
/* Reports whether the request itself was refused, so that another form of it may pass. */
bool fault_blames_request(const struct fault *fault);
/* Returns the wait in a retry-after-ms or retry-after value; -1: it has none that can be used.
 * `text` is milliseconds if `millis`, else seconds or an HTTP date relative to `now_s`. */
int64_t fault_retry_after(const char *text, bool millis, int64_t now_s);
/* Returns the wait before attempt `attempt` + 1 (0-based): 1 s doubling up to 30 s, with a quarter
 * of jitter from `seed` (advanced), or the provider's wish if that is longer. -1: the wish is over
 * 120 s. */
int64_t fault_delay_ms(const struct fault *fault, int attempt, uint64_t *seed);
#endif
