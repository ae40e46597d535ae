#include "schema/build.h"

#include <string.h>

void doc_build_done(struct doc_build *doc_build)
{
	free(doc_build->stack);
	*doc_build = (struct doc_build){0};
}

void doc_build_init(struct doc_build *doc_build, struct doc *doc, struct findings *findings)
{
	*doc_build = (struct doc_build){.doc = doc, .findings = findings};
	doc_build->stack = own_room(NULL, 0, &doc_build->room, sizeof(*doc_build->stack));
}

static void push(struct doc_build *doc_build, const struct doc_node *node)
{
	doc_build->stack = own_room(
		doc_build->stack, doc_build->count, &doc_build->room, sizeof(*doc_build->stack));
	doc_build->stack[doc_build->count++] = *node;
}

static int count_node(struct doc_build *doc_build, struct doc_pos pos)
{
	if (++doc_build->doc->nodes <= DOC_NODES_MAX)
		return 0;
	finding_at(doc_build->findings, RULE_TOO_MANY_NODES, doc_build->doc, pos,
		"the document has more than %d keys and values", DOC_NODES_MAX);
	return -1;
}

int doc_build_add(struct doc_build *doc_build, struct doc_node node)
{
	if (count_node(doc_build, node.pos))
		return -1;
	push(doc_build, &node);
	return 0;
}

int doc_build_open(struct doc_build *doc_build, enum doc_kind kind, struct doc_pos pos)
{
	if (count_node(doc_build, pos))
		return -1;
	if (doc_build->depth == DOC_DEPTH_MAX) {
		finding_at(doc_build->findings, RULE_TOO_DEEP, doc_build->doc, pos,
			"lists and maps nest deeper than %d levels", DOC_DEPTH_MAX);
		return -1;
	}
	doc_build->open[doc_build->depth++] = (struct doc_open){doc_build->count, kind, pos};
	return 0;
}

bool doc_build_at_key(const struct doc_build *doc_build)
{
	const struct doc_open *o = doc_build->depth ? &doc_build->open[doc_build->depth - 1] : NULL;
	return o && o->kind == DOC_MAP && (doc_build->count - o->start) % 2 == 0;
}

/* Computes FNV-1a. Keys that collide on purpose cost a deeper sort, never a scan. */
uint32_t map_hash(const char *key, size_t len)
{
	uint32_t hash = 2166136261u;
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)key[i]) * 16777619u;
	return hash;
}

static int by_hash_key_index(const void *a, const void *b, void *pairs_)
{
	const struct doc_pair *pairs = pairs_;
	const struct map_slot *x = a, *y = b;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	int order = strcmp(pairs[x->index].key.text, pairs[y->index].key.text);
	if (order)
		return order;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void index_fill(struct map_slot *slots, struct doc_pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		slots[i] = (struct map_slot){
			map_hash(pairs[i].key.text, pairs[i].key.count), (uint32_t)i};
	qsort_r(slots, count, sizeof(*slots), by_hash_key_index, pairs);
}

struct doc_pair *doc_map_with(const struct doc_node *map, const struct doc_pair *more,
	uint32_t count, struct arena *arena, struct doc_node *out)
{
	size_t all = map->count + count, slots = all > MAP_LINEAR_MAX ? all : 0;
	struct doc_pair *pairs =
		arena_alloc(arena, all * sizeof(*pairs) + slots * sizeof(struct map_slot));
	if (map->count)
		memcpy(pairs, map->pairs, map->count * sizeof(*pairs));
	if (count)
		memcpy(pairs + map->count, more, count * sizeof(*pairs));
	if (slots)
		index_fill((struct map_slot *)(pairs + all), pairs, all);
	*out = *map;
	out->count = (uint32_t)all;
	out->pairs = pairs;
	return pairs;
}

/* Reports a duplicate key. It is unknown which value counts, so both become broken and get no other
 * findings. */
static void report_duplicate(
	struct doc_build *doc_build, struct doc_node *key, struct doc_pair *first)
{
	struct finding *it = finding_add(doc_build->findings, RULE_DUPLICATE_KEY, doc_build->doc,
		key, "the key `%s` stands twice in this map", key->text);
	finding_help(doc_build->findings, it,
		"the first one is on line %u; remove or rename one of them", first->key.pos.line);
	key->kind = first->value.kind = DOC_BROKEN;
}

static void find_duplicates_linear(
	struct doc_build *doc_build, struct doc_pair *pairs, size_t count)
{
	for (size_t i = 1; i < count; i++)
		for (size_t j = 0; j < i; j++) {
			struct doc_node *x = &pairs[i].key;
			const struct doc_node *y = &pairs[j].key;
			if (y->kind == DOC_STR && x->count == y->count &&
				!memcmp(x->text, y->text, x->count)) {
				report_duplicate(doc_build, x, &pairs[j]);
				break;
			}
		}
}

static void find_duplicates_indexed(struct doc_build *doc_build, struct doc_pair *pairs,
	const struct map_slot *slots, size_t count)
{
	struct doc_pair *first = NULL;
	for (size_t i = 0; i < count; i++) {
		struct doc_node *key = &pairs[slots[i].index].key;
		if (first && first->key.count == key->count &&
			!memcmp(first->key.text, key->text, key->count))
			report_duplicate(doc_build, key, first);
		else
			first = &pairs[slots[i].index];
	}
}

/* Removes the pairs whose key is broken. */
static size_t drop_broken(struct doc_pair *pairs, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (pairs[i].key.kind == DOC_STR)
			pairs[kept++] = pairs[i];
	return kept;
}

/* Reports whether this is {{ name }} without quotes: a map that begins right after the brace of the
 * map whose key it is. */
static bool is_bare_template(
	const struct doc_open *doc_open, const struct doc_pair *pairs, size_t count)
{
	const struct doc_node *key = &pairs->key;
	return count && key->kind == DOC_MAP && key->pos.line == doc_open->pos.line &&
	       key->pos.column == doc_open->pos.column + 1;
}

static void report_bare_template(struct doc_build *doc_build, struct doc_pos pos)
{
	struct finding *it = finding_at(doc_build->findings, RULE_KEY_NOT_STRING, doc_build->doc,
		pos, "without quotes, `{{` begins a map whose key is a map");
	finding_help(doc_build->findings, it, "put the whole text in quotes");
	doc_build->bare_line = pos.line;
}

/* Advises on a decimal comma, after which a map in braces has a key: {max_usd: 1,5}. Returns false
 * if this is none. */
static bool advise_decimal(struct doc_build *doc_build, struct finding *it,
	const struct doc_node *value, const struct doc_node *key)
{
	size_t len;
	const char *line = doc_line(doc_build->doc, key->pos.line, &len);
	size_t from = doc_bytes(line, len, value->pos.column - 1);
	size_t comma = doc_bytes(line, len, key->pos.column - 2);
	size_t end = doc_bytes(line, len, key->pos.end_column - 1);
	bool decimal = value->kind == DOC_INT && key->kind == DOC_INT && key->integer >= 0 &&
		       value->pos.line == key->pos.line &&
		       value->pos.end_column + 1 == key->pos.column && line[comma] == ',';
	int whole = (int)(comma - from), fraction = (int)(end - comma - 1);
	const char *number = line + from, *digits = line + comma + 1;
	/* Three digits may be thousands. */
	if (decimal && fraction == 3)
		finding_help(doc_build->findings, it,
			"a number has no comma: write `%.*s%.3s`, or `%.*s.%.3s` with a point",
			whole, number, digits, whole, number, digits);
	else if (decimal)
		finding_help(doc_build->findings, it,
			"a decimal number has a point: write `%.*s.%.*s`", whole, number, fraction,
			digits);
	return decimal;
}

static void check_keys(struct doc_build *doc_build, const struct doc_pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct doc_node *key = &pairs[i].key;
		if (key->kind == DOC_STR || key->kind == DOC_BROKEN)
			continue;
		struct finding *it = finding_add(doc_build->findings, RULE_KEY_NOT_STRING,
			doc_build->doc, key, "a key must be a string, and this one is %s",
			doc_kind_name(key->kind));
		if (i && advise_decimal(doc_build, it, &pairs[i - 1].value, key))
			continue;
		if (key->kind < DOC_STR)
			finding_help(doc_build->findings, it, "put it in quotes");
	}
}

static void map_finish(
	struct doc_build *doc_build, struct doc_pair *pairs, size_t count, struct doc_node *map)
{
	check_keys(doc_build, pairs, count);
	size_t n = drop_broken(pairs, count);
	size_t each = sizeof(struct doc_pair) + (n > MAP_LINEAR_MAX ? sizeof(struct map_slot) : 0);
	struct doc_pair *out = arena_alloc(&doc_build->doc->arena, n * each);
	map->partial = n != count;
	if (n <= MAP_LINEAR_MAX) {
		find_duplicates_linear(doc_build, pairs, n);
		n = drop_broken(pairs, n);
	} else {
		struct map_slot *slots = (struct map_slot *)(out + n);
		index_fill(slots, pairs, n);
		find_duplicates_indexed(doc_build, pairs, slots, n);
		size_t kept = drop_broken(pairs, n);
		if (kept != n && kept > MAP_LINEAR_MAX)
			index_fill((struct map_slot *)(out + kept), pairs, kept);
		n = kept;
	}
	if (n)
		memcpy(out, pairs, n * sizeof(*out));
	map->pairs = out;
	map->count = (uint32_t)n;
}

int doc_build_close(struct doc_build *doc_build, uint32_t end_line, uint32_t end_column)
{
	struct doc_open *o = &doc_build->open[--doc_build->depth];
	struct doc_node node = {.kind = o->kind, .pos = o->pos};
	node.pos.end_line = end_line;
	node.pos.end_column = end_column;
	size_t count = doc_build->count - o->start;
	struct doc_node *children = doc_build->stack + o->start;
	if (o->kind == DOC_MAP && is_bare_template(o, (struct doc_pair *)children, count / 2)) {
		report_bare_template(doc_build, node.pos);
		node.kind = DOC_BROKEN;
	} else if (o->kind == DOC_MAP) {
		map_finish(doc_build, (struct doc_pair *)children, count / 2, &node);
	} else {
		struct doc_node *items = arena_array(&doc_build->doc->arena, count, sizeof(*items));
		if (count)
			memcpy(items, children, count * sizeof(*items));
		node.items = items;
		node.count = (uint32_t)count;
	}
	doc_build->count = o->start;
	push(doc_build, &node);
	return 0;
}

struct doc_node doc_build_string(
	struct doc_build *doc_build, const char *text, size_t len, struct doc_pos pos)
{
	struct doc_node node = {.kind = DOC_STR, .count = (uint32_t)len, .pos = pos};
	node.text = arena_copy(&doc_build->doc->arena, text, len);
	return node;
}

void doc_check_string(
	struct doc_node *node, bool lone, const struct doc *doc, struct findings *findings)
{
	bool nul = memchr(node->text, '\0', node->count);
	if (lone)
		finding_at(findings, RULE_LONE_SURROGATE, doc, node->pos,
			"the string holds half of a surrogate pair");
	if (nul)
		finding_at(findings, RULE_NUL_CHARACTER, doc, node->pos,
			"the string holds the character NUL (U+0000)");
	if (lone || nul)
		node->kind = DOC_BROKEN;
}

void doc_build_root(struct doc_build *doc_build)
{
	if (doc_build->count != 1 || doc_build->depth)
		return;
	struct doc_node *root = arena_alloc(&doc_build->doc->arena, sizeof(*root));
	*root = doc_build->stack[0];
	doc_build->doc->root = root;
}
