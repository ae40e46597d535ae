#include "machine/analyse/analyse.h"

#include "base/utf8.h"
#include "machine/kind.h"
#include "machine/site.h"
#include "machine/visit.h"

#include <string.h>

/* A group of this many states or fewer is searched cycle by cycle, within this many steps. */
enum { SEARCHED_STATES = 64, SEARCH_STEPS = 20000, SHOWN_STATES = 12 };

/* A walk over the states that neither wait nor run an agent. `group` numbers the strongly connected
 * groups among them (Tarjan); 0: none yet. */
struct loops {
	const struct machine *m;
	struct findings *findings;
	struct arena arena;
	uint32_t *order, *low, *group, *next_edge; /* by state */
	uint32_t *stack, *path;                    /* Tarjan's stacks */
	bool *on_path;
	uint32_t visited, groups;
	uint32_t *read_by; /* by variable: the stamp of the search whose branches read it */
	uint32_t stamp;
};

static bool busy(const struct state *state)
{
	return state_is(state, TRAIT_HURRIES) && !state->max_visits;
}

static void stamp_read(void *ctx, const struct ref *ref, const char *source)
{
	struct loops *l = ctx;
	(void)source;
	if (ref->root)
		l->read_by[ref->root - l->m->variables] = l->stamp;
}

/* Reports whether taking the edge writes a variable that the stamped branches read. */
static bool writes_stamped(const struct loops *loops, const struct state *state, size_t edge)
{
	const struct capture *capture = state_edge_capture(state, edge);
	if (!capture)
		return false;
	const struct variable *whole = capture->whole;
	bool hit = whole && loops->read_by[whole - loops->m->variables] == loops->stamp;
	for (size_t i = 0; i < capture->set_count; i++)
		hit |= loops->read_by[capture->set[i].target - loops->m->variables] == loops->stamp;
	return hit;
}

static void close_group(struct loops *loops, uint32_t root, uint32_t *depth)
{
	uint32_t member;
	loops->groups++;
	do {
		member = loops->stack[--*depth];
		loops->group[member] = loops->groups;
	} while (member != root);
}

/* Returns the next state after `at` that was not visited yet. States that were visited lower the
 * known `low` of `at`. */
static const struct state *next_below(struct loops *loops, uint32_t at)
{
	const struct state *s = &loops->m->states[at];
	while (loops->next_edge[at] < state_edge_count(s)) {
		const struct state *to = state_edge(s, loops->next_edge[at]++);
		if (!to || !busy(to) || loops->group[to->index])
			continue;
		if (!loops->order[to->index])
			return to;
		if (loops->order[to->index] < loops->low[at])
			loops->low[at] = loops->order[to->index];
	}
	return NULL;
}

/* Runs Tarjan's algorithm without recursion: a machine may be one cycle of 100,000 states. */
static void find_groups(struct loops *loops, uint32_t start)
{
	uint32_t depth = 0, length = 0;
	loops->path[length++] = start;
	while (length) {
		uint32_t at = loops->path[length - 1];
		if (!loops->order[at]) {
			loops->order[at] = loops->low[at] = ++loops->visited;
			loops->stack[depth++] = at;
		}
		const struct state *below = next_below(loops, at);
		if (below) {
			loops->path[length++] = (uint32_t)below->index;
			continue;
		}
		if (loops->low[at] == loops->order[at])
			close_group(loops, at, &depth);
		length--;
		if (length && loops->low[at] < loops->low[loops->path[length - 1]])
			loops->low[loops->path[length - 1]] = loops->low[at];
	}
}

/* Appends the edges from one state to the next that change nothing: "nonzero, timeout", "else". */
static void add_edges(const struct loops *loops, const struct state *state,
	const struct state *next, struct buf *out)
{
	enum { CLAUSE_BYTES = 40 };
	size_t begun = out->len;
	for (size_t i = 0; i < state_edge_count(state); i++) {
		if (state_edge(state, i) != next || writes_stamped(loops, state, i))
			continue;
		const char *label = state_edge_label(state, i);
		size_t len = strlen(label);
		buf_addf(out, "%s%.*s%s", out->len > begun ? ", " : "",
			(int)(len > CLAUSE_BYTES ? utf8_prefix(label, CLAUSE_BYTES) : len), label,
			len > CLAUSE_BYTES ? "..." : "");
	}
}

static void report(struct loops *loops, const uint32_t *cycle, uint32_t length)
{
	uint32_t first = 0;
	bool branches = false;
	AUTO_BUF path = BUF_INIT(2048);
	for (uint32_t i = 0; i < length; i++) {
		first = cycle[i] < cycle[first] ? i : first;
		branches |= loops->m->states[cycle[i]].clauses != NULL;
	}
	for (uint32_t i = 0; i < length && i < SHOWN_STATES; i++) {
		const struct state *at = &loops->m->states[cycle[(first + i) % length]];
		buf_addf(&path, "%s (", at->name);
		add_edges(loops, at, &loops->m->states[cycle[(first + i + 1) % length]], &path);
		buf_adds(&path, ") -> ");
	}
	const struct state *s = &loops->m->states[cycle[first]];
	struct site site = {.findings = loops->findings,
		.doc = loops->m->doc,
		.node = s->key,
		.state = s->name};
	struct finding *f = site_report(&site, RULE_HOT_LOOP, "the cycle %s%s%s never waits%s",
		path.data, length > SHOWN_STATES ? "... -> " : "", s->name,
		branches ? " and changes nothing that its branches read" : "");
	site_help(&site, f,
		branches ? "capture what decides on the cycle, or pace it with a wait"
			 : "pace it with a wait, or use `retry`, which backs off and ends");
}

/* The states of one group in source order. */
struct group {
	const uint32_t *members;
	uint32_t count, id;
};

/* Searches depth first from `start`; `order` holds the place of each state on the path. */
static bool cycle_from(struct loops *loops, const struct group *group, uint32_t start)
{
	uint32_t length = 1;
	loops->path[0] = start;
	while (length) {
		uint32_t at = loops->path[length - 1], edge = loops->next_edge[at]++;
		const struct state *s = &loops->m->states[at];
		loops->order[at] = length;
		if (edge == state_edge_count(s)) {
			loops->order[at] = UINT32_MAX;
			length--;
			continue;
		}
		const struct state *to = state_edge(s, edge);
		if (!to || loops->group[to->index] != group->id || writes_stamped(loops, s, edge))
			continue;
		uint32_t seen = loops->order[to->index];
		if (!seen) {
			loops->path[length++] = (uint32_t)to->index;
		} else if (seen != UINT32_MAX) {
			report(loops, loops->path + seen - 1, length - seen + 1);
			return true;
		}
	}
	return false;
}

/* Looks for a cycle that avoids every write to the variables that any branch of the group reads: it
 * is hot for sure. A walk on such edges that never leaves the group must meet its own path. */
static bool quick_cycle(struct loops *loops, const struct group *group)
{
	loops->stamp++;
	for (uint32_t i = 0; i < group->count; i++) {
		state_condition_refs(&loops->m->states[group->members[i]], stamp_read, loops);
		loops->next_edge[group->members[i]] = 0;
		loops->order[group->members[i]] = 0;
	}
	for (uint32_t i = 0; i < group->count; i++)
		if (!loops->order[group->members[i]] && cycle_from(loops, group, group->members[i]))
			return true;
	return false;
}

/* Reports whether no edge of the cycle writes a variable that its own branches read. edges[i] leads
 * on from cycle[i]. */
static bool is_hot(
	struct loops *loops, const uint32_t *cycle, const uint32_t *edges, uint32_t length)
{
	loops->stamp++;
	for (uint32_t i = 0; i < length; i++)
		state_condition_refs(&loops->m->states[cycle[i]], stamp_read, loops);
	for (uint32_t i = 0; i < length; i++)
		if (writes_stamped(loops, &loops->m->states[cycle[i]], edges[i]))
			return false;
	return true;
}

/* Searches every cycle through `start` and later members, within the steps that are left. */
static bool search_from(
	struct loops *loops, const struct group *group, uint32_t start, uint32_t *steps)
{
	uint32_t cycle[SEARCHED_STATES], edges[SEARCHED_STATES], length = 1;
	cycle[0] = start;
	edges[0] = 0;
	loops->on_path[start] = true;
	bool found = false;
	while (length && !found && *steps) {
		const struct state *s = &loops->m->states[cycle[length - 1]];
		uint32_t edge = edges[length - 1];
		--*steps;
		if (edge == state_edge_count(s)) {
			loops->on_path[cycle[--length]] = false;
			if (length)
				edges[length - 1]++;
			continue;
		}
		const struct state *to = state_edge(s, edge);
		bool inside = to && loops->group[to->index] == group->id && to->index >= start;
		if (inside && to->index == start)
			found = is_hot(loops, cycle, edges, length);
		if (inside && !loops->on_path[to->index]) {
			loops->on_path[to->index] = true;
			cycle[length] = (uint32_t)to->index;
			edges[length++] = 0;
		} else {
			edges[length - 1]++;
		}
	}
	for (uint32_t i = 0; i < length; i++)
		loops->on_path[cycle[i]] = false;
	if (found)
		report(loops, cycle, length);
	return found;
}

static void check_group(struct loops *loops, const struct group *group)
{
	if (quick_cycle(loops, group) || group->count > SEARCHED_STATES)
		return;
	uint32_t steps = SEARCH_STEPS;
	for (uint32_t i = 0; i < group->count; i++)
		if (search_from(loops, group, group->members[i], &steps))
			return;
}

/* Sorts the states by group, keeping source order, and looks at each group once. */
static void check_groups(struct loops *loops)
{
	size_t n = loops->m->state_count;
	uint32_t *start = arena_array(&loops->arena, loops->groups + 2u, sizeof(uint32_t));
	uint32_t *members = arena_array(&loops->arena, n, sizeof(uint32_t));
	for (size_t i = 0; i < n; i++)
		if (loops->group[i])
			start[loops->group[i] + 1]++;
	for (uint32_t g = 1; g <= loops->groups + 1; g++)
		start[g] += start[g - 1];
	for (size_t i = 0; i < n; i++)
		if (loops->group[i])
			members[start[loops->group[i]]++] = (uint32_t)i;
	for (uint32_t g = 1; g <= loops->groups; g++) {
		uint32_t from = start[g - 1];
		check_group(loops, &(struct group){members + from, start[g] - from, g});
	}
}

void analyse_loops(const struct machine *machine, struct findings *findings)
{
	struct loops l = {.m = machine, .findings = findings};
	size_t n = machine->state_count;
	arena_init(&l.arena);
	l.order = arena_array(&l.arena, n, sizeof(uint32_t));
	l.low = arena_array(&l.arena, n, sizeof(uint32_t));
	l.group = arena_array(&l.arena, n, sizeof(uint32_t));
	l.next_edge = arena_array(&l.arena, n, sizeof(uint32_t));
	l.stack = arena_array(&l.arena, n, sizeof(uint32_t));
	l.path = arena_array(&l.arena, n, sizeof(uint32_t));
	l.on_path = arena_array(&l.arena, n, sizeof(bool));
	l.read_by = arena_array(&l.arena, machine->variable_count, sizeof(uint32_t));
	for (size_t i = 0; i < n; i++)
		if (busy(&machine->states[i]) && !l.order[i])
			find_groups(&l, (uint32_t)i);
	check_groups(&l);
	arena_done(&l.arena);
}
