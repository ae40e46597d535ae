/* Records as data for a pipe, and as the JSON Schema a model sees. */
#include "base/json.h"
#include "tests/kit/tap.h"
#include "types/types.h"
#include <string.h>

static const char *const labels[] = {"urgent", "normal"};
static const struct field inner_fields[] = {{.name = "why", .type = {.kind = TYPE_STR}}};
static const struct record inner = {.name = "inner", .fields = inner_fields, .field_count = 1};
static const struct field fields[] = {
	{.name = "label",
		.type = {.kind = TYPE_STR},
		.constraint = {.values = labels, .value_count = 2}},
	{.name = "tags", .type = {.kind = TYPE_LIST, .item = TYPE_FLOAT}, .optional = true},
	{.name = "inner", .type = {.kind = TYPE_RECORD, .record = &inner}},
	{.name = "any", .type = {.kind = TYPE_JSON}},
	{.name = "all",
		.description = "each",
		.type = {.kind = TYPE_LIST, .item = TYPE_RECORD, .record = &inner},
		.constraint = {.max_len = 5}},
	{.name = "share",
		.type = {.kind = TYPE_FLOAT},
		.constraint = {.min = {true, false, 0, 0.5}, .max = {true, true, 1, 1}}},
	{.name = "words",
		.type = {.kind = TYPE_LIST, .item = TYPE_STR},
		.constraint = {.values = labels, .value_count = 2}},
	{.name = "short", .type = {.kind = TYPE_STR}, .constraint = {.max_len = 9}},
};
static const struct record outer = {
	.name = "outer", .fields = fields, .field_count = ARRAY_LEN(fields)};

static const char data[] =
	"{\"fields\":[{\"enum\":[\"urgent\",\"normal\"],\"name\":\"label\",\"type\":\"str\"},"
	"{\"name\":\"tags\",\"optional\":true,\"type\":\"list[float]\"},"
	"{\"name\":\"inner\",\"type\":{\"fields\":[{\"name\":\"why\",\"type\":\"str\"}],"
	"\"name\":\"inner\"}},{\"name\":\"any\",\"type\":\"json\"},"
	"{\"description\":\"each\",\"max_len\":5,\"name\":\"all\",\"type\":{\"list\":{\"fields\":"
	"[{\"name\":\"why\",\"type\":\"str\"}],\"name\":\"inner\"}}},"
	"{\"max\":1,\"min\":0.5,\"name\":\"share\",\"type\":\"float\"},"
	"{\"enum\":[\"urgent\",\"normal\"],\"name\":\"words\",\"type\":\"list[str]\"},"
	"{\"max_len\":9,\"name\":\"short\",\"type\":\"str\"}],\"name\":\"outer\"}";

static void round_trip(void)
{
	struct arena arena;
	struct err e = ERR_NONE;
	json_auto_t *json = record_to_json(&outer);
	AUTO_FREE char *text = json_text(json);
	is_str(text, data, "a record as data");
	arena_init(&arena);
	const struct record *back = record_from_json(json, &arena, &e);
	if (ok(back != NULL, "reads back: %s", e.text)) {
		json_auto_t *again = record_to_json(back);
		ok(json_equal(json, again), "and is the same");
		ok(record_field(back, "tags")->optional, "optional survives");
		is_str(type_name(record_field(back, "tags")->type), "list[float]", "types too");
	}
	arena_done(&arena);
}

static void schema(void)
{
	json_auto_t *json = record_json_schema(&outer);
	AUTO_FREE char *text = json_text(json);
	is_str(text,
		"{\"additionalProperties\":false,\"properties\":{\"all\":{\"description\":\"each\","
		"\"items\":{\"additionalProperties\":false,\"properties\":{\"why\":{\"type\":"
		"\"string\"}},\"required\":[\"why\"],\"type\":\"object\"},\"maxItems\":5,"
		"\"type\":\"array\"},\"any\":{},"
		"\"inner\":{\"additionalProperties\":false,\"properties\":{\"why\":{\"type\":"
		"\"string\"}},\"required\":[\"why\"],\"type\":\"object\"},"
		"\"label\":{\"enum\":[\"urgent\",\"normal\"],\"type\":\"string\"},"
		"\"share\":{\"maximum\":1,\"minimum\":0.5,\"type\":\"number\"},"
		"\"short\":{\"maxLength\":9,\"type\":\"string\"},"
		"\"tags\":{\"items\":{\"type\":\"number\"},\"type\":\"array\"},"
		"\"words\":{\"items\":{\"enum\":[\"urgent\",\"normal\"],\"type\":\"string\"},"
		"\"type\":\"array\"}},"
		"\"required\":[\"label\",\"inner\",\"any\",\"all\",\"share\",\"words\",\"short\"],"
		"\"type\":\"object\"}",
		"JSON Schema");
}

static void refused(const char *text, const char *why)
{
	struct arena arena;
	struct err e = ERR_NONE;
	json_auto_t *json = json_read(text, strlen(text), 1 << 20, &e);
	arena_init(&arena);
	ok(json && !record_from_json(json, &arena, &e), "refused: %.60s", text);
	has_str(e.text, why, "and why");
	arena_done(&arena);
}

static void hostile(void)
{
	refused("[]", "needs a name and fields");
	refused("{\"name\":\"r\",\"fields\":[{}]}", "a field needs a name");
	refused("{\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":\"text\"}]}", "type name");
	refused("{\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":\"str\",\"enum\":[]}]}",
		"at least one");
	refused("{\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":\"str\"},"
		"{\"name\":\"a\",\"type\":\"int\"}]}",
		"two fields");
	refused("{\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":\"int\",\"min\":\"1\"}]}",
		"must be numbers");
	refused("{\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":\"str\",\"max_len\":0}]}",
		"positive");
	refused("{\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":{\"list\":{}}}]}",
		"needs a name and fields");
	json_auto_t *deep = json_pack("{s:s, s:[]}", "name", "r", "fields");
	for (int i = 0; i < 70; i++)
		deep = json_pack(
			"{s:s, s:[{s:s, s:o}]}", "name", "r", "fields", "name", "f", "type", deep);
	struct arena arena;
	struct err e = ERR_NONE;
	arena_init(&arena);
	ok(!record_from_json(deep, &arena, &e), "70 nested records are refused");
	has_str(e.text, "deeper than 64", "and why");
	arena_done(&arena);
}

static void names(void)
{
	static const char *const all[] = {"str", "int", "float", "bool", "json", "list[str]",
		"list[int]", "list[float]", "list[bool]"};
	struct type t;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		ok(type_scalar(all[i], &t) && !strcmp(type_name(t), all[i]), "%s", all[i]);
	ok(!type_scalar("list", &t) && !type_scalar("list[json]", &t), "not types");
}

/* Stands in front of the C library's, so that what a search costs is counted. */
static size_t compares;
int strcmp(const char *a, const char *b)
{
	compares++;
	while (*a && *a == *b)
		a++, b++;
	return (unsigned char)*a - (unsigned char)*b;
}

/* A record of 2^bits fields: read, and each field looked up. */
static void large(size_t bits)
{
	size_t n = (size_t)1 << bits, found = 0;
	struct arena arena;
	struct err e = ERR_NONE;
	json_auto_t *json = json_pack("{s:s, s:[]}", "name", "r", "fields");
	for (size_t i = 0; i < n; i++) {
		char name[32];
		snprintf(name, sizeof(name), "field_%zu", i * 7919 % n);
		json_array_append_new(json_object_get(json, "fields"),
			json_pack("{s:s, s:s}", "name", name, "type", "str"));
	}
	arena_init(&arena);
	compares = 0;
	const struct record *r = record_from_json(json, &arena, &e);
	ok(r && compares <= n * (bits + 4), "%zu fields are read in %zu compares", n, compares);
	compares = 0;
	for (size_t i = 0; r && i < n; i++)
		found += record_field(r, r->fields[i].name) == &r->fields[i];
	is(found, n, "each is found");
	ok(compares && compares <= n * (bits + 1), "in %zu compares", compares);
	ok(r && !record_field(r, "field_") && !record_field(r, "field_x"), "others are not");
	json_auto_t *again = r ? record_to_json(r) : NULL;
	ok(json_equal(json, again), "and they keep their order");
	arena_done(&arena);
}

int main(void)
{
	round_trip();
	schema();
	hostile();
	names();
	large(0);
	large(6);
	large(12);
	return tap_done();
}
