/*
 * The neutral form of an exchange, the same for both wire formats: used in cassettes and
 * transcripts.
 */
#ifndef AGENT_EXCHANGE_H
#define AGENT_EXCHANGE_H
#include "agent/policy/redact.h"
#include "provider/wire.h"

/* Returns {role: "user"|"assistant"|"tool", text | tool_results, tool_calls?}, without the secrets
 * in `kept`, as the transcript has it. */
json_t *exchange_message(const struct wire_turn *wire_turn, const struct redact *kept);
/* Returns {prompt, last, turn, tools}, which a rehearsal compares. Its size does not grow with the
 * conversation. */
json_t *exchange_request(const struct wire_request *request);
/* Returns {text, tool_calls, usage}; the arguments of calls are without the secrets in `known`. */
json_t *exchange_reply(
	const struct wire_turn *turn, const struct usage *usage, const struct redact *known);
#endif
