#include "rehearse/neutral_private.h"

#include <string.h>

const char *neutral_string(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

void neutral_begin(struct neutral *neutral, const json_t *body)
{
	*neutral = (struct neutral){
		.object = json_object(), .messages = json_array(), .tools = json_array()};
	json_object_set(neutral->object, "model", json_object_get(body, "model"));
	json_object_set_new(neutral->object, "system", json_string(""));
	json_object_set_new(neutral->object, "tools", neutral->tools);
	json_object_set_new(neutral->object, "messages", neutral->messages);
}

void neutral_speaker(struct neutral *neutral, const char *role)
{
	neutral->turns += !strcmp(role, "assistant");
	json_t *last = json_array_get(neutral->messages, json_array_size(neutral->messages) - 1);
	neutral->current = last;
	if (last && !strcmp(json_string_value(json_object_get(last, "role")), role))
		return;
	neutral->current = json_pack("{s:s}", "role", role);
	json_array_append_new(neutral->messages, neutral->current);
}

/* Appends to a string member, on a line of its own. */
static void add_line(json_t *object, const char *key, const char *text)
{
	const char *before = json_string_value(json_object_get(object, key));
	json_t *both = before && *before ? json_sprintf("%s\n%s", before, text) : json_string(text);
	json_object_set_new(object, key, both);
}

static void add_item(json_t *object, const char *key, json_t *item)
{
	json_t *list = json_object_get(object, key);
	if (!list) {
		list = json_array();
		json_object_set_new(object, key, list);
	}
	json_array_append_new(list, item);
}

void neutral_text(struct neutral *neutral, const char *text)
{
	add_line(neutral->current, "text", text);
}

void neutral_call(struct neutral *neutral, const char *name, json_t *arguments)
{
	add_item(neutral->current, "tool_calls",
		json_pack("{s:s, s:o}", "name", name, "arguments", arguments));
}

void neutral_result(struct neutral *neutral, const char *text)
{
	add_item(neutral->current, "tool_results", json_string(text));
}

void neutral_system(struct neutral *neutral, const char *text)
{
	add_line(neutral->object, "system", text);
}

/* Returns the contents of the newest message: tool results, then text. */
static json_t *last_text(const json_t *message)
{
	json_t *holder = json_object();
	size_t i;
	json_t *result;
	json_array_foreach (json_object_get(message, "tool_results"), i, result)
		add_line(holder, "last", json_string_value(result));
	const char *text = json_string_value(json_object_get(message, "text"));
	if (text)
		add_line(holder, "last", text);
	json_t *last = json_incref(json_object_get(holder, "last"));
	json_decref(holder);
	return last ? last : json_string("");
}

json_t *neutral_end(struct neutral *neutral)
{
	size_t count = json_array_size(neutral->messages);
	json_t *first = json_object_get(json_array_get(neutral->messages, 0), "text");
	json_object_set_new(
		neutral->object, "prompt", first ? json_incref(first) : json_string(""));
	json_object_set_new(
		neutral->object, "last", last_text(json_array_get(neutral->messages, count - 1)));
	json_object_set_new(neutral->object, "turn", json_integer(neutral->turns));
	return neutral->object;
}

bool neutral_tool_name(const char *name)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	size_t len = name ? strlen(name) : 0;
	return len && len <= 64 && strspn(name, allowed) == len;
}
