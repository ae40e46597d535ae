#include "machine/defaults.h"

#include "base/suggest.h"
#include "machine/fixed.h"
#include "machine/kind.h"
#include <string.h>

/* The defaults of one kind of state. */
struct kind_defaults {
	const char *kind;
	size_t outcome_count;
	struct doc_pair timeout;
	struct doc_pair outcomes[OUTCOME_COUNT]; /* `exhausted` is the last if it is there */
	bool has_timeout, has_on, has_exhausted;
};

/* Returns the pair called `name`, or one that was most likely meant to be it and has a finding. */
static const struct doc_pair *find_like(const struct doc_node *map, const char *name)
{
	const struct doc_pair *pair = doc_pair(map, name);
	for (uint32_t i = 0; map && map->kind == DOC_MAP && !pair && i < map->count; i++)
		if (suggest_name(map->pairs[i].key.text, &name, 1))
			pair = &map->pairs[i];
	return pair;
}

/* Returns a pair called `name` with the value if it is right, and with a broken one otherwise. */
static struct doc_pair filled(const char *name, const struct doc_node *value, bool right)
{
	struct doc_pair pair = {.key = {.kind = DOC_STR,
					.filled = true,
					.count = (uint32_t)strlen(name),
					.text = name}};
	pair.value = (struct doc_node){.kind = DOC_BROKEN};
	if (value)
		pair.key.pos = pair.value.pos = value->pos;
	if (value && right)
		pair.value = *value;
	return pair;
}

static void take_timeout(struct kind_defaults *defaults, const struct doc_node *map, bool known)
{
	static const char name[] = "timeout_secs";
	const struct doc_pair *pair = find_like(map, name);
	const struct doc_node *value = pair ? &pair->value : NULL;
	bool fits =
		value &&
		(value->kind == DOC_INT ? value->integer > 0 && value->integer <= MACHINE_SECS_MAX
					: value->kind == DOC_STR && fixed_refers(value->text));
	bool right = fits && !strcmp(pair->key.text, name);
	defaults->has_timeout = pair || !known;
	defaults->timeout = filled(name, value, right);
}

/* Takes the default for an outcome if there is one. `known` false: nobody can tell. */
static bool take_outcome(struct kind_defaults *defaults, const struct doc_node *on,
	const struct doc_node *states, enum outcome outcome, bool known)
{
	const char *name = outcome_name(outcome);
	const struct doc_pair *pair = doc_pair(on, name), *like = pair ? pair : find_like(on, name);
	bool right = pair && pair->value.kind == DOC_STR && doc_pair(states, pair->value.text);
	/* A key that is another outcome of the kind is not a misspelt one. */
	if (!pair && like && outcome_find(like->key.text) != OUTCOME_COUNT)
		like = NULL;
	if (!like && known)
		return false;
	defaults->outcomes[defaults->outcome_count++] =
		filled(name, like ? &like->value : NULL, right);
	return true;
}

static void take_on(struct kind_defaults *defaults, const struct doc_node *map,
	const struct doc_node *states, unsigned outcomes, bool known)
{
	const struct doc_pair *pair = find_like(map, "on");
	const struct doc_node *on = pair ? &pair->value : NULL;
	known &= !pair || (!strcmp(pair->key.text, "on") && on->kind == DOC_MAP && !on->partial);
	defaults->has_on = pair || !known;
	for (unsigned i = 0; i < OUTCOME_COUNT; i++)
		if (outcomes & 1u << i && i != OUTCOME_EXHAUSTED)
			take_outcome(defaults, on, states, i, known);
	defaults->has_exhausted = take_outcome(defaults, on, states, OUTCOME_EXHAUSTED, known);
}

/* Returns the machine's defaults, also under a name that is almost right; NULL: there are none. */
static const struct doc_pair *find_defaults(const struct doc_node *root)
{
	return find_like(root, "defaults");
}

/* Reads the defaults of the kind, number `number` of the list. */
static void take_kind(struct kind_defaults *out, const struct kind *kind, size_t number,
	const struct doc_node *root)
{
	const struct doc_node *defaults = &find_defaults(root)->value;
	const struct doc_pair *pair = find_like(defaults, kind->name);
	const struct doc_node *from = pair ? &pair->value : defaults;
	const struct doc_node *map = pair ? &pair->value : NULL;
	bool known = from->kind == DOC_MAP && !from->partial;
	struct state any = {.kind = (enum state_kind)number};
	*out = (struct kind_defaults){.kind = kind->name};
	take_timeout(out, map, known);
	take_on(out, map, doc_get(root, "states"), kind->outcomes(&any), known);
}

/* Fills defaults into a state's `on`. Returns false if it needs none. */
static bool fill_on(const struct kind_defaults *defaults, const struct doc_node *on, bool limited,
	struct arena *arena, struct doc_node *out)
{
	struct doc_pair more[OUTCOME_COUNT];
	uint32_t count = 0;
	size_t last = defaults->outcome_count - (defaults->has_exhausted && !limited);
	for (size_t i = 0; i < last; i++)
		if (!doc_pair(on, defaults->outcomes[i].key.text))
			more[count++] = defaults->outcomes[i];
	if (count)
		doc_map_with(on, more, count, arena, out);
	return count;
}

static void fill_state(
	const struct kind_defaults *defaults, struct doc_pair *state, struct arena *arena)
{
	const struct doc_node *map = &state->value;
	const struct doc_pair *on = doc_pair(map, "on");
	struct doc_node filled_on, nothing = {.kind = DOC_MAP, .pos = state->key.pos};
	struct doc_pair more[2];
	uint32_t count = 0;
	bool limited = doc_pair(map, "max_visits");
	bool fills = on ? on->value.kind == DOC_MAP : defaults->has_on;
	fills = fills && fill_on(defaults, on ? &on->value : &nothing, limited, arena, &filled_on);
	if (defaults->has_timeout && !doc_pair(map, "timeout_secs"))
		more[count++] = defaults->timeout;
	if (fills && !on) {
		/* An outcome that the defaults lack too is then missing in the state. */
		more[count] = filled("on", &nothing, true);
		more[count++].value = filled_on;
	}
	if (!count && !fills)
		return;
	struct doc_node whole;
	struct doc_pair *pairs = doc_map_with(map, more, count, arena, &whole);
	if (fills && on)
		pairs[on - map->pairs].value = filled_on;
	state->value = whole;
}

static void fill_states(const struct kind_defaults *defaults, struct doc_pair *states,
	uint32_t count, struct arena *arena)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct doc_node *kind = doc_get(&states[i].value, "kind");
		if (kind && kind->kind == DOC_STR && !strcmp(kind->text, defaults->kind))
			fill_state(defaults, &states[i], arena);
	}
}

const struct doc *defaults_fill(const struct doc *doc, struct arena *arena)
{
	const struct doc_pair *states = doc_pair(doc->root, "states");
	const struct kind *kind;
	if (!states || states->value.kind != DOC_MAP || !find_defaults(doc->root))
		return doc;
	struct doc *whole = arena_alloc(arena, sizeof(*whole));
	struct doc_node *root = arena_alloc(arena, sizeof(*root));
	struct doc_pair *pairs = doc_map_with(doc->root, NULL, 0, arena, root);
	struct doc_node *filled_states = &pairs[states - doc->root->pairs].value;
	struct doc_pair *each = doc_map_with(&states->value, NULL, 0, arena, filled_states);
	for (size_t i = 0; (kind = kind_number(i)); i++) {
		struct kind_defaults defaults;
		if (!(kind->traits & TRAIT_DEFAULTS))
			continue;
		take_kind(&defaults, kind, i, doc->root);
		fill_states(&defaults, each, states->value.count, arena);
	}
	*whole = *doc;
	whole->root = root;
	return whole;
}

void defaults_check(struct reader *reader)
{
	const struct doc_node *defaults =
		reader_get(reader, reader->doc->root, "defaults", DOC_MAP);
	const struct kind *kind;
	for (size_t i = 0; (kind = kind_number(i)); i++) {
		const struct doc_node *of_kind = doc_get(defaults, kind->name);
		const struct doc_node *on = doc_get(of_kind, "on");
		const struct doc_node *timeout = doc_get(of_kind, "timeout_secs");
		if (kind->traits & TRAIT_DEFAULTS && timeout && timeout->kind == DOC_STR &&
			fixed_refers(timeout->text))
			fixed_read(reader, NULL, timeout, FIXED_TIMEOUT_SECS);
		if (!(kind->traits & TRAIT_DEFAULTS) || !on || on->kind != DOC_MAP)
			continue;
		for (uint32_t k = 0; k < on->count; k++)
			read_target(reader, &on->pairs[k].value, NULL);
	}
}
