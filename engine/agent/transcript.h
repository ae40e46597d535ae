/*
 * The transcript: what the model was told and what it said, message by message, as events of kind
 * `message`. The supervisor keeps them beside the step's other files, for people.
 */
#ifndef AGENT_TRANSCRIPT_H
#define AGENT_TRANSCRIPT_H
#include "agent/policy/redact.h"
#include "provider/wire.h"

/* Emits {role: "user"|"assistant"|"tool", text | tool_results, tool_calls?}, every secret replaced.
 * Of a text over 1 MiB head and tail stand there, with how many bytes are not: a copy of what a
 * provider may send would be a third of the memory that an agent may take. */
void transcript_keep(const struct redact *r, const struct wire_turn *t);
#endif
