/* SARIF and GitHub annotations. */
#include "ajv_kit.h"
#include "base/json.h"
#include "schema_kit.h"

static void fill(struct reading *reading)
{
	reading_init(reading, "dir/a b%.yaml", "a: .inf\né: &x 1\na: 2\n");
	findings_sort(&reading->findings);
	reading->findings.items[1].state = "s";
	finding_add(&reading->findings, RULE_CONFIG_NEVER_HONOURED, &reading->doc, NULL,
		"one,\ntwo: 100%%");
	finding_add(
		&reading->findings, RULE_CONFIG_FILE, &(struct doc){.file = "/etc/x"}, NULL, "x");
}

static void test_sarif(struct buf *out)
{
	struct reading r;
	fill(&r);
	findings_sarif(&r.findings, out);
	json_auto_t *log = json_loads(out->data, 0, NULL);
	const json_t *run = json_array_get(json_object_get(log, "runs"), 0);
	const json_t *results = json_object_get(run, "results");
	const json_t *rules =
		json_object_get(json_object_get(json_object_get(run, "tool"), "driver"), "rules");
	is(json_array_size(results), 5, "every finding");
	is(json_array_size(rules), 5, "every rule once");
	for (size_t i = 0; i < json_array_size(results); i++) {
		const json_t *result = json_array_get(results, i);
		const json_t *rule = json_array_get(
			rules, (size_t)json_integer_value(json_object_get(result, "ruleIndex")));
		is_str(json_string_value(json_object_get(result, "ruleId")),
			json_string_value(json_object_get(rule, "id")), "its rule");
	}
	AUTO_FREE char *first = json_text(json_array_get(results, 0));
	has_str(first, "\"uri\":\"dir/a%20b%25.yaml\"", "the path as a URI");
	has_str(first,
		"\"region\":{\"endColumn\":8,\"endLine\":1,\"startColumn\":4,\"startLine\":1}",
		"the place");
	has_str(first, "\"level\":\"error\"", "the level");
	AUTO_FREE char *whole = json_text(json_array_get(results, 4));
	ok(!strstr(whole, "region"), "a finding about the whole file has no region");
	has_str(whole, "file:///etc/x", "an absolute path");
	AUTO_FREE char *run_text = json_text(run);
	has_str(run_text, "\"columnKind\":\"unicodeCodePoints\"", "what columns count");
	reading_done(&r);
}

static void test_github(void)
{
	struct reading r;
	AUTO_BUF out;
	buf_init(&out, 10000);
	fill(&r);
	findings_github(&r.findings, &out);
	has_str(out.data,
		"::error file=dir/a b%25.yaml,line=1,endLine=1,col=4,endColumn=8,title=not-finite::"
		"this is not a finite number\n",
		"an error");
	has_str(out.data, "title=duplicate-key::the key `a` stands twice in this map%0A", "help");
	has_str(out.data,
		"::notice file=dir/a b%25.yaml,title=config-never-honoured::one,%0Atwo: 100%25\n",
		"a note about the whole file, escaped");
	reading_done(&r);
}

static void test_published_schema(const struct buf *log)
{
	AUTO_BUF lines, answers;
	char file[4096];
	buf_init(&lines, 1 << 20);
	buf_init(&answers, 100);
	buf_add(&lines, log->data, log->len);
	buf_adds(&lines, "{\"version\":\"2.1.0\"}\n");
	snprintf(file, sizeof(file),
		"%s/build/peers/node_modules/@microsoft/jest-sarif/lib/schemas/"
		"sarif-2.1.0-rtm.5.json",
		getenv("AGENT6_SRC"));
	is(ajv_verdicts(file, &lines, &answers), 0, "the validator takes the published schema");
	is_str(answers.data, "1\n0\n", "our log is valid; a log without runs is not");
}

int main(void)
{
	AUTO_BUF log;
	buf_init(&log, 1 << 20);
	ajv_or_skip();
	test_sarif(&log);
	test_github();
	test_published_schema(&log);
	return tap_done();
}
