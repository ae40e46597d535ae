/*
 * The event stream to the supervisor: one JSON object per line on descriptor 1.
 */
#ifndef AGENT_EMIT_H
#define AGENT_EMIT_H
#include "agent/policy/redact.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "contract/event.h"
#include <jansson.h>

/* Removes these secrets (NULL: none are known) from every later event, whoever wrote the text: the
 * model, the provider, a file. The names of members stay; where others chose them, redact_json has
 * cleaned them. Borrowed. */
void emit_hide(const struct redact *secrets);
/* Writes {"event": its name, ...members}; takes `members` (NULL: none). A line over the
 * supervisor's limit is replaced by a notice, and -1 returned. If the supervisor has closed the
 * pipe, the process ends: nobody needs its work. */
int emit(enum agent_event event, json_t *members);
/* Checks that an event has room for `value` beside its other members. Returns -1, with a line in
 * `problems`, if the value would be left out. */
int emit_check(const json_t *value, struct buf *problems);
/* Writes a notice event. */
void emit_notice(const char *format, ...) PRINTF(1, 2);
#endif
