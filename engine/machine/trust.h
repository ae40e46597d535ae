/*
 * Trust: which variables may hold what a model wrote or the network brought in.
 *
 * Untrusted is what a model wrote, what a tool with network brought in, and what a tool made of
 * such data. It stays so from variable to variable, and through the workspace: what an agent of
 * mode `run`, or a tool that such data was given to, leaves there is found by every later state
 * that sees it. What a tool with network leaves there is not followed. The first writer and its
 * reason are remembered, so that the way can be told. Internal to the reader and the analyses.
 */
#ifndef MACHINE_TRUST_H
#define MACHINE_TRUST_H
#include "machine/machine.h"

struct origin {
	const struct state *writer;     /* NULL: trusted */
	const struct variable *because; /* what the writer had read; NULL: it is a source itself */
	const struct state *left; /* who left in the workspace what a source found there; or NULL */
};

struct trust {
	const struct machine *m;
	struct arena arena;
	struct origin *from;        /* by variable */
	bool *leaves;               /* by state: untrusted data in the workspace */
	const struct state **left;  /* by state: who may have done so before it; NULL: nobody */
	const struct state **queue; /* of trust_reach */
	bool changed;
	const struct variable *taken; /* the untrusted variable that a visit found */
};

void trust_init(struct trust *trust, const struct machine *machine);
void trust_done(struct trust *trust);
const struct origin *trust_origin(const struct trust *trust, const struct variable *variable);
/* The first untrusted variable in a tool's argv or stdin; NULL: none. */
const struct variable *trust_input(struct trust *trust, const struct state *state);
/* Who left untrusted data in the workspace that the tool sees; NULL: nobody. */
const struct state *trust_left(const struct trust *trust, const struct state *state);
/* `by`, by state: one of the `sources` (by state) from which it is reached, or NULL; `past_people`:
 * through waits that only a poke ends, too. */
void trust_reach(
	struct trust *trust, const bool *sources, bool past_people, const struct state **by);
/* A tool that reaches a network. */
bool trust_networked(const struct state *state);
#endif
