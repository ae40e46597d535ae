/*
 * The order that a jail is given: one command, in the confinement of a policy that was fixed
 * before.
 *
 * A launcher has one policy and is given orders; agent6-jail called for one command reads both as
 * one object (schema/policy.schema.json). Both texts are made here and nowhere else.
 */
#ifndef CONTRACT_JAIL_ORDER_H
#define CONTRACT_JAIL_ORDER_H
#include <jansson.h>
#include <stdint.h>

/* Lists and texts are owned. */
struct jail_order {
	json_t *argv; /* texts, a program first */
	json_t *env;  /* texts by name; NULL: what the policy has */
	int64_t timeout_secs;
};

void jail_order_done(struct jail_order *order);
/* Returns the order as a launcher reads it, heap text; NULL: out of memory. */
char *jail_order_text(const struct jail_order *order);
/* Returns `policy` with the order in it, heap text. NULL as order: the policy of a launcher, whose
 * orders replace the members that the format wants. */
char *jail_policy_text(const json_t *policy, const struct jail_order *order);
#endif
