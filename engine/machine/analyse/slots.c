#include "machine/analyse/slots.h"

#include "base/clock.h"
#include "machine/visit.h"
#include <string.h>

enum { PASSES_MAX = 64 };

static uint32_t add_slot(struct slots *slots, struct slot slot)
{
	slots->items = own_room(slots->items, slots->count, &slots->room, sizeof(*slots->items));
	slots->items[slots->count] = slot;
	return slots->count++;
}

/* Reports whether every start gives the variable, as a record with all its required fields. */
static bool is_given(const struct variable *variable)
{
	return variable->owner == OWNER_OPERATOR && !variable->initial;
}

/* Reports whether a declared `{}` stands for "nothing yet": the schema has required fields. */
static bool placeholder(const struct variable *variable)
{
	bool wants = false;
	if (is_given(variable))
		return false;
	for (size_t i = 0; i < variable->type.record->field_count; i++)
		wants |= !variable->type.record->fields[i].optional;
	return wants && json_object_size(variable->initial) == 0;
}

static uint32_t root_slot(struct slots *slots, const struct variable *variable)
{
	uint32_t *root = &slots->root[variable - slots->m->variables];
	if (!*root)
		*root = add_slot(slots, (struct slot){.variable = variable,
						.required = true,
						.initial = !placeholder(variable)});
	return *root;
}

/* Returns the link to the child for `field`, or the place for it. The tree branches on the bits of
 * the field's number, lowest first. A record's fields lie side by side, so the tree is never deeper
 * than their count has bits. */
static uint32_t *child_link(const struct slots *slots, uint32_t parent, const struct field *field)
{
	uintptr_t number = (uintptr_t)field / sizeof(*field);
	uint32_t *link = &slots->items[parent].child;
	for (; *link && slots->items[*link].field != field; number >>= 1)
		link = &slots->items[*link].below[number & 1];
	return link;
}

static uint32_t find_child(const struct slots *slots, uint32_t parent, const struct field *field)
{
	return *child_link(slots, parent, field);
}

static const json_t *initial_value(const struct slots *slots, uint32_t slot)
{
	const struct slot *at = &slots->items[slot];
	if (!at->field)
		return at->variable->initial;
	return json_object_get(initial_value(slots, at->parent), at->field->name);
}

static uint32_t child_slot(struct slots *slots, uint32_t parent, const struct field *field)
{
	uint32_t child = find_child(slots, parent, field);
	if (child)
		return child;
	struct slot slot = {.variable = slots->items[parent].variable,
		.field = field,
		.parent = parent,
		.required = slots->items[parent].required && !field->optional};
	child = add_slot(slots, slot);
	*child_link(slots, parent, field) = child;
	uint32_t first = slots->items[parent].child;
	if (child != first) {
		slots->items[child].next = slots->items[first].next;
		slots->items[first].next = child;
	}
	slots->items[child].initial =
		is_given(slot.variable) ? slot.required : initial_value(slots, child) != NULL;
	/* A parameter given at start may omit a field that a capture may not. If the declared value
	 * is `{}`, everything in the variable has been captured. */
	const json_t *around = initial_value(slots, parent);
	bool nothing = slots->items[parent].field ? !around : json_object_size(around) == 0;
	slots->items[child].implied = !field->optional && slot.variable->owner != OWNER_OPERATOR &&
				      (slots->items[child].initial || nothing);
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

/* Follows a variable that times a wait and whose default is no valid timing: the default then
 * stands for "nothing yet". An operator's value has been checked. */
static void follow_timing(void *ctx, const struct ref *ref, const char *source)
{
	struct slots *s = ctx;
	const struct variable *v = ref->root;
	uint32_t *root = v ? &s->root[v - s->m->variables] : NULL;
	(void)source;
	if (v && !*root && v->type.kind != TYPE_RECORD && !is_given(v) && !is_timing(v->initial))
		*root = add_slot(s, (struct slot){.variable = v, .required = true});
}

/* Stops following a variable that a condition reads: the machine may check the timing itself. */
static void drop_timing(void *ctx, const struct ref *ref, const char *source)
{
	struct slots *s = ctx;
	(void)source;
	if (ref->root && ref->root->type.kind != TYPE_RECORD)
		s->root[ref->root - s->m->variables] = 0;
}

static void follow_timings(struct slots *slots)
{
	for (size_t i = 0; i < slots->m->state_count; i++)
		state_timing_refs(&slots->m->states[i], follow_timing, slots);
	for (size_t i = 0; i < slots->m->state_count; i++)
		state_condition_refs(&slots->m->states[i], drop_timing, slots);
}

/* Makes sure that every place followed below `to` is followed below `from` too. */
static bool follow_copy(struct slots *slots, uint32_t to, uint32_t from)
{
	uint32_t before = slots->count;
	for (uint32_t child = slots->items[to].child; child; child = slots->items[child].next)
		follow_copy(slots, child, child_slot(slots, from, slots->items[child].field));
	return slots->count > before;
}

static bool copy_of_capture(struct slots *slots, const struct capture *c,
	bool (*each)(struct slots *slots, uint32_t to, uint32_t from))
{
	bool any = false;
	for (size_t a = 0; a < c->set_count; a++) {
		const struct ref *ref = template_lone(c->set[a].value);
		uint32_t to = slots->root[c->set[a].target - slots->m->variables];
		if (to && ref && slots->of_ref[ref->id])
			any |= each(slots, to, slots->of_ref[ref->id]);
	}
	return any;
}

static bool copy_of_state(struct slots *slots, const struct state *state,
	bool (*each)(struct slots *slots, uint32_t to, uint32_t from))
{
	bool any = copy_of_capture(slots, &state->capture, each);
	return copy_of_capture(slots, &state->failure, each) || any;
}

/* Calls `each` for every assignment of one followed place to another, until no call reports a
 * change. Goes forwards and backwards in turn, so that chains are quick either way. Returns false
 * if the limit of passes came first. */
static bool settle_copies(
	struct slots *slots, bool (*each)(struct slots *slots, uint32_t to, uint32_t from))
{
	size_t n = slots->m->state_count;
	bool changed = true;
	for (int pass = 0; changed && pass < PASSES_MAX; pass++) {
		changed = false;
		for (size_t i = 0; i < n; i++)
			changed |= copy_of_state(
				slots, &slots->m->states[pass % 2 ? n - 1 - i : i], each);
	}
	return !changed;
}

/* Takes back `implied` of a copy if the original does not have it. Returns whether it did so
 * anywhere. */
static bool weaken_copy(struct slots *slots, uint32_t to, uint32_t from)
{
	bool weakened = false;
	for (uint32_t child = slots->items[to].child; child; child = slots->items[child].next) {
		uint32_t other = find_child(slots, from, slots->items[child].field);
		weakened |= slots->items[child].implied && !slots->items[other].implied;
		slots->items[child].implied &= slots->items[other].implied;
		weakened |= weaken_copy(slots, child, other);
	}
	return weakened;
}

void slots_init(struct slots *slots, const struct machine *machine)
{
	*slots = (struct slots){.m = machine};
	slots->root = calloc(machine->variable_count + 1, sizeof(uint32_t));
	slots->of_ref = calloc(machine->ref_count + 1u, sizeof(uint32_t));
	if (!slots->root || !slots->of_ref)
		abort();
	add_slot(slots, (struct slot){0});
	for (size_t i = 0; i < machine->state_count; i++) {
		state_entry_refs(&machine->states[i], follow, slots);
		state_condition_refs(&machine->states[i], follow, slots);
		state_capture_refs(&machine->states[i], follow, slots);
		state_failure_refs(&machine->states[i], follow, slots);
	}
	follow_timings(slots);
	/* If the passes do not suffice, places count as unset: a warning too many, never one too
	 * few. */
	settle_copies(slots, follow_copy);
	if (!settle_copies(slots, weaken_copy))
		for (uint32_t i = 0; i < slots->count; i++)
			slots->items[i].implied = false;
}

void slots_done(struct slots *slots)
{
	free(slots->items);
	free(slots->root);
	free(slots->of_ref);
}

uint32_t slots_below(const struct slots *slots, const struct ref *ref, uint32_t path)
{
	if (!slots->items[path].field)
		return slots->of_ref[ref->id];
	uint32_t above = slots_below(slots, ref, slots->items[path].parent);
	return above ? find_child(slots, above, slots->items[path].field) : 0;
}
