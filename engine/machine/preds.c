#include "machine/preds.h"

void preds_init(struct preds *p, const struct machine *m, struct arena *arena)
{
	size_t n = m->state_count, edges = 0;
	/* One slot further than they end up: filling moves each start to where the next begins. */
	p->first = arena_array(arena, n + 2, sizeof(*p->first));
	for (size_t s = 0; s < n; s++)
		for (size_t i = 0; i < state_edge_count(&m->states[s]); i++) {
			const struct state *to = state_edge(&m->states[s], i);
			if (to)
				p->first[to->index + 2]++;
			edges += to != NULL;
		}
	for (size_t i = 2; i < n + 2; i++)
		p->first[i] += p->first[i - 1];
	p->items = arena_array(arena, edges, sizeof(*p->items));
	for (size_t s = 0; s < n; s++)
		for (size_t i = 0; i < state_edge_count(&m->states[s]); i++) {
			const struct state *to = state_edge(&m->states[s], i);
			if (to)
				p->items[p->first[to->index + 1]++] =
					(struct pred){(uint32_t)s, (uint32_t)i};
		}
}
