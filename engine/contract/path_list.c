#include "contract/path_list.h"

#include "base/cleanup.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_FIRST = 8 };

static void make_room(struct path_list *list)
{
	if (list->count < list->room)
		return;
	list->room = list->room ? 2 * list->room : ROOM_FIRST;
	list->items = reallocarray(list->items, list->room, sizeof(*list->items));
	if (!list->items)
		abort();
}

/* Takes `path`. A list that lacks a path for want of memory would protect or hide less. */
static void add_owned(struct path_list *list, char *path)
{
	if (!path)
		abort();
	make_room(list);
	list->items[list->count++] = path;
}

void path_list_give(struct path_list *list)
{
	make_room(list);
}

void path_list_add(struct path_list *list, const char *path)
{
	add_owned(list, strdup(path));
}

void path_list_addf(struct path_list *list, const char *format, ...)
{
	char *path = NULL;
	va_list args;
	va_start(args, format);
	int rc = vasprintf(&path, format, args);
	va_end(args);
	add_owned(list, rc < 0 ? NULL : path);
}

void path_list_add_each(struct path_list *list, const char *const *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		path_list_add(list, items[i]);
}

void path_list_add_all(struct path_list *list, const struct path_list *from)
{
	for (size_t i = 0; i < from->count; i++)
		path_list_add(list, from->items[i]);
}

void path_list_clear(struct path_list *list)
{
	while (list->count)
		free(list->items[--list->count]);
}

void path_list_done(struct path_list *list)
{
	path_list_clear(list);
	free(list->items);
	*list = (struct path_list){0};
}

json_t *path_list_encode(const struct path_list *list)
{
	if (!list->items)
		return NULL;
	json_auto_t *texts = json_array();
	for (size_t i = 0; i < list->count; i++)
		if (json_array_append_new(texts, json_string(list->items[i])))
			return NULL;
	return json_incref(texts);
}

struct path_list path_list_decode(const json_t *texts)
{
	struct path_list list = {0};
	size_t i;
	const json_t *text;
	path_list_give(&list);
	json_array_foreach ((json_t *)(uintptr_t)texts, i, text)
		path_list_add(&list, json_string_value(text));
	return list;
}
