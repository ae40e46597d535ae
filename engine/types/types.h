/*
 * The type system of the blackboard: scalars, lists, opaque json and named records.
 *
 * Used by the supervisor on declarations and captures and by the agent on finish_run, so that both
 * ends of that pipe accept and refuse exactly the same values. Values are jansson values.
 * Types and records are immutable and owned by whoever built them (the machine's arena, or
 * record_from_json's caller).
 */
#ifndef TYPES_TYPES_H
#define TYPES_TYPES_H
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum type_kind { TYPE_STR, TYPE_INT, TYPE_FLOAT, TYPE_BOOL, TYPE_LIST, TYPE_JSON, TYPE_RECORD };

struct type {
	enum type_kind kind;
	enum type_kind item;         /* TYPE_LIST: STR, INT, FLOAT, BOOL or RECORD */
	const struct record *record; /* TYPE_RECORD, or of such items; NULL while checking: the
				      * name of no record */
};

/* One end of a range. `number` is an integer's value, too. */
struct range_end {
	bool present, is_integer;
	int64_t integer;
	double number;
};

/* The narrowing of a type by a declaration. All zero: there is none. */
struct constraint {
	const char *const *values; /* enum of a str, or of the items of a list[str]; NULL: free */
	size_t value_count;
	struct range_end min, max; /* of an int or a float; both belong to the range */
	int64_t max_len;           /* code points of a str, items of a list; 0: free */
};

struct field {
	const char *name, *description; /* description: for a model, NULL: none */
	struct type type;
	bool optional; /* may be absent; null is never absent */
	struct constraint constraint;
};

struct record {
	const char *name, *list_name; /* "list[NAME]", the type of a list of them */
	const struct field *fields;   /* in source order */
	size_t field_count;
	const struct field *const *by_name; /* the same, sorted: made by record_sort */
};

/* Returns false for the type of a declaration that could not be read: that was reported, so accept
 * anything. */
static inline bool type_known(struct type t)
{
	return (t.kind != TYPE_RECORD && (t.kind != TYPE_LIST || t.item != TYPE_RECORD)) ||
	       t.record;
}
/* Reports whether a value of the type is a list of records. */
static inline bool type_lists_records(struct type t)
{
	return t.kind == TYPE_LIST && t.item == TYPE_RECORD;
}
bool type_equal(struct type a, struct type b);
/* Returns "str", "list[int]", "classification" ... as the author writes it; allocates nothing. */
const char *type_name(struct type t);
/* Finds the scalar, list or json type spelled `text`; false: none of them (perhaps a record's
 * name). */
bool type_scalar(const char *text, struct type *out);
/* Appends the constraint as people read it: "one of low, high", "1 to 9", "at most 20 items";
 * nothing if there is none. */
void constraint_show(const struct constraint *constraint, struct type t, struct buf *out);
/* Sets its members in `out` as a declaration has them: enum, min, max, max_len. */
void constraint_to_json(const struct constraint *constraint, json_t *out);
/* Return an end that is present as a new reference; append it as text. */
json_t *range_end_json(const struct range_end *end);
void range_end_show(const struct range_end *end, struct buf *out);
/* Returns the type of a list's items. */
struct type type_item(struct type list);
/* Finishes a record that has its name: sorts its names for record_field, makes list_name. Returns a
 * field whose name another field has too; NULL: all names are distinct. */
const struct field *record_sort(struct record *record, struct arena *arena);
/* Returns the field of that name, NULL: none. Logarithmic in their count. */
const struct field *record_field(const struct record *record, const char *name);

/* VALUE_WHOLE: all required fields present (captured data, finish_run). VALUE_PARTIAL: fields may
 * be left out (a declared value or default). */
enum value_mode { VALUE_WHOLE, VALUE_PARTIAL };

/* All that a declaration asks of a value. */
struct demand {
	struct type type;
	const struct constraint *constraint; /* beside those of a record's fields; NULL: none */
	enum value_mode mode;
};

/* Checks `value` strictly: kinds, constraints, required and unknown fields, depth at most 64, no
 * NUL in strings (jansson refuses NaN and infinity). An int is accepted where a float is declared,
 * and stays an int. Appends every problem (the first 50, as far as they fit) to `problems`, which
 * has room for at least 32 KiB, as one line `PATH: what is wrong`
 * ("verdict.label: ..."). Returns 0 if there is none, else -1. `path` names the value itself, "" if
 * it has no name. */
int value_check(struct type t, const json_t *value, enum value_mode mode, const char *path,
	struct buf *problems);
/* The same with the constraint of a declaration. */
int demand_check(
	const struct demand *demand, const json_t *value, const char *path, struct buf *problems);

/* Returns a copy of `value` as models mean it where `t` leaves no other reading: the JSON that a
 * string holds for a list, a record, a number or a boolean, and an integer for a float without a
 * fraction, in records and lists as well. All else is as it was. NULL: out of memory. */
json_t *value_coerce(struct type t, const json_t *value);

/* Encodes a record (with those it nests) as data for a pipe, and decodes it into `arena`:
 * {"name":N,"fields":[{"name":F,"type":T, a record or {"list": a
 * record},"optional":true,"description":D,"enum":[...], "min":N,"max":N,"max_len":N}]}. */
json_t *record_to_json(const struct record *record);
const struct record *record_from_json(const json_t *data, struct arena *arena, struct err *e);
/* Returns the JSON Schema (object, properties, required, additionalProperties false) shown to a
 * model. */
json_t *record_json_schema(const struct record *record);
#endif
