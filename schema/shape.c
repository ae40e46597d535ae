#include "schema/shape.h"

#include "base/num.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "schema/advice.h"
#include "schema/lookalike.h"
#include "schema/missing.h"
#include "schema/table.h"
#include <string.h>

struct walk {
	const struct doc *d;
	struct findings *f;
	const struct doc_node *states; /* the map whose keys are states, NULL: none */
};

/* The place of a node: below a map's key, and perhaps in a list. */
struct shape_place {
	const struct doc_node *key;
	uint32_t item; /* 1-based; 0: no list */
};

enum { PLACE_BYTES = 120 };

static const char *place_text(const struct shape_place *at, char out[PLACE_BYTES])
{
	if (!at->key)
		snprintf(out, PLACE_BYTES, at->item ? "item %u" : "the document", at->item);
	else if (at->item)
		snprintf(out, PLACE_BYTES, "item %u of `%.64s`", at->item, at->key->text);
	else
		snprintf(out, PLACE_BYTES, "`%.64s`", at->key->text);
	return out;
}

/* Reports whether the place's keys are outcomes. Another tool's word for one is ambiguous: an
 * `error` may be a failed run, or one that never began. */
static bool is_outcome(const struct shape_place *at)
{
	return at->key && !strcmp(at->key->text, "on");
}

/* Adds the schema's own help for a key, if it has one. */
static void help(struct walk *walk, struct finding *it, const struct shape *shape)
{
	if (shape && shape->help)
		finding_help(walk->f, it, "%s", shape->help);
}

static const char *expected(const struct shape *shape)
{
	static const struct {
		unsigned kinds;
		const char *text;
	} names[] = {
		{1u << DOC_BOOL, "true or false"},
		{1u << DOC_INT, "an integer"},
		{1u << DOC_INT | 1u << DOC_FLOAT, "a number"},
		{1u << DOC_STR, "a string"},
		{1u << DOC_LIST, "a list"},
		{1u << DOC_MAP, "a map"},
		{1u << DOC_NULL, "null"},
	};
	unsigned kinds = shape->kinds & ~(1u << DOC_NULL);
	for (size_t i = 0; !shape->title && i < ARRAY_LEN(names); i++)
		if (kinds == (names[i].kinds & ~(1u << DOC_NULL)))
			return names[i].text;
	return shape->title ? shape->title : "another value";
}

static void report_type(struct walk *walk, const struct shape *shape, const struct doc_node *node,
	const struct shape_place *at)
{
	char place[PLACE_BYTES];
	struct finding *it = finding_add(walk->f, RULE_WRONG_TYPE, walk->d, node,
		"%s must be %s, and it is %s", place_text(at, place), expected(shape),
		node->kind == DOC_NULL && !node->boolean ? "empty" : doc_kind_name(node->kind));
	advise_type(walk->f, it, shape, node, at->key && !at->item ? at->key->text : NULL);
}

/* --- scalars ---------------------------------------------------------------------------------- */

static void check_size(struct walk *walk, const struct shape *shape, const struct doc_node *node,
	const struct shape_place *at, size_t size)
{
	static const char *const units[] = {
		[DOC_STR] = "characters", [DOC_LIST] = "items", [DOC_MAP] = "keys"};
	if (size >= shape->least && size <= shape->most)
		return;
	char place[PLACE_BYTES];
	bool few = size < shape->least;
	if (few && node->partial)
		return; /* a missing value has been refused as a key */
	if (!size)
		finding_add(walk->f, RULE_OUT_OF_RANGE, walk->d, node, "%s must not be empty",
			place_text(at, place));
	else
		finding_add(walk->f, RULE_OUT_OF_RANGE, walk->d, node,
			"%s has %zu %s, and at %s %u are allowed", place_text(at, place), size,
			units[node->kind], few ? "least" : "most",
			few ? shape->least : shape->most);
}

static bool is_value(const struct shape *shape, const char *text)
{
	for (size_t i = 0; i < shape->value_count; i++)
		if (!strcmp(shape->values[i], text))
			return true;
	return !shape->value_count;
}

static void check_string(struct walk *walk, const struct shape *shape, const struct doc_node *node,
	const struct shape_place *at)
{
	char place[PLACE_BYTES];
	struct finding *it;
	if (!is_value(shape, node->text)) {
		it = finding_add(walk->f, RULE_NOT_ONE_OF, walk->d, node, "%s cannot be `%.80s`",
			place_text(at, place), node->text);
		if (is_outcome(at) && it->message)
			advise_near(walk->f, it,
				suggest_name(node->text, shape->values, shape->value_count),
				shape->values, shape->value_count);
		else
			advise_word(walk->f, it, node->text, shape->values, shape->value_count);
		help(walk, it, shape);
		return;
	}
	if (shape->pattern && node->count &&
		!shape_pattern_matches(shape->pattern, node->text, node->count)) {
		it = finding_add(walk->f, RULE_BAD_NAME, walk->d, node, "`%.80s` is not %s",
			node->text, expected(shape));
		advise_spelling(walk->f, it, shape->pattern, node->text);
		return;
	}
	if (shape->pattern && !node->count && !shape_pattern_matches(shape->pattern, "", 0)) {
		finding_add(walk->f, RULE_BAD_NAME, walk->d, node, "%s must be %s, and it is empty",
			place_text(at, place), expected(shape));
		return;
	}
	if (shape->least || shape->most != SHAPE_NO_LIMIT)
		check_size(walk, shape, node, at, utf8_count(node->text, node->count));
}

static void check_number(struct walk *walk, const struct shape *shape, const struct doc_node *node,
	const struct shape_place *at)
{
	double value = node->kind == DOC_INT ? (double)node->integer : node->number;
	if (value >= shape->minimum && value <= shape->maximum &&
		!(shape->above_minimum && value <= shape->minimum))
		return;
	char place[PLACE_BYTES], number[NUM_FLOAT_BYTES];
	if (node->kind == DOC_INT)
		snprintf(number, sizeof(number), "%jd", (intmax_t)node->integer);
	else
		num_float_text(value, number);
	finding_add(walk->f, RULE_OUT_OF_RANGE, walk->d, node, "%s must be %s, and it is %s",
		place_text(at, place), expected(shape), number);
}

static void check_boolean(struct walk *walk, const struct shape *shape, const struct doc_node *node,
	const struct shape_place *at)
{
	if (shape->boolean < 0 || shape->boolean == node->boolean)
		return;
	char place[PLACE_BYTES];
	finding_add(walk->f, RULE_NOT_ONE_OF, walk->d, node, "%s must be %s", place_text(at, place),
		shape->boolean ? "true" : "false");
}

/* --- lists ------------------------------------------------------------------------------------ */

static void check_node(struct walk *walk, const struct shape *shape, const struct doc_node *node,
	const struct shape_place *at);

static int by_value_then_place(const void *a, const void *b)
{
	const struct doc_node *const *first = a, *const *second = b;
	int order = doc_order(*first, *second);
	return order ? order : *first < *second ? -1 : *first > *second;
}

static void check_unique(
	struct walk *walk, const struct doc_node *list, const struct shape_place *at)
{
	AUTO_FREE const struct doc_node **sorted = calloc(list->count + 1, sizeof(*sorted));
	size_t count = 0;
	for (uint32_t i = 0; sorted && i < list->count; i++)
		if (list->items[i].kind == DOC_STR || list->items[i].kind == DOC_INT)
			sorted[count++] = &list->items[i];
	if (count)
		qsort(sorted, count, sizeof(*sorted), by_value_then_place);
	for (size_t i = 1; i < count; i++) {
		if (doc_order(sorted[i], sorted[i - 1]))
			continue;
		char place[PLACE_BYTES], number[24] = "";
		if (sorted[i]->kind == DOC_INT)
			snprintf(number, sizeof(number), "%jd", (intmax_t)sorted[i]->integer);
		finding_add(walk->f, RULE_REPEATED_ITEM, walk->d, sorted[i],
			"`%.80s` stands twice in %s", *number ? number : sorted[i]->text,
			place_text(at, place));
	}
}

static void check_list(struct walk *walk, const struct shape *shape, const struct doc_node *node,
	const struct shape_place *at)
{
	check_size(walk, shape, node, at, node->count);
	for (uint32_t i = 0; shape->items && i < node->count; i++) {
		struct shape_place inner = {at->key, i + 1};
		check_node(walk, shape->items, &node->items[i], &inner);
	}
	if (shape->unique)
		check_unique(walk, node, at);
}

/* --- maps ------------------------------------------------------------------------------------- */

/* Returns the index of the key called `name`; -1: it is not listed. */
static int key_index(const struct shape *shape, const char *name)
{
	size_t low = 0, high = shape->key_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *key = shape->keys[middle].name;
		int order = *key != *name ? (unsigned char)*key - (unsigned char)*name
					  : strcmp(key, name);
		if (!order)
			return (int)middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

/* Lists the names of the keys that may be present, since a refused one is no advice. */
static size_t usable_keys(const struct shape *shape, const char **names)
{
	size_t count = 0;
	for (size_t i = 0; i < shape->key_count; i++)
		if (!shape->keys[i].shape->refused)
			names[count++] = shape->keys[i].name;
	return count;
}

/* Reports the key and returns the bit of the one that was probably meant, which then does not count
 * as missing. */
static uint64_t report_unknown(struct walk *walk, const struct shape *shape,
	const struct doc_node *map, const struct doc_node *key, const struct shape_place *at)
{
	const char *names[64];
	for (size_t i = 0; i < shape->key_count; i++)
		names[i] = shape->keys[i].name;
	char place[PLACE_BYTES];
	struct finding *it =
		at->key ? finding_add(walk->f, RULE_UNKNOWN_KEY, walk->d, key,
				  "unknown key `%.64s` in %s", key->text, place_text(at, place))
			: finding_add(walk->f, RULE_UNKNOWN_KEY, walk->d, key,
				  "unknown key `%.64s`", key->text);
	if (!it->message)
		return 0;
	help(walk, it, shape->rest);
	AUTO_BUF plain = BUF_INIT(256);
	bool strange = lookalike_find(key->text, &plain).code != 0 && !plain.failed;
	const char *word = strange && plain.data ? plain.data : key->text;
	const char *near = is_outcome(at) ? suggest_name(word, names, shape->key_count)
					  : suggest_word(word, names, shape->key_count);
	int meant = near ? key_index(shape, near) : -1;
	if (strange)
		advise_letters(walk->f, it, key->text);
	else if (near && shape->keys[meant].shape->refused)
		help(walk, it, shape->keys[meant].shape);
	else if (near && doc_pair(map, near) && !doc_pair(map, near)->key.filled)
		finding_help(walk->f, it, "`%s` is there already: keep one of the two", near);
	else if (near || !it->help)
		advise_near(walk->f, it, near, names, usable_keys(shape, names));
	return near ? UINT64_C(1) << meant : 0;
}

/* Fills `name` with the map's name. */
static struct lacking lacking(const struct walk *walk, const struct doc_node *map,
	const struct shape_place *at, char name[PLACE_BYTES])
{
	return (struct lacking){
		walk->f, walk->d, map, at->key && !at->item ? at->key : map, place_text(at, name)};
}

/* The keys of a map: the known ones, and the number of unknown ones that resemble none. */
struct keys_seen {
	uint64_t present;
	size_t strange, finding;       /* the finding about the last of these */
	unsigned strange_kind;         /* the kind of its value, 1u << DOC_* */
	const struct doc_pair *worded; /* a key that can only be true, with a text; NULL: none */
	size_t worded_finding;
};

static bool group_has(const struct shape_group *group, const char *name)
{
	for (size_t i = 0; i < group->count; i++)
		if (!strcmp(group->keys[i], name))
			return true;
	return false;
}

static void report_conflict(
	struct walk *walk, const struct doc_node *map, const struct shape_group *group)
{
	const struct doc_node *first = NULL;
	for (uint32_t i = 0; i < map->count; i++) {
		const struct doc_node *key = &map->pairs[i].key;
		if (!group_has(group, key->text))
			continue;
		if (!first) {
			first = key;
			continue;
		}
		finding_add(walk->f, RULE_CONFLICTING_KEYS, walk->d, key,
			"`%s` and `%s` exclude each other: keep one of them", first->text,
			key->text);
	}
}

static void report_none_of(struct walk *walk, const struct shape *shape, const struct doc_node *map,
	const struct shape_place *at, const struct shape_group *group)
{
	char place[PLACE_BYTES], names[200] = "";
	size_t used = 0;
	if (map->partial)
		return;
	for (size_t i = 0; i < group->count && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s`%s`",
			i ? " or " : "", group->keys[i]);
	const struct doc_node *where = at->key && !at->item ? at->key : map;
	struct finding *it = finding_add(walk->f, RULE_MISSING_KEY, walk->d, where,
		"%s needs the key %s", place_text(at, place), names);
	for (size_t i = 0; i < group->count; i++)
		if (shape->keys[key_index(shape, group->keys[i])].shape->boolean == 1)
			finding_help(walk->f, it, "for all that is left, write `%s: true`",
				group->keys[i]);
}

static void check_groups(struct walk *walk, const struct shape *shape, const struct doc_node *map,
	const struct shape_place *at, const struct keys_seen *seen)
{
	for (size_t i = 0; i < shape->group_count; i++) {
		const struct shape_group *g = &shape->groups[i];
		size_t count = 0;
		for (size_t k = 0; k < g->count; k++)
			count += seen->present >> key_index(shape, g->keys[k]) & 1;
		if (g->exactly_one && !count && seen->strange == 1)
			continue; /* most likely it is that key, whose help names these */
		if (g->exactly_one && !count)
			report_none_of(walk, shape, map, at, g);
		else if (g->exactly_one ? count > 1 : count == g->count)
			report_conflict(walk, map, g);
	}
}

static void report_refused(struct walk *walk, const struct shape *shape, const struct doc_node *key)
{
	struct finding *it = finding_add(walk->f, RULE_REFUSED_KEY, walk->d, key,
		"the key `%.64s` is refused here", key->text);
	help(walk, it, shape);
}

/* Returns the bit of the listed key that the pair is, or seems to be. */
static uint64_t check_pair(struct walk *walk, const struct shape *shape, const struct doc_node *map,
	const struct doc_pair *pair, const struct shape_place *at)
{
	int index = key_index(shape, pair->key.text);
	const struct shape *inner = index >= 0 ? shape->keys[index].shape : shape->rest;
	struct shape_place below = {&pair->key, 0};
	if (!inner || (index < 0 && inner->refused))
		return report_unknown(walk, shape, map, &pair->key, at);
	if (inner->refused)
		report_refused(walk, inner, &pair->key);
	else
		check_node(walk, inner, &pair->value, &below);
	return index >= 0 ? UINT64_C(1) << index : 0;
}

static void note_strange(
	const struct walk *walk, const struct doc_pair *pair, size_t before, struct keys_seen *seen)
{
	const struct doc_node *key = &pair->key;
	const struct finding *it = walk->f->count == before ? NULL : &walk->f->items[before];
	if (!it || it->rule != RULE_UNKNOWN_KEY || it->pos.line != key->pos.line ||
		it->pos.column != key->pos.column)
		return;
	seen->strange++;
	seen->finding = before;
	seen->strange_kind = 1u << pair->value.kind;
}

static void note_worded(const struct walk *walk, const struct shape *shape,
	const struct doc_pair *pair, size_t before, struct keys_seen *seen)
{
	int index = walk->f->count == before ? -1 : key_index(shape, pair->key.text);
	if (index < 0 || shape->keys[index].shape->boolean != 1)
		return;
	seen->worded = pair;
	seen->worded_finding = before;
}

/* Returns the text of `else: done` or `else: {goto: done}`, which means `else: true, goto: done`.
 * NULL: it is neither. */
static const char *word_for(const struct shape_key *key, const struct doc_pair *worded)
{
	const struct shape *s = key->shape;
	const struct doc_node *word = worded ? &worded->value : NULL;
	if (word && word->kind == DOC_MAP)
		word = doc_get(word, key->name);
	bool fits = word && word->kind == DOC_STR && s->kinds == 1u << DOC_STR &&
		    is_value(s, word->text) &&
		    (!s->pattern || shape_pattern_matches(s->pattern, word->text, word->count));
	return fits ? word->text : NULL;
}

/* Reports whether a value of the kinds `kinds` may be meant for `shape`: a text may be for
 * anything. */
static bool could_hold(const struct shape *shape, unsigned kinds)
{
	const unsigned unknown = 1u << DOC_NULL | 1u << DOC_BROKEN | 1u << DOC_STR;
	unsigned taken = shape->kinds;
	for (size_t i = 0; shape->choice && !shape->choice->selector && i < shape->choice->count;
		i++)
		taken |= shape->choice->branches[i]->kinds;
	return !taken || kinds & (taken | unknown);
}

/* Reports missing keys. One key too many and one too few are most likely one mistake. */
static void check_required(struct walk *walk, const struct shape *shape,
	const struct doc_node *node, const struct shape_place *at, const struct keys_seen *seen)
{
	const struct shape_key *missing = NULL;
	uint64_t bits = 0;
	size_t count = 0;
	for (size_t i = 0; i < shape->key_count; i++)
		if (shape->keys[i].required && !(seen->present >> i & 1)) {
			missing = &shape->keys[i];
			bits |= UINT64_C(1) << i;
			count++;
		}
	if (!count)
		return;
	if (count == 1 && seen->strange == 1 && !is_outcome(at) &&
		could_hold(missing->shape, seen->strange_kind)) {
		finding_help(walk->f, &walk->f->items[seen->finding], "did you mean `%s`?",
			missing->name);
		return;
	}
	const char *word = count == 1 ? word_for(missing, seen->worded) : NULL;
	if (word) {
		finding_help(walk->f, &walk->f->items[seen->worded_finding],
			"write `%s: true, %s: %s`", seen->worded->key.text, missing->name, word);
		return;
	}
	char place[PLACE_BYTES];
	struct lacking l = lacking(walk, node, at, place);
	missing_keys(&l, shape, bits);
}

static void check_map(struct walk *walk, const struct shape *shape, const struct doc_node *node,
	const struct shape_place *at)
{
	struct keys_seen seen = {0};
	check_size(walk, shape, node, at, node->count);
	for (uint32_t i = 0; i < node->count; i++) {
		const struct doc_pair *pair = &node->pairs[i];
		struct shape_place below = {&pair->key, 0};
		size_t first = walk->f->count;
		if (shape->names)
			check_string(walk, shape->names, &pair->key, &below);
		size_t before = walk->f->count;
		uint64_t key = check_pair(walk, shape, node, pair, at);
		if (!key)
			note_strange(walk, pair, before, &seen);
		note_worded(walk, shape, pair, before, &seen);
		seen.present |= key;
		for (; node == walk->states && first < walk->f->count; first++)
			walk->f->items[first].state = pair->key.text;
	}
	check_required(walk, shape, node, at, &seen);
	check_groups(walk, shape, node, at, &seen);
}

/* --- choices ---------------------------------------------------------------------------------- */

static void check_by_kind(struct walk *walk, const struct shape *shape, const struct doc_node *node,
	const struct shape_place *at)
{
	const struct shape *meant = NULL;
	/* A value, or a reference: the reader has better words for a wrong one. */
	if (shape->choice->count == 2 && shape->choice->branches[1]->pattern) {
		if (node->kind != DOC_STR || !strstr(node->text, "{{"))
			check_node(walk, shape->choice->branches[0], node, at);
		return;
	}
	for (size_t i = 0; i < shape->choice->count; i++) {
		const struct shape *b = shape->choice->branches[i];
		if (b->kinds & 1u << node->kind || (meant && advice_is_item(b, meant, node)))
			meant = b;
	}
	if (meant)
		check_node(walk, meant, node, at);
	else
		report_type(walk, shape, node, at);
}

/* Reports a map without its selector, and nothing else about it: its other keys have no meaning
 * without that. */
static void report_no_selector(struct walk *walk, const struct shape_choice *choice,
	const struct doc_node *node, const struct shape_place *at)
{
	for (uint32_t i = 0; i < node->count; i++) {
		const struct doc_node *key = &node->pairs[i].key;
		if (!suggest_word(key->text, &choice->selector, 1))
			continue;
		char place[PLACE_BYTES];
		struct finding *it = finding_add(walk->f, RULE_UNKNOWN_KEY, walk->d, key,
			"unknown key `%.64s` in %s", key->text, place_text(at, place));
		advise_word(walk->f, it, key->text, &choice->selector, 1);
		return;
	}
	char place[PLACE_BYTES];
	struct lacking l = lacking(walk, node, at, place);
	missing_key(&l, choice->selector,
		&(struct shape){.values = choice->values, .value_count = choice->count});
}

static void check_by_selector(struct walk *walk, const struct shape *shape,
	const struct doc_node *node, const struct shape_place *at)
{
	const struct shape_choice *c = shape->choice;
	if (node->kind != DOC_MAP) {
		report_type(walk, shape, node, at);
		return;
	}
	const struct doc_pair *pair = doc_pair(node, c->selector);
	if (!pair) {
		report_no_selector(walk, c, node, at);
		return;
	}
	struct shape wanted = {.kinds = 1u << DOC_STR,
		.values = c->values,
		.value_count = c->count,
		.most = SHAPE_NO_LIMIT};
	for (size_t i = 0; pair->value.kind == DOC_STR && i < c->count; i++)
		if (!strcmp(c->values[i], pair->value.text)) {
			check_map(walk, c->branches[i], node, at);
			return;
		}
	struct shape_place below = {&pair->key, 0};
	check_node(walk, &wanted, &pair->value, &below);
}

static void check_node(struct walk *walk, const struct shape *shape, const struct doc_node *node,
	const struct shape_place *at)
{
	if (node->kind == DOC_BROKEN)
		return;
	if (shape->choice) {
		(shape->choice->selector ? check_by_selector : check_by_kind)(
			walk, shape, node, at);
		return;
	}
	if (!shape->kinds)
		return;
	/* A key without a value is one that somebody forgot. */
	bool forgotten = node->kind == DOC_NULL && !node->boolean && shape->kinds != 1u << DOC_NULL;
	if (forgotten || !(shape->kinds & 1u << node->kind)) {
		report_type(walk, shape, node, at);
		return;
	}
	switch (node->kind) {
	case DOC_NULL:
	case DOC_BROKEN: return;
	case DOC_BOOL: check_boolean(walk, shape, node, at); return;
	case DOC_INT:
	case DOC_FLOAT: check_number(walk, shape, node, at); return;
	case DOC_STR: check_string(walk, shape, node, at); return;
	case DOC_LIST: check_list(walk, shape, node, at); return;
	case DOC_MAP: check_map(walk, shape, node, at); return;
	}
}

int shape_check(const struct shape *shape, const struct doc *doc, const struct doc_node *node,
	struct findings *findings)
{
	struct walk w = {.d = doc, .f = findings};
	struct shape_place at = {NULL, 0};
	size_t before = findings->errors;
	if (shape == shape_machine)
		w.states = doc_get(node, "states");
	check_node(&w, shape, node, &at);
	return findings->errors == before ? 0 : -1;
}
