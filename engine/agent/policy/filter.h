/*
 * What a model is shown of a text that is data: without secrets, and with a word about what reads
 * like instructions.
 */
#ifndef POLICY_FILTER_H
#define POLICY_FILTER_H
#include "agent/policy/redact.h"

struct filter {
	const struct redact *redact;
	/* A command printed it: markers of injection are replaced. Else a file holds it, which
	 * stays byte for byte what it was but for its secrets, so that edits can match it. */
	bool command;
};

/* What was found. */
struct filtered {
	struct redact_tally tally;
	size_t markers;
};

/* Appends `text`, filtered. -1: it crosses out->cap_bytes. */
int filter_text(const struct filter *filter, const char *text, size_t len, struct buf *out,
	struct filtered *seen);
#endif
