/*
 * Predicates: the conditions of branch clauses (machine.md 4), compiled and typed at load.
 */
#ifndef MACHINE_PREDICATE_H
#define MACHINE_PREDICATE_H
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>

struct predicate;

/* -1: a missing optional field was read without has(); the message names it. */
int predicate_eval(const struct predicate *p, const json_t *blackboard, bool *out, struct err *e);
#endif
