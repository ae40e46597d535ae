#include "types/types.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	struct type type;
} plain[] = {
	{"str", {.kind = TYPE_STR}},
	{"int", {.kind = TYPE_INT}},
	{"float", {.kind = TYPE_FLOAT}},
	{"bool", {.kind = TYPE_BOOL}},
	{"json", {.kind = TYPE_JSON}},
	{"list[str]", {.kind = TYPE_LIST, .item = TYPE_STR}},
	{"list[int]", {.kind = TYPE_LIST, .item = TYPE_INT}},
	{"list[float]", {.kind = TYPE_LIST, .item = TYPE_FLOAT}},
	{"list[bool]", {.kind = TYPE_LIST, .item = TYPE_BOOL}},
};

bool type_equal(struct type a, struct type b)
{
	if (a.kind != b.kind)
		return false;
	if (a.kind == TYPE_LIST && a.item != b.item)
		return false;
	return (a.kind != TYPE_RECORD && !type_lists_records(a)) || a.record == b.record;
}

const char *type_name(struct type t)
{
	if (t.kind == TYPE_RECORD)
		return t.record ? t.record->name : "unknown";
	if (type_lists_records(t))
		return t.record ? t.record->list_name : "list";
	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		if (type_equal(plain[i].type, t))
			return plain[i].name;
	return "json";
}

bool type_scalar(const char *text, struct type *out)
{
	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		if (strcmp(plain[i].name, text) == 0) {
			*out = plain[i].type;
			return true;
		}
	return false;
}

void range_end_show(const struct range_end *end, struct buf *out)
{
	if (end->is_integer)
		buf_addf(out, "%lld", (long long)end->integer);
	else
		buf_addf(out, "%.15g", end->number);
}

void constraint_show(const struct constraint *constraint, struct type t, struct buf *out)
{
	const struct range_end *min = &constraint->min, *max = &constraint->max;
	for (size_t i = 0; i < constraint->value_count; i++)
		buf_addf(out, "%s%s", i ? ", " : "one of ", constraint->values[i]);
	if (min->present) {
		buf_adds(out, max->present ? "" : "at least ");
		range_end_show(min, out);
	}
	if (max->present) {
		buf_adds(out, min->present ? " to " : "at most ");
		range_end_show(max, out);
	}
	if (constraint->max_len)
		buf_addf(out, "%sat most %lld %s", constraint->value_count ? ", " : "",
			(long long)constraint->max_len,
			t.kind == TYPE_STR ? "characters" : "items");
}

struct type type_item(struct type list)
{
	return (struct type){.kind = list.item, .record = list.record};
}

static int compare_names(const void *a, const void *b)
{
	const struct field *const *x = a, *const *y = b;
	return strcmp((*x)->name, (*y)->name);
}

const struct field *record_sort(struct record *record, struct arena *arena)
{
	const struct field **sorted = arena_array(arena, record->field_count, sizeof(*sorted));
	for (size_t i = 0; i < record->field_count; i++)
		sorted[i] = &record->fields[i];
	qsort(sorted, record->field_count, sizeof(*sorted), compare_names);
	record->by_name = sorted;
	size_t size = strlen(record->name) + sizeof("list[]");
	char *list_name = arena_alloc(arena, size);
	snprintf(list_name, size, "list[%s]", record->name);
	record->list_name = list_name;
	for (size_t i = 1; i < record->field_count; i++)
		if (!compare_names(&sorted[i - 1], &sorted[i]))
			return sorted[i];
	return NULL;
}

const struct field *record_field(const struct record *record, const char *name)
{
	const struct field wanted = {.name = name}, *key = &wanted, *const *found = NULL;
	if (record->field_count)
		found = bsearch(
			&key, record->by_name, record->field_count, sizeof(key), compare_names);
	return found ? *found : NULL;
}
