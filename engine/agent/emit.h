/*
 * The event stream to the supervisor: one JSON object per line on descriptor 1.
 */
#ifndef AGENT_EMIT_H
#define AGENT_EMIT_H
#include "agent/policy/redact.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include <jansson.h>

/* From now on no event holds any of these (NULL: none are known), whoever said it: the model, the
 * provider, a file, but for the names of members: those of others leave with redact_json. Borrowed.
 */
void emit_hide(const struct redact *secrets);
/* Writes {"event": name, ...members}; takes `members` (NULL: none). A line over the supervisor's
 * limit is replaced by a notice that says so: -1. Without a reader there is nobody left to work
 * for: the process ends. */
int emit(const char *name, json_t *members);
/* Whether an event has room for `value` beside its other members. -1, with a line in `problems`: it
 * would be left out. */
int emit_check(const json_t *value, struct buf *problems);
/* A notice event. */
void emit_notice(const char *format, ...) PRINTF(1, 2);
#endif
