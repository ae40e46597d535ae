/*
 * Rows: the members of an object and their places in a struct, for objects that are read without
 * complaint: a member of a wrong type is as if it were missing.
 */
#ifndef CONTRACT_ROW_H
#define CONTRACT_ROW_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum row_type {
	ROW_TEXT,    /* const char * */
	ROW_NUMBER,  /* struct fact_number */
	ROW_COUNT,   /* int64_t */
	ROW_CAP,     /* int64_t, not negative; -1: none */
	ROW_REAL,    /* double; NAN: none */
	ROW_FLAG,    /* bool */
	ROW_OBJECT,  /* json_t * */
	ROW_LIST,    /* json_t * */
	ROW_TOTALS,  /* struct line_totals */
	ROW_OUTCOME, /* enum outcome */
	ROW_WAKER,   /* enum waker */
	ROW_LEVEL,   /* enum notify_level */
	ROW_CAUSE,   /* enum end_cause */
	ROW_STOPPER, /* enum stopper */
};
/* NEEDED: an object without it is not understood. ALWAYS: written as null if it has no value.
 * ELSE: left out if it has no value. */
enum row_when { ROW_NEEDED, ROW_ALWAYS, ROW_ELSE };

struct row {
	enum row_type type;
	enum row_when when;
	const char *name; /* NULL: after the last */
	size_t at;
};

/* Stores a member's value in the struct. Texts and values are borrowed. Returns false if the value
 * is not of the row's type; the place then holds nothing: NULL, 0, -1, NAN, false or the count of
 * words. */
bool row_read(const struct row *row, json_t *value, void *into);
/* Adds the member to `out`. */
void row_write(const struct row *row, const void *from, json_t *out);
#endif
