#include "schema/doc.h"

#include "base/utf8.h"

#include "schema/build.h"
#include <string.h>

void doc_done(struct doc *doc)
{
	arena_done(&doc->arena);
	*doc = (struct doc){0};
}

static const struct doc_pair *pair_linear(const struct doc_node *map, const char *key, size_t len)
{
	for (uint32_t i = 0; i < map->count; i++) {
		const struct doc_pair *p = &map->pairs[i];
		if (p->key.count == len && p->key.text[0] == key[0] &&
			!memcmp(p->key.text, key, len))
			return p;
	}
	return NULL;
}

static int slot_compare(
	const struct map_slot *slot, const struct doc_node *map, uint32_t hash, const char *key)
{
	if (slot->hash != hash)
		return slot->hash < hash ? -1 : 1;
	return strcmp(map->pairs[slot->index].key.text, key);
}

static const struct doc_pair *pair_indexed(const struct doc_node *map, const char *key, size_t len)
{
	const struct map_slot *slots = (const struct map_slot *)(map->pairs + map->count);
	uint32_t hash = map_hash(key, len);
	size_t low = 0, high = map->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = slot_compare(&slots[middle], map, hash, key);
		if (!order)
			return &map->pairs[slots[middle].index];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const struct doc_pair *doc_pair(const struct doc_node *map, const char *key)
{
	if (!map || map->kind != DOC_MAP)
		return NULL;
	size_t len = strlen(key);
	return map->count > MAP_LINEAR_MAX ? pair_indexed(map, key, len)
					   : pair_linear(map, key, len);
}

const struct doc_node *doc_get(const struct doc_node *map, const char *key)
{
	const struct doc_pair *p = doc_pair(map, key);
	return p ? &p->value : NULL;
}

int doc_order(const struct doc_node *a, const struct doc_node *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->kind == DOC_STR ? strcmp(a->text, b->text)
				  : (a->integer > b->integer) - (a->integer < b->integer);
}

const char *doc_kind_name(enum doc_kind kind)
{
	static const char *const names[] = {[DOC_NULL] = "null",
		[DOC_BOOL] = "a boolean",
		[DOC_INT] = "an integer",
		[DOC_FLOAT] = "a float",
		[DOC_STR] = "a string",
		[DOC_LIST] = "a list",
		[DOC_MAP] = "a map",
		[DOC_BROKEN] = "an unreadable value"};
	return names[kind];
}

static json_t *map_json(const struct doc_node *map)
{
	json_auto_t *object = json_object();
	for (uint32_t i = 0; object && i < map->count; i++)
		if (json_object_set_new(
			    object, map->pairs[i].key.text, doc_json(&map->pairs[i].value)))
			return NULL;
	return TAKE_PTR(object);
}

static json_t *list_json(const struct doc_node *list)
{
	json_auto_t *array = json_array();
	for (uint32_t i = 0; array && i < list->count; i++)
		if (json_array_append_new(array, doc_json(&list->items[i])))
			return NULL;
	return TAKE_PTR(array);
}

json_t *doc_json(const struct doc_node *node)
{
	switch (node->kind) {
	case DOC_NULL:
	case DOC_BROKEN: return json_null();
	case DOC_BOOL: return json_boolean(node->boolean);
	case DOC_INT: return json_integer(node->integer);
	case DOC_FLOAT: return json_real(node->number);
	case DOC_STR: return json_stringn(node->text, node->count);
	case DOC_LIST: return list_json(node);
	case DOC_MAP: return map_json(node);
	}
	return NULL;
}

char *doc_beside(const struct doc *doc, const char *path)
{
	const char *slash = strrchr(doc->file, '/');
	AUTO_BUF b = BUF_INIT(64 * 1024);
	buf_add(&b, doc->file, slash ? (size_t)(slash - doc->file) + 1 : 0);
	buf_adds(&b, path);
	return buf_take(&b, NULL);
}

const char *doc_line(const struct doc *doc, uint32_t line, size_t *len)
{
	if (!line || line > doc->line_count) {
		*len = 0;
		return "";
	}
	const char *start = doc->text + doc->lines[line - 1];
	size_t end = line < doc->line_count ? doc->lines[line] : doc->len;
	size_t n = end - doc->lines[line - 1];
	while (n && (start[n - 1] == '\n' || start[n - 1] == '\r'))
		n--;
	*len = n;
	return start;
}

size_t doc_bytes(const char *text, size_t len, uint32_t columns)
{
	size_t at = 0;
	while (at < len && columns--) {
		size_t n = utf8_step(text + at, len - at, NULL);
		at += n ? n : 1;
	}
	return at;
}
