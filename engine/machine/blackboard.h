/*
 * The blackboard: a JSON object with one member per declared variable, and the pure functions that
 * change it. A value that does not conform never gets in.
 */
#ifndef MACHINE_BLACKBOARD_H
#define MACHINE_BLACKBOARD_H
#include "machine/machine.h"
#include "machine/ref.h"

/* Returns the declared values and defaults, without the parameters that a start has to give. New
 * reference. */
json_t *blackboard_new(const struct machine *machine);
/* Fails if a parameter that a start has to give is missing, and names all of them. */
int blackboard_complete(const struct machine *machine, const json_t *blackboard, struct err *e);
/* Replaces an operator variable, checked against its declaration. A start (`--set`, `--params`)
 * gives records as a whole; journals of earlier versions hold some without all required fields. */
int blackboard_set_parameter(const struct machine *machine, json_t *blackboard, const char *name,
	const json_t *value, enum value_mode mode, struct err *e);
/* Reads `text` by the variable's type (--set NAME=VALUE): str as it is, others as JSON. */
json_t *blackboard_parse_parameter(
	const struct machine *machine, const char *name, const char *text, struct err *e);
/* Applies a state's capture (its result already checked against output_schema) to `blackboard`, all
 * or nothing. An optional field that the result lacks leaves its variable as it was if the captured
 * values say so, and is an error otherwise. */
int blackboard_capture(const struct state *state, const struct captured *captured,
	json_t *blackboard, struct err *e);
/* Applies a state's capture_failure. A variable stays as it was where its value cannot be made: a
 * field is absent, or the text is too long. */
void blackboard_capture_failure(
	const struct state *state, const json_t *failure, json_t *blackboard);
#endif
