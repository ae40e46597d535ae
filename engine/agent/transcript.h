/*
 * The transcript: the conversation with the model, message by message, as events of kind `message`.
 * The supervisor keeps them with the step's other files, for people.
 */
#ifndef AGENT_TRANSCRIPT_H
#define AGENT_TRANSCRIPT_H
#include "agent/policy/redact.h"
#include <jansson.h>

enum { TRANSCRIPT_END_BYTES = 512 * 1024 };

/* Returns a text for the transcript with every secret replaced. A text over 1 MiB is cut to head
 * and tail, with the number of missing bytes: a copy of the longest reply would take a third of the
 * memory that an agent may use. New reference; NULL: out of memory. */
json_t *transcript_text(const struct redact *redact, const char *text);
#endif
