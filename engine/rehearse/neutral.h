/*
 * A provider request in the neutral form that cassettes match, and everything a real API would
 * refuse it for.
 *
 * {"model", "system", "prompt" (the first user text), "last" (the newest user and tool-result
 * text), "turn" (how many assistant turns there are), "tools": [names], "messages": [{"role",
 * "text", "tool_calls": [{"name","arguments"}], "tool_results": [text]}]}; neighbours of one role
 * are one message, so both wire formats give the same.
 */
#ifndef REHEARSE_NEUTRAL_H
#define REHEARSE_NEUTRAL_H
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>

enum wire { WIRE_ANTHROPIC, WIRE_OPENAI };

/* Return the neutral form, a new reference. NULL: the API would answer 400 with this message.
 * `version` is the request's anthropic-version header, NULL if it has none. */
json_t *neutral_anthropic(const json_t *body, const char *version, struct err *e);
json_t *neutral_openai(const json_t *body, struct err *e);
/* Returns a string member; NULL if it is missing or no string, which differs from an empty one. */
const char *neutral_string(const json_t *object, const char *key);
#endif
