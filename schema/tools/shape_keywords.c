#include "schema/tools/shape_gen.h"

#include "schema/doc.h"
#include <string.h>

static bool is_annotation(const char *key)
{
	static const char *const keys[] = {"$schema", "$id", "$defs", "$comment", "title",
		"description", "default", "examples"};
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

static void only_keywords(const json_t *schema, const char *place, const char *const *allowed)
{
	const char *key;
	json_t *value;
	json_object_foreach ((json_t *)(uintptr_t)schema, key, value) {
		const char *const *a = allowed;
		while (*a && strcmp(*a, key))
			a++;
		if (!*a && !is_annotation(key))
			fail(place, "the keyword `%s` is not supported here", key);
	}
}

const json_t *resolve(const json_t *schema, const char *place)
{
	const char *ref = json_string_value(json_object_get(schema, "$ref"));
	if (!ref)
		return schema;
	only_keywords(schema, place, (const char *const[]){"$ref", NULL});
	if (strncmp(ref, "#/$defs/", 8))
		fail(place, "$ref must be #/$defs/NAME");
	const json_t *to = json_object_get(json_object_get(root, "$defs"), ref + 8);
	if (!to)
		fail(place, "nothing is called %s", ref);
	if (json_object_get(to, "$ref"))
		fail(place, "a $ref to a $ref");
	return to;
}

static unsigned kind_of_type(const char *type, const char *place)
{
	static const struct {
		const char *name;
		unsigned kinds;
	} types[] = {
		{"null", 1u << DOC_NULL},
		{"boolean", 1u << DOC_BOOL},
		{"integer", 1u << DOC_INT},
		{"number", 1u << DOC_INT | 1u << DOC_FLOAT},
		{"string", 1u << DOC_STR},
		{"array", 1u << DOC_LIST},
		{"object", 1u << DOC_MAP},
	};
	for (size_t i = 0; type && i < ARRAY_LEN(types); i++)
		if (!strcmp(type, types[i].name))
			return types[i].kinds;
	fail(place, "`type` must be one of the seven names");
}

/* Returns the type of `"type": "string"`, or `"type": ["string", "null"]`. NULL: it has none. */
static const char *type_of(const json_t *schema, bool *nullable)
{
	const json_t *type = json_object_get(schema, "type");
	const char *other = json_string_value(json_array_get(type, 1));
	*nullable = json_array_size(type) == 2 && other && !strcmp(other, "null");
	return json_string_value(*nullable ? json_array_get(type, 0) : type);
}

unsigned kinds_of(const json_t *schema, const char *place)
{
	schema = resolve(schema, place);
	const json_t *constant = json_object_get(schema, "const");
	bool nullable;
	const char *type = type_of(schema, &nullable);
	if (json_object_get(schema, "type"))
		return kind_of_type(type, place) | (nullable ? 1u << DOC_NULL : 0);
	if (json_object_get(schema, "enum") || json_is_string(constant))
		return 1u << DOC_STR;
	if (json_is_integer(constant))
		return 1u << DOC_INT;
	if (json_is_boolean(constant))
		return 1u << DOC_BOOL;
	return 0;
}

bool is_command(const json_t *schema)
{
	const char *comment = json_string_value(json_object_get(schema, "$comment"));
	return comment && !strcmp(comment, "command");
}

bool is_filled(const json_t *property)
{
	const char *comment = json_string_value(json_object_get(property, "$comment"));
	return comment && !strcmp(comment, "required after defaults");
}

void check_keywords(const json_t *schema, const char *place)
{
	static const struct {
		const char *type;
		const char *const keywords[12];
	} by_type[] = {
		{"string", {"type", "pattern", "minLength", "maxLength", "enum", "const"}},
		{"array", {"type", "items", "minItems", "maxItems", "uniqueItems"}},
		{"object",
			{"type", "properties", "required", "additionalProperties", "propertyNames",
				"minProperties", "maxProperties", "oneOf", "allOf"}},
		{"integer", {"type", "minimum", "maximum", "const"}},
		{"number", {"type", "minimum", "maximum", "exclusiveMinimum"}},
		{"boolean", {"type", "const"}},
		{"null", {"type"}},
	};
	bool nullable;
	const char *type = type_of(schema, &nullable);
	if (!json_object_get(schema, "type")) {
		static const char *const bare[] = {"enum", "const", "oneOf", "not", NULL};
		only_keywords(schema, place, bare);
		return;
	}
	kind_of_type(type, place);
	for (size_t i = 0; i < ARRAY_LEN(by_type); i++)
		if (!strcmp(type, by_type[i].type))
			only_keywords(schema, place, by_type[i].keywords);
	const json_t *rest = json_object_get(schema, "additionalProperties");
	const json_t *items = json_object_get(schema, "items");
	unsigned kinds = items ? kinds_of(items, place) : 0;
	if (json_object_get(schema, "uniqueItems") && kinds != 1u << DOC_STR &&
		kinds != 1u << DOC_INT)
		fail(place, "uniqueItems is supported for strings and integers only");
	if (json_object_get(schema, "$comment") && (strcmp(type, "array") || !is_command(schema)))
		fail(place, "the only `$comment` is `command`, of an array");
	if (!strcmp(type, "object") && !json_is_object(rest) && !json_is_false(rest))
		fail(place, "an object must say what additionalProperties are");
}
