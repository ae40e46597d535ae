/* Tests the meaning of facts: outcomes, captures and edges, and output that does not conform. */
#include "instance/reduce.h"
#include "machine/failure.h"
#include "tests/kit/machine.h"
#include "tests/kit/tap.h"

static const char *const yaml =
	"machine: m\nversion: 1\ninitial: plain\nbudget: {max_transitions: 9}\n"
	"schemas:\n"
	"  r: {n: int, label: {type: str, enum: [a, b]}, note: {type: str, optional: true}}\n"
	"vars:\n"
	"  code:\n"
	"    n: {type: int, default: 0}\n"
	"    whole: {type: json, default: null}\n"
	"    note: {type: str, default: none}\n"
	"    end: {type: str, default: ''}\n"
	"    out: {type: str, default: ''}\n"
	"    words: {type: str, default: ''}\n"
	"    old: {type: str, default: ''}\n"
	"    kept: {type: str, default: ''}\n"
	"  agent:\n"
	"    verdict: {type: r, default: {}}\n"
	"    said: {type: str, default: ''}\n"
	"states:\n"
	"  plain: {kind: tool, command: [x], timeout_secs: 1,\n"
	"    on: {ok: typed, nonzero: bad, timeout: late}}\n"
	"  typed: {kind: tool, command: [x], timeout_secs: 1, output_schema: r,\n"
	"    capture: {set: {n: '{{ result.n }}'}},\n"
	"    on: {ok: optional, nonzero: bad, timeout: late}}\n"
	"  optional: {kind: tool, command: [x], timeout_secs: 1, output_schema: r,\n"
	"    capture: {set: {note: '{{ result.note }}'}},\n"
	"    on: {ok: json, nonzero: bad, timeout: late}}\n"
	"  json: {kind: tool, command: [x], timeout_secs: 1, capture: {stdout_json: whole},\n"
	"    on: {ok: discard, nonzero: bad, timeout: late}}\n"
	"  discard: {kind: tool, command: [x], timeout_secs: 1, output_schema: r,\n"
	"    on: {ok: exits, nonzero: bad, timeout: late}}\n"
	"  exits: {kind: tool, command: [x], timeout_secs: 1, ok_exit: [1, 3],\n"
	"    capture: {set: {n: '{{ exit }}', note: 'exit {{ exit }}'}},\n"
	"    on: {ok: text, nonzero: bad, timeout: late}}\n"
	"  text: {kind: tool, command: [x], timeout_secs: 1, capture: {stdout_text: note},\n"
	"    on: {ok: nothing, nonzero: bad, timeout: late}}\n"
	"  nothing: {kind: tool, command: [x], timeout_secs: 1, output_schema: r,\n"
	"    capture: {set: {}}, on: {ok: fails, nonzero: bad, timeout: late}}\n"
	"  fails: {kind: tool, command: [x], timeout_secs: 1, max_visits: 2, output_schema: r,\n"
	"    capture: {set: {n: '{{ result.n }}'}}, capture_failure: {set: {\n"
	"      n: '{{ failure.exit }}', note: '{{ failure.label }}: {{ failure.reason }}',\n"
	"      end: '{{ failure.signal }}', out: '{{ failure.stdout }}',\n"
	"      words: '{{ failure.stderr }}', old: '{{ n }} {{ failure.exit }}',\n"
	"      kept: '{{ verdict.note }}{{ failure.label }}'}},\n"
	"    on: {ok: agent, nonzero: bad, timeout: late, exhausted: late}}\n"
	"  agent: {kind: agent, prompt: p, timeout_secs: 1, output_schema: r,\n"
	"    capture: {finish_json: verdict}, capture_failure: {set: {\n"
	"      said: '{{ failure.label }}: {{ failure.reason }}', verdict: '{{ verdict }}'}},\n"
	"    on: {ok: wait, failed: bad, budget_exhausted: bad, timeout: late}}\n"
	"  wait: {kind: wait, every_secs: 5, on: {tick: choose, signal: form}}\n"
	"  form: {kind: wait, every_secs: 5, output_schema: r,\n"
	"    capture: {set: {n: '{{ result.n }}', note: '{{ result.note }}'}},\n"
	"    on: {tick: choose, signal: park}}\n"
	"  park: {kind: wait, max_visits: 2, on: {signal: choose, exhausted: late}}\n"
	"  choose:\n"
	"    kind: branch\n"
	"    when: [{if: 'n > 2', goto: late}, {else: true, goto: bad}]\n"
	"  bad: {kind: terminal, status: failed, reason: bad}\n"
	"  late: {kind: terminal, status: failed, reason: late}\n";

static struct fixture f;
static int format = 1;

struct outcome_of {
	int result;
	struct reduced v;
	json_t *blackboard;
	struct err e;
};

/* JSON with ' for ". */
static json_t *unquoted(const char *text)
{
	AUTO_FREE char *json = strdup(text);
	for (char *c = json; *c; c++)
		if (*c == '\'')
			*c = '"';
	json_t *decoded = json_loads(json, JSON_ALLOW_NUL, NULL);
	if (!decoded)
		bail("not JSON: %s", text);
	return decoded;
}

static struct outcome_of fact(const char *state, const char *text)
{
	struct outcome_of o = {.e = ERR_NONE};
	json_auto_t *decoded = unquoted(text);
	o.blackboard = json_pack("{s:i,s:n,s:s,s:{}}", "n", 0, "whole", "note", "none", "verdict");
	AUTO_FACT fact;
	fact_decode(decoded, &fact, NULL); /* what an agent spent is not reduced */
	const struct state *s = machine_state(f.m, state);
	json_object_set_new(o.blackboard, "kept", json_string("as it was"));
	o.result = reduce(s, &fact, format, o.blackboard, &o.v, &o.e);
	if (!o.result)
		reduce_failure(s, &fact, &o.v, o.blackboard);
	return o;
}

static void leads(const char *state, const char *text, const char *label, const char *target,
	const char *reason)
{
	struct outcome_of o = fact(state, text);
	if (is(o.result, 0, "%s: %.60s", state, text)) {
		is_str(o.v.label, label, "is %s", label);
		is_str(o.v.target->name, target, "and leads to %s", target);
		if (reason)
			has_str(o.v.reason, reason, "because %s", reason);
	} else {
		diag("%s", o.e.text);
	}
	json_decref(o.blackboard);
}

static void binds(const char *state, const char *text, const char *name, const char *want)
{
	struct outcome_of o = fact(state, text);
	AUTO_FREE char *got = json_dumps(json_object_get(o.blackboard, name),
		JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
	is_str(got, want, "%s: %.50s sets %s", state, text, name);
	json_decref(o.blackboard);
}

static void refused(const char *state, const char *text)
{
	struct outcome_of o = fact(state, text);
	ok(o.result < 0 && *o.e.text, "%s: %s is no fact of it", state, text);
	json_decref(o.blackboard);
}

#define TOOL(exit, out) "{'exit':" exit ",'signal':null,'timed_out':false,'stdout':" out "}"

#define KEPT_NOT(exit)                                                                             \
	"{'exit':" exit ",'signal':null,'timed_out':false,'stdout':'{}','not_kept':'git says no'}"

static void test_tool(void)
{
	leads("plain", TOOL("0", "'anything'"), "ok", "typed", NULL);
	leads("plain", TOOL("1", "''"), "nonzero", "bad", NULL);
	leads("plain", TOOL("124", "''"), "nonzero", "bad", NULL); /* the command's own 124 */
	leads("plain", "{'exit':null,'signal':9,'timed_out':false,'stdout':''}", "nonzero", "bad",
		NULL);
	leads("plain", "{'exit':null,'signal':9,'timed_out':true,'stdout':''}", "timeout", "late",
		NULL);
	leads("plain", "{'not_run':'no arguments'}", "nonzero", "bad", "no arguments");
	/* The changes to the clone are dropped, whatever else the command did; nothing is
	 * captured. */
	leads("json", KEPT_NOT("0"), "nonzero", "bad", "git says no");
	binds("json", KEPT_NOT("0"), "whole", "null");
	leads("plain", KEPT_NOT("1"), "nonzero", "bad", NULL);
	leads("plain",
		"{'exit':null,'signal':9,'timed_out':true,'stdout':'','not_kept':'git says no'}",
		"timeout", "late", NULL);
	leads("exits", TOOL("1", "'no JSON'"), "ok", "text", NULL);
	binds("exits", TOOL("3", "''"), "n", "3");
	binds("exits", TOOL("3", "''"), "note", "\"exit 3\"");
	leads("exits", TOOL("0", "''"), "nonzero", "bad", "exit status 0 is none of ok_exit");
	leads("exits", TOOL("2", "''"), "nonzero", "bad", NULL);
	leads("exits", KEPT_NOT("1"), "nonzero", "bad", "git says no");
	leads("exits", "{'exit':null,'signal':9,'timed_out':false,'stdout':''}", "nonzero", "bad",
		NULL);
	binds("text", TOOL("0", "'one\\ntwo\\n\\n'"), "note", "\"one\\ntwo\\n\"");
	binds("text", TOOL("0", "'{}'"), "note", "\"{}\"");
	binds("text", TOOL("0", "''"), "note", "\"\"");
	binds("text", TOOL("0", "'\\n'"), "note", "\"\"");
	leads("text",
		"{'exit':0,'signal':null,'timed_out':false,'stdout':'a','stdout_dropped':7,"
		"'stdout_sha256':''}",
		"nonzero", "bad", "stdout is larger than 1048576 bytes");
	leads("text", "{'exit':0,'signal':null,'timed_out':false,'stdout':'a','not_utf8':true}",
		"nonzero", "bad", "stdout is not valid UTF-8");
	binds("text", TOOL("1", "'kept'"), "note", "\"none\"");
	leads("nothing", TOOL("0", "'{}'"), "nonzero", "bad", "stdout.n: required, but missing");
	leads("nothing", TOOL("0", "'{\\\"n\\\":1,\\\"label\\\":\\\"a\\\"}'"), "ok", "fails", NULL);
	leads("park", "{'visits':2}", "exhausted", "late", NULL);
	refused("park", "{'visits':3}");
	refused("plain", "{'visits':2}");
	refused("plain", "{'outcome':'ok'}");
	refused("plain", "{'exit':null,'signal':null,'timed_out':false,'stdout':''}");
}

static void test_output(void)
{
	static const char *const good = TOOL("0", "'{\\\"n\\\":7,\\\"label\\\":\\\"a\\\"}\\n'");
	leads("typed", good, "ok", "optional", NULL);
	binds("typed", good, "n", "7");
	leads("discard", good, "ok", "exits", NULL);
	leads("typed", TOOL("0", "''"), "nonzero", "bad", "blank");
	leads("typed", TOOL("0", "' \\n'"), "nonzero", "bad", "blank");
	leads("discard", TOOL("0", "''"), "nonzero", "bad", "blank");
	leads("json", TOOL("0", "''"), "nonzero", "bad", "blank");
	leads("typed", TOOL("0", "'{\\\"n\\\":7}'"), "nonzero", "bad", "label");
	leads("typed", TOOL("0", "'{\\\"n\\\":\\\"x\\\",\\\"y\\\":1}'"), "nonzero", "bad", "; ");
	leads("typed", TOOL("0", "'{\\\"n\\\":7,\\\"label\\\":\\\"c\\\"}'"), "nonzero", "bad",
		"label");
	leads("typed", TOOL("0", "'{\\\"n\\\":7,\\\"label\\\":\\\"a\\\",\\\"x\\\":1}'"), "nonzero",
		"bad", "x");
	leads("typed", TOOL("0", "'{\\\"n\\\":99999999999999999999,\\\"label\\\":\\\"a\\\"}'"),
		"nonzero", "bad", "stdout");
	leads("typed", TOOL("0", "'{\\\"n\\\":7,\\\"label\\\":\\\"\\\\ud800\\\"}'"), "nonzero",
		"bad", "stdout");
	leads("json", TOOL("0", "'{\\\"a\\\":1,\\\"a\\\":2}'"), "nonzero", "bad", "stdout");
	leads("json", TOOL("0", "'[NaN]'"), "nonzero", "bad", "stdout");
	leads("json", "{'exit':0,'signal':null,'timed_out':false,'stdout':'1','not_utf8':true}",
		"nonzero", "bad", "UTF-8");
	leads("json", "{'exit':0,'signal':null,'timed_out':false,'stdout':'1','stdout_dropped':5}",
		"nonzero", "bad", "larger");
	leads("json",
		"{'exit':0,'signal':null,'timed_out':false,'stdout':'1','too_many_values':true}",
		"nonzero", "bad", "values");
	binds("json", TOOL("0", "'[1,{\\\"b\\\":2.5}]'"), "whole", "[1,{\"b\":2.5}]");
	binds("typed", TOOL("0", "'{\\\"n\\\":7}'"), "n", "0");
	leads("optional", good, "nonzero", "bad", "note");
	binds("optional", good, "note", "\"none\"");
	/* From format 2 on, the variable stays as it was. */
	format = 2;
	leads("optional", good, "ok", "json", NULL);
	binds("optional", good, "note", "\"none\"");
	format = 1;
}

static void test_depth(void)
{
	AUTO_BUF text;
	buf_init(&text, 4096);
	for (int depth = 64; depth <= 65; depth++) {
		buf_clear(&text);
		buf_adds(&text, "{'exit':0,'signal':null,'timed_out':false,'stdout':'");
		for (int i = 0; i < depth; i++)
			buf_addc(&text, '[');
		for (int i = 0; i < depth; i++)
			buf_addc(&text, ']');
		buf_adds(&text, "'}");
		leads("json", text.data, depth == 64 ? "ok" : "nonzero",
			depth == 64 ? "discard" : "bad", NULL);
	}
}

/* A journal from before there was a limit replays. */
static void test_values(void)
{
	AUTO_BUF text;
	buf_init(&text, 1 << 20);
	buf_adds(&text, "{'exit':0,'signal':null,'timed_out':false,'stdout':'[0");
	for (int i = 0; i < 150000; i++)
		buf_adds(&text, ",{}");
	buf_adds(&text, "]'}");
	leads("json", text.data, "ok", "discard", NULL);
}

static void test_agent(void)
{
	leads("agent", "{'outcome':'ok','payload':{'n':1,'label':'b'}}", "ok", "wait", NULL);
	binds("agent", "{'outcome':'ok','payload':{'n':1,'label':'b'}}", "verdict",
		"{\"label\":\"b\",\"n\":1}");
	leads("agent", "{'outcome':'ok','payload':{'n':1}}", "failed", "bad", "label");
	leads("agent", "{'outcome':'ok','payload':null}", "failed", "bad", "without a result");
	leads("agent", "{'outcome':'timeout','payload':{'n':1,'label':'b'}}", "timeout", "late",
		NULL);
	binds("agent", "{'outcome':'timeout','payload':{'n':1,'label':'b'}}", "verdict", "{}");
	refused("agent", "{'outcome':'nonzero'}");
	refused("agent", "{}");
}

#define FAILED(exit, signal, more)                                                                 \
	"{'exit':" exit ",'signal':" signal ",'timed_out':false," more "}"

static void test_failure(void)
{
	static const char bad[] =
		FAILED("2", "null", "'stdout':'some','stderr_tail':'one\\ntwo\\n'");
	binds("fails", bad, "n", "2");
	binds("fails", bad, "note", "\"nonzero: two\"");
	binds("fails", bad, "end", "\"\"");
	binds("fails", bad, "out", "\"some\"");
	binds("fails", bad, "words", "\"one\\ntwo\\n\"");
	binds("fails", bad, "old", "\"0 2\""); /* all at once */
	binds("fails", bad, "kept", "\"as it was\"");
	binds("fails", FAILED("null", "9", "'stdout':'','reason':'no memory\\nat all'"), "end",
		"\"SIGKILL\"");
	binds("fails", FAILED("null", "9", "'stdout':'','reason':'no memory\\nat all'"), "note",
		"\"nonzero: no memory\\nat all\"");
	binds("fails", FAILED("null", "9", "'stdout':''"), "n", "-1");
	binds("fails", FAILED("null", "40", "'stdout':''"), "end", "\"SIG40\"");
	binds("fails", "{'exit':null,'signal':9,'timed_out':true,'stdout':''}", "note",
		"\"timeout: \"");
	binds("fails", FAILED("null", "null", "'stdout':'','lost':'launcher lost'"), "n", "-1");
	binds("fails", FAILED("null", "null", "'stdout':'','lost':'launcher lost'"), "note",
		"\"nonzero: launcher lost\"");
	binds("fails", "{'not_run':'no arguments'}", "note", "\"nonzero: no arguments\"");
	binds("fails", "{'not_run':'no arguments'}", "n", "-1");
	binds("fails", "{'not_run':'no arguments'}", "out", "\"\"");
	/* Output that does not conform: the recorded reason counts, as a version words it. */
	binds("fails", TOOL("0", "''"), "note",
		"\"nonzero: stdout is blank where JSON is expected\"");
	binds("fails", FAILED("0", "null", "'stdout':'','reason':'blank'"), "note",
		"\"nonzero: blank\"");
	binds("fails", TOOL("0", "''"), "n", "0");
	/* Neither ok nor exhausted binds it. */
	binds("fails", TOOL("0", "'{\\\"n\\\":7,\\\"label\\\":\\\"a\\\"}'"), "note", "\"none\"");
	binds("fails", TOOL("0", "'{\\\"n\\\":7,\\\"label\\\":\\\"a\\\"}'"), "n", "7");
	binds("fails", "{'visits':2}", "note", "\"none\"");
	binds("agent", "{'outcome':'timeout','payload':null}", "said", "\"timeout: \"");
	binds("agent", "{'outcome':'failed','reason':'it\\nsays','payload':null}", "said",
		"\"failed: it\\nsays\"");
	binds("agent", "{'outcome':'ok','payload':{'n':1}}", "said",
		"\"failed: result.label: required, but missing\"");
}

/* The ends of outputs: 32 KiB, whole characters, and nothing from before a gap. */
static void test_failure_output(void)
{
	format = 2;
	char text[40002], most[FAILURE_OUTPUT_BYTES + 3];
	for (size_t i = 0; i < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xbc", 2);
	text[sizeof(text) - 2] = 'x';
	text[sizeof(text) - 1] = '\0';
	snprintf(most, sizeof(most), "\"%s\"", text + sizeof(text) - FAILURE_OUTPUT_BYTES);
	AUTO_FREE char *fact = NULL;
	if (asprintf(&fact, FAILED("1", "null", "'stdout':'%s','stderr_tail':'%s'"), text, text) <
		0)
		abort();
	binds("fails", fact, "out", most);
	binds("fails", fact, "words", most);
	binds("fails",
		FAILED("1", "null",
			"'stdout':'head, gap, tail','stdout_dropped':9,'stdout_tail_bytes':4"),
		"out", "\"tail\"");
	binds("fails",
		FAILED("1", "null", "'stdout':'head','stdout_dropped':9,'stdout_tail_bytes':0"),
		"out", "\"\"");
	binds("fails",
		FAILED("1", "null", "'stdout':'tail','stdout_dropped':9,'stdout_tail_bytes':99"),
		"out", "\"tail\"");
	format = 1;
	refused("fails",
		FAILED("1", "null", "'stdout':'a','stdout_dropped':9,'stdout_tail_bytes':1"));
	format = 2;
	/* A journal from before there was that member, replayed with another machine. */
	binds("fails", FAILED("1", "null", "'stdout':'head, tail','stdout_dropped':9"), "out",
		"\"head, tail\"");
	format = 1;
}
#define POKE(data) "{'woke_by':'poke','payload':{'data':" data "}}"

static void test_wait_and_branch(void)
{
	leads("wait", "{'woke_by':'timer'}", "tick", "choose", NULL);
	leads("wait", "{'woke_by':'poke'}", "signal", "form", NULL);
	refused("park", "{'woke_by':'timer'}");
	refused("wait", "{'woke_by':'stop'}");
	leads("form", POKE("{'n':4,'label':'b'}"), "signal", "park", NULL);
	binds("form", POKE("{'n':4,'label':'b','note':'x'}"), "n", "4");
	binds("form", POKE("{'n':4,'label':'b'}"), "note", "\"none\"");
	leads("form", "{'woke_by':'timer'}", "tick", "choose", NULL);
	binds("form", "{'woke_by':'timer'}", "n", "0");
	refused("form", POKE("{'n':4}"));
	refused("form", POKE("{'n':4,'label':'c'}"));
	refused("form", POKE("{'n':4.5,'label':'b'}"));
	refused("form", "{'woke_by':'poke','payload':{'message':'b'}}");
	refused("form", "{'woke_by':'poke'}");
	leads("choose", "{'clause':1}", "else", "bad", NULL);
	refused("choose", "{'clause':0}");
	refused("choose", "{}");
	json_auto_t *board = json_pack("{s:i}", "n", 3);
	struct fact wins;
	is(reduce_branch(machine_state(f.m, "choose"), board, &wins, NULL), 0, "a clause wins");
	is(wins.clause, 0, "the first");
	refused("bad", "{}");
}

/* The words of a fact; one of a tool is given the members that each of them has. */
static void words_of(json_t *json, char out[REDUCE_REASON_BYTES])
{
	AUTO_FACT fact;
	json_auto_t *always = json_pack("{s:b,s:s}", "timed_out", 0, "stdout", "");
	if (json_object_get(json, "exit"))
		json_object_update_missing(json, always);
	fact_decode(json, &fact, NULL);
	reduce_words(&fact, out);
}

static void test_words(void)
{
	static const struct {
		const char *fact, *words;
	} rows[] = {{"{'exit':2,'stderr_tail':'one\\ntwo\\n\\n'}", "two"},
		{"{'exit':2,'stderr_tail':'10%\\r50%\\rno space left\\r\\n'}", "no space left"},
		{"{'exit':2,'stderr_tail':'only \\u001b[31mone'}", "only \033[31mone"},
		{"{'exit':null,'signal':9,'stderr_tail':'killed'}", "killed"},
		{"{'exit':2,'stderr_tail':' \\n\\r '}", ""}, {"{'exit':2,'stderr_tail':''}", ""},
		{"{'exit':0,'stderr_tail':'a warning'}", ""},
		{"{'exit':0,'stderr_tail':'x','reason':'no JSON\\nat all'}", "no JSON"},
		{"{'exit':2,'stderr_tail':'x','not_kept':'git says no'}", "git says no"},
		{"{'not_run':'no arguments'}", "no arguments"}, {"{'clause':1}", ""}};
	char words[REDUCE_REASON_BYTES];
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_auto_t *fact = unquoted(rows[i].fact);
		words_of(fact, words);
		is_str(words, rows[i].words, "what %s says", rows[i].fact);
	}
	static const size_t lengths[] = {REDUCE_REASON_BYTES - 1, REDUCE_REASON_BYTES, 3999};
	char text[4000];
	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		json_auto_t *fact =
			json_pack("{s:i,s:s%}", "exit", 1, "stderr_tail", text, lengths[i]);
		words_of(fact, words);
		is(strlen(words), REDUCE_REASON_BYTES - 1, "a line of %zu is cut", lengths[i]);
	}
}

int main(void)
{
	fixture_init(&f, yaml);
	if (!f.m)
		bail("the fixture is wrong: %s",
			f.findings.count ? f.findings.items[0].message : "?");
	test_tool();
	test_output();
	test_depth();
	test_values();
	test_agent();
	test_failure();
	test_failure_output();
	test_wait_and_branch();
	test_words();
	fixture_done(&f);
	return tap_done();
}
