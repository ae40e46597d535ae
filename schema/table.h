/*
 * The tables that schema/tools/shape_gen.c writes and shape.c walks: one struct shape per
 * subschema.
 */
#ifndef SCHEMA_TABLE_H
#define SCHEMA_TABLE_H
#include "schema/shape.h"

enum { SHAPE_NO_LIMIT = UINT32_MAX };

/* A pattern is a row of steps from the start of the text: a set of characters, and how often. The
 * generator makes sure that taking as many as possible is always right. */
struct shape_step {
	uint64_t ascii[2]; /* bit set of code points below 128 */
	bool other;        /* all above */
	uint32_t least, most;
};
struct shape_pattern {
	const struct shape_step *steps;
	size_t count;
	bool whole; /* nothing may follow */
};
bool shape_pattern_matches(const struct shape_pattern *pattern, const char *text, size_t len);

/* At most 64 of them per shape. */
struct shape_key {
	const char *name;
	const struct shape *shape;
	bool required;
	bool filled; /* a machine's defaults may give it */
};

/* Keys of which exactly one must be there, or which must not all be there. */
struct shape_group {
	bool exactly_one;
	const char *const *keys;
	size_t count;
};

/* One of several shapes, chosen by the value of a key, or by kind when `selector` is NULL. */
struct shape_choice {
	const char *selector;
	const char *const *values; /* of the selector, per branch */
	const struct shape *const *branches;
	size_t count;
};

struct shape {
	/* The right value in words, "an integer above 0"; NULL: by kind. */
	const char *title;
	const char *help;          /* of a refused key */
	bool refused;              /* no value is right */
	unsigned kinds;            /* bit set of 1u << DOC_*; 0: all */
	const char *const *values; /* of a string */
	size_t value_count;
	int boolean; /* the only one allowed; -1: both */
	const struct shape_pattern *pattern;
	uint32_t least, most; /* code points, items or pairs */
	double minimum, maximum;
	bool above_minimum; /* the minimum itself is too small */
	bool unique;
	bool command; /* a program and its arguments */
	const struct shape *items, *names,
		*rest;                /* rest: of keys that are not listed; NULL: refused */
	const struct shape_key *keys; /* sorted by name */
	size_t key_count;
	const struct shape_group *groups;
	size_t group_count;
	const struct shape_choice *choice;
};
#endif
