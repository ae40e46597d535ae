/*
 * Compares the rows of engine/contract/ with a published schema, member by member.
 */
#ifndef KIT_MEMBERS_H
#define KIT_MEMBERS_H
#include <jansson.h>

/* A row's words, as its table has them. */
struct member {
	const char *type, *when, *name;
};
#define MEMBER(type, when, name, member) {#type, #when, name},
/* The members of a struct spend, which has no table. */
#define SPEND_MEMBERS                                                                              \
	{"COUNT", "ALWAYS", "input_tokens"}, {"COUNT", "ALWAYS", "output_tokens"},                 \
		{"COUNT", "ALWAYS", "cached_tokens"}, {"USD", "ALWAYS", "usd"},                    \
		{"FLAG", "ELSE", "unmetered"},

/* Checks that the object `def` of the schema has these members, up to one without a name, and no
 * other: their types, their words, and which are required. */
void members_same(
	const json_t *schema, const json_t *def, const char *name, const struct member *members);
#endif
