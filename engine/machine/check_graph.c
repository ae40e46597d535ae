#include "machine/preds.h"
#include "machine/reader.h"

#include <string.h>

/* Scratch for walks over the states, all indexed by state. */
struct walk {
	const struct machine *m;
	const bool *loose;
	struct arena arena;
	bool *reached; /* from initial */
	bool *covered; /* already spoken of */
	size_t *queue;
	struct preds preds;
	bool open; /* a loose state was reached: anything may be */
};

static void walk_init(struct walk *w, const struct reader *r)
{
	size_t n = r->m->state_count;
	*w = (struct walk){.m = r->m, .loose = r->loose};
	arena_init(&w->arena);
	w->reached = arena_array(&w->arena, n, sizeof(bool));
	w->covered = arena_array(&w->arena, n, sizeof(bool));
	w->queue = arena_array(&w->arena, n, sizeof(size_t));
	preds_init(&w->preds, r->m, &w->arena);
}

/* Marks everything that can be reached from state `from`. Returns how many were new. */
static size_t mark_from(struct walk *w, size_t from, bool *marks)
{
	size_t count = 0;
	if (!marks[from]) {
		marks[from] = true;
		w->queue[count++] = from;
	}
	for (size_t at = 0; at < count; at++) {
		const struct state *s = &w->m->states[w->queue[at]];
		w->open |= w->loose[s->index];
		for (size_t i = 0; i < state_edge_count(s); i++) {
			const struct state *to = state_edge(s, i);
			if (!to || marks[to->index])
				continue;
			marks[to->index] = true;
			w->queue[count++] = to->index;
		}
	}
	return count;
}

static void report_unreachable(struct reader *r, struct walk *w, size_t i)
{
	if (w->reached[i] || w->covered[i])
		return;
	const struct state *s = &r->m->states[i];
	struct site site = reader_site(r, s->key, s);
	size_t also = mark_from(w, i, w->covered) - 1;
	if (!identifier_ok(s->name, strlen(s->name)))
		return; /* reported as no name; what leads to the right one is an unknown state */
	struct finding *f = site_report(&site, RULE_UNREACHABLE_STATE,
		"no edge from the initial state leads to \"%s\"", s->name);
	if (also)
		site_help(&site, f,
			"let a state lead here, or remove it; %zu more state%s can be reached only "
			"from it",
			also, also == 1 ? "" : "s");
	else
		site_help(&site, f, "let a state lead here, or remove it");
}

static bool has_other_pred(const struct walk *w, size_t i)
{
	for (uint32_t p = w->preds.first[i]; p < w->preds.first[i + 1]; p++)
		if (w->preds.items[p].state != i)
			return true;
	return false;
}

/* Those that nothing leads to come first, so that what hangs below them is not reported as well. */
static void rule_unreachable(struct reader *r, struct walk *w)
{
	for (size_t i = 0; i < r->m->state_count; i++)
		w->covered[i] = w->reached[i];
	for (size_t i = 0; i < r->m->state_count; i++)
		if (!has_other_pred(w, i))
			report_unreachable(r, w, i);
	for (size_t i = 0; i < r->m->state_count; i++)
		report_unreachable(r, w, i);
}

/* Marks what can reach a terminal, a wait or a state whose edges are not known. */
static void mark_ends(struct walk *w, bool *ends)
{
	size_t count = 0;
	for (size_t i = 0; i < w->m->state_count; i++) {
		enum state_kind kind = w->m->states[i].kind;
		ends[i] = kind == KIND_TERMINAL || kind == KIND_WAIT || w->loose[i];
		if (ends[i])
			w->queue[count++] = i;
	}
	for (size_t at = 0; at < count; at++) {
		size_t i = w->queue[at];
		for (uint32_t p = w->preds.first[i]; p < w->preds.first[i + 1]; p++)
			if (!ends[w->preds.items[p].state]) {
				ends[w->preds.items[p].state] = true;
				w->queue[count++] = w->preds.items[p].state;
			}
	}
}

/* Everything that hangs together with trapped state `i`, in both directions. */
static void cover_trap(struct walk *w, size_t i, const bool *ends)
{
	size_t count = 0;
	w->covered[i] = true;
	w->queue[count++] = i;
	for (size_t at = 0; at < count; at++) {
		size_t x = w->queue[at];
		const struct state *s = &w->m->states[x];
		for (size_t e = 0; e < state_edge_count(s); e++) {
			const struct state *to = state_edge(s, e);
			if (to && !ends[to->index] && !w->covered[to->index]) {
				w->covered[to->index] = true;
				w->queue[count++] = to->index;
			}
		}
		for (uint32_t p = w->preds.first[x]; p < w->preds.first[x + 1]; p++)
			if (!ends[w->preds.items[p].state] &&
				!w->covered[w->preds.items[p].state]) {
				w->covered[w->preds.items[p].state] = true;
				w->queue[count++] = w->preds.items[p].state;
			}
	}
}

static void rule_trap(struct reader *r, struct walk *w)
{
	bool *ends = arena_array(&w->arena, r->m->state_count, sizeof(bool));
	mark_ends(w, ends);
	memset(w->covered, 0, r->m->state_count);
	for (size_t i = 0; i < r->m->state_count; i++) {
		if (ends[i] || !w->reached[i] || w->covered[i])
			continue;
		const struct state *s = &r->m->states[i];
		struct site site = reader_site(r, s->key, s);
		struct finding *f = site_report(&site, RULE_TRAP,
			"from \"%s\" the machine can reach neither a terminal nor a wait", s->name);
		site_help(&site, f,
			"lead one of its outcomes to a terminal state; a machine that is to run on "
			"needs a wait");
		cover_trap(w, i, ends);
	}
}

void check_graph(struct reader *r)
{
	struct walk w;
	walk_init(&w, r);
	if (r->m->initial)
		mark_from(&w, r->m->initial->index, w.reached);
	if (r->m->initial && !w.open)
		rule_unreachable(r, &w);
	rule_trap(r, &w);
	arena_done(&w.arena);
}
