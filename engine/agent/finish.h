/*
 * finish_run: the only tool that ends a run. Its arguments are the record of the state's output
 * schema.
 */
#ifndef AGENT_FINISH_H
#define AGENT_FINISH_H
#include "base/buf.h"
#include "types/types.h"

#define FINISH_NAME "finish_run"
enum { FINISH_REPAIRS_MAX = 3 };

/* Reports whether a model that calls `tool` means this one: prompts of newer TOML bundles say
 * finish_session. */
bool finish_named(const char *tool);
/* Returns {name, description, input_schema}; `record` NULL: any object. */
json_t *finish_declaration(const struct record *record);
/* Returns the payload in `arguments`, coerced to the record (value_coerce). Takes it out of a
 * {"result": {...}} wrapper if the record has no such field. New reference; NULL: out of memory. */
json_t *finish_read(const struct record *record, const json_t *arguments);
/* Returns the payload in `arguments`, a new reference. Takes it out of a {"result": {...}} wrapper
 * if the record has no such field. NULL: it has problems, each a line in `problems`. */
json_t *finish_check(const struct record *record, json_t *arguments, struct buf *problems);
#endif
