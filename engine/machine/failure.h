/*
 * The failure of a state's last attempt, as its `capture_failure` reads it: the built-in record
 * `failure`.
 *
 * A kind of state that has one names its record in machine/kind.h and makes its values in
 * instance/reduce.c.
 */
#ifndef MACHINE_FAILURE_H
#define MACHINE_FAILURE_H
#include "types/types.h"

/* The bytes that are kept of the end of an output. */
enum { FAILURE_OUTPUT_BYTES = 32 * 1024 };

/* `label`, the outcome, and `reason`. */
extern const struct record failure_work;
/* These and, of a command, `exit`, `signal`, `stdout` and `stderr`. */
extern const struct record failure_command;

/* Reports whether the field holds text that agent6 did not write; NULL: the whole failure. */
bool failure_is_foreign(const struct field *field);
#endif
