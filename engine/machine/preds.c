#include "machine/preds.h"

void preds_init(struct preds *preds, const struct machine *machine, struct arena *arena)
{
	size_t n = machine->state_count, edges = 0;
	/* One slot further than their final place: filling moves each start to the beginning of the
	 * next. */
	preds->first = arena_array(arena, n + 2, sizeof(*preds->first));
	for (size_t s = 0; s < n; s++)
		for (size_t i = 0; i < state_edge_count(&machine->states[s]); i++) {
			const struct state *to = state_edge(&machine->states[s], i);
			if (to)
				preds->first[to->index + 2]++;
			edges += to != NULL;
		}
	for (size_t i = 2; i < n + 2; i++)
		preds->first[i] += preds->first[i - 1];
	preds->items = arena_array(arena, edges, sizeof(*preds->items));
	for (size_t s = 0; s < n; s++)
		for (size_t i = 0; i < state_edge_count(&machine->states[s]); i++) {
			const struct state *to = state_edge(&machine->states[s], i);
			if (to)
				preds->items[preds->first[to->index + 1]++] =
					(struct pred){(uint32_t)s, (uint32_t)i};
		}
}
