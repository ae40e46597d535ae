/*
 * Server-sent events (WHATWG HTML, 9.2.6): takes bytes, in any chunks, and gives events.
 *
 * Lines end with LF, CRLF or CR; a byte-order mark at the start is skipped; comments and unknown
 * fields are ignored; an event without its blank line at the end of the stream waits for sse_end.
 */
#ifndef PROVIDER_SSE_H
#define PROVIDER_SSE_H
#include "base/buf.h"
#include "base/err.h"

/* Takes one event's data: NUL-terminated, lines joined with LF, valid during the call. Returning -1
 * (with an error) ends the feed. */
typedef int sse_event_fn(void *context, const char *data, size_t len, struct err *e);

struct sse {
	struct buf line, data;
	sse_event_fn *event;
	void *context;
	size_t cap_bytes;
	unsigned bom_bytes; /* of the mark seen so far; 3: past it */
	bool after_cr, has_data, comment;
};

/* Begins a parser. `cap_bytes` bounds one event, and one line. */
void sse_init(struct sse *sse, size_t cap_bytes, sse_event_fn *event, void *context);
void sse_done(struct sse *sse);
/* Feeds bytes. Returns -1 for an event over the limit, one with a NUL byte, or the callback's
 * error. The parser is then unusable. */
int sse_feed(struct sse *sse, const char *bytes, size_t len, struct err *e);
/* Passes on an event that the stream did not finish. The caller can tell whether it is complete. */
int sse_end(struct sse *sse, struct err *e);
#endif
