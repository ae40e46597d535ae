/*
 * Server-sent events (WHATWG HTML, 9.2.6): bytes in, events out, at any chunk boundary.
 *
 * Lines end with LF, CRLF or CR; a byte-order mark at the start is skipped; comments and unknown
 * fields are ignored; an event that the stream does not finish with a blank line waits for sse_end.
 */
#ifndef PROVIDER_SSE_H
#define PROVIDER_SSE_H
#include "base/buf.h"
#include "base/err.h"

/* One event's data, NUL-terminated, lines joined with LF. Valid during the call. Returning -1 (with
 * an error) ends the feed. */
typedef int sse_event_fn(void *context, const char *data, size_t len, struct err *e);

struct sse {
	struct buf line, data;
	sse_event_fn *event;
	void *context;
	size_t cap_bytes;
	unsigned bom_bytes; /* of the mark seen so far; 3: past it */
	bool after_cr, has_data, comment;
};

/* `cap_bytes` bounds one event, and one line. */
void sse_init(struct sse *sse, size_t cap_bytes, sse_event_fn *event, void *context);
void sse_done(struct sse *sse);
/* -1: an event over the limit, one with a NUL byte, or the callback's error. The parser is then
 * spent. */
int sse_feed(struct sse *sse, const char *bytes, size_t len, struct err *e);
/* Passes on what has come of an event that the stream did not finish: its caller can tell whether
 * that is all of it. */
int sse_end(struct sse *sse, struct err *e);
#endif
