/*
 * Secrets out of JSON: out of each string by itself, and out of each name that is not our own.
 */
#ifndef POLICY_REDACT_JSON_H
#define POLICY_REDACT_JSON_H
#include "agent/policy/redact.h"
#include <jansson.h>

/* A copy of `value` in which `how` has replaced the secrets. NULL: out of memory. */
json_t *redact_json(redact_fn *how, const struct redact *redact, const json_t *value,
	struct redact_tally *tally);
/* The same where every name is one that this program wrote: they stay, whatever a secret is. */
json_t *redact_values(redact_fn *how, const struct redact *redact, const json_t *value);
#endif
