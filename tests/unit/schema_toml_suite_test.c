/* The public TOML 1.0 conformance suite, where it lies beside the checkout
 * (../shared/data/toml-test): every valid file must read as its tagged JSON says, every invalid one
 * be refused. Dates, infinities, NaN, NUL and raw C1 control characters are valid TOML that a
 * document here refuses by name. */
#include "base/io.h"
#include "schema_kit.h"
#include <fcntl.h>
#include <ftw.h>
#include <math.h>

static size_t valid_count, invalid_count;

static bool matches(const struct doc_node *node, const json_t *want);

static bool matches_table(const struct doc_node *node, const json_t *want)
{
	if (node->kind != DOC_MAP || node->count != json_object_size(want))
		return false;
	for (uint32_t i = 0; i < node->count; i++) {
		const struct doc_node *key = &node->pairs[i].key;
		const json_t *value = json_object_getn(want, key->text, key->count);
		if (!value || !matches(&node->pairs[i].value, value))
			return false;
	}
	return true;
}

static bool matches_scalar(const struct doc_node *node, const char *type, const json_t *text)
{
	const char *value = json_string_value(text);
	if (!strcmp(type, "string"))
		return node->kind == DOC_BROKEN
			       ? memchr(value, 0, json_string_length(text)) != NULL
			       : node->kind == DOC_STR && node->count == json_string_length(text) &&
					 !memcmp(node->text, value, node->count);
	if (!strcmp(type, "integer"))
		return node->kind == DOC_INT && node->integer == strtoll(value, NULL, 10);
	if (!strcmp(type, "bool"))
		return node->kind == DOC_BOOL && node->boolean == !strcmp(value, "true");
	if (!strcmp(type, "float")) {
		double number = strtod(value, NULL);
		return isfinite(number) ? node->kind == DOC_FLOAT && node->number == number
					: node->kind == DOC_BROKEN;
	}
	return !strncmp(type, "date", 4) || !strncmp(type, "time", 4) ? node->kind == DOC_BROKEN
								      : false;
}

static bool matches(const struct doc_node *node, const json_t *want)
{
	const char *type = json_string_value(json_object_get(want, "type"));
	const json_t *value = json_object_get(want, "value");
	if (json_is_array(want)) {
		if (node->kind != DOC_LIST || node->count != json_array_size(want))
			return false;
		for (uint32_t i = 0; i < node->count; i++)
			if (!matches(&node->items[i], json_array_get(want, i)))
				return false;
		return true;
	}
	if (type && json_is_string(value) && json_object_size(want) == 2)
		return matches_scalar(node, type, value);
	return matches_table(node, want);
}

static bool only_refused_by_us(const struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		enum rule rule = findings->items[i].rule;
		if (rule != RULE_TOML_DATE && rule != RULE_NOT_FINITE &&
			rule != RULE_NUL_CHARACTER && rule != RULE_CONTROL_CHARACTER)
			return false;
	}
	return true;
}

static void check_valid(const char *path, struct reading *reading)
{
	char json[4096];
	snprintf(json, sizeof(json), "%.*s.json", (int)(strlen(path) - 5), path);
	json_auto_t *want = json_load_file(json, JSON_ALLOW_NUL, NULL);
	valid_count++;
	if (!ok(only_refused_by_us(&reading->findings), "%s", path)) {
		diag("%s", reading_lines(reading));
		return;
	}
	/* Raw C1 characters stop the reader, so there is no tree to compare. */
	if (reading->findings.count && reading->findings.items[0].rule == RULE_CONTROL_CHARACTER)
		return;
	ok(want && reading->doc.root && matches(reading->doc.root, want),
		"%s is what its JSON says", path);
}

static int visit(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)at;
	size_t n = strlen(path);
	AUTO_FREE char *text = NULL;
	size_t len;
	if (kind != FTW_F || n < 5 || strcmp(path + n - 5, ".toml") != 0 ||
		io_read_file(AT_FDCWD, path, 1 << 20, &text, &len, NULL))
		return 0;
	struct reading r;
	reading_bytes(&r, path, text, len);
	if (strstr(path, "/valid/")) {
		check_valid(path, &r);
	} else {
		invalid_count++;
		ok(r.findings.errors > 0, "%s is refused", path);
	}
	reading_done(&r);
	return 0;
}

/* The comparison itself, on a document of our own. */
static void test_comparison(void)
{
	static const char text[] = "i = 0x10\n[t]\nf = 1e1\ns = ['x', true, 1979-05-27, inf]\n";
	static const char same[] = "{'i': {'type': 'integer', 'value': '16'}, 't': {"
				   "'f': {'type': 'float', 'value': '10.0'}, 's': ["
				   "{'type': 'string', 'value': 'x'}, "
				   "{'type': 'bool', 'value': 'true'}, "
				   "{'type': 'date-local', 'value': '1979-05-27'}, "
				   "{'type': 'float', 'value': 'inf'}]}}";
	char json[sizeof(same)];
	for (size_t i = 0; i < sizeof(same); i++)
		json[i] = (char)(same[i] == '\'' ? '"' : same[i]);
	struct reading r;
	reading_init(&r, "a.toml", text);
	json_auto_t *want = json_loads(json, 0, NULL);
	ok(only_refused_by_us(&r.findings), "dates and infinities are refused by name");
	ok(matches(r.doc.root, want), "the rest is what the JSON says");
	json_object_set_new(json_object_get(want, "i"), "value", json_string("17"));
	ok(!matches(r.doc.root, want), "another integer is seen");
	json_object_del(want, "i");
	ok(!matches(r.doc.root, want), "a key too many is seen");
	reading_done(&r);
}

int main(void)
{
	char root[4096];
	test_comparison();
	snprintf(root, sizeof(root), "%s/../shared/data/toml-test", getenv("AGENT6_SRC"));
	if (access(root, R_OK)) {
		diag("the conformance suite does not lie beside the checkout: only our own cases "
		     "ran");
		return tap_done();
	}
	nftw(root, visit, 16, FTW_PHYS);
	is(valid_count, 210, "valid files");
	is(invalid_count, 499, "invalid files");
	return tap_done();
}
