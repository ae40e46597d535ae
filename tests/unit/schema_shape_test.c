/* The shape walk: every keyword that the published schemas use, each mistake reported once. */
#include "schema_kit.h"

#define HEAD "machine: m\nversion: 1\ninitial: a\nbudget: {max_transitions: 5}\n"
#define END  "states:\n  a: {kind: terminal, status: ok, reason: x}\n"

static void expect_shape(const char *text, const char *lines)
{
	struct reading r;
	reading_init(&r, "m.yaml", text);
	if (ok(!r.rc, "it reads"))
		is(shape_check(shape_machine, &r.doc, r.doc.root, &r.findings), *lines ? -1 : 0,
			"the verdict");
	is_str(reading_lines(&r), lines, "%s", text);
	reading_done(&r);
}

static void test_top(void)
{
	expect_shape(HEAD END, "");
	expect_shape("[]", "1:1-1:3 wrong-type");
	expect_shape("a", "1:1-1:2 wrong-type");
	expect_shape("{}", "1:1-1:3 missing-key\n1:1-1:3 missing-key\n1:1-1:3 missing-key\n1:1-1:3 "
			   "missing-key\n"
			   "1:1-1:3 missing-key");
	expect_shape(HEAD "vars: {foo: {}}\n" END, "5:8-5:11 unknown-key");
	expect_shape(HEAD "states: {}\n", "5:9-5:11 out-of-range");
	expect_shape("machine: M\nversion: 2\ninitial: [a]\nbudget: {max_transitions: 0, max_usd: "
		     "0}\n" END,
		"1:10-1:11 bad-name\n2:10-2:11 out-of-range\n3:10-3:13 wrong-type\n"
		"4:27-4:28 out-of-range\n4:39-4:40 out-of-range");
}

static void test_misspelt(void)
{
	/* The key that was meant does not count as missing. */
	expect_shape(
		"machine: m\nversion: 1\ninitial: a\nbudgets: {}\n" END, "4:1-4:8 unknown-key");
	expect_shape(HEAD "states: {a: {knd: terminal, status: ok, reason: x}}",
		"5:14-5:17 unknown-key");
	expect_shape(HEAD "states: {a: {kind: termnal, foo: 1}}", "5:20-5:27 not-one-of");
	expect_shape(HEAD "states: {a: {status: ok}}", "5:10-5:11 missing-key");
	expect_shape(HEAD "states: {a: {kind: 5}}", "5:20-5:21 wrong-type");
	struct reading r;
	reading_init(
		&r, "m.yaml", HEAD "states: {a: {kind: terminal, stauts: ok, reason: x, zzz: 1}}");
	shape_check(shape_machine, &r.doc, r.doc.root, &r.findings);
	is_str(reading_lines(&r), "5:30-5:36 unknown-key\n5:53-5:56 unknown-key",
		"two unknown keys");
	has_str(r.findings.items[0].help, "did you mean `status`?", "the nearest key");
	has_str(r.findings.items[1].help, "`description`", "else all of them");
	is_str(r.findings.items[0].state, "a", "the state they belong to");
	reading_done(&r);
}

static void test_names(void)
{
	expect_shape(
		HEAD "states: {A: {kind: terminal, status: ok, reason: x}}", "5:10-5:11 bad-name");
	expect_shape(HEAD "states: {a1_: {kind: terminal, status: ok, reason: x}}", "");
	expect_shape(
		HEAD "states: {1a: {kind: terminal, status: ok, reason: x}}", "5:10-5:12 bad-name");
	expect_shape(
		HEAD "states: {'': {kind: terminal, status: ok, reason: x}}", "5:10-5:12 bad-name");
	expect_shape(
		HEAD "states: {é: {kind: terminal, status: ok, reason: x}}", "5:10-5:11 bad-name");
	expect_shape(HEAD "states: {\"a\\n\": {kind: terminal, status: ok, reason: x}}",
		"5:10-5:15 bad-name");
	expect_shape(HEAD "schemas: {s: {a-b: str}}\n" END, "5:15-5:18 bad-name");
	char text[400];
	snprintf(text, sizeof(text),
		HEAD "states: {%064d: {kind: terminal, status: ok, reason: x}}", 0);
	text[strlen(HEAD) + 9] = 'a';
	expect_shape(text, "");
	snprintf(text, sizeof(text),
		HEAD "states: {%065d: {kind: terminal, status: ok, reason: x}}", 0);
	text[strlen(HEAD) + 9] = 'a';
	expect_shape(text, "5:10-5:75 out-of-range");
}

/* `rest` begins on line 6, column 2. */
#define TOOL(rest)                                                                                 \
	HEAD "states: {a: {kind: tool, timeout_secs: 1, on: {ok: a, nonzero: a, timeout: "         \
	     "a},\n " rest "}}"

static void test_states(void)
{
	expect_shape(TOOL("command: [x]"), "");
	expect_shape(TOOL("command: []"), "6:11-6:13 out-of-range");
	expect_shape(TOOL("command: x"), "6:11-6:12 wrong-type");
	expect_shape(TOOL("command: [x, 1, [y]]"), "6:15-6:16 wrong-type\n6:18-6:21 wrong-type");
	expect_shape(TOOL("comand: [x]"), "6:2-6:8 unknown-key");
	expect_shape(TOOL("description: x"), "5:10-5:11 missing-key");
	expect_shape(TOOL("command: [x], notify: {level: info}"), "6:16-6:22 missing-key");
	expect_shape(TOOL("command: [x], notify: hi"), "");
	expect_shape(TOOL("command: [x], notify: 1"), "6:24-6:25 wrong-type");
	expect_shape(TOOL("command: [x], notify: "), "6:24-6:24 wrong-type");
	expect_shape(
		TOOL("command: [x], allow_network: ['h:1', 'h:1']"), "6:39-6:44 repeated-item");
	expect_shape(TOOL("command: [x], allow_network: on"), "6:31-6:33 not-one-of");
	expect_shape(TOOL("command: [x], allow_network: block, network: none"),
		"6:38-6:45 conflicting-keys");
	expect_shape(TOOL("command: [x], retry: {on: [ok], max: 11}"),
		"6:29-6:31 not-one-of\n6:39-6:41 out-of-range");
	expect_shape(
		TOOL("command: [x], retry: {on: [timeout], max: 1.5}"), "6:44-6:47 wrong-type");
	expect_shape(TOOL("command: [x], retry: {on: [timeout], max: 1, factor: 1}"), "");
	expect_shape(TOOL("command: [x], capture: {}"), "6:16-6:23 missing-key");
	expect_shape(TOOL("command: [x], capture: {set: {a: b}, stdout_json: x}"),
		"6:39-6:50 conflicting-keys");
	expect_shape(TOOL("command: [x], reads: [a, /b]"), "6:24-6:25 bad-name");
	expect_shape(TOOL("command: [x], env: {1A: x, B: 2}"),
		"6:22-6:24 bad-name\n6:32-6:33 wrong-type");
}

static void test_choices(void)
{
	expect_shape(HEAD "states: {a: {kind: wait, every_secs: 0, on: {signal: a}}}",
		"5:38-5:39 out-of-range");
	expect_shape(HEAD "states: {a: {kind: wait, every_secs: '{{ x }}', on: {signal: a}}}", "");
	expect_shape(HEAD "states: {a: {kind: wait, every_secs: 1.5, on: {signal: a}}}",
		"5:38-5:41 wrong-type");
	expect_shape(HEAD "states: {a: {kind: wait, cron: x, on: {signal: a}}}",
		"5:26-5:30 refused-key");
	expect_shape(HEAD
		"states: {a: {kind: branch, when: [{if: x, goto: a}, {else: false, goto: a}]}}",
		"5:60-5:65 not-one-of");
	expect_shape(HEAD
		"states: {a: {kind: branch, when: [{goto: a}, {if: x, else: true, goto: a}]}}",
		"5:35-5:44 missing-key\n5:54-5:58 conflicting-keys");
	expect_shape(HEAD "states: {a: {kind: branch, when: [{else: a}]}}", "5:42-5:43 wrong-type");
	expect_shape(HEAD "states: {a: {kind: branch, when: [{else: 77}]}}",
		"5:35-5:45 missing-key\n5:42-5:44 wrong-type");
	expect_shape(HEAD "schemas: {s: {a: str, b: {type: str, enum: [x, x]}, c: {optional: "
			  "true}, d: 1}}\n" END,
		"5:48-5:49 repeated-item\n5:53-5:54 missing-key\n5:77-5:78 wrong-type");
}

static void test_broken_is_silent(void)
{
	struct reading r;
	reading_init(&r, "m.yaml",
		"machine: m\nversion: 99999999999999999999\ninitial: *x\n"
		"budget: {max_transitions: .inf}\n" END);
	shape_check(shape_machine, &r.doc, r.doc.root, &r.findings);
	is_str(reading_lines(&r),
		"2:10-2:30 integer-range\n3:10-3:12 yaml-anchor\n4:27-4:31 not-finite",
		"what the reader reported is not reported again");
	reading_done(&r);
}

/* A map that lost keys to a refusal is not blamed for missing them. */
static void test_partial_is_silent(void)
{
	struct reading r;
	reading_init(&r, "m.yaml",
		HEAD "states:\n  a: {<<: *x, kind: terminal, zzz: 1}\n"
		     "  b: {1: x}\n  c: {<<: {kind: tool}, kind: tool}\n");
	shape_check(shape_machine, &r.doc, r.doc.root, &r.findings);
	is_str(reading_lines(&r),
		"6:7-6:9 yaml-merge-key\n6:11-6:13 yaml-anchor\n6:31-6:34 unknown-key\n"
		"7:7-7:8 key-not-string\n8:7-8:9 yaml-merge-key",
		"only what stands there");
	reading_done(&r);
}

static void test_overlay(void)
{
	expect_shape(HEAD
		"config: {agent: {max_iterations: 5}, models: {worker: {model: m}}}\n" END,
		"");
	expect_shape(HEAD
		"config: {sandbox: {}, agent: {max_turns: 5}, machine: {notify: {}}}\n" END,
		"5:10-5:17 refused-key\n5:31-5:40 unknown-key\n5:46-5:53 refused-key");
}

int main(void)
{
	test_top();
	test_misspelt();
	test_names();
	test_states();
	test_choices();
	test_broken_is_silent();
	test_partial_is_silent();
	test_overlay();
	return tap_done();
}
