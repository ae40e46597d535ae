#include "machine/analyse/analyse.h"
#include "machine/analyse/slots.h"
#include "machine/kind.h"
#include "machine/predicate_node.h"
#include "machine/preds.h"
#include "machine/visit.h"
#include <string.h>

/* Slots are followed in batches, so that memory grows only with the number of states. A copy
 * between batches counts as unset: a warning too many, never one too few. */
enum { WORDS = 8, BATCH_SLOTS = WORDS * 64, WARNINGS_MAX = 200, PATH_SHOWN = 12 };

struct bits {
	uint64_t word[WORDS];
};

struct unset {
	const struct machine *m;
	struct findings *findings;
	struct slots slots;
	uint32_t base; /* of the batch: slot base + i is bit i */
	struct arena arena;
	struct bits *in;        /* by state: slots that are set on entry, on every path */
	bool *reached, *queued; /* by state */
	uint32_t *queue;        /* a ring of states */
	struct preds preds;
	uint32_t *tree; /* by state: its predecessor on a shortest path from initial */
	size_t warnings;
	const struct state *reporting; /* reads of this state are reported */
};

static uint32_t bit_of(const struct unset *unset, uint32_t slot)
{
	return slot >= unset->base && slot < unset->base + BATCH_SLOTS ? slot - unset->base
								       : BATCH_SLOTS;
}

static bool has_slot(const struct unset *unset, const struct bits *bits, uint32_t slot)
{
	uint32_t bit = bit_of(unset, slot);
	return bit < BATCH_SLOTS && bits->word[bit / 64] >> (bit % 64) & 1;
}

static void put_slot(const struct unset *unset, struct bits *bits, uint32_t slot, bool there)
{
	uint32_t bit = bit_of(unset, slot);
	if (bit >= BATCH_SLOTS)
		return;
	uint64_t mask = (uint64_t)1 << (bit % 64);
	bits->word[bit / 64] = there ? bits->word[bit / 64] | mask : bits->word[bit / 64] & ~mask;
}

static void put_implied(const struct unset *unset, struct bits *bits, uint32_t slot)
{
	uint32_t child = unset->slots.items[slot].child;
	for (; child; child = unset->slots.items[child].next)
		if (unset->slots.items[child].implied) {
			put_slot(unset, bits, child, true);
			put_implied(unset, bits, child);
		}
}

/* Marks a field as present, and with it the records around it and all that they imply. */
static void put_path(const struct unset *unset, struct bits *bits, uint32_t slot)
{
	for (uint32_t at = slot; at; at = unset->slots.items[at].parent)
		if (unset->slots.items[at].field || at != slot)
			put_implied(unset, bits, at);
	for (; slot; slot = unset->slots.items[slot].parent)
		put_slot(unset, bits, slot, true);
}

static bool meet(struct bits *into, const struct bits *from)
{
	bool changed = false;
	for (int i = 0; i < WORDS; i++) {
		uint64_t both = into->word[i] & from->word[i];
		changed |= both != into->word[i];
		into->word[i] = both;
	}
	return changed;
}

static struct bits all_set(void)
{
	struct bits b;
	memset(&b, 0xff, sizeof(b));
	return b;
}

static void report_read(
	struct unset *unset, const struct ref *ref, const char *source, uint32_t slot);

struct state_reading {
	struct unset *u;
	struct bits *now;
};

/* Marks a slot as present after a read: otherwise the machine has halted. */
static void read_slot(const struct state_reading *reading, const struct ref *ref,
	const char *source, uint32_t slot)
{
	if (bit_of(reading->u, slot) == BATCH_SLOTS || !slot ||
		has_slot(reading->u, reading->now, slot))
		return;
	if (reading->u->reporting)
		report_read(reading->u, ref, source, slot);
	put_path(reading->u, reading->now, slot);
}

static void read_ref(void *ctx, const struct ref *ref, const char *source)
{
	const struct state_reading *r = ctx;
	read_slot(r, ref, source, r->u->slots.of_ref[ref->id]);
}

static void read_timing(void *ctx, const struct ref *ref, const char *source)
{
	const struct state_reading *r = ctx;
	const struct variable *v = ref->root;
	if (v && v->type.kind != TYPE_RECORD)
		read_slot(r, ref, source, r->u->slots.root[v - r->u->m->variables]);
}

/* The slots that are set after the condition held, and after it did not. */
struct flow {
	struct bits yes, no;
};

struct condition {
	struct unset *u;
	const char *source;
};

static struct flow flow_node(
	const struct condition *condition, const struct node *node, struct bits now);

/* Follows a value: true or false, the same slots are set. */
static struct bits flow_value(
	const struct condition *condition, const struct node *node, struct bits now)
{
	struct flow f = flow_node(condition, node, now);
	meet(&f.yes, &f.no);
	return f.yes;
}

static struct flow flow_and(
	const struct condition *condition, const struct node *node, struct bits now)
{
	struct flow out = {now, all_set()};
	for (const struct node *child = node->first; child; child = child->next) {
		struct flow f = flow_node(condition, child, out.yes);
		meet(&out.no, &f.no);
		out.yes = f.yes;
	}
	return out;
}

static struct flow flow_or(
	const struct condition *condition, const struct node *node, struct bits now)
{
	struct flow out = {all_set(), now};
	for (const struct node *child = node->first; child; child = child->next) {
		struct flow f = flow_node(condition, child, out.no);
		meet(&out.yes, &f.yes);
		out.no = f.no;
	}
	return out;
}

/* Follows a chain, which stops at the first comparison that fails. */
static struct flow flow_compare(
	const struct condition *condition, const struct node *node, struct bits now)
{
	struct flow out = {flow_value(condition, node->first, now), all_set()};
	for (const struct node *child = node->first->next; child; child = child->next) {
		out.yes = flow_value(condition, child, out.yes);
		meet(&out.no, &out.yes);
	}
	return out;
}

static struct flow flow_node(
	const struct condition *condition, const struct node *node, struct bits now)
{
	struct state_reading reading = {condition->u, &now};
	struct flow out = {now, now};
	switch ((enum node_kind)node->kind) {
	case NODE_OR: return flow_or(condition, node, now);
	case NODE_AND: return flow_and(condition, node, now);
	case NODE_COMPARE: return flow_compare(condition, node, now);
	case NODE_NOT:
		out = flow_node(condition, node->first, now);
		return (struct flow){out.no, out.yes};
	case NODE_NEGATE:
	case NODE_PLUS:
	case NODE_LEN: out.yes = out.no = flow_value(condition, node->first, now); return out;
	case NODE_HAS:
		if (node->ref->field_count)
			put_path(condition->u, &out.yes, condition->u->slots.of_ref[node->ref->id]);
		return out;
	case NODE_REF:
		read_ref(&reading, node->ref, condition->source);
		out.yes = out.no = now;
		return out;
	case NODE_LITERAL:
	case NODE_LIST: break;
	}
	return out;
}

/* Reports whether a slot of a captured variable is set after the capture. */
static bool captured(const struct unset *unset, const struct ref *copied, uint32_t slot,
	const struct bits *before)
{
	if (!copied || !copied->root)
		return unset->slots.items[slot].required;
	uint32_t from = slots_below(&unset->slots, copied, slot);
	return from && has_slot(unset, before, from);
}

static void write_below(const struct unset *unset, uint32_t slot, const struct ref *copied,
	const struct bits *before, struct bits *after)
{
	put_slot(unset, after, slot, captured(unset, copied, slot, before));
	for (uint32_t child = unset->slots.items[slot].child; child;
		child = unset->slots.items[child].next)
		write_below(unset, child, copied, before, after);
}

static uint32_t root_of(const struct unset *unset, const struct variable *variable)
{
	return unset->slots.root[variable - unset->m->variables];
}

/* Reports whether an assignment may leave its variable as it was: the result of an ok outcome lacks
 * an optional field, or a capture_failure reads a field that is absent. */
static bool may_keep(
	const struct state *state, const struct capture *capture, const struct template *value)
{
	return template_may_lack(value) ||
	       (capture == &state->failure && template_reads_field(value));
}

static void apply_capture(struct unset *unset, const struct state *state,
	const struct capture *capture, struct bits *now)
{
	struct state_reading reading = {unset, now};
	if (capture == &state->capture)
		state_capture_refs(state, read_ref, &reading);
	struct bits before = *now;
	if (capture->whole && root_of(unset, capture->whole))
		write_below(unset, root_of(unset, capture->whole), NULL, &before, now);
	for (size_t i = 0; i < capture->set_count; i++) {
		const struct assignment *a = &capture->set[i];
		if (!root_of(unset, a->target))
			continue;
		struct bits written = *now;
		write_below(unset, root_of(unset, a->target), template_lone(a->value), &before,
			&written);
		if (may_keep(state, capture, a->value))
			meet(now, &written);
		else
			*now = written;
	}
}

typedef void edge_visitor(
	void *ctx, const struct state *state, size_t edge, const struct bits *out);

/* Runs `state` on the slots set at its entry, and gives `each` those set on each edge. */
static void run_state(struct unset *unset, const struct state *state, edge_visitor *each, void *ctx)
{
	struct bits now = unset->in[state->index];
	/* A state that is exhausted renders nothing. */
	if (state->on[OUTCOME_EXHAUSTED])
		each(ctx, state, state->clauses ? state->clause_count : OUTCOME_EXHAUSTED, &now);
	struct state_reading reading = {unset, &now};
	state_entry_refs(state, read_ref, &reading);
	state_timing_refs(state, read_timing, &reading);
	if (!state->clauses) {
		const struct kind_result *result = state_result(state);
		struct bits good = now, failed = now;
		if (state->capture.present && state->on[result->good])
			apply_capture(unset, state, &state->capture, &good);
		if (state->failure.present)
			apply_capture(unset, state, &state->failure, &failed);
		for (size_t i = 0; i < OUTCOME_COUNT; i++)
			if (state->on[i] && i != OUTCOME_EXHAUSTED)
				each(ctx, state, i, result && i == result->good ? &good : &failed);
		return;
	}
	for (size_t i = 0; i < state->clause_count; i++) {
		const struct predicate *p = state->clauses[i].condition;
		struct condition c = {unset, p ? p->source : NULL};
		struct flow f = p ? flow_node(&c, p->root, now) : (struct flow){now, now};
		each(ctx, state, i, &f.yes);
		now = f.no;
	}
}

struct fixpoint {
	struct unset *u;
	size_t head, count;
};

static void enqueue(struct fixpoint *fixpoint, size_t state)
{
	struct unset *u = fixpoint->u;
	if (u->queued[state])
		return;
	u->queued[state] = true;
	u->queue[(fixpoint->head + fixpoint->count++) % u->m->state_count] = (uint32_t)state;
}

static void propagate(void *ctx, const struct state *state, size_t edge, const struct bits *out)
{
	struct fixpoint *f = ctx;
	const struct state *to = state_edge(state, edge);
	bool first = !f->u->reached[to->index];
	if (first) {
		f->u->reached[to->index] = true;
		f->u->in[to->index] = *out;
		f->u->tree[to->index] = (uint32_t)state->index;
	}
	if (first || meet(&f->u->in[to->index], out))
		enqueue(f, to->index);
}

static void solve(struct unset *unset)
{
	struct fixpoint f = {.u = unset};
	size_t start = unset->m->initial->index;
	memset(unset->reached, 0, unset->m->state_count);
	unset->reached[start] = true;
	memset(&unset->in[start], 0, sizeof(unset->in[start]));
	for (uint32_t slot = 1; slot < unset->slots.count; slot++)
		put_slot(unset, &unset->in[start], slot, unset->slots.items[slot].initial);
	enqueue(&f, start);
	while (f.count) {
		uint32_t state = unset->queue[f.head];
		f.head = (f.head + 1) % unset->m->state_count;
		f.count--;
		unset->queued[state] = false;
		run_state(unset, &unset->m->states[state], propagate, &f);
	}
}

/* A step of the backward search for the path: the predecessor that leaves `slot` unset on its edge,
 * and the slot that was unset on entry there. */
struct hop {
	uint32_t state, slot, next; /* next: the step after this one on the path */
	uint32_t edge;              /* taken from here to the next */
};

struct path_search {
	struct unset *u;
	struct hop *steps;
	uint32_t count;
	size_t room;
	json_t *seen;                    /* "state/slot" */
	uint32_t target, edge, slot, at; /* of the question asked of run_state */
	bool unset, found;
};

static void look(void *ctx, const struct state *state, size_t edge, const struct bits *out)
{
	struct path_search *q = ctx;
	(void)state;
	if (edge == q->edge)
		q->unset = !has_slot(q->u, out, q->slot);
}

/* Returns the slot that must be unset on entry for `slot` to be unset after the edge; 0: none, the
 * state itself leaves it out. */
static uint32_t cause(
	const struct unset *unset, const struct state *state, uint32_t edge, uint32_t slot)
{
	const struct variable *v = unset->slots.items[slot].variable;
	const struct capture *capture = state_edge_capture(state, edge);
	if (!capture)
		return slot;
	if (capture->whole == v)
		return 0;
	for (size_t i = 0; i < capture->set_count; i++) {
		if (capture->set[i].target != v)
			continue;
		const struct template *value = capture->set[i].value;
		const struct ref *ref = template_lone(value);
		if (template_may_lack(value))
			return unset->slots.items[slot].required ? slot : 0;
		if (may_keep(state, capture, value) &&
			!has_slot(unset, &unset->in[state->index], slot))
			return slot;
		return ref && ref->root ? slots_below(&unset->slots, ref, slot) : 0;
	}
	return slot;
}

static void add_step(struct path_search *search, struct hop step)
{
	char key[32];
	snprintf(key, sizeof(key), "%u/%u", step.state, step.slot);
	if (step.slot && json_object_get(search->seen, key))
		return;
	json_object_set_new(search->seen, key, json_true());
	search->steps =
		own_room(search->steps, search->count, &search->room, sizeof(*search->steps));
	search->steps[search->count++] = step;
}

static void expand(struct path_search *search, uint32_t at)
{
	struct unset *u = search->u;
	struct hop here = search->steps[at];
	for (uint32_t i = u->preds.first[here.state]; i < u->preds.first[here.state + 1]; i++) {
		struct pred p = u->preds.items[i];
		if (!u->reached[p.state])
			continue;
		search->edge = p.edge;
		search->slot = here.slot;
		search->unset = false;
		run_state(u, &u->m->states[p.state], look, search);
		if (!search->unset)
			continue;
		uint32_t before = cause(u, &u->m->states[p.state], p.edge, here.slot);
		add_step(search, (struct hop){p.state, before, at, p.edge});
	}
}

static bool is_origin(const struct unset *unset, const struct hop *step)
{
	return !step->slot ||
	       (step->state == unset->m->initial->index && !unset->slots.items[step->slot].initial);
}

static void show_hop(struct buf *out, const struct state *state, uint32_t edge)
{
	if (state->clauses)
		buf_addf(out, "%s -> ", state->name);
	else
		buf_addf(out, "%s -%s-> ", state->name, outcome_name(edge));
}

static uint32_t edge_between(const struct unset *unset, uint32_t from, uint32_t to)
{
	const struct state *s = &unset->m->states[from];
	uint32_t edge = 0;
	while (state_edge(s, edge) != &unset->m->states[to])
		edge++;
	return edge;
}

/* Shows the shortest way from the initial state to `to`, without `to` itself. */
static void show_lead(struct unset *unset, struct buf *out, uint32_t to)
{
	uint32_t path[PATH_SHOWN], count = 0, left = 0;
	for (uint32_t at = to; at != unset->m->initial->index; at = unset->tree[at])
		if (count < PATH_SHOWN)
			path[count++] = at;
		else
			left++;
	if (to != unset->m->initial->index && left)
		buf_addf(out, "%s -> ... -> ", unset->m->initial->name);
	for (uint32_t i = count; i-- > 0;) {
		uint32_t from = unset->tree[path[i]];
		if (!left || i + 1 < count)
			show_hop(out, &unset->m->states[from], edge_between(unset, from, path[i]));
	}
}

static void show_steps(const struct path_search *search, struct buf *out, uint32_t at)
{
	uint32_t shown = 0;
	for (; search->steps[at].next != at; at = search->steps[at].next, shown++)
		if (shown < PATH_SHOWN)
			show_hop(out, &search->u->m->states[search->steps[at].state],
				search->steps[at].edge);
		else if (shown == PATH_SHOWN)
			buf_adds(out, "... -> ");
	buf_adds(out, search->u->m->states[search->steps[at].state].name);
}

/* Shows a path on which `slot` is unset when `state` is entered. */
static void show_path(
	struct unset *unset, const struct state *state, uint32_t slot, struct buf *out)
{
	const struct state *reporting = unset->reporting;
	struct path_search q = {.u = unset, .seen = json_object()};
	unset->reporting = NULL;
	add_step(&q, (struct hop){(uint32_t)state->index, slot, 0, 0});
	uint32_t at = 0;
	while (at < q.count && !is_origin(unset, &q.steps[at])) {
		expand(&q, at);
		at++;
	}
	if (at < q.count) {
		show_lead(unset, out, q.steps[at].state);
		show_steps(&q, out, at);
	}
	json_decref(q.seen);
	free(q.steps);
	unset->reporting = reporting;
}

static void report_read(
	struct unset *unset, const struct ref *ref, const char *source, uint32_t slot)
{
	const struct state *s = unset->reporting;
	bool inside;
	struct site site = {.findings = unset->findings, .doc = unset->m->doc, .state = s->name};
	AUTO_BUF path = BUF_INIT(4096);
	if (unset->warnings++ < WARNINGS_MAX)
		show_path(unset, s, slot, &path);
	site.node = state_text_node(s, source, &inside);
	const char *shown = path.len && !path.failed ? path.data : s->name;
	struct finding *f = site_report_at(&site, RULE_MAYBE_UNSET, inside ? ref->at : 0,
		inside ? strlen(ref->path) : site.node->count,
		"\"%s\" may not be set yet on the path %s", ref->path, shown);
	if (!ref->field_count)
		site_help(&site, f, "capture into it on every path, or declare a complete value");
	else if (s->clauses)
		site_help(&site, f,
			"ask first, as in `has(%s) and ...`; or write it on every path, or declare "
			"a "
			"value that has it",
			ref->path);
	else if (ref->field_count == 1 && ref->fields[0]->optional)
		site_help(&site, f,
			"ask has(%s) in a branch first, or give what there is of the record: "
			"{{ %s | json }}",
			ref->path, ref->root->name);
	else
		site_help(&site, f,
			"write it on every path, declare a value that has it, or ask has(%s) in a "
			"branch first",
			ref->path);
}

static void ignore_edge(void *ctx, const struct state *state, size_t edge, const struct bits *out)
{
	(void)ctx;
	(void)state;
	(void)edge;
	(void)out;
}

static void report_batch(struct unset *unset)
{
	for (size_t i = 0; i < unset->m->state_count; i++) {
		unset->reporting = &unset->m->states[i];
		if (unset->reached[i])
			run_state(unset, unset->reporting, ignore_edge, NULL);
	}
	unset->reporting = NULL;
}

static void follow_slots(struct unset *unset)
{
	size_t n = unset->m->state_count;
	unset->in = arena_array(&unset->arena, n, sizeof(*unset->in));
	unset->reached = arena_array(&unset->arena, n, sizeof(bool));
	unset->queued = arena_array(&unset->arena, n, sizeof(bool));
	unset->queue = arena_array(&unset->arena, n, sizeof(uint32_t));
	unset->tree = arena_array(&unset->arena, n, sizeof(uint32_t));
	preds_init(&unset->preds, unset->m, &unset->arena);
	for (; unset->base < unset->slots.count; unset->base += BATCH_SLOTS) {
		solve(unset);
		report_batch(unset);
	}
}

void analyse_unset(const struct machine *machine, struct findings *findings)
{
	struct unset u = {.m = machine, .findings = findings, .base = 1};
	slots_init(&u.slots, machine);
	arena_init(&u.arena);
	if (u.slots.count > u.base)
		follow_slots(&u);
	arena_done(&u.arena);
	slots_done(&u.slots);
}
