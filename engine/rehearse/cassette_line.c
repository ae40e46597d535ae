#include "rehearse/cassette.h"

#include "base/json.h"
#include <string.h>

/* A key that an object may hold, as schema/cassette.schema.json says. */
struct cassette_key {
	const char *name, *must_be;
	json_type type;         /* JSON_NULL: anything */
	json_int_t least, most; /* of an integer */
};

static bool fits(const json_t *value, const struct cassette_key *field)
{
	if (field->type == JSON_NULL)
		return true;
	if (json_typeof(value) != field->type)
		return false;
	return field->type != JSON_INTEGER || (json_integer_value(value) >= field->least &&
						      json_integer_value(value) <= field->most);
}

static int unknown_key(
	const char *key, const struct cassette_key *fields, size_t count, struct err *e)
{
	AUTO_BUF names = BUF_INIT(1024);
	for (size_t i = 0; i < count; i++)
		buf_addf(&names, "%s\"%s\"", i ? ", " : "", fields[i].name);
	return err_set(e, "unknown key \"%.100s\"; those there are: %s", key, names.data);
}

static int check_fields(
	const json_t *object, const struct cassette_key *fields, size_t count, struct err *e)
{
	const char *key;
	json_t *value;
	json_object_foreach ((json_t *)(uintptr_t)object, key, value) {
		size_t i = 0;
		while (i < count && strcmp(key, fields[i].name))
			i++;
		if (i == count)
			return unknown_key(key, fields, count, e);
		if (!fits(value, &fields[i]))
			return err_set(e, "\"%s\" must be %s", key, fields[i].must_be);
	}
	return 0;
}

#define TEXT(name)                                                                                 \
	{                                                                                          \
		name, "text", JSON_STRING, 0, 0                                                    \
	}
#define OBJECT(name)                                                                               \
	{                                                                                          \
		name, "an object", JSON_OBJECT, 0, 0                                               \
	}
#define COUNT(name)                                                                                \
	{                                                                                          \
		name, "an integer of 0 or more", JSON_INTEGER, 0, INT64_MAX                        \
	}

static int check_usage(const json_t *usage, struct err *e)
{
	static const struct cassette_key fields[] = {
		COUNT("input_tokens"), COUNT("output_tokens"), COUNT("cached_tokens")};
	return check_fields(usage, fields, ARRAY_LEN(fields), e) ? err_wrap(e, "reply.usage") : 0;
}

static int check_match(const json_t *match, struct err *e)
{
	static const struct cassette_key fields[] = {TEXT("model"), TEXT("system"), TEXT("prompt"),
		TEXT("last"), COUNT("turn"), {"tools", "a list", JSON_ARRAY, 0, 0},
		{"messages", "a list", JSON_ARRAY, 0, 0}};
	return check_fields(match, fields, ARRAY_LEN(fields), e) ? err_wrap(e, "match") : 0;
}

static int check_reply(const json_t *reply, struct err *e)
{
	static const struct cassette_key fields[] = {TEXT("text"),
		{"tool_calls", "a list", JSON_ARRAY, 0, 0}, TEXT("thinking"), OBJECT("usage"),
		TEXT("stop"), {"delay_ms", "an integer from 0 to 600000", JSON_INTEGER, 0, 600000},
		{"status", "an HTTP status, 200 to 599", JSON_INTEGER, 200, 599}, TEXT("error"),
		COUNT("retry_after_secs")};
	static const struct cassette_key call_fields[] = {TEXT("name"), OBJECT("arguments")};
	size_t i;
	json_t *call;
	if (check_fields(reply, fields, ARRAY_LEN(fields), e))
		return err_wrap(e, "reply");
	json_array_foreach (json_object_get(reply, "tool_calls"), i, call) {
		if (check_fields(call, call_fields, ARRAY_LEN(call_fields), e))
			return err_wrap(e, "reply.tool_calls");
		if (json_object_size(call) != ARRAY_LEN(call_fields))
			return err_set(e,
				"reply.tool_calls needs {\"name\": TEXT, \"arguments\": OBJECT}");
	}
	return check_usage(json_object_get(reply, "usage"), e);
}

/* Checks a line for a wait: the rehearsal's runner pokes, so it is not played here. */
static int check_poke(const json_t *value, struct err *e)
{
	static const struct cassette_key line[] = {TEXT("state"), OBJECT("poke")};
	static const struct cassette_key fields[] = {
		TEXT("message"), {"data", NULL, JSON_NULL, 0, 0}};
	const json_t *poke = json_object_get(value, "poke");
	if (check_fields(value, line, ARRAY_LEN(line), e))
		return err_wrap(e, "a line with \"poke\"");
	if (check_fields(poke, fields, ARRAY_LEN(fields), e))
		return err_wrap(e, "poke");
	return json_object_size(poke) > 1
		       ? err_set(e, "\"poke\" takes {\"message\": TEXT} or {\"data\": JSON}")
		       : 0;
}

static int check_exchange(const json_t *value, struct err *e)
{
	static const struct cassette_key fields[] = {
		TEXT("state"), OBJECT("match"), OBJECT("reply")};
	if (!json_is_object(value))
		return err_set(e, "a line is an object {\"state\", \"match\", \"reply\"}");
	if (!json_is_string(json_object_get(value, "state")))
		return err_set(e, "\"state\" must name a state");
	if (json_object_get(value, "poke"))
		return check_poke(value, e);
	if (check_fields(value, fields, ARRAY_LEN(fields), e) ||
		check_match(json_object_get(value, "match"), e))
		return -1;
	if (!json_object_get(value, "reply"))
		return err_set(e, "\"reply\" must be an object");
	return check_reply(json_object_get(value, "reply"), e);
}

json_t *cassette_line(const char *text, size_t len, struct err *e)
{
	struct json_cap cap = {len, JSON_DEPTH_MAX, SIZE_MAX};
	json_auto_t *value = json_read_nested(text, len, cap, e);
	return value && !check_exchange(value, e) ? TAKE_PTR(value) : NULL;
}
