/*
 * The shared part of the readers of the two wire formats: a neutral request under construction.
 */
#ifndef REHEARSE_NEUTRAL_PRIVATE_H
#define REHEARSE_NEUTRAL_PRIVATE_H
#include "rehearse/neutral.h"
#include <stdbool.h>

struct neutral {
	json_t *object; /* the caller's from neutral_begin on; the next two are members of it */
	json_t *messages, *tools;
	json_t *current; /* the message being filled; borrowed */
	long turns;      /* of the assistant */
};

void neutral_begin(struct neutral *neutral, const json_t *body);
/* Continues the last message when it has this role, else begins one. */
void neutral_speaker(struct neutral *neutral, const char *role);
void neutral_text(struct neutral *neutral, const char *text);
/* Adds a call; takes over `arguments`. */
void neutral_call(struct neutral *neutral, const char *name, json_t *arguments);
void neutral_result(struct neutral *neutral, const char *text);
void neutral_system(struct neutral *neutral, const char *text);
/* Fills prompt, last and turn; the object, which the caller owns. */
json_t *neutral_end(struct neutral *neutral);
/* Reports whether both APIs accept a tool's name: [a-zA-Z0-9_-]{1,64}. */
bool neutral_tool_name(const char *name);
#endif
