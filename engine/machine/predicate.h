/*
 * Predicates: the conditions of branch clauses, compiled and typed at load.
 *
 * Comparisons of ints with floats are exact. `in` on a json value looks for an item of an array, a
 * key of an object or a part of a string, and halts the run on anything else.
 */
#ifndef MACHINE_PREDICATE_H
#define MACHINE_PREDICATE_H
#include "base/err.h"
#include "machine/ref.h"
#include <jansson.h>
#include <stdbool.h>

struct predicate;

/* Compiles the string `site->node`. NULL: an error was reported. */
const struct predicate *predicate_compile(const struct scope *scope, const struct site *site);
/* Evaluates a condition. Returns -1 with the name in the message if a missing optional field was
 * read without has(), or if a json number, boolean or null was asked for its length or what is in
 * it. */
int predicate_eval(
	const struct predicate *predicate, const json_t *blackboard, bool *out, struct err *e);
/* Reports whether two values are equal by `==`: 1 and 1.0 are. */
bool predicate_equal(const json_t *a, const json_t *b);
#endif
