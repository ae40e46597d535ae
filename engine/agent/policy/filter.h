/*
 * The filter for texts that are shown to a model as data: it removes secrets, and marks or counts
 * text that reads like instructions.
 */
#ifndef POLICY_FILTER_H
#define POLICY_FILTER_H
#include "agent/policy/redact.h"

struct filter {
	const struct redact *redact;
	/* The text is a command's output: markers of injection are replaced. Else it is a file's,
	 * which stays the same byte for byte apart from secrets, so that edits can match it. */
	bool command;
};

/* Counts of what was found. */
struct filtered {
	struct redact_tally tally;
	size_t markers;
};

/* Appends `text`, filtered. Returns -1 if it goes beyond out->cap_bytes. */
int filter_text(const struct filter *filter, const char *text, size_t len, struct buf *out,
	struct filtered *seen);
#endif
