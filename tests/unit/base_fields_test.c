/* base: a JSON object into a struct, as a table of its fields says. */
#include "base/fields.h"
#include "tests/kit/tap.h"
#include <string.h>

struct thing {
	int64_t number, word, inner, port;
	bool flag;
	const char *text;
	const json_t *list, *object;
};

static bool is_lower(const char *text)
{
	return !text[strspn(text, "abcdefghijklmnopqrstuvwxyz")];
}

static const struct fields_row table[] = {
#define FIELD(kind, name, needed, member, least, most, what, is)                                   \
	{                                                                                          \
		name, FIELD_##kind, needed, offsetof(struct thing, member), least, most, what, is  \
	}
	FIELD(NUMBER, "number", true, number, -2, 5, NULL, NULL),
	FIELD(WORD, "word", false, word, 0, 0, "\"one\", \"two\" or an object", NULL),
	FIELD(NUMBER, "word.port", true, port, 1, 9, NULL, NULL),
	FIELD(FLAG, "flag", false, flag, 0, 0, "true or false", NULL),
	FIELD(TEXT, "text", false, text, 1, 4, "1 to 4 small letters", is_lower),
	FIELD(LIST, "list", false, list, 1, 2, "one or two words", is_lower),
	FIELD(OBJECT, "object", false, object, 0, 1, "an object of at most one", NULL),
	FIELD(MEMBERS, "members", false, inner, 0, 0, "an object", NULL),
	FIELD(NUMBER, "members.inner", false, inner, 0, 9, NULL, NULL),
	{.name = ""},
};

static int decode(const char *text, struct thing *thing, json_t **json, struct err *e)
{
	*json = json_loads(text, JSON_DECODE_ANY, NULL);
	*thing = (struct thing){.port = -1, .text = "before"};
	*e = ERR_NONE;
	return fields_read(table, *json, thing, e);
}

static void test_taken(void)
{
	struct thing t;
	struct err e;
	json_t *json;
	ok(!decode("{\"number\":-2}", &t, &json, &e), "the least: %s", e.text);
	is(t.number, -2, "its number");
	is_str(t.text, "before", "what is left out stays");
	json_decref(json);
	ok(!decode("{\"number\":5,\"word\":\"two\",\"flag\":true,\"text\":\"abcd\","
		   "\"list\":[\"a\",\"\"],\"object\":{\"x\":1},\"members\":{\"inner\":9}}",
		   &t, &json, &e),
		"the most: %s", e.text);
	is(t.word, 1, "a word is its place");
	ok(t.flag, "a flag");
	is_str(t.text, "abcd", "a text");
	is(json_array_size(t.list), 2, "a list");
	is(json_object_size(t.object), 1, "an object");
	is(t.inner, 9, "a member of one");
	json_decref(json);
	ok(!decode("{\"number\":0,\"word\":{\"port\":3},\"members\":{}}", &t, &json, &e),
		"an object in a word's place: %s", e.text);
	is(t.port, 3, "its member");
	json_decref(json);
}

static void test_refused(void)
{
	static const char *const rows[][2] = {
		{"[]", "must be one JSON object"},
		{"{}", "the field \"number\" is missing"},
		{"{\"numbers\":1}", "there is no field \"numbers\""},
		{"{\"number\":6}", "\"number\" must be an integer from -2 to 5"},
		{"{\"number\":-3}", "\"number\" must be"},
		{"{\"number\":1.0}", "\"number\" must be"},
		{"{\"number\":null}", "\"number\" must be"},
		{"{\"word\":\"three\"}", "\"word\" must be \"one\", \"two\" or an object"},
		{"{\"word\":\"\"}", "\"word\""},
		{"{\"word\":\"port\"}", "\"word\""},
		{"{\"word\":\"one\\\", \\\"two\"}", "\"word\""},
		{"{\"word\":{}}", "the field \"word.port\" is missing"},
		{"{\"word\":{\"port\":10}}", "\"word.port\" must be"},
		{"{\"word\":{\"port\":1,\"x\":1}}", "there is no field \"word.x\""},
		{"{\"word.port\":1}", "there is no field \"word.port\""},
		{"{\"flag\":1}", "\"flag\" must be true or false"},
		{"{\"text\":\"\"}", "\"text\""},
		{"{\"text\":\"abcde\"}", "\"text\""},
		{"{\"text\":\"A\"}", "\"text\""},
		{"{\"text\":1}", "\"text\""},
		{"{\"list\":[]}", "\"list\" must be one or two words"},
		{"{\"list\":[\"a\",\"b\",\"c\"]}", "\"list\""},
		{"{\"list\":[\"\",\"b\"]}", "\"list\""},
		{"{\"list\":[\"a\",1]}", "\"list\""},
		{"{\"list\":[\"a\",\"B\"]}", "\"list\""},
		{"{\"list\":{}}", "\"list\""},
		{"{\"object\":[]}", "\"object\""},
		{"{\"object\":{\"x\":1,\"y\":1}}", "\"object\" must be an object of at most one"},
		{"{\"members\":1}", "\"members\" must be an object"},
		{"{\"members\":{\"inner\":10}}", "\"members.inner\" must be"},
		{"{\"members\":{\"number\":1}}", "there is no field \"members.number\""},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct thing t;
		struct err e;
		json_t *json;
		is(decode(rows[i][0], &t, &json, &e), -1, "refused: %s", rows[i][0]);
		has_str(e.text, rows[i][1], "and said why");
		json_decref(json);
	}
}

int main(void)
{
	test_taken();
	test_refused();
	return tap_done();
}
