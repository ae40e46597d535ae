/*
 * The dry run: a machine tried out without running anything (`machine test`).
 *
 * Facts are made up from the schemas, the weakest first, and go through the real reduce; then the
 * machine is explored from its initial state, every outcome with facts that its own conditions
 * compare with, as far as the bounds allow. Pure.
 */
#ifndef DRY_DRY_H
#define DRY_DRY_H
#include "machine/machine.h"

/* One event, in this order: a "state" for each label of each tool, agent and wait {t, state, label,
 * goto}; a "branch" for each branch {t, state, clauses: [{if, value: true|false|null, why?}],
 * goto}; then a "failure" wherever a fact does not bind or route, or a read halts the machine {t,
 * state, why, path: [states]}; at the end "untaken" {t, state, label, goto} for each edge that no
 * explored path takes. */
typedef void dry_listener(void *ctx, const json_t *event);

struct dry_result {
	size_t failures;
	size_t edges, taken;
	size_t visited; /* distinct pairs of state and blackboard */
	bool bounded;   /* there was more than the bounds allow */
};

enum { DRY_VISITS_MAX = 5000, DRY_DEPTH_MAX = 100 };

/* `blackboard`: what to begin with, NULL: the declared values. */
void dry_run(const struct machine *machine, const json_t *blackboard, dry_listener *tell, void *ctx,
	struct dry_result *out);
/* The declared values with those of `fixture` (an object NAME: value) in their place, each checked
 * against its type. NULL: one does not fit. */
json_t *dry_blackboard(const struct machine *machine, const json_t *fixture, struct err *e);

/* A value that conforms to `t`: variant 0 is the weakest (required fields only, empty and zero), 1
 * the fullest, later ones mix; `hints` (may be NULL) is an array of numbers and strings to use. */
json_t *dry_value(struct type t, unsigned variant, const json_t *hints);
/* The fact of `label` for a state of that kind; `variant` is that of an ok result. */
json_t *dry_fact(
	const struct state *state, enum outcome label, unsigned variant, const json_t *hints);
#endif
