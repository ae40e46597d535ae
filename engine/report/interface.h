/*
 * The interface of a machine: the parameters that a start gives it, the fields of its result, and
 * the ends that it can reach with the exit status of `run` at each. A reviewer reads it, and
 * whoever starts the machine.
 */
#ifndef REPORT_INTERFACE_H
#define REPORT_INTERFACE_H
#include "machine/machine.h"

/* Returns {"parameters": [{"name", "type", "required", "value", "description", "enum", "min",
 * "max", "max_len", "allows", "fixed" (true:
 * a limit or a host refers to it)}], "pokes": [{"name": "STATE.FIELD", "type", "optional",
 * "description", ...}], "returns": [{"name", "type", "optional", "untrusted", ...}], "ends":
 * [{"state", "status", "exit"}]}; members that a parameter or a field lacks are left out, "pokes"
 * of a machine whose waits take any poke, and "returns" of one without a result. "untrusted": a
 * model may have written the value, or it came from the network. New reference. */
json_t *interface_of(const struct machine *machine);

/* Writes one line of a report: a label and its text. */
typedef void interface_line(struct buf *out, const char *label, const char *text);

/* Writes a line for each parameter, for each field of a poke and of the result, and one for the
 * ends. */
void interface_lines(const json_t *interface, interface_line *line, struct buf *out);

/* Returns the form of the data that a wait takes, {"fields": [...], "example": {...}}; NULL: the
 * state is no wait, or takes any poke. New reference. */
json_t *interface_poke(const struct machine *machine, const char *state);
/* Appends a line break, `indent` and a text for each field of that form. */
void interface_poke_fields(const json_t *poke, const char *indent, struct buf *out);
/* Appends the command that pokes the instance, with the example as its data; `poke` NULL: without
 * any. */
void interface_poke_command(const json_t *poke, const char *id, struct buf *out);

/* Adds a note for every difference between the interfaces of two versions of a machine. */
void interface_compare(const json_t *old, const json_t *now, const struct machine *machine,
	struct findings *findings);
#endif
