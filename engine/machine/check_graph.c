#include "machine/kind.h"
#include "machine/preds.h"
#include "machine/reader.h"

#include <string.h>

/* Scratch for walks over the states, all indexed by state. */
struct walk {
	const struct machine *m;
	const bool *loose;
	struct arena arena;
	bool *reached; /* from initial */
	bool *covered; /* already reported with another state */
	size_t *queue;
	struct preds preds;
	bool open; /* a loose state was reached, so every state may be */
};

static void walk_init(struct walk *walk, const struct reader *reader)
{
	size_t n = reader->m->state_count;
	*walk = (struct walk){.m = reader->m, .loose = reader->loose};
	arena_init(&walk->arena);
	walk->reached = arena_array(&walk->arena, n, sizeof(bool));
	walk->covered = arena_array(&walk->arena, n, sizeof(bool));
	walk->queue = arena_array(&walk->arena, n, sizeof(size_t));
	preds_init(&walk->preds, reader->m, &walk->arena);
}

/* Marks everything that can be reached from state `from`. Returns how many were new. */
static size_t mark_from(struct walk *walk, size_t from, bool *marks)
{
	size_t count = 0;
	if (!marks[from]) {
		marks[from] = true;
		walk->queue[count++] = from;
	}
	for (size_t at = 0; at < count; at++) {
		const struct state *s = &walk->m->states[walk->queue[at]];
		walk->open |= walk->loose[s->index];
		for (size_t i = 0; i < state_edge_count(s); i++) {
			const struct state *to = state_edge(s, i);
			if (!to || marks[to->index])
				continue;
			marks[to->index] = true;
			walk->queue[count++] = to->index;
		}
	}
	return count;
}

static void report_unreachable(struct reader *reader, struct walk *walk, size_t i)
{
	if (walk->reached[i] || walk->covered[i])
		return;
	const struct state *s = &reader->m->states[i];
	struct site site = reader_site(reader, s->key, s);
	size_t also = mark_from(walk, i, walk->covered) - 1;
	if (!identifier_ok(s->name, strlen(s->name)))
		return; /* reported as no name; edges to the corrected name give an unknown state */
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

static bool has_other_pred(const struct walk *walk, size_t i)
{
	for (uint32_t p = walk->preds.first[i]; p < walk->preds.first[i + 1]; p++)
		if (walk->preds.items[p].state != i)
			return true;
	return false;
}

/* Reports states without any predecessor first, so that the states after them are not reported as
 * well. */
static void rule_unreachable(struct reader *reader, struct walk *walk)
{
	for (size_t i = 0; i < reader->m->state_count; i++)
		walk->covered[i] = walk->reached[i];
	for (size_t i = 0; i < reader->m->state_count; i++)
		if (!has_other_pred(walk, i))
			report_unreachable(reader, walk, i);
	for (size_t i = 0; i < reader->m->state_count; i++)
		report_unreachable(reader, walk, i);
}

/* Marks the states that can reach a terminal, a wait or a state whose edges are not known. */
static void mark_ends(struct walk *walk, bool *ends)
{
	size_t count = 0;
	for (size_t i = 0; i < walk->m->state_count; i++) {
		ends[i] = state_is(&walk->m->states[i], TRAIT_RESTS) || walk->loose[i];
		if (ends[i])
			walk->queue[count++] = i;
	}
	for (size_t at = 0; at < count; at++) {
		size_t i = walk->queue[at];
		for (uint32_t p = walk->preds.first[i]; p < walk->preds.first[i + 1]; p++)
			if (!ends[walk->preds.items[p].state]) {
				ends[walk->preds.items[p].state] = true;
				walk->queue[count++] = walk->preds.items[p].state;
			}
	}
}

/* Covers all states connected with trapped state `i`, in both directions. */
static void cover_trap(struct walk *walk, size_t i, const bool *ends)
{
	size_t count = 0;
	walk->covered[i] = true;
	walk->queue[count++] = i;
	for (size_t at = 0; at < count; at++) {
		size_t x = walk->queue[at];
		const struct state *s = &walk->m->states[x];
		for (size_t e = 0; e < state_edge_count(s); e++) {
			const struct state *to = state_edge(s, e);
			if (to && !ends[to->index] && !walk->covered[to->index]) {
				walk->covered[to->index] = true;
				walk->queue[count++] = to->index;
			}
		}
		for (uint32_t p = walk->preds.first[x]; p < walk->preds.first[x + 1]; p++)
			if (!ends[walk->preds.items[p].state] &&
				!walk->covered[walk->preds.items[p].state]) {
				walk->covered[walk->preds.items[p].state] = true;
				walk->queue[count++] = walk->preds.items[p].state;
			}
	}
}

static void rule_trap(struct reader *reader, struct walk *walk)
{
	bool *ends = arena_array(&walk->arena, reader->m->state_count, sizeof(bool));
	mark_ends(walk, ends);
	memset(walk->covered, 0, reader->m->state_count);
	for (size_t i = 0; i < reader->m->state_count; i++) {
		if (ends[i] || !walk->reached[i] || walk->covered[i])
			continue;
		const struct state *s = &reader->m->states[i];
		struct site site = reader_site(reader, s->key, s);
		struct finding *f = site_report(&site, RULE_TRAP,
			"from \"%s\" the machine can reach neither a terminal nor a wait", s->name);
		site_help(&site, f,
			"lead one of its outcomes to a terminal state; a machine that is to run on "
			"needs a wait");
		cover_trap(walk, i, ends);
	}
}

void check_graph(struct reader *reader)
{
	struct walk w;
	walk_init(&w, reader);
	if (reader->m->initial)
		mark_from(&w, reader->m->initial->index, w.reached);
	if (reader->m->initial && !w.open)
		rule_unreachable(reader, &w);
	rule_trap(reader, &w);
	arena_done(&w.arena);
}
