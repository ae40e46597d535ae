#include "schema/build.h"

#include <string.h>

void doc_build_done(struct doc_build *b)
{
	free(b->stack);
	*b = (struct doc_build){0};
}

void doc_build_init(struct doc_build *b, struct doc *d, struct findings *f)
{
	*b = (struct doc_build){.doc = d, .findings = f};
	b->stack = own_room(NULL, 0, &b->room, sizeof(*b->stack));
}

static void push(struct doc_build *b, const struct doc_node *node)
{
	b->stack = own_room(b->stack, b->count, &b->room, sizeof(*b->stack));
	b->stack[b->count++] = *node;
}

static int count_node(struct doc_build *b, struct doc_pos pos)
{
	if (++b->doc->nodes <= DOC_NODES_MAX)
		return 0;
	finding_at(b->findings, RULE_TOO_MANY_NODES, b->doc, pos,
		"the document has more than %d keys and values", DOC_NODES_MAX);
	return -1;
}

int doc_build_add(struct doc_build *b, struct doc_node node)
{
	if (count_node(b, node.pos))
		return -1;
	push(b, &node);
	return 0;
}

int doc_build_open(struct doc_build *b, enum doc_kind kind, struct doc_pos pos)
{
	if (count_node(b, pos))
		return -1;
	if (b->depth == DOC_DEPTH_MAX) {
		finding_at(b->findings, RULE_TOO_DEEP, b->doc, pos,
			"lists and maps nest deeper than %d levels", DOC_DEPTH_MAX);
		return -1;
	}
	b->open[b->depth++] = (struct doc_open){b->count, kind, pos};
	return 0;
}

bool doc_build_at_key(const struct doc_build *b)
{
	const struct doc_open *o = b->depth ? &b->open[b->depth - 1] : NULL;
	return o && o->kind == DOC_MAP && (b->count - o->start) % 2 == 0;
}

/* FNV-1a. Keys that collide on purpose cost a deeper sort, never a scan. */
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

/* Which value counts is unknown, so nothing is said about either. */
static void report_duplicate(struct doc_build *b, struct doc_node *key, struct doc_pair *first)
{
	struct finding *it = finding_add(b->findings, RULE_DUPLICATE_KEY, b->doc, key,
		"the key `%s` stands twice in this map", key->text);
	finding_help(b->findings, it, "the first one is on line %u; remove or rename one of them",
		first->key.pos.line);
	key->kind = first->value.kind = DOC_BROKEN;
}

static void find_duplicates_linear(struct doc_build *b, struct doc_pair *pairs, size_t count)
{
	for (size_t i = 1; i < count; i++)
		for (size_t j = 0; j < i; j++) {
			struct doc_node *x = &pairs[i].key;
			const struct doc_node *y = &pairs[j].key;
			if (y->kind == DOC_STR && x->count == y->count &&
				!memcmp(x->text, y->text, x->count)) {
				report_duplicate(b, x, &pairs[j]);
				break;
			}
		}
}

static void find_duplicates_indexed(
	struct doc_build *b, struct doc_pair *pairs, const struct map_slot *slots, size_t count)
{
	struct doc_pair *first = NULL;
	for (size_t i = 0; i < count; i++) {
		struct doc_node *key = &pairs[slots[i].index].key;
		if (first && first->key.count == key->count &&
			!memcmp(first->key.text, key->text, key->count))
			report_duplicate(b, key, first);
		else
			first = &pairs[slots[i].index];
	}
}

/* Takes out the pairs whose key is broken. */
static size_t drop_broken(struct doc_pair *pairs, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (pairs[i].key.kind == DOC_STR)
			pairs[kept++] = pairs[i];
	return kept;
}

/* {{ name }} without quotes: a map that begins right behind the brace of the map it is a key of. */
static bool is_bare_template(const struct doc_open *o, const struct doc_pair *pairs, size_t count)
{
	const struct doc_node *key = &pairs->key;
	return count && key->kind == DOC_MAP && key->pos.line == o->pos.line &&
	       key->pos.column == o->pos.column + 1;
}

static void report_bare_template(struct doc_build *b, struct doc_pos pos)
{
	struct finding *it = finding_at(b->findings, RULE_KEY_NOT_STRING, b->doc, pos,
		"without quotes, `{{` begins a map whose key is a map");
	finding_help(b->findings, it, "put the whole text in quotes");
	b->bare_line = pos.line;
}

static void check_keys(struct doc_build *b, const struct doc_pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct doc_node *key = &pairs[i].key;
		if (key->kind == DOC_STR || key->kind == DOC_BROKEN)
			continue;
		struct finding *it = finding_add(b->findings, RULE_KEY_NOT_STRING, b->doc, key,
			"a key must be a string, and this one is %s", doc_kind_name(key->kind));
		if (key->kind < DOC_STR)
			finding_help(b->findings, it, "put it in quotes");
	}
}

static void map_finish(
	struct doc_build *b, struct doc_pair *pairs, size_t count, struct doc_node *map)
{
	check_keys(b, pairs, count);
	size_t n = drop_broken(pairs, count);
	size_t each = sizeof(struct doc_pair) + (n > MAP_LINEAR_MAX ? sizeof(struct map_slot) : 0);
	struct doc_pair *out = arena_alloc(&b->doc->arena, n * each);
	map->partial = n != count;
	if (n <= MAP_LINEAR_MAX) {
		find_duplicates_linear(b, pairs, n);
		n = drop_broken(pairs, n);
	} else {
		struct map_slot *slots = (struct map_slot *)(out + n);
		index_fill(slots, pairs, n);
		find_duplicates_indexed(b, pairs, slots, n);
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

int doc_build_close(struct doc_build *b, uint32_t end_line, uint32_t end_column)
{
	struct doc_open *o = &b->open[--b->depth];
	struct doc_node node = {.kind = o->kind, .pos = o->pos};
	node.pos.end_line = end_line;
	node.pos.end_column = end_column;
	size_t count = b->count - o->start;
	struct doc_node *children = b->stack + o->start;
	if (o->kind == DOC_MAP && is_bare_template(o, (struct doc_pair *)children, count / 2)) {
		report_bare_template(b, node.pos);
		node.kind = DOC_BROKEN;
	} else if (o->kind == DOC_MAP) {
		map_finish(b, (struct doc_pair *)children, count / 2, &node);
	} else {
		struct doc_node *items = arena_array(&b->doc->arena, count, sizeof(*items));
		if (count)
			memcpy(items, children, count * sizeof(*items));
		node.items = items;
		node.count = (uint32_t)count;
	}
	b->count = o->start;
	push(b, &node);
	return 0;
}

struct doc_node doc_build_string(
	struct doc_build *b, const char *text, size_t len, struct doc_pos pos)
{
	struct doc_node node = {.kind = DOC_STR, .count = (uint32_t)len, .pos = pos};
	node.text = arena_copy(&b->doc->arena, text, len);
	return node;
}

void doc_check_string(struct doc_node *node, bool lone, const struct doc *d, struct findings *f)
{
	bool nul = memchr(node->text, '\0', node->count);
	if (lone)
		finding_at(f, RULE_LONE_SURROGATE, d, node->pos,
			"the string holds half of a surrogate pair");
	if (nul)
		finding_at(f, RULE_NUL_CHARACTER, d, node->pos,
			"the string holds the character NUL (U+0000)");
	if (lone || nul)
		node->kind = DOC_BROKEN;
}

void doc_build_root(struct doc_build *b)
{
	if (b->count != 1 || b->depth)
		return;
	struct doc_node *root = arena_alloc(&b->doc->arena, sizeof(*root));
	*root = b->stack[0];
	b->doc->root = root;
}
