/*
 * Trust: which variables may hold what a model wrote or the network brought in.
 *
 * Untrusted is what a model wrote, what a tool with network brought in, and what a tool made of
 * such data. It stays so from variable to variable; the first writer and its reason are remembered,
 * so that the way can be told. Internal to the module.
 */
#ifndef MACHINE_TRUST_H
#define MACHINE_TRUST_H
#include "machine/machine.h"

struct origin {
	const struct state *writer;     /* NULL: trusted */
	const struct variable *because; /* what the writer had read; NULL: it is a source itself */
};

struct trust {
	const struct machine *m;
	struct arena arena;
	struct origin *from; /* by variable */
	bool changed;
	const struct variable *taken; /* the untrusted variable that a visit found */
};

void trust_init(struct trust *t, const struct machine *m);
void trust_done(struct trust *t);
const struct origin *trust_origin(const struct trust *t, const struct variable *v);
/* The first untrusted variable in a tool's argv or stdin; NULL: none. */
const struct variable *trust_input(struct trust *t, const struct state *s);
/* A tool that reaches a network. */
bool trust_networked(const struct state *s);
#endif
