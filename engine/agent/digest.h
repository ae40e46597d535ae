/*
 * What a state's tool calls have done so far, in a few lines: what is left of turns that had to
 * give way.
 */
#ifndef AGENT_DIGEST_H
#define AGENT_DIGEST_H
#include "base/buf.h"
#include <jansson.h>
#include <stdbool.h>

/* Zero-initialised: nothing was done. */
struct digest {
	json_t *done[4];   /* {what: how often} of each kind of call */
	char failure[402]; /* the newest */
};

/* One call that ran, and what it answered (behind the mark that it is data). */
void digest_note(struct digest *digest, const char *tool, const json_t *arguments, bool ok,
	const char *answer);
/* Appends it as text for the model, what is left out beyond about `most_bytes` being named. */
void digest_write(const struct digest *digest, size_t most_bytes, struct buf *out);
void digest_done(struct digest *digest);
#endif
