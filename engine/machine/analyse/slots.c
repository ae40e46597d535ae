#include "machine/analyse/slots.h"

#include "base/clock.h"
#include "machine/visit.h"
#include <string.h>

enum { PASSES_MAX = 64 };

static uint32_t add_slot(struct slots *s, struct slot slot)
{
	s->items = own_room(s->items, s->count, &s->room, sizeof(*s->items));
	s->items[s->count] = slot;
	return s->count++;
}

/* `{}` where the schema wants more stands for "nothing yet". */
static bool placeholder(const struct variable *v)
{
	bool wants = false;
	for (size_t i = 0; i < v->type.record->field_count; i++)
		wants |= !v->type.record->fields[i].optional;
	return wants && json_object_size(v->initial) == 0;
}

static uint32_t root_slot(struct slots *s, const struct variable *v)
{
	uint32_t *root = &s->root[v - s->m->variables];
	if (!*root)
		*root = add_slot(s,
			(struct slot){.variable = v, .required = true, .initial = !placeholder(v)});
	return *root;
}

/* Where the child for `field` hangs, or would. The tree branches on the bits of the field's number,
 * lowest first: a record's fields stand side by side, so that it is never deeper than their count
 * has bits. */
static uint32_t *child_link(const struct slots *s, uint32_t parent, const struct field *field)
{
	uintptr_t number = (uintptr_t)field / sizeof(*field);
	uint32_t *link = &s->items[parent].child;
	for (; *link && s->items[*link].field != field; number >>= 1)
		link = &s->items[*link].below[number & 1];
	return link;
}

static uint32_t find_child(const struct slots *s, uint32_t parent, const struct field *field)
{
	return *child_link(s, parent, field);
}

static const json_t *initial_value(const struct slots *s, uint32_t slot)
{
	const struct slot *at = &s->items[slot];
	if (!at->field)
		return at->variable->initial;
	return json_object_get(initial_value(s, at->parent), at->field->name);
}

static uint32_t child_slot(struct slots *s, uint32_t parent, const struct field *field)
{
	uint32_t child = find_child(s, parent, field);
	if (child)
		return child;
	struct slot slot = {.variable = s->items[parent].variable,
		.field = field,
		.parent = parent,
		.required = s->items[parent].required && !field->optional};
	child = add_slot(s, slot);
	*child_link(s, parent, field) = child;
	uint32_t first = s->items[parent].child;
	if (child != first) {
		s->items[child].next = s->items[first].next;
		s->items[first].next = child;
	}
	s->items[child].initial = initial_value(s, child) != NULL;
	/* A parameter given at start may leave out what a capture may not. Where the declared value
	 * is `{}`, all that is there has been captured. */
	const json_t *around = initial_value(s, parent);
	bool nothing = s->items[parent].field ? !around : json_object_size(around) == 0;
	s->items[child].implied = !field->optional && slot.variable->owner != OWNER_OPERATOR &&
				  (s->items[child].initial || nothing);
	return child;
}

static void follow(void *ctx, const struct ref *ref, const char *source)
{
	struct slots *s = ctx;
	(void)source;
	if (!ref->root || ref->root->type.kind != TYPE_RECORD)
		return;
	uint32_t slot = root_slot(s, ref->root);
	for (uint32_t i = 0; i < ref->field_count; i++)
		slot = child_slot(s, slot, ref->fields[i]);
	s->of_ref[ref->id] = slot;
}

static bool is_timing(const json_t *value)
{
	int64_t instant;
	const char *text = json_string_value(value);
	return text ? !clock_parse(text, strlen(text), &instant) : json_integer_value(value) >= 1;
}

/* Where a wait is timed by a variable, a default that is no timing stands for "nothing yet". An
 * operator's value has been checked. */
static void follow_timing(void *ctx, const struct ref *ref, const char *source)
{
	struct slots *s = ctx;
	const struct variable *v = ref->root;
	uint32_t *root = v ? &s->root[v - s->m->variables] : NULL;
	(void)source;
	if (v && !*root && v->type.kind != TYPE_RECORD && !is_timing(v->initial))
		*root = add_slot(s, (struct slot){.variable = v, .required = true});
}

/* Whoever asks for the value first may know what is no timing. */
static void drop_timing(void *ctx, const struct ref *ref, const char *source)
{
	struct slots *s = ctx;
	(void)source;
	if (ref->root && ref->root->type.kind != TYPE_RECORD)
		s->root[ref->root - s->m->variables] = 0;
}

static void follow_timings(struct slots *s)
{
	for (size_t i = 0; i < s->m->state_count; i++)
		if (s->m->states[i].kind == KIND_WAIT)
			state_timing_refs(&s->m->states[i], follow_timing, s);
	for (size_t i = 0; i < s->m->state_count; i++)
		state_condition_refs(&s->m->states[i], drop_timing, s);
}

/* Makes sure that whatever is followed below `to` is followed below `from` too. */
static bool follow_copy(struct slots *s, uint32_t to, uint32_t from)
{
	uint32_t before = s->count;
	for (uint32_t child = s->items[to].child; child; child = s->items[child].next)
		follow_copy(s, child, child_slot(s, from, s->items[child].field));
	return s->count > before;
}

static bool copy_of_state(struct slots *s, const struct state *state,
	bool (*each)(struct slots *s, uint32_t to, uint32_t from))
{
	bool any = false;
	const struct capture *c = &state->capture;
	for (size_t a = 0; a < c->set_count; a++) {
		const struct ref *ref = template_lone(c->set[a].value);
		uint32_t to = s->root[c->set[a].target - s->m->variables];
		if (to && ref && s->of_ref[ref->id])
			any |= each(s, to, s->of_ref[ref->id]);
	}
	return any;
}

/* Calls `each` for every assignment of one followed place to another, until none says that it
 * changed something; forwards and backwards in turn, so that chains are short work either way.
 * False: it was still changing when patience ended. */
static bool settle_copies(
	struct slots *s, bool (*each)(struct slots *s, uint32_t to, uint32_t from))
{
	size_t n = s->m->state_count;
	bool changed = true;
	for (int pass = 0; changed && pass < PASSES_MAX; pass++) {
		changed = false;
		for (size_t i = 0; i < n; i++)
			changed |= copy_of_state(s, &s->m->states[pass % 2 ? n - 1 - i : i], each);
	}
	return !changed;
}

/* A copy keeps the promise only where the original does. Returns whether one was taken back. */
static bool weaken_copy(struct slots *s, uint32_t to, uint32_t from)
{
	bool weakened = false;
	for (uint32_t child = s->items[to].child; child; child = s->items[child].next) {
		uint32_t other = find_child(s, from, s->items[child].field);
		weakened |= s->items[child].implied && !s->items[other].implied;
		s->items[child].implied &= s->items[other].implied;
		weakened |= weaken_copy(s, child, other);
	}
	return weakened;
}

void slots_init(struct slots *s, const struct machine *m)
{
	*s = (struct slots){.m = m};
	s->root = calloc(m->variable_count + 1, sizeof(uint32_t));
	s->of_ref = calloc(m->ref_count + 1u, sizeof(uint32_t));
	if (!s->root || !s->of_ref)
		abort();
	add_slot(s, (struct slot){0});
	for (size_t i = 0; i < m->state_count; i++) {
		state_entry_refs(&m->states[i], follow, s);
		state_condition_refs(&m->states[i], follow, s);
		state_capture_refs(&m->states[i], follow, s);
	}
	follow_timings(s);
	/* What is not followed to the end counts as unset: a warning too many, never one too few.
	 */
	settle_copies(s, follow_copy);
	if (!settle_copies(s, weaken_copy))
		for (uint32_t i = 0; i < s->count; i++)
			s->items[i].implied = false;
}

void slots_done(struct slots *s)
{
	free(s->items);
	free(s->root);
	free(s->of_ref);
}

uint32_t slots_below(const struct slots *s, const struct ref *ref, uint32_t path)
{
	if (!s->items[path].field)
		return s->of_ref[ref->id];
	uint32_t above = slots_below(s, ref, s->items[path].parent);
	return above ? find_child(s, above, s->items[path].field) : 0;
}
