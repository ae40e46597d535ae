/*
 * The dry run: tries a machine out without running anything (`machine test`).
 *
 * Facts are made up from the schemas, the weakest first, and go through the real reduce. Then the
 * machine is explored from its initial state, as far as the bounds allow: every outcome, with facts
 * built from the values that its own conditions compare with. Pure.
 */
#ifndef DRY_DRY_H
#define DRY_DRY_H
#include "contract/fact.h"
#include "machine/machine.h"

/* Called for one event. They come in this order: a "state" for each label of each tool, agent and
 * wait {t, state, label, goto}; a "branch" for each branch {t, state, clauses: [{if, value:
 * true|false|null, why?}], goto}; then a "failure" wherever a fact does not bind or route, or a
 * read halts the machine {t, state, why, path: [states]}; at the end "untaken" {t, state, label,
 * goto} for each edge that no explored path takes. */
typedef void dry_listener(void *ctx, const json_t *event);

struct dry_result {
	size_t failures;
	size_t edges, taken;
	size_t visited; /* distinct pairs of state and blackboard */
	bool bounded;   /* the bounds cut the exploration short */
};

enum { DRY_VISITS_MAX = 5000, DRY_DEPTH_MAX = 100 };

/* Runs the dry run. `blackboard`: the blackboard to begin with; NULL: the declared values. */
void dry_run(const struct machine *machine, const json_t *blackboard, dry_listener *tell, void *ctx,
	struct dry_result *out);
/* Returns the declared values, with those of `fixture` (an object NAME: value) in their place, each
 * checked against its type. NULL: one does not fit. */
json_t *dry_blackboard(const struct machine *machine, const json_t *fixture, struct err *e);

/* Returns a value that conforms to `t`. Variant 0 is the weakest (required fields only, empty and
 * zero), 1 the fullest, later ones mix. `hints` (may be NULL) is an array of numbers and strings to
 * use. */
json_t *dry_value(struct type t, unsigned variant, const json_t *hints);
/* The same, of a declaration that narrows the type. */
json_t *dry_value_within(
	struct type t, const struct constraint *constraint, unsigned variant, const json_t *hints);
/* Makes the fact of `label` for a state of that kind (to be released); `variant` selects the value
 * of an ok result. */
void dry_fact(const struct state *state, enum outcome label, unsigned variant, const json_t *hints,
	struct fact *out);
#endif
