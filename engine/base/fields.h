/*
 * A JSON object into a struct, as a table of its fields says. Unknown, missing and wrong members
 * are refused by name, with what they should be.
 */
#ifndef BASE_FIELDS_H
#define BASE_FIELDS_H
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a field is, and what of the struct it fills. */
enum field_kind {
	FIELD_MEMBERS, /* an object whose members have rows of their own behind it; nothing */
	FIELD_OBJECT,  /* an object: const json_t * */
	FIELD_LIST,    /* a list of texts, the first not empty: const json_t * */
	FIELD_TEXT,    /* const char * */
	FIELD_WORD,    /* one of those that `what` has in quotes: int64_t, its place among them */
	FIELD_NUMBER,  /* an integer: int64_t */
	FIELD_FLAG,    /* bool */
};

struct fields_row {
	const char *name; /* of a member of an object: "OBJECT.MEMBER" */
	enum field_kind kind;
	bool needed;
	size_t at;                    /* in the struct */
	int64_t least, most;          /* the number; how long the text, how many the members */
	const char *what;             /* it should be; NULL: an integer from least to most */
	bool (*is)(const char *text); /* the text, or each of the list; NULL: any */
};

/* Reads `object` into the struct at `into`, which keeps what is left out and borrows what it points
 * to. A field of another kind may be an object instead where members of it follow. `table` ends
 * with a row whose name is "". */
int fields_read(const struct fields_row *table, const json_t *object, void *into, struct err *e);
#endif
