/*
 * The recorded steps of a case: rehearsal/NAME/tools.jsonl, a line for each execution of a tool
 * state (schema/tools.schema.json). Each state has its own queue.
 */
#ifndef CLI_BUNDLE_RECORDED_STEPS_H
#define CLI_BUNDLE_RECORDED_STEPS_H
#include "contract/fact.h"
#include "machine/machine.h"

struct recorded_step {
	const char *state;
	json_t *match; /* owned; NULL: any command */
	uint32_t line;
	struct fact fact; /* released with the steps */
};

struct recorded_steps {
	struct recorded_step *items; /* in the order of the file; owned */
	size_t count, room;
	json_t *queues; /* owned: the numbers of its items, by state */
};

/* The text of such a file, and its name in findings. Borrowed. */
struct steps_file {
	const char *name, *text;
	size_t len;
};

/* Reads the file. `machine` NULL: states are not checked. Release `steps` in any case. */
void recorded_steps_read(struct recorded_steps *steps, const struct machine *machine,
	const struct steps_file *file, struct findings *findings);
void recorded_steps_done(struct recorded_steps *steps);
/* Returns step number `at` of a state; NULL: it has no more. */
const struct recorded_step *recorded_steps_of(
	const struct recorded_steps *steps, const char *state, size_t at);
#endif
