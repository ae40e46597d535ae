/*
 * The neutral form of an exchange, the same for both wire formats: what a cassette records and
 * matches, and what the transcript keeps.
 */
#ifndef AGENT_NEUTRAL_H
#define AGENT_NEUTRAL_H
#include "agent/policy/redact.h"
#include "provider/wire.h"

/* {role: "user"|"assistant"|"tool", text | tool_results, tool_calls?}, every text as the transcript
 * has it: without the secrets in `kept`. */
json_t *neutral_message(const struct wire_turn *wire_turn, const struct redact *kept);
/* {prompt, last, turn, tools}: what a rehearsal will ask again, of a size that does not grow with
 * the conversation. */
json_t *neutral_request(const struct wire_request *request);
/* {text, tool_calls, usage}; what a model calls a tool with is without the secrets in `known`. */
json_t *neutral_reply(
	const struct wire_turn *turn, const struct usage *usage, const struct redact *known);
#endif
