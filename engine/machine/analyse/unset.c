#include "machine/analyse/analyse.h"
#include "machine/analyse/slots.h"
#include "machine/predicate_node.h"
#include "machine/preds.h"
#include "machine/visit.h"
#include <string.h>

/* Slots are followed a batch at a time, so that memory grows with the states alone. A copy between
 * batches counts as unset: a warning too many, never one too few. */
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
	struct bits *in;        /* by state: what is there on entry, on every path */
	bool *reached, *queued; /* by state */
	uint32_t *queue;        /* a ring of states */
	struct preds preds;
	uint32_t *tree; /* by state: where a shortest path from initial comes from */
	size_t warnings;
	const struct state *reporting; /* reads of this state are reported */
};

static uint32_t bit_of(const struct unset *u, uint32_t slot)
{
	return slot >= u->base && slot < u->base + BATCH_SLOTS ? slot - u->base : BATCH_SLOTS;
}

static bool has_slot(const struct unset *u, const struct bits *b, uint32_t slot)
{
	uint32_t bit = bit_of(u, slot);
	return bit < BATCH_SLOTS && b->word[bit / 64] >> (bit % 64) & 1;
}

static void put_slot(const struct unset *u, struct bits *b, uint32_t slot, bool there)
{
	uint32_t bit = bit_of(u, slot);
	if (bit >= BATCH_SLOTS)
		return;
	uint64_t mask = (uint64_t)1 << (bit % 64);
	b->word[bit / 64] = there ? b->word[bit / 64] | mask : b->word[bit / 64] & ~mask;
}

static void put_implied(const struct unset *u, struct bits *b, uint32_t slot)
{
	uint32_t child = u->slots.items[slot].child;
	for (; child; child = u->slots.items[child].next)
		if (u->slots.items[child].implied) {
			put_slot(u, b, child, true);
			put_implied(u, b, child);
		}
}

/* A field that is there implies those around it, and what they promise. */
static void put_path(const struct unset *u, struct bits *b, uint32_t slot)
{
	for (uint32_t at = slot; at; at = u->slots.items[at].parent)
		if (u->slots.items[at].field || at != slot)
			put_implied(u, b, at);
	for (; slot; slot = u->slots.items[slot].parent)
		put_slot(u, b, slot, true);
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

static void report_read(struct unset *u, const struct ref *ref, const char *source, uint32_t slot);

struct reading {
	struct unset *u;
	struct bits *now;
};

/* After a read the field is there: otherwise the machine has halted. */
static void read_slot(
	const struct reading *r, const struct ref *ref, const char *source, uint32_t slot)
{
	if (bit_of(r->u, slot) == BATCH_SLOTS || !slot || has_slot(r->u, r->now, slot))
		return;
	if (r->u->reporting)
		report_read(r->u, ref, source, slot);
	put_path(r->u, r->now, slot);
}

static void read_ref(void *ctx, const struct ref *ref, const char *source)
{
	const struct reading *r = ctx;
	read_slot(r, ref, source, r->u->slots.of_ref[ref->id]);
}

static void read_timing(void *ctx, const struct ref *ref, const char *source)
{
	const struct reading *r = ctx;
	const struct variable *v = ref->root;
	if (v && v->type.kind != TYPE_RECORD)
		read_slot(r, ref, source, r->u->slots.root[v - r->u->m->variables]);
}

/* What is there after the condition held, and after it did not. */
struct flow {
	struct bits yes, no;
};

struct condition {
	struct unset *u;
	const char *source;
};

static struct flow flow_node(const struct condition *c, const struct node *n, struct bits now);

/* Both ends of a value are one: nothing is decided by it. */
static struct bits flow_value(const struct condition *c, const struct node *n, struct bits now)
{
	struct flow f = flow_node(c, n, now);
	meet(&f.yes, &f.no);
	return f.yes;
}

static struct flow flow_and(const struct condition *c, const struct node *n, struct bits now)
{
	struct flow out = {now, all_set()};
	for (const struct node *child = n->first; child; child = child->next) {
		struct flow f = flow_node(c, child, out.yes);
		meet(&out.no, &f.no);
		out.yes = f.yes;
	}
	return out;
}

static struct flow flow_or(const struct condition *c, const struct node *n, struct bits now)
{
	struct flow out = {all_set(), now};
	for (const struct node *child = n->first; child; child = child->next) {
		struct flow f = flow_node(c, child, out.no);
		meet(&out.yes, &f.yes);
		out.no = f.no;
	}
	return out;
}

/* A chain stops at the first comparison that fails. */
static struct flow flow_compare(const struct condition *c, const struct node *n, struct bits now)
{
	struct flow out = {flow_value(c, n->first, now), all_set()};
	for (const struct node *child = n->first->next; child; child = child->next) {
		out.yes = flow_value(c, child, out.yes);
		meet(&out.no, &out.yes);
	}
	return out;
}

static struct flow flow_node(const struct condition *c, const struct node *n, struct bits now)
{
	struct reading reading = {c->u, &now};
	struct flow out = {now, now};
	switch ((enum node_kind)n->kind) {
	case NODE_OR: return flow_or(c, n, now);
	case NODE_AND: return flow_and(c, n, now);
	case NODE_COMPARE: return flow_compare(c, n, now);
	case NODE_NOT: out = flow_node(c, n->first, now); return (struct flow){out.no, out.yes};
	case NODE_NEGATE:
	case NODE_PLUS:
	case NODE_LEN: out.yes = out.no = flow_value(c, n->first, now); return out;
	case NODE_HAS:
		if (n->ref->field_count)
			put_path(c->u, &out.yes, c->u->slots.of_ref[n->ref->id]);
		return out;
	case NODE_REF:
		read_ref(&reading, n->ref, c->source);
		out.yes = out.no = now;
		return out;
	case NODE_LITERAL:
	case NODE_LIST: break;
	}
	return out;
}

/* Whether a slot of a captured variable is there after the capture. */
static bool captured(
	const struct unset *u, const struct ref *copied, uint32_t slot, const struct bits *before)
{
	if (!copied || !copied->root)
		return u->slots.items[slot].required;
	uint32_t from = slots_below(&u->slots, copied, slot);
	return from && has_slot(u, before, from);
}

static void write_below(const struct unset *u, uint32_t slot, const struct ref *copied,
	const struct bits *before, struct bits *after)
{
	put_slot(u, after, slot, captured(u, copied, slot, before));
	for (uint32_t child = u->slots.items[slot].child; child; child = u->slots.items[child].next)
		write_below(u, child, copied, before, after);
}

static uint32_t root_of(const struct unset *u, const struct variable *v)
{
	return u->slots.root[v - u->m->variables];
}

static void apply_capture(struct unset *u, const struct state *s, struct bits *now)
{
	struct reading reading = {u, now};
	state_capture_refs(s, read_ref, &reading);
	struct bits before = *now;
	if (s->capture.whole && root_of(u, s->capture.whole))
		write_below(u, root_of(u, s->capture.whole), NULL, &before, now);
	for (size_t i = 0; i < s->capture.set_count; i++) {
		const struct assignment *a = &s->capture.set[i];
		if (root_of(u, a->target))
			write_below(
				u, root_of(u, a->target), template_lone(a->value), &before, now);
	}
}

typedef void edge_visitor(void *ctx, const struct state *s, size_t edge, const struct bits *out);

/* Runs state `s` on what is there at its entry, and hands out what is there on each edge. */
static void run_state(struct unset *u, const struct state *s, edge_visitor *each, void *ctx)
{
	struct bits now = u->in[s->index];
	struct reading reading = {u, &now};
	state_entry_refs(s, read_ref, &reading);
	if (s->kind == KIND_WAIT)
		state_timing_refs(s, read_timing, &reading);
	if (s->kind != KIND_BRANCH) {
		struct bits ok = now;
		if (s->on[OUTCOME_OK] && s->capture.present)
			apply_capture(u, s, &ok);
		for (size_t i = 0; i < OUTCOME_COUNT; i++)
			if (s->on[i])
				each(ctx, s, i, i == OUTCOME_OK ? &ok : &now);
		return;
	}
	for (size_t i = 0; i < s->branch.clause_count; i++) {
		const struct predicate *p = s->branch.clauses[i].condition;
		struct condition c = {u, p ? p->source : NULL};
		struct flow f = p ? flow_node(&c, p->root, now) : (struct flow){now, now};
		each(ctx, s, i, &f.yes);
		now = f.no;
	}
}

struct fixpoint {
	struct unset *u;
	size_t head, count;
};

static void enqueue(struct fixpoint *f, size_t state)
{
	struct unset *u = f->u;
	if (u->queued[state])
		return;
	u->queued[state] = true;
	u->queue[(f->head + f->count++) % u->m->state_count] = (uint32_t)state;
}

static void propagate(void *ctx, const struct state *s, size_t edge, const struct bits *out)
{
	struct fixpoint *f = ctx;
	const struct state *to = state_edge(s, edge);
	bool first = !f->u->reached[to->index];
	if (first) {
		f->u->reached[to->index] = true;
		f->u->in[to->index] = *out;
		f->u->tree[to->index] = (uint32_t)s->index;
	}
	if (first || meet(&f->u->in[to->index], out))
		enqueue(f, to->index);
}

static void solve(struct unset *u)
{
	struct fixpoint f = {.u = u};
	size_t start = u->m->initial->index;
	memset(u->reached, 0, u->m->state_count);
	u->reached[start] = true;
	memset(&u->in[start], 0, sizeof(u->in[start]));
	for (uint32_t slot = 1; slot < u->slots.count; slot++)
		put_slot(u, &u->in[start], slot, u->slots.items[slot].initial);
	enqueue(&f, start);
	while (f.count) {
		uint32_t state = u->queue[f.head];
		f.head = (f.head + 1) % u->m->state_count;
		f.count--;
		u->queued[state] = false;
		run_state(u, &u->m->states[state], propagate, &f);
	}
}

/* Looking for the path backwards: which predecessor leaves `slot` unset on its edge, and which slot
 * was unset on entry there. */
struct step {
	uint32_t state, slot, next; /* next: the step after this one on the path */
	uint32_t edge;              /* taken from here to the next */
};

struct search {
	struct unset *u;
	struct step *steps;
	uint32_t count;
	size_t room;
	json_t *seen;                    /* "state/slot" */
	uint32_t target, edge, slot, at; /* of the question asked of run_state */
	bool unset, found;
};

static void look(void *ctx, const struct state *s, size_t edge, const struct bits *out)
{
	struct search *q = ctx;
	(void)s;
	if (edge == q->edge)
		q->unset = !has_slot(q->u, out, q->slot);
}

/* The slot that must be unset on entry for `slot` to be unset behind the edge; 0: none, the state
 * itself leaves it out. */
static uint32_t cause(const struct unset *u, const struct state *s, uint32_t edge, uint32_t slot)
{
	const struct variable *v = u->slots.items[slot].variable;
	if (s->kind == KIND_BRANCH || edge != OUTCOME_OK || !s->capture.present)
		return slot;
	if (s->capture.whole == v)
		return 0;
	for (size_t i = 0; i < s->capture.set_count; i++) {
		if (s->capture.set[i].target != v)
			continue;
		const struct ref *ref = template_lone(s->capture.set[i].value);
		return ref && ref->root ? slots_below(&u->slots, ref, slot) : 0;
	}
	return slot;
}

static void add_step(struct search *q, struct step step)
{
	char key[32];
	snprintf(key, sizeof(key), "%u/%u", step.state, step.slot);
	if (step.slot && json_object_get(q->seen, key))
		return;
	json_object_set_new(q->seen, key, json_true());
	q->steps = own_room(q->steps, q->count, &q->room, sizeof(*q->steps));
	q->steps[q->count++] = step;
}

static void expand(struct search *q, uint32_t at)
{
	struct unset *u = q->u;
	struct step here = q->steps[at];
	for (uint32_t i = u->preds.first[here.state]; i < u->preds.first[here.state + 1]; i++) {
		struct pred p = u->preds.items[i];
		if (!u->reached[p.state])
			continue;
		q->edge = p.edge;
		q->slot = here.slot;
		q->unset = false;
		run_state(u, &u->m->states[p.state], look, q);
		if (!q->unset)
			continue;
		uint32_t before = cause(u, &u->m->states[p.state], p.edge, here.slot);
		add_step(q, (struct step){p.state, before, at, p.edge});
	}
}

static bool is_origin(const struct unset *u, const struct step *s)
{
	return !s->slot || (s->state == u->m->initial->index && !u->slots.items[s->slot].initial);
}

static void show_hop(struct buf *out, const struct state *s, uint32_t edge)
{
	if (s->kind == KIND_BRANCH)
		buf_addf(out, "%s -> ", s->name);
	else
		buf_addf(out, "%s -%s-> ", s->name, outcome_name(edge));
}

static uint32_t edge_between(const struct unset *u, uint32_t from, uint32_t to)
{
	const struct state *s = &u->m->states[from];
	uint32_t edge = 0;
	while (state_edge(s, edge) != &u->m->states[to])
		edge++;
	return edge;
}

/* The shortest way from the initial state to `to`, without `to` itself. */
static void show_lead(struct unset *u, struct buf *out, uint32_t to)
{
	uint32_t path[PATH_SHOWN], count = 0, left = 0;
	for (uint32_t at = to; at != u->m->initial->index; at = u->tree[at])
		if (count < PATH_SHOWN)
			path[count++] = at;
		else
			left++;
	if (to != u->m->initial->index && left)
		buf_addf(out, "%s -> ... -> ", u->m->initial->name);
	for (uint32_t i = count; i-- > 0;) {
		uint32_t from = u->tree[path[i]];
		if (!left || i + 1 < count)
			show_hop(out, &u->m->states[from], edge_between(u, from, path[i]));
	}
}

static void show_steps(const struct search *q, struct buf *out, uint32_t at)
{
	uint32_t shown = 0;
	for (; q->steps[at].next != at; at = q->steps[at].next, shown++)
		if (shown < PATH_SHOWN)
			show_hop(out, &q->u->m->states[q->steps[at].state], q->steps[at].edge);
		else if (shown == PATH_SHOWN)
			buf_adds(out, "... -> ");
	buf_adds(out, q->u->m->states[q->steps[at].state].name);
}

/* A path on which `slot` is unset when `s` is entered. */
static void show_path(struct unset *u, const struct state *s, uint32_t slot, struct buf *out)
{
	const struct state *reporting = u->reporting;
	struct search q = {.u = u, .seen = json_object()};
	u->reporting = NULL;
	add_step(&q, (struct step){(uint32_t)s->index, slot, 0, 0});
	uint32_t at = 0;
	while (at < q.count && !is_origin(u, &q.steps[at])) {
		expand(&q, at);
		at++;
	}
	if (at < q.count) {
		show_lead(u, out, q.steps[at].state);
		show_steps(&q, out, at);
	}
	json_decref(q.seen);
	free(q.steps);
	u->reporting = reporting;
}

static void report_read(struct unset *u, const struct ref *ref, const char *source, uint32_t slot)
{
	const struct state *s = u->reporting;
	bool inside;
	struct site site = {.findings = u->findings, .doc = u->m->doc, .state = s->name};
	AUTO_BUF path = BUF_INIT(4096);
	if (u->warnings++ < WARNINGS_MAX)
		show_path(u, s, slot, &path);
	site.node = state_text_node(s, source, &inside);
	const char *shown = path.len && !path.failed ? path.data : s->name;
	struct finding *f = site_report_at(&site, RULE_MAYBE_UNSET, inside ? ref->at : 0,
		inside ? strlen(ref->path) : site.node->count,
		"\"%s\" may not be set yet on the path %s", ref->path, shown);
	if (!ref->field_count)
		site_help(&site, f, "capture into it on every path, or declare a complete value");
	else if (s->kind == KIND_BRANCH)
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

static void ignore_edge(void *ctx, const struct state *s, size_t edge, const struct bits *out)
{
	(void)ctx;
	(void)s;
	(void)edge;
	(void)out;
}

static void report_batch(struct unset *u)
{
	for (size_t i = 0; i < u->m->state_count; i++) {
		u->reporting = &u->m->states[i];
		if (u->reached[i])
			run_state(u, u->reporting, ignore_edge, NULL);
	}
	u->reporting = NULL;
}

static void follow_slots(struct unset *u)
{
	size_t n = u->m->state_count;
	u->in = arena_array(&u->arena, n, sizeof(*u->in));
	u->reached = arena_array(&u->arena, n, sizeof(bool));
	u->queued = arena_array(&u->arena, n, sizeof(bool));
	u->queue = arena_array(&u->arena, n, sizeof(uint32_t));
	u->tree = arena_array(&u->arena, n, sizeof(uint32_t));
	preds_init(&u->preds, u->m, &u->arena);
	for (; u->base < u->slots.count; u->base += BATCH_SLOTS) {
		solve(u);
		report_batch(u);
	}
}

void analyse_unset(const struct machine *m, struct findings *findings)
{
	struct unset u = {.m = m, .findings = findings, .base = 1};
	slots_init(&u.slots, m);
	arena_init(&u.arena);
	if (u.slots.count > u.base)
		follow_slots(&u);
	arena_done(&u.arena);
	slots_done(&u.slots);
}
