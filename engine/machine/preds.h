/*
 * Predecessors: the edges of a machine, backwards.
 */
#ifndef MACHINE_PREDS_H
#define MACHINE_PREDS_H
#include "machine/machine.h"

struct pred {
	uint32_t state, edge; /* machine.states[state], edge number as in state_edge */
};

/* items[first[i] .. first[i + 1]) lead to state i. */
struct preds {
	uint32_t *first;
	struct pred *items;
};

void preds_init(struct preds *preds, const struct machine *machine, struct arena *arena);
#endif
