/*
 * The neutral form of an exchange, the same for both wire formats: what a cassette records and
 * matches.
 */
#ifndef AGENT_NEUTRAL_H
#define AGENT_NEUTRAL_H
#include "provider/wire.h"

/* {model, system, prompt, last, turn, tools, messages}. */
json_t *neutral_request(const struct wire_request *r);
/* {text, tool_calls, usage}. */
json_t *neutral_reply(const struct wire_turn *turn, const struct usage *u);
#endif
