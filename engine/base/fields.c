#include "base/fields.h"

#include <string.h>

/* The object being read: its members are called `prefix`, a name and a dot, or "". */
struct fields_reading {
	const struct fields_row *table;
	void *into;
	const char *prefix;
	size_t prefix_len;
};

/* Returns the index of `text` among the words quoted in `what`; -1: it is none of them. */
static int64_t find_word(const char *what, const char *text)
{
	int64_t at = 0;
	size_t len = strlen(text);
	for (const char *quote = what; !strchr(text, '"') && (quote = strchr(quote, '"')); at++) {
		if (!strncmp(quote + 1, text, len) && quote[1 + len] == '"')
			return at;
		quote = strchr(quote + 1, '"') + 1;
	}
	return -1;
}

static bool is_between(const struct fields_row *row, size_t value)
{
	return value >= (size_t)row->least && value <= (size_t)row->most;
}

static bool is_text(const struct fields_row *row, const json_t *value)
{
	const char *text = json_string_value(value);
	return text && (!row->is || row->is(text));
}

static bool is_list(const struct fields_row *row, const json_t *list)
{
	size_t i;
	json_t *item;
	json_array_foreach ((json_t *)(uintptr_t)list, i, item)
		if (!is_text(row, item) || (!i && !json_string_length(item)))
			return false;
	return json_is_array(list) && is_between(row, json_array_size(list));
}

static bool read_value(const struct fields_row *row, const json_t *value, void *at)
{
	json_int_t number = json_integer_value(value);
	switch (row->kind) {
	case FIELD_MEMBERS: return false; /* not an object */
	case FIELD_OBJECT:
		*(const json_t **)at = value;
		return json_is_object(value) && is_between(row, json_object_size(value));
	case FIELD_LIST: *(const json_t **)at = value; return is_list(row, value);
	case FIELD_TEXT:
		*(const char **)at = json_string_value(value);
		return is_text(row, value) && is_between(row, json_string_length(value));
	case FIELD_WORD:
		*(int64_t *)at =
			json_is_string(value) ? find_word(row->what, json_string_value(value)) : -1;
		return *(int64_t *)at >= 0;
	case FIELD_NUMBER:
		*(int64_t *)at = number;
		return json_is_integer(value) && number >= row->least && number <= row->most;
	case FIELD_FLAG: *(bool *)at = json_is_true(value); return json_is_boolean(value);
	}
	return false;
}

static int read_members(const struct fields_reading *reading, const json_t *object, struct err *e);

static int read_field(const struct fields_reading *reading, const struct fields_row *row,
	json_t *value, struct err *e)
{
	size_t len = strlen(row->name);
	char prefix[64];
	snprintf(prefix, sizeof(prefix), "%s.", row->name);
	if (json_is_object(value) && !strncmp(row[1].name, prefix, len + 1))
		return read_members(
			&(struct fields_reading){reading->table, reading->into, prefix, len + 1},
			value, e);
	if (read_value(row, value, (char *)reading->into + row->at))
		return 0;
	return row->what ? err_set(e, "\"%s\" must be %s", row->name, row->what)
			 : err_set(e, "\"%s\" must be an integer from %lld to %lld", row->name,
				   (long long)row->least, (long long)row->most);
}

/* Returns the name of a field among these members; NULL: it is not one of them. */
static const char *member(const struct fields_reading *reading, const struct fields_row *row)
{
	const char *name = row->name + reading->prefix_len;
	return !strncmp(row->name, reading->prefix, reading->prefix_len) && !strchr(name, '.')
		       ? name
		       : NULL;
}

static const struct fields_row *find(const struct fields_reading *reading, const char *name)
{
	for (const struct fields_row *f = reading->table; *f->name; f++)
		if (member(reading, f) && !strcmp(member(reading, f), name))
			return f;
	return NULL;
}

static int read_members(const struct fields_reading *reading, const json_t *object, struct err *e)
{
	const char *name;
	json_t *value;
	json_object_foreach ((json_t *)(uintptr_t)object, name, value) {
		const struct fields_row *f = find(reading, name);
		if (!f)
			return err_set(e, "there is no field \"%s%s\"", reading->prefix, name);
		if (read_field(reading, f, value, e))
			return -1;
	}
	for (const struct fields_row *f = reading->table; *f->name; f++)
		if (f->needed && member(reading, f) && !json_object_get(object, member(reading, f)))
			return err_set(e, "the field \"%s\" is missing", f->name);
	return 0;
}

int fields_read(const struct fields_row *table, const json_t *object, void *into, struct err *e)
{
	if (!json_is_object(object))
		return err_set(e, "must be one JSON object");
	return read_members(&(struct fields_reading){table, into, "", 0}, object, e);
}
