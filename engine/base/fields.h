/*
 * Fields: reads a JSON object into a struct by a table of its fields. Unknown, missing and wrong
 * members are refused by name, with the expected value.
 */
#ifndef BASE_FIELDS_H
#define BASE_FIELDS_H
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kind of a field, and the type of its place in the struct. */
enum field_kind {
	FIELD_MEMBERS, /* an object whose members have rows of their own after it; has no place */
	FIELD_OBJECT,  /* an object: const json_t * */
	FIELD_LIST,    /* a list of texts, the first not empty: const json_t * */
	FIELD_TEXT,    /* const char * */
	FIELD_WORD,    /* one of the words quoted in `what`: int64_t, its index */
	FIELD_NUMBER,  /* an integer: int64_t */
	FIELD_FLAG,    /* bool */
};

struct fields_row {
	const char *name; /* of a member of an object: "OBJECT.MEMBER" */
	enum field_kind kind;
	bool needed;
	size_t at; /* offset in the struct */
	/* Bounds of the number, the text's length, or the number of members. */
	int64_t least, most;
	/* The expected value in words; NULL: an integer from least to most. */
	const char *what;
	bool (*is)(const char *text); /* checks the text, or each one of the list; NULL: any */
};

/* Reads `object` into the struct at `into`. Missing optional members leave the struct as it is, and
 * pointers into `object` are borrowed. A field of another kind may be an object instead if rows for
 * its members follow. `table` ends with a row whose name is "". */
int fields_read(const struct fields_row *table, const json_t *object, void *into, struct err *e);
#endif
