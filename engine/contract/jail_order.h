/*
 * The order that a jail is given: one command, in the confinement of a policy that was fixed
 * before.
 *
 * A launcher has one policy and is given orders; agent6-jail called for one command reads both as
 * one object (jail_policy.h). An order's text is made here and nowhere else.
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
/* Returns the same as an object. New reference. */
json_t *jail_order_encode(const struct jail_order *order);
#endif
