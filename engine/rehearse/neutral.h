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

/* New reference. NULL: the API would answer 400 with this message. `version` is the request's
 * anthropic-version header, NULL when it has none. */
json_t *neutral_anthropic(const json_t *body, const char *version, struct err *e);
json_t *neutral_openai(const json_t *body, struct err *e);

/* --- for the two above ------------------------------------------------------------------------ */

/* A neutral request under construction. */
struct neutral {
	json_t *object, *messages, *tools;
	json_t *current; /* the message being filled; borrowed */
	long turns;
};

void neutral_begin(struct neutral *n, const json_t *body);
/* Continues the last message when it has this role, else begins one. */
void neutral_message(struct neutral *n, const char *role);
void neutral_text(struct neutral *n, const char *text);
/* `arguments` is taken over. */
void neutral_call(struct neutral *n, const char *name, json_t *arguments);
void neutral_result(struct neutral *n, const char *text);
void neutral_system(struct neutral *n, const char *text);
/* Fills prompt, last and turn; the object, which the caller owns. */
json_t *neutral_end(struct neutral *n);
/* A tool name as both APIs accept it: [a-zA-Z0-9_-]{1,64}. */
bool neutral_tool_name(const char *name);
/* A string member; NULL when it is absent or something else, which is not the same as empty. */
const char *neutral_string(const json_t *object, const char *key);
#endif
