/*
 * Trust: finds the variables that may hold data written by a model or brought in from the network.
 *
 * Untrusted data is what a model wrote, what a tool with network brought in, what a tool made of
 * such data, and the words of a failure. It stays untrusted from variable to variable, and through
 * the workspace: every later state that sees the workspace finds what an agent of mode `run` left
 * there, or a tool that was given such data. What a tool with network leaves there is not followed.
 * The first writer and its reason are kept, so that a warning can show the way. Internal to the
 * reader and the analyses.
 */
#ifndef MACHINE_TRUST_H
#define MACHINE_TRUST_H
#include "machine/machine.h"

struct origin {
	const struct state *writer; /* NULL: trusted */
	/* The untrusted variable that the writer had read; NULL: it is a source itself. */
	const struct variable *because;
	/* The state that left in the workspace what a source found there; or NULL. */
	const struct state *left;
	bool failed; /* the data is that of a failure of a trusted state: its own words */
};

struct trust {
	const struct machine *m;
	struct arena arena;
	struct origin *from;        /* by variable */
	bool *leaves;               /* by state: it leaves untrusted data in the workspace */
	const struct state **left;  /* by state: one that may have done so before it; NULL: none */
	const struct state **queue; /* for trust_reach */
	bool changed;
	const struct variable *taken; /* the untrusted variable that a visit found */
};

void trust_init(struct trust *trust, const struct machine *machine);
void trust_done(struct trust *trust);
const struct origin *trust_origin(const struct trust *trust, const struct variable *variable);
/* Reports whether the state's capture_failure takes untrusted data: words of whatever failed, or
 * the failure of a state whose result is untrusted too. */
bool trust_fails_untrusted(const struct trust *trust, const struct state *state);
/* Returns the first untrusted variable that a program of the state is given; NULL: none. */
const struct variable *trust_input(struct trust *trust, const struct state *state);
/* Returns the state that left untrusted data in the workspace that the state sees; NULL: none. */
const struct state *trust_left(const struct trust *trust, const struct state *state);
/* Fills `by`, by state, with one of the `sources` (by state) from which it is reached, or NULL.
 * `past_people`: also through waits that only a poke ends. */
void trust_reach(
	struct trust *trust, const bool *sources, bool past_people, const struct state **by);
#endif
