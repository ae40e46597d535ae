#include "schema/toml_tree.h"

#include <string.h>

void toml_tree_init(struct toml_tree *toml_tree, struct doc *doc, struct findings *findings)
{
	*toml_tree = (struct toml_tree){.doc = doc, .findings = findings};
	arena_init(&toml_tree->arena);
	toml_tree->top.kind = TOML_TABLE;
	toml_tree->top.origin = TOML_HEADER;
	toml_tree->top.node.pos = (struct doc_pos){1, 1, 1, 1};
}

void toml_tree_done(struct toml_tree *toml_tree)
{
	arena_done(&toml_tree->arena);
}

struct toml *toml_new(struct toml_tree *toml_tree, enum toml_kind kind, struct doc_pos pos)
{
	if (++toml_tree->nodes > DOC_NODES_MAX) {
		finding_at(toml_tree->findings, RULE_TOO_MANY_NODES, toml_tree->doc, pos,
			"the document has more than %d keys and values", DOC_NODES_MAX);
		return NULL;
	}
	size_t bytes = kind == TOML_VALUE ? offsetof(struct toml, first) : sizeof(struct toml);
	struct toml *n = arena_alloc(&toml_tree->arena, bytes);
	n->kind = kind;
	n->node.pos = pos;
	return n;
}

void toml_append(struct toml *list, struct toml *item)
{
	if (list->last)
		list->last->next = item;
	else
		list->first = item;
	list->last = item;
}

/* --- children by name: Arne Andersson, "Balanced search trees made simple" (1993) ------------- */

static struct toml *find(const struct toml *table, const char *name)
{
	struct toml *n = table->root;
	while (n) {
		int order = strcmp(name, n->key.text);
		if (!order)
			return n;
		n = order < 0 ? n->left : n->right;
	}
	return NULL;
}

static struct toml *skew(struct toml *toml)
{
	struct toml *left = toml->left;
	if (!left || left->level != toml->level)
		return toml;
	toml->left = left->right;
	left->right = toml;
	return left;
}

static struct toml *split(struct toml *toml)
{
	struct toml *right = toml->right;
	if (!right || !right->right || right->right->level != toml->level)
		return toml;
	toml->right = right->left;
	right->left = toml;
	right->level++;
	return right;
}

static struct toml *insert(struct toml *at, struct toml *toml)
{
	if (!at)
		return toml;
	if (strcmp(toml->key.text, at->key.text) < 0)
		at->left = insert(at->left, toml);
	else
		at->right = insert(at->right, toml);
	return split(skew(at));
}

static void add_child(struct toml *table, struct toml *child, const struct doc_node *key)
{
	child->key = *key;
	child->level = 1;
	toml_append(table, child);
	table->root = insert(table->root, child);
}

/* --- who may add what ------------------------------------------------------------------------- */

static struct toml *add_table(struct toml_tree *toml_tree, struct toml *parent,
	const struct doc_node *key, enum toml_origin origin)
{
	struct toml *n = toml_new(toml_tree, TOML_TABLE, key->pos);
	if (!n)
		return NULL;
	n->origin = origin;
	add_child(parent, n, key);
	return n;
}

/* Reports `[x]` beside `[[x]]`. */
static void report_mixed(
	struct toml_tree *toml_tree, const struct doc_node *key, struct toml *first)
{
	bool list = first->kind == TOML_TABLE_LIST;
	first->twice = true;
	struct finding *it =
		finding_add(toml_tree->findings, RULE_DUPLICATE_KEY, toml_tree->doc, key,
			list ? "`%s` is a list of tables, and this is a single one"
			     : "`%s` is a single table, and this is one of a list",
			key->text);
	finding_help(toml_tree->findings, it,
		"write [[...]] here and on line %u, or rename one of the two", first->key.pos.line);
}

static void report_twice(
	struct toml_tree *toml_tree, const struct doc_node *key, struct toml *first)
{
	first->twice = true;
	struct finding *it =
		finding_add(toml_tree->findings, RULE_DUPLICATE_KEY, toml_tree->doc, key,
			first->kind == TOML_TABLE && first->origin != TOML_INLINE
				? "the table `%s` is already complete"
				: "the key `%s` already has a value",
			key->text);
	finding_help(toml_tree->findings, it,
		"the first one is on line %u; remove or rename one of them", first->key.pos.line);
}

/* Returns a table for the contents of a refused key. */
static struct toml *nowhere(struct toml_tree *toml_tree, struct doc_pos pos)
{
	struct toml *n = toml_new(toml_tree, TOML_TABLE, pos);
	if (n)
		n->origin = TOML_HEADER;
	return n;
}

/* Takes one step of a header's path. NULL: refused (reported) or too many nodes. */
static struct toml *descend(
	struct toml_tree *toml_tree, struct toml *table, const struct doc_node *key)
{
	struct toml *n = find(table, key->text);
	if (!n)
		return add_table(toml_tree, table, key, TOML_IMPLICIT);
	if (n->kind == TOML_TABLE_LIST)
		return n->last;
	if (n->kind == TOML_TABLE && n->origin != TOML_INLINE)
		return n;
	report_twice(toml_tree, key, n);
	return NULL;
}

static struct toml *open_table(
	struct toml_tree *toml_tree, struct toml *parent, const struct doc_node *key)
{
	struct toml *n = find(parent, key->text);
	if (!n)
		return add_table(toml_tree, parent, key, TOML_HEADER);
	if (n->kind == TOML_TABLE && n->origin == TOML_IMPLICIT) {
		n->origin = TOML_HEADER;
		return n;
	}
	if (n->kind == TOML_TABLE_LIST)
		report_mixed(toml_tree, key, n);
	else
		report_twice(toml_tree, key, n);
	return nowhere(toml_tree, key->pos);
}

static struct toml *open_element(
	struct toml_tree *toml_tree, struct toml *parent, const struct doc_node *key)
{
	struct toml *list = find(parent, key->text);
	if (list && list->kind != TOML_TABLE_LIST) {
		if (list->kind == TOML_TABLE && list->origin != TOML_INLINE)
			report_mixed(toml_tree, key, list);
		else
			report_twice(toml_tree, key, list);
		return nowhere(toml_tree, key->pos);
	}
	if (!list) {
		list = toml_new(toml_tree, TOML_TABLE_LIST, key->pos);
		if (!list)
			return NULL;
		add_child(parent, list, key);
	}
	struct toml *n = nowhere(toml_tree, key->pos);
	if (n)
		toml_append(list, n);
	return n;
}

struct toml *toml_open_header(struct toml_tree *toml_tree, const struct toml_path *path, bool list)
{
	struct toml *table = &toml_tree->top;
	for (size_t i = 0; i + 1 < path->count; i++) {
		size_t nodes = toml_tree->nodes;
		struct toml *inner = descend(toml_tree, table, &path->parts[i]);
		if (!inner)
			return nodes == toml_tree->nodes ? nowhere(toml_tree, path->parts[i].pos)
							 : NULL;
		table = inner;
	}
	const struct doc_node *last = &path->parts[path->count - 1];
	return list ? open_element(toml_tree, table, last) : open_table(toml_tree, table, last);
}

int toml_set(struct toml_tree *toml_tree, struct toml *table, const struct toml_path *path,
	struct toml *value)
{
	for (size_t i = 0; i + 1 < path->count; i++) {
		struct toml *n = find(table, path->parts[i].text);
		if (!n)
			n = add_table(toml_tree, table, &path->parts[i], TOML_DOTTED);
		else if (n->kind != TOML_TABLE || n->origin != TOML_DOTTED) {
			report_twice(toml_tree, &path->parts[i], n);
			return 0;
		}
		if (!n)
			return -1;
		table = n;
	}
	const struct doc_node *last = &path->parts[path->count - 1];
	struct toml *first = find(table, last->text);
	if (first)
		report_twice(toml_tree, last, first);
	else
		add_child(table, value, last);
	return 0;
}

int toml_build(struct doc_build *doc_build, const struct toml *toml)
{
	if (toml->twice)
		return doc_build_add(
			doc_build, (struct doc_node){.kind = DOC_BROKEN, .pos = toml->node.pos});
	if (toml->kind == TOML_VALUE)
		return doc_build_add(doc_build, toml->node);
	bool map = toml->kind == TOML_TABLE;
	if (doc_build_open(doc_build, map ? DOC_MAP : DOC_LIST, toml->node.pos))
		return -1;
	for (const struct toml *child = toml->first; child; child = child->next)
		if ((map && doc_build_add(doc_build, child->key)) || toml_build(doc_build, child))
			return -1;
	return doc_build_close(doc_build, toml->node.pos.end_line, toml->node.pos.end_column);
}
