/*
 * finish_run: the one terminal tool. Its arguments are the record of the state's output schema.
 */
#ifndef AGENT_FINISH_H
#define AGENT_FINISH_H
#include "base/buf.h"
#include "types/types.h"

#define FINISH_NAME "finish_run"
enum { FINISH_REPAIRS_MAX = 3 };

/* Whether a model that calls `tool` means this one: prompts of newer TOML bundles say
 * finish_session. */
bool finish_named(const char *tool);
/* {name, description, input_schema}; `record` NULL: any object. */
json_t *finish_declaration(const struct record *record);
/* Returns the payload that `arguments` hold, as the record wants it (value_coerce), out of a
 * {"result": {...}} wrapper where the record has no such field. A new reference; NULL: out of
 * memory. */
json_t *finish_read(const struct record *record, const json_t *arguments);
/* The payload that `arguments` hold (a new reference), understanding a {"result": {...}} wrapper
 * where the record has no such field; NULL with every problem as a line in `problems`. */
json_t *finish_check(const struct record *record, json_t *arguments, struct buf *problems);
#endif
