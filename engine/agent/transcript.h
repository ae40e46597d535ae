/*
 * The transcript: what the model was told and what it said, message by message, as events of kind
 * `message`. The supervisor keeps them beside the step's other files, for people.
 */
#ifndef AGENT_TRANSCRIPT_H
#define AGENT_TRANSCRIPT_H
#include "agent/policy/redact.h"
#include <jansson.h>

enum { TRANSCRIPT_END_BYTES = 512 * 1024 };

/* A text as the transcript has it: every secret replaced; of one over 1 MiB head and tail, with how
 * many bytes are not there: a copy of what a provider may send would be a third of the memory that
 * an agent may take. New reference; NULL: out of memory. */
json_t *transcript_text(const struct redact *redact, const char *text);
#endif
