#include "agent/tools/list.h"
#include "agent/tools/tool.h"

#include "base/json.h"
#include "types/types.h"

static const struct tool *const tools[] = {
#define TOOL(name) &tool_##name,
	TOOL_LIST(TOOL)
#undef TOOL
};

const struct tool *tool_find(const char *name, unsigned mode)
{
	for (size_t i = 0; i < ARRAY_LEN(tools); i++)
		if ((tools[i]->modes & mode) && !strcmp(tools[i]->name, name))
			return tools[i];
	return NULL;
}

void tool_names(unsigned mode, struct buf *out)
{
	const char *between = "";
	for (size_t i = 0; i < ARRAY_LEN(tools); i++)
		if (tools[i]->modes & mode) {
			buf_addf(out, "%s%s", between, tools[i]->name);
			between = ", ";
		}
}

static json_t *arg_schema(const struct tool_arg *tool_arg)
{
	static const char *const types[] = {
		[ARG_STR] = "string", [ARG_INT] = "integer", [ARG_LIST] = "array"};
	json_t *schema = json_pack(
		"{s:s, s:s}", "type", types[tool_arg->kind], "description", tool_arg->description);
	if (tool_arg->kind == ARG_LIST)
		json_object_set_new(schema, "items", json_loads(tool_arg->items, 0, NULL));
	return schema;
}

static json_t *schema_of(const struct tool *tool)
{
	json_t *properties = json_object(), *required = json_array();
	for (const struct tool_arg *a = tool->args; a->name; a++) {
		json_object_set_new(properties, a->name, arg_schema(a));
		if (a->required)
			json_array_append_new(required, json_string(a->name));
	}
	return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties,
		"required", required, "additionalProperties", 0);
}

json_t *tool_declarations(unsigned mode)
{
	json_t *list = json_array();
	for (size_t i = 0; i < ARRAY_LEN(tools); i++)
		if (tools[i]->modes & mode)
			json_array_append_new(
				list, json_pack("{s:s, s:s, s:o}", "name", tools[i]->name,
					      "description", tools[i]->description, "input_schema",
					      schema_of(tools[i])));
	return list;
}

static const struct tool_arg *arg_find(const struct tool *tool, const char *name)
{
	for (const struct tool_arg *a = tool->args; a->name; a++)
		if (!strcmp(a->name, name))
			return a;
	return NULL;
}

/* Parses, in place, strings that hold the objects of a list. */
static void coerce_items(const struct tool_arg *tool_arg, json_t *list)
{
	static const struct record any = {.name = "object"};
	json_auto_t *schema = json_loads(tool_arg->items, 0, NULL);
	size_t i;
	json_t *item;
	if (strcmp(json_get_text(schema, "type"), "object") != 0)
		return;
	json_array_foreach (list, i, item)
		json_array_set_new(
			list, i, value_coerce((struct type){TYPE_RECORD, .record = &any}, item));
}

json_t *tool_coerce(const struct tool *tool, const json_t *arguments)
{
	json_t *own = json_deep_copy(arguments);
	for (const struct tool_arg *a = tool->args; json_is_object(own) && a->name; a++) {
		const json_t *value = json_object_get(own, a->name);
		struct type t = {.kind = a->kind == ARG_INT ? TYPE_INT : TYPE_LIST};
		if (!value || a->kind == ARG_STR)
			continue;
		json_object_set_new(own, a->name, value_coerce(t, value));
		if (a->kind == ARG_LIST)
			coerce_items(a, json_object_get(own, a->name));
	}
	return own;
}

static bool kind_is(enum tool_arg_kind kind, const json_t *value)
{
	switch (kind) {
	case ARG_STR: return json_is_string(value);
	case ARG_INT: return json_is_integer(value);
	case ARG_LIST: return json_is_array(value);
	}
	return false;
}

static void say_taken(const struct tool *tool, struct buf *out)
{
	const struct tool_arg *a = tool->args;
	buf_adds(out, a->name ? "it takes " : "it takes none");
	for (; a->name; a++)
		buf_addf(out, "%s%s", a->name, a[1].name ? ", " : "");
	buf_adds(out, ".\n");
}

/* Returns the name of a kind for an error message, which also covers a list or a number in
 * quotes. */
static const char *kind_name(enum tool_arg_kind kind, const json_t *value)
{
	static const char *const kinds[] = {[ARG_STR] = "a string",
		[ARG_INT] = "an integer, a number without quotes",
		[ARG_LIST] = "a list"};
	bool quoted = kind == ARG_LIST && json_is_string(value);
	return quoted ? "a list, not a string that holds one" : kinds[kind];
}

int tool_check(const struct tool *tool, const json_t *arguments, struct buf *out)
{
	size_t before = out->len;
	const char *key;
	json_t *value;
	if (!json_is_object(arguments))
		buf_addf(out, "The arguments of %s must be one JSON object.\n", tool->name);
	json_object_foreach ((json_t *)(uintptr_t)arguments, key, value) {
		const struct tool_arg *a = arg_find(tool, key);
		if (!a) {
			buf_addf(out, "%s has no argument %.80s; ", tool->name, key);
			say_taken(tool, out);
		} else if (!kind_is(a->kind, value) && (a->required || !json_is_null(value))) {
			buf_addf(out, "Argument %s of %s must be %s.\n", key, tool->name,
				kind_name(a->kind, value));
		}
	}
	for (const struct tool_arg *a = tool->args; a->name; a++)
		if (a->required && !json_object_get(arguments, a->name))
			buf_addf(out, "Argument %s of %s is missing: %s.\n", a->name, tool->name,
				a->description);
	return out->len == before ? 0 : -1;
}

const char *tool_text(const json_t *arguments, const char *name, const char *fallback)
{
	const char *text = json_string_value(json_object_get(arguments, name));
	return text ? text : fallback;
}

const char *tool_path(const json_t *arguments)
{
	const char *path = tool_text(arguments, "path", "");
	return *path ? path : ".";
}

int64_t tool_number(const json_t *arguments, const char *name, int64_t fallback)
{
	const json_t *value = json_object_get(arguments, name);
	return json_is_integer(value) ? json_integer_value(value) : fallback;
}
