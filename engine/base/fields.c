#include "base/fields.h"

#include <string.h>

/* Where reading is: the members of the object that is called `prefix`, a name and a dot, or "". */
struct reading {
	const struct fields_row *table;
	void *into;
	const char *prefix;
	size_t prefix_len;
};

/* The place of `text` among the words that `what` quotes; -1: it is none of them. */
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

static bool is_between(const struct fields_row *f, size_t value)
{
	return value >= (size_t)f->least && value <= (size_t)f->most;
}

static bool is_text(const struct fields_row *f, const json_t *value)
{
	const char *text = json_string_value(value);
	return text && (!f->is || f->is(text));
}

static bool is_list(const struct fields_row *f, const json_t *list)
{
	size_t i;
	json_t *item;
	json_array_foreach ((json_t *)(uintptr_t)list, i, item)
		if (!is_text(f, item) || (!i && !json_string_length(item)))
			return false;
	return json_is_array(list) && is_between(f, json_array_size(list));
}

static bool read_value(const struct fields_row *f, const json_t *value, void *at)
{
	json_int_t number = json_integer_value(value);
	switch (f->kind) {
	case FIELD_MEMBERS: return false; /* it is no object */
	case FIELD_OBJECT:
		*(const json_t **)at = value;
		return json_is_object(value) && is_between(f, json_object_size(value));
	case FIELD_LIST: *(const json_t **)at = value; return is_list(f, value);
	case FIELD_TEXT:
		*(const char **)at = json_string_value(value);
		return is_text(f, value) && is_between(f, json_string_length(value));
	case FIELD_WORD:
		*(int64_t *)at =
			json_is_string(value) ? find_word(f->what, json_string_value(value)) : -1;
		return *(int64_t *)at >= 0;
	case FIELD_NUMBER:
		*(int64_t *)at = number;
		return json_is_integer(value) && number >= f->least && number <= f->most;
	case FIELD_FLAG: *(bool *)at = json_is_true(value); return json_is_boolean(value);
	}
	return false;
}

static int read_members(const struct reading *r, const json_t *object, struct err *e);

static int read_field(
	const struct reading *r, const struct fields_row *f, json_t *value, struct err *e)
{
	size_t len = strlen(f->name);
	char prefix[64];
	snprintf(prefix, sizeof(prefix), "%s.", f->name);
	if (json_is_object(value) && !strncmp(f[1].name, prefix, len + 1))
		return read_members(
			&(struct reading){r->table, r->into, prefix, len + 1}, value, e);
	if (read_value(f, value, (char *)r->into + f->at))
		return 0;
	return f->what ? err_set(e, "\"%s\" must be %s", f->name, f->what)
		       : err_set(e, "\"%s\" must be an integer from %lld to %lld", f->name,
				 (long long)f->least, (long long)f->most);
}

/* The name of a field among these members; NULL: it is none of them. */
static const char *member(const struct reading *r, const struct fields_row *f)
{
	const char *name = f->name + r->prefix_len;
	return !strncmp(f->name, r->prefix, r->prefix_len) && !strchr(name, '.') ? name : NULL;
}

static const struct fields_row *find(const struct reading *r, const char *name)
{
	for (const struct fields_row *f = r->table; *f->name; f++)
		if (member(r, f) && !strcmp(member(r, f), name))
			return f;
	return NULL;
}

static int read_members(const struct reading *r, const json_t *object, struct err *e)
{
	const char *name;
	json_t *value;
	json_object_foreach ((json_t *)(uintptr_t)object, name, value) {
		const struct fields_row *f = find(r, name);
		if (!f)
			return err_set(e, "there is no field \"%s%s\"", r->prefix, name);
		if (read_field(r, f, value, e))
			return -1;
	}
	for (const struct fields_row *f = r->table; *f->name; f++)
		if (f->needed && member(r, f) && !json_object_get(object, member(r, f)))
			return err_set(e, "the field \"%s\" is missing", f->name);
	return 0;
}

int fields_read(const struct fields_row *table, const json_t *object, void *into, struct err *e)
{
	if (!json_is_object(object))
		return err_set(e, "must be one JSON object");
	return read_members(&(struct reading){table, into, "", 0}, object, e);
}
