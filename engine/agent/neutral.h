/*
 * The neutral form of an exchange, the same for both wire formats: what a cassette records and
 * matches, and what the transcript keeps.
 */
#ifndef AGENT_NEUTRAL_H
#define AGENT_NEUTRAL_H
#include "agent/policy/redact.h"
#include "provider/wire.h"

/* {role: "user"|"assistant"|"tool", text | tool_results, tool_calls?}; with `kept`, its secrets,
 * every text as the transcript has it. */
json_t *neutral_message(const struct wire_turn *t, const struct redact *kept);
/* {model, system, prompt, last, turn, tools, messages}. */
json_t *neutral_request(const struct wire_request *r);
/* {text, tool_calls, usage}. */
json_t *neutral_reply(const struct wire_turn *turn, const struct usage *u);
#endif
