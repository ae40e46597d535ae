#include "tests/kit/members.h"

#include "contract/line.h"
#include "tests/kit/tap.h"

#include <string.h>

/* Returns a member's schema, through a $ref and past null. */
static const json_t *resolved(const json_t *schema, const json_t *property)
{
	const char *ref = json_string_value(json_object_get(property, "$ref"));
	const json_t *any = json_object_get(property, "anyOf");
	if (ref)
		return json_object_get(json_object_get(schema, "$defs"), ref + strlen("#/$defs/"));
	return any ? resolved(schema, json_array_get(any, 0)) : property;
}

static const char *type_in(const json_t *property)
{
	const json_t *type = json_object_get(property, "type"),
		     *constant = json_object_get(property, "const");
	if (json_object_get(property, "enum"))
		return "enum";
	if (constant)
		return json_is_boolean(constant)   ? "boolean"
		       : json_is_integer(constant) ? "integer"
						   : "string";
	return json_string_value(json_is_array(type) ? json_array_get(type, 0) : type);
}

#define WORDS_COUNT(name, text) +1
static const struct kind {
	const char *row, *type;
	size_t words;
	const char *all; /* the words, each with a comma after it */
} kinds[] = {{"TEXT", "string", 0, NULL}, {"NUMBER", "integer", 0, NULL},
	{"COUNT", "integer", 0, NULL}, {"FLAG", "boolean", 0, NULL}, {"OBJECT", "object", 0, NULL},
	{"LIST", "array", 0, NULL}, {"TOTALS", "object", 0, NULL}, {"USD", "number", 0, NULL},
#define TEXT_AND_COMMA(name, text) text ","
#define CHOICE(row, LIST)                                                                          \
	{                                                                                          \
		row, "enum", 0 LIST(WORDS_COUNT), LIST(TEXT_AND_COMMA)                             \
	}
	{"FACT", NULL, 0, NULL}, CHOICE("OUTCOME", OUTCOMES), CHOICE("WAKER", WAKERS),
	CHOICE("LEVEL", NOTIFY_LEVELS), CHOICE("CAUSE", END_CAUSES), CHOICE("STOPPER", STOPPERS)};

static const struct kind *kind_of(const char *row)
{
	size_t i = 0;
	while (i < ARRAY_LEN(kinds) && strcmp(kinds[i].row, row) != 0)
		i++;
	if (i == ARRAY_LEN(kinds))
		bail("no row has the type %s", row);
	return &kinds[i];
}

/* A line's and an agent's end are some of the outcomes; the other lists are whole. */
static void same_words(const json_t *property, const struct kind *kind, const char *name)
{
	size_t i;
	json_t *word;
	const json_t *words = json_object_get(property, "enum");
	json_array_foreach (words, i, word) {
		char text[64];
		snprintf(text, sizeof(text), "%s,", json_string_value(word));
		ok(strstr(kind->all, text), "%s: %s is one of its words", name, text);
	}
	if (strcmp(kind->row, "OUTCOME") != 0)
		is(json_array_size(words), kind->words, "%s has no other word", name);
}

static bool is_required(const json_t *def, const char *name)
{
	size_t i;
	const json_t *one;
	json_array_foreach (json_object_get(def, "required"), i, one)
		if (!strcmp(json_string_value(one), name))
			return true;
	return false;
}

void members_same(
	const json_t *schema, const json_t *def, const char *name, const struct member *members)
{
	const json_t *properties = json_object_get(def, "properties");
	size_t count = 0;
	for (const struct member *m = members; m->name; m++, count++) {
		const struct kind *kind = kind_of(m->type);
		const json_t *property = json_object_get(properties, m->name);
		ok(property, "%s.%s is in the schema", name, m->name);
		property = resolved(schema, property);
		bool chosen = !strcmp(m->type, "TEXT") && json_object_get(property, "enum");
		if (kind->type && !chosen)
			is_str(type_in(property), kind->type, "%s.%s is of its type", name,
				m->name);
		if (kind->all)
			same_words(property, kind, m->name);
		is(is_required(def, m->name), strcmp(m->when, "ELSE") != 0,
			"%s.%s is always there as the schema says", name, m->name);
	}
	is(json_object_size(properties), count, "%s has no other member", name);
}
