/* The blackboard: parameters at start, captures all or nothing. */
#include "base/json.h"
#include "machine/blackboard.h"
#include "tests/kit/machine.h"
#include "tests/kit/tap.h"

static const char yaml[] =
	"machine: m\nversion: 1\ninitial: look\nbudget: {max_transitions: 9}\n"
	"vars:\n"
	"  operator:\n"
	"    pause: {type: int, value: 5}\n"
	"    name: {type: str, value: x}\n"
	"    ratio: {type: float, value: 1}\n"
	"    files: {type: 'list[str]', value: []}\n"
	"    when: {type: span, value: {until: 2026-01-01}}\n"
	"    whole: {type: outer, value: {inner: {until: x}, note: n}}\n"
	"    level: {type: str, enum: [low, high]}\n"
	"    port: {type: int, min: 1, max: 65535, description: where it listens}\n"
	"  code:\n"
	"    n: {type: int, default: 0}\n"
	"    old: {type: int, default: 7}\n"
	"    text: {type: str, default: ''}\n"
	"    all: {type: json, default: {}}\n"
	"schemas:\n"
	"  span: {until: str}\n"
	"  outer: {inner: span, note: {type: str, optional: true}}\n"
	"  out: {n: int, note: {type: str, optional: true}}\n"
	"states:\n"
	"  look:\n"
	"    kind: tool\n"
	"    command: [ls]\n"
	"    timeout_secs: 1\n"
	"    output_schema: out\n"
	"    capture: {set: {n: '{{ result.n }}', old: '{{ n }}', text: 'n={{ result.n }}'}}\n"
	"    on: {ok: note, nonzero: rest, timeout: rest}\n"
	"  note:\n"
	"    kind: tool\n"
	"    command: [ls]\n"
	"    timeout_secs: 1\n"
	"    output_schema: out\n"
	"    capture: {set: {n: '{{ result.n }}', text: '{{ result.note }}'}}\n"
	"    on: {ok: whole, nonzero: rest, timeout: rest}\n"
	"  whole:\n"
	"    kind: tool\n"
	"    command: [ls]\n"
	"    timeout_secs: 1\n"
	"    capture: {set: {all: '{{ result }}', text: '{{ result | len }}'}}\n"
	"    on: {ok: rest, nonzero: rest, timeout: rest}\n"
	"  rest: {kind: wait, every_secs: '{{ pause }}', on: {tick: later, signal: later}}\n"
	"  later: {kind: wait, until: '{{ when.until }}', on: {tick: done, signal: done}}\n"
	"  done: {kind: terminal, status: ok, reason: r}\n";

static void parameter(
	const struct machine *machine, const char *name, const char *text, const char *why)
{
	struct err e = ERR_NONE;
	json_auto_t *blackboard = blackboard_new(machine);
	json_auto_t *value = blackboard_parse_parameter(machine, name, text, &e);
	int rc = value ? blackboard_set_parameter(machine, blackboard, name, value, VALUE_WHOLE, &e)
		       : -1;
	is(rc, why ? -1 : 0, "--set %s=%s", name, text);
	if (why)
		has_str(e.text, why, "refused because");
	else
		ok(json_equal(json_object_get(blackboard, name), value), "it is there");
}

static void parameters(const struct machine *machine)
{
	parameter(machine, "pause", "60", NULL);
	parameter(machine, "name", "any text, {\"even\": this}", NULL);
	parameter(machine, "ratio", "2", NULL);
	parameter(machine, "files", "[\"a\", \"b\"]", NULL);
	parameter(machine, "when", "{\"until\": \"2030-01-01T00:00:00Z\"}", NULL);
	parameter(machine, "pause", "0", "pause: every_secs must be at least 1");
	parameter(machine, "pause", "\"5\"", "pause: expected an integer (int), got a string");
	parameter(machine, "pause", "soon",
		"'soon' is not of type int; all but a str is written as JSON");
	parameter(machine, "when", "{\"until\": \"soon\"}", "when: `until` must be an instant");
	parameter(machine, "when", "{}", "when.until: required, but missing");
	parameter(machine, "whole", "{\"inner\":{\"until\":\"y\"},\"note\":\"m\"}", NULL);
	parameter(machine, "whole", "{\"inner\":{},\"note\":\"m\"}",
		"whole.inner.until: required, but missing");
	parameter(machine, "whole", "{\"inner\":{\"until\":\"y\"}}",
		"whole: the field \"note\" is missing, which the declared value has");
	parameter(machine, "port", "70000", "port: 70000 is more than 65535, the maximum");
	parameter(machine, "level", "mid", "level: \"mid\" is not one of \"low\", \"high\"");
	struct err e = ERR_NONE;
	json_auto_t *blackboard = blackboard_new(machine);
	is(blackboard_complete(machine, blackboard, &e), -1, "two parameters have no value");
	is_str(e.text,
		"machine \"m\" needs 2 more parameters:\n"
		"  --set level=str (one of low, high)\n"
		"  --set port=int  where it listens (1 to 65535)",
		"and both are named");
	e = ERR_NONE;
	json_object_set_new(blackboard, "level", json_string("low"));
	json_object_set_new(blackboard, "port", json_integer(80));
	is(blackboard_complete(machine, blackboard, &e), 0, "all have one: %s", e.text);
	parameter(machine, "n", "1", "\"n\" belongs to `code`");
	parameter(machine, "puase", "1", "no operator variable \"puase\"; did you mean \"pause\"?");
	parameter(machine, "name", "\xff", "not valid UTF-8");
}

static int capture(const struct machine *machine, const char *state, const char *result,
	json_t *blackboard, struct err *e)
{
	json_auto_t *value = json_read(result, strlen(result), 1000, e);
	struct captured captured = {.result = value};
	return blackboard_capture(machine_state(machine, state), &captured, blackboard, e);
}

static void captures(const struct machine *machine)
{
	struct err e = ERR_NONE;
	json_auto_t *blackboard = blackboard_new(machine);
	is(capture(machine, "look", "{\"n\":4}", blackboard, &e), 0, "set: %s", e.text);
	is(json_integer_value(json_object_get(blackboard, "n")), 4, "a field of the result");
	is(json_integer_value(json_object_get(blackboard, "old")), 0,
		"assignments read the blackboard as it was before the capture");
	is_str(json_string_value(json_object_get(blackboard, "text")), "n=4", "a text");
	json_auto_t *before = json_deep_copy(blackboard);
	is(capture(machine, "note", "{\"n\":9}", blackboard, &e), -1,
		"an optional field is missing");
	has_str(e.text, "capture of \"text\": \"result.note\" was read", "and named");
	ok(json_equal(before, blackboard), "nothing was written");
	e = ERR_NONE;
	is(capture(machine, "whole", "[1,2]", blackboard, &e), 0, "the whole result: %s", e.text);
	is(json_array_size(json_object_get(blackboard, "all")), 2, "as json");
	is_str(json_string_value(json_object_get(blackboard, "text")), "2", "and its length");
}

int main(void)
{
	struct fixture f;
	fixture_init(&f, yaml);
	for (size_t i = 0; i < f.findings.count; i++)
		diag("%u: %s", f.findings.items[i].pos.line, f.findings.items[i].message);
	if (ok(f.m != NULL, "the machine loads")) {
		parameters(f.m);
		captures(f.m);
	}
	fixture_done(&f);
	return tap_done();
}
