/*
 * Redaction of JSON: each string by itself, and each name that this program did not choose.
 */
#ifndef POLICY_REDACT_JSON_H
#define POLICY_REDACT_JSON_H
#include "agent/policy/redact.h"
#include <jansson.h>

/* Returns a copy of `value` whose secrets `how` has replaced. NULL: out of memory. */
json_t *redact_json(redact_fn *how, const struct redact *redact, const json_t *value,
	struct redact_tally *tally);
/* Does the same for JSON all of whose names are this program's own: they stay even if they equal a
 * secret. */
json_t *redact_values(redact_fn *how, const struct redact *redact, const json_t *value);
#endif
