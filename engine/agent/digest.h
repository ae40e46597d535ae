/*
 * The digest: a few lines about a state's tool calls so far, which replace the turns that had to be
 * dropped.
 */
#ifndef AGENT_DIGEST_H
#define AGENT_DIGEST_H
#include "base/buf.h"
#include <jansson.h>
#include <stdbool.h>

/* Zero-initialised: no calls yet. */
struct digest {
	json_t *done[4];   /* {call: count} for each kind of call */
	char failure[402]; /* the newest one */
};

/* Notes a call that ran, and its answer (without the mark that it is data). */
void digest_note(struct digest *digest, const char *tool, const json_t *arguments, bool ok,
	const char *answer);
/* Appends the digest as text for the model. Beyond about `most_bytes` it only counts what it
 * omits. */
void digest_write(const struct digest *digest, size_t most_bytes, struct buf *out);
void digest_done(struct digest *digest);
#endif
