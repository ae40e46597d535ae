/*
 * Compiles a JSON Schema (draft 2020-12) into the tables of schema/table.h. A build tool.
 *
 *   shape_gen NAME FILE   writes the struct shape NAME_shape and the JSON text NAME_defaults
 *
 * A keyword, or a use of one, that the tables cannot carry ends the build with its place: a
 * published schema must never say more, or less, than the program checks.
 */
#include "schema/tools/shape_gen.h"
#include "schema/doc.h"
#include <stdarg.h>

enum { SHAPES_MAX = 1000, PLACE_BYTES = 512, KEYS_MAX = 64 };

json_t *root;
const char *prefix;
static struct {
	const json_t *schema;
	bool written;
} known[SHAPES_MAX];
static int known_count;

void fail(const char *place, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fprintf(stderr, "shape_gen: #%s: ", place);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

static void print_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		if (*text == '\n')
			fputs("\\n", stdout);
		else
			putchar(*text);
	}
	putchar('"');
}

/* --- shapes ----------------------------------------------------------------------------------- */

static int emit(const json_t *schema, const char *place);

static int emit_at(const json_t *schema, const char *place, const char *key, const char *name)
{
	char inner[PLACE_BYTES];
	int n = snprintf(
		inner, sizeof(inner), "%s/%s%s%s", place, key, name ? "/" : "", name ? name : "");
	if (n < 0 || (size_t)n >= sizeof(inner))
		fail(place, "nested too deep");
	return emit(schema, inner);
}

static void emit_strings(const char *what, int id, const json_t *strings, const char *place)
{
	printf("static const char *const %s_%s_%d[] = {", prefix, what, id);
	for (size_t i = 0; i < json_array_size(strings); i++) {
		const char *text = json_string_value(json_array_get(strings, i));
		if (!text)
			fail(place, "only strings are supported in `%s`", what);
		print_string(text);
		printf(", ");
	}
	printf("};\n");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool lists(const json_t *required, const char *name)
{
	size_t i;
	json_t *item;
	json_array_foreach (required, i, item)
		if (!strcmp(json_string_value(item), name))
			return true;
	return false;
}

static size_t emit_keys(const json_t *schema, int id, const char *place)
{
	json_t *properties = json_object_get(schema, "properties");
	const json_t *required = json_object_get(schema, "required");
	const char *names[KEYS_MAX], *name;
	int shapes[KEYS_MAX];
	size_t count = 0, at;
	json_t *value;
	if (json_object_size(properties) > KEYS_MAX)
		fail(place, "too many properties");
	json_object_foreach (properties, name, value)
		names[count++] = name;
	qsort(names, count, sizeof(*names), by_name);
	for (at = 0; at < count; at++)
		shapes[at] = emit_at(
			json_object_get(properties, names[at]), place, "properties", names[at]);
	json_array_foreach (required, at, value)
		if (!json_object_get(properties, json_string_value(value)))
			fail(place, "a required key is no property");
	if (count)
		printf("static const struct shape_key %s_keys_%d[] = {\n", prefix, id);
	for (at = 0; at < count; at++) {
		bool filled = is_filled(json_object_get(properties, names[at]));
		printf("\t{\"%s\", &%s_%d, %d, %d},\n", names[at], prefix, shapes[at],
			filled || lists(required, names[at]), filled);
	}
	if (count)
		printf("};\n");
	return count;
}

/* Returns the list of {"required": [...]} without other members; else NULL. */
static const json_t *only_required(const json_t *schema)
{
	const json_t *required = json_object_get(schema, "required");
	return json_object_size(schema) == 1 ? required : NULL;
}

/* Writes groups. oneOf of single required keys: exactly one of them. allOf of not-required: never
 * all of them. */
static size_t emit_groups(const json_t *schema, int id, const char *place)
{
	json_t *lists_of[16], *item;
	bool exactly_one[16] = {false};
	size_t count = 0, i;
	const json_t *one = json_object_get(schema, "oneOf");
	if (one) {
		lists_of[0] = json_array();
		exactly_one[0] = true;
		json_array_foreach (one, i, item) {
			const json_t *required = only_required(item);
			if (json_array_size(required) != 1)
				fail(place, "oneOf in an object must list single required keys");
			json_array_append(lists_of[0], json_array_get(required, 0));
		}
		count = 1;
	}
	json_array_foreach (json_object_get(schema, "allOf"), i, item) {
		const json_t *none = json_object_get(item, "not");
		if (json_object_size(item) != 1 || !only_required(none) || count == 16)
			fail(place, "allOf must hold {not: {required: [...]}}");
		lists_of[count++] = json_incref(json_object_get(none, "required"));
	}
	for (i = 0; i < count; i++) {
		char what[40];
		snprintf(what, sizeof(what), "group_%zu", i);
		emit_strings(what, id, lists_of[i], place);
	}
	if (count)
		printf("static const struct shape_group %s_groups_%d[] = {", prefix, id);
	for (i = 0; i < count; i++) {
		printf("{%s, %s_group_%zu_%d, %zu}, ", exactly_one[i] ? "true" : "false", prefix, i,
			id, json_array_size(lists_of[i]));
		json_decref(lists_of[i]);
	}
	if (count)
		printf("};\n");
	return count;
}

/* Returns the property that is a different constant string in every branch; NULL: there is none. */
static const char *selector_of(const json_t *branches, const char *place)
{
	const json_t *first = resolve(json_array_get(branches, 0), place);
	const char *name;
	json_t *value, *branch;
	size_t i;
	json_object_foreach (json_object_get(first, "properties"), name, value) {
		bool all = true;
		json_array_foreach (branches, i, branch) {
			const json_t *p = json_object_get(
				json_object_get(resolve(branch, place), "properties"), name);
			all &= json_is_string(json_object_get(p, "const"));
		}
		if (all)
			return name;
	}
	return NULL;
}

static void check_kinds_differ(const json_t *branches, const char *place)
{
	unsigned seen = 0;
	size_t i;
	json_t *branch;
	json_array_foreach (branches, i, branch) {
		unsigned kinds = kinds_of(branch, place);
		if (!kinds || kinds & seen)
			fail(place, "oneOf needs branches of different types, or a key with "
				    "different constants");
		seen |= kinds;
	}
}

static void emit_choice(const json_t *branches, int id, const char *place)
{
	const char *selector = selector_of(branches, place);
	int shapes[32];
	size_t i, count = json_array_size(branches);
	json_t *branch;
	if (count > ARRAY_LEN(shapes))
		fail(place, "too many branches");
	if (!selector)
		check_kinds_differ(branches, place);
	json_array_foreach (branches, i, branch)
		shapes[i] = emit_at(branch, place, "oneOf", NULL);
	printf("static const struct shape *const %s_branches_%d[] = {", prefix, id);
	for (i = 0; i < count; i++)
		printf("&%s_%d, ", prefix, shapes[i]);
	printf("};\n");
	if (selector) {
		printf("static const char *const %s_selected_%d[] = {", prefix, id);
		json_array_foreach (branches, i, branch) {
			const json_t *p = json_object_get(resolve(branch, place), "properties");
			print_string(json_string_value(
				json_object_get(json_object_get(p, selector), "const")));
			printf(", ");
		}
		printf("};\n");
	}
	printf("static const struct shape_choice %s_choice_%d = {", prefix, id);
	if (selector)
		printf("\"%s\", %s_selected_%d, ", selector, prefix, id);
	else
		printf("NULL, NULL, ");
	printf("%s_branches_%d, %zu};\n", prefix, id, count);
}

static void print_limit(const char *field, const json_t *value)
{
	if (value)
		printf("\t.%s = %" JSON_INTEGER_FORMAT "u,\n", field, json_integer_value(value));
}

static void print_size_limits(const json_t *schema)
{
	static const char *const least[] = {"minLength", "minItems", "minProperties"};
	static const char *const most[] = {"maxLength", "maxItems", "maxProperties"};
	bool bounded = false;
	for (int i = 0; i < 3; i++) {
		print_limit("least", json_object_get(schema, least[i]));
		print_limit("most", json_object_get(schema, most[i]));
		bounded |= json_object_get(schema, most[i]) != NULL;
	}
	if (!bounded)
		printf("\t.most = SHAPE_NO_LIMIT,\n");
}

static void print_range(const json_t *schema)
{
	const json_t *constant = json_object_get(schema, "const");
	const json_t *least = json_object_get(schema, "minimum");
	const json_t *most = json_object_get(schema, "maximum");
	const json_t *above = json_object_get(schema, "exclusiveMinimum");
	if (json_is_integer(constant))
		least = most = constant;
	if (above)
		least = above;
	if (least)
		printf("\t.minimum = %.17g,\n", json_number_value(least));
	else
		printf("\t.minimum = -HUGE_VAL,\n");
	if (most)
		printf("\t.maximum = %.17g,\n", json_number_value(most));
	else
		printf("\t.maximum = HUGE_VAL,\n");
	if (above)
		printf("\t.above_minimum = true,\n");
}

static void print_text(const char *field, const json_t *value)
{
	if (!value)
		return;
	printf("\t.%s = ", field);
	print_string(json_string_value(value));
	printf(",\n");
}

/* Prints a sentence of the schema as the clause for findings: "Set it there." as "set it there". */
static void print_help(const char *sentence)
{
	size_t len = sentence ? strlen(sentence) : 0;
	if (!len)
		return;
	char *clause = strndup(sentence, len - (sentence[len - 1] == '.'));
	if (!clause)
		abort();
	if (clause[0] >= 'A' && clause[0] <= 'Z' && clause[1] >= 'a' && clause[1] <= 'z')
		clause[0] = (char)(clause[0] + 'a' - 'A');
	json_t *text = json_string(clause);
	print_text("help", text);
	json_decref(text);
	free(clause);
}

struct parts {
	int items, names, rest; /* -1: none */
	size_t keys, groups;
	bool choice;
};

static int emit_part(const json_t *schema, const char *key, const char *place)
{
	const json_t *part = json_object_get(schema, key);
	return json_is_object(part) ? emit_at(part, place, key, NULL) : -1;
}

static struct parts emit_parts(const json_t *schema, int id, const char *place)
{
	const json_t *pattern = json_object_get(schema, "pattern");
	const json_t *values = json_object_get(schema, "enum");
	const json_t *constant = json_object_get(schema, "const");
	bool object = json_object_get(schema, "type") != NULL;
	struct parts p = {
		.items = emit_part(schema, "items", place),
		.names = emit_part(schema, "propertyNames", place),
		.rest = emit_part(schema, "additionalProperties", place),
		.keys = emit_keys(schema, id, place),
		.groups = object ? emit_groups(schema, id, place) : 0,
		.choice = !object && json_object_get(schema, "oneOf"),
	};
	if (p.choice)
		emit_choice(json_object_get(schema, "oneOf"), id, place);
	if (pattern)
		emit_pattern(json_string_value(pattern), id, place);
	if (values)
		emit_strings("values", id, values, place);
	if (json_is_string(constant)) {
		json_auto_t *one = json_pack("[O]", constant);
		emit_strings("values", id, one, place);
	}
	return p;
}

static void print_refs(const struct parts *parts, int id)
{
	if (parts->items >= 0)
		printf("\t.items = &%s_%d,\n", prefix, parts->items);
	if (parts->names >= 0)
		printf("\t.names = &%s_%d,\n", prefix, parts->names);
	if (parts->rest >= 0)
		printf("\t.rest = &%s_%d,\n", prefix, parts->rest);
	if (parts->keys)
		printf("\t.keys = %s_keys_%d, .key_count = %zu,\n", prefix, id, parts->keys);
	if (parts->groups)
		printf("\t.groups = %s_groups_%d, .group_count = %zu,\n", prefix, id,
			parts->groups);
	if (parts->choice)
		printf("\t.choice = &%s_choice_%d,\n", prefix, id);
}

static void print_shape(const json_t *schema, const struct parts *parts, int id, const char *place)
{
	const json_t *constant = json_object_get(schema, "const");
	const json_t *refused = json_object_get(schema, "not");
	size_t values =
		json_is_string(constant) ? 1 : json_array_size(json_object_get(schema, "enum"));
	if (json_object_size(refused))
		fail(place, "`not` must be {} (nothing is right) or in allOf");
	printf("static const struct shape %s_%d = {\n", prefix, id);
	print_text("title", json_object_get(schema, "title"));
	/* If there are several values, each is named, and needs no description. */
	if (refused || json_array_size(json_object_get(schema, "enum")) == 1)
		print_help(json_string_value(json_object_get(schema, "description")));
	printf("\t.refused = %d, .command = %d,\n\t.kinds = 0x%xu,\n", refused != NULL,
		is_command(schema), kinds_of(schema, place));
	printf("\t.boolean = %d,\n", json_is_boolean(constant) ? json_is_true(constant) : -1);
	if (values)
		printf("\t.values = %s_values_%d, .value_count = %zu,\n", prefix, id, values);
	if (json_object_get(schema, "pattern"))
		printf("\t.pattern = &%s_pattern_%d,\n", prefix, id);
	if (json_is_true(json_object_get(schema, "uniqueItems")))
		printf("\t.unique = true,\n");
	print_size_limits(schema);
	print_range(schema);
	print_refs(parts, id);
	printf("};\n");
}

/* Returns a copy without the texts that no table has, so that equal rules have one table. */
static json_t *without_texts(const json_t *schema)
{
	json_t *out = json_copy((json_t *)(uintptr_t)schema);
	if (!json_object_get(schema, "not") && !json_object_get(schema, "enum"))
		json_object_del(out, "description");
	json_object_del(out, "default");
	if (is_filled(schema))
		json_object_del(out, "$comment");
	return out;
}

/* Writes the table of `schema`, its parts first, and returns its number. */
static int emit(const json_t *schema, const char *place)
{
	if (!json_is_object(schema))
		fail(place, "a schema must be an object");
	schema = without_texts(resolve(schema, place));
	for (int i = 0; i < known_count; i++) {
		if (!json_equal(known[i].schema, schema))
			continue;
		if (!known[i].written)
			fail(place, "a schema that contains itself is not supported");
		return i;
	}
	if (known_count == SHAPES_MAX)
		fail(place, "too many subschemas");
	int id = known_count++;
	known[id].schema = schema;
	check_keywords(schema, place);
	struct parts parts = emit_parts(schema, id, place);
	printf("/* #%s */\n", place);
	print_shape(schema, &parts, id, place);
	known[id].written = true;
	return id;
}

/* Returns the declared defaults as one document; below "*" those of entries with free names. NULL:
 * none. */
static json_t *defaults_of(const json_t *schema)
{
	json_t *own = json_object_get(schema, "default"), *value;
	if (own)
		return json_incref(own);
	schema = resolve(schema, "");
	own = json_object_get(schema, "default");
	if (own)
		return json_incref(own);
	json_auto_t *out = json_object();
	const char *name;
	json_object_foreach (json_object_get(schema, "properties"), name, value) {
		json_t *inner = defaults_of(value);
		if (inner)
			json_object_set_new(out, name, inner);
	}
	const json_t *rest = json_object_get(schema, "additionalProperties");
	json_t *inner = json_is_object(rest) ? defaults_of(rest) : NULL;
	if (inner)
		json_object_set_new(out, "*", inner);
	return json_object_size(out) ? json_incref(out) : NULL;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fputs("usage: shape_gen NAME FILE\n", stderr);
		return 2;
	}
	json_error_t why;
	root = json_load_file(argv[2], JSON_REJECT_DUPLICATES, &why);
	if (!root) {
		fprintf(stderr, "%s:%d:%d: %s\n", argv[2], why.line, why.column, why.text);
		return 1;
	}
	prefix = argv[1];
	printf("/* Generated from %s by shape_gen; do not edit. */\n", argv[2]);
	int id = emit(root, "");
	printf("#define %s_shape %s_%d\n", prefix, prefix, id);
	json_auto_t *defaults = defaults_of(root);
	AUTO_FREE char *text = json_dumps(
		defaults ? defaults : json_null(), JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
	printf("static const char %s_defaults[] __attribute__((unused)) = ", prefix);
	print_string(text);
	printf(";\n");
	json_decref(root);
	return 0;
}
