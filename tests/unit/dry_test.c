/* The dry run: made-up values conform, failures are found with their path, edges are counted. */
#include "base/buf.h"
#include "dry/dry.h"
#include "tests/kit/machine.h"
#include "tests/kit/tap.h"

static const char head[] =
	"machine: m\nversion: 1\ninitial: look\nbudget: {max_transitions: 9}\n"
	"vars:\n"
	"  operator:\n    most: {type: int, value: 7000}\n"
	"  code:\n    n: {type: int, default: 0}\n    text: {type: str, default: ''}\n"
	"  agent:\n    v: {type: rec, default: {}}\n"
	"schemas:\n"
	"  rec: {label: {type: str, enum: [a, b]}, note: {type: str, optional: true}, "
	"part: {type: part, optional: true}}\n"
	"  part: {tags: 'list[float]', ok: bool, raw: json}\n"
	"  out: {n: int, text: {type: str, optional: true}}\n"
	"states:\n"
	"  done: {kind: terminal, status: ok, reason: r}\n";

static const char good[] =
	"  look:\n    kind: tool\n    command: [ls]\n    timeout_secs: 1\n    output_schema: out\n"
	"    capture: {set: {n: '{{ result.n }}'}}\n"
	"    on: {ok: pick, nonzero: done, timeout: done}\n"
	"  pick:\n    kind: branch\n    when:\n"
	"      - {if: \"n == 41\", goto: think}\n"
	"      - {if: \"n == 41 or n > 1000 and n < 5000\", goto: done}\n"
	"      - {if: \"n > most\", goto: done}\n"
	"      - {else: true, goto: look}\n"
	"  think:\n    kind: agent\n    prompt: x\n    timeout_secs: 1\n    output_schema: rec\n"
	"    capture: {finish_json: v}\n"
	"    on: {ok: judge, failed: done, budget_exhausted: done, timeout: rest}\n"
	"  judge:\n    kind: branch\n    when:\n"
	"      - {if: \"has(v.note) and v.label == 'b'\", goto: done}\n"
	"      - {if: \"text == 'never captured'\", goto: done}\n"
	"      - {else: true, goto: rest}\n"
	"  rest: {kind: wait, every_secs: 5, on: {tick: look, signal: done}}\n";

static const char bad[] =
	"  look:\n    kind: tool\n    command: [ls]\n    timeout_secs: 1\n    output_schema: out\n"
	"    capture: {set: {text: '{{ result.text }}'}}\n"
	"    on: {ok: think, nonzero: done, timeout: think}\n"
	"  think:\n    kind: agent\n    prompt: x\n    timeout_secs: 1\n    output_schema: rec\n"
	"    capture: {finish_json: v}\n"
	"    on: {ok: say, failed: say, budget_exhausted: done, timeout: done}\n"
	"  say:\n    kind: tool\n    command: [echo, '{{ v.label }}']\n    timeout_secs: 1\n"
	"    on: {ok: done, nonzero: done, timeout: done}\n";

/* A gate: what somebody answers is optional, and each answer is an edge. */
static const char answers[] =
	"  look:\n    kind: agent\n    prompt: x\n    timeout_secs: 1\n    output_schema: rec\n"
	"    capture: {finish_json: v}\n"
	"    on: {ok: judge, failed: done, budget_exhausted: done, timeout: done}\n"
	"  judge:\n    kind: branch\n    when:\n"
	"      - {if: \"not has(v.note)\", goto: look}\n"
	"      - {if: \"v.note == 'yes'\", goto: done}\n"
	"      - {if: \"v.note == 'no'\", goto: look}\n"
	"      - {else: true, goto: look}\n";

/* A program that says no, and one whose every exit status is ok. */
static const char exits[] =
	"  look:\n    kind: tool\n    command: [ls]\n    timeout_secs: 1\n    ok_exit: [0, 1, 7]\n"
	"    capture: {set: {n: '{{ exit }}'}}\n"
	"    on: {ok: pick, nonzero: done, timeout: done}\n"
	"  pick:\n    kind: branch\n    when:\n"
	"      - {if: \"n == 0\", goto: done}\n"
	"      - {if: \"n == 7\", goto: look}\n"
	"      - {if: \"n == 2\", goto: look}\n"
	"      - {else: true, goto: done}\n";

/* An output that is a text. */
static const char plain[] = "  look:\n    kind: tool\n    command: [ls]\n    timeout_secs: 1\n"
			    "    capture: {stdout_text: text}\n"
			    "    on: {ok: pick, nonzero: done, timeout: done}\n"
			    "  pick:\n    kind: branch\n    when:\n"
			    "      - {if: \"text == ''\", goto: done}\n"
			    "      - {if: \"text == 'main'\", goto: look}\n"
			    "      - {else: true, goto: done}\n";

/* A loop with a bound: what reads the answer is only reached once there is one. */
static const char bounded[] =
	"  look:\n    kind: agent\n    prompt: x\n    timeout_secs: 1\n    output_schema: rec\n"
	"    max_visits: 2\n    capture: {finish_json: v}\n"
	"    on: {ok: pick, failed: done, budget_exhausted: done, timeout: done, exhausted: say}\n"
	"  pick:\n    kind: branch\n    max_visits: 9\n    exhausted: done\n    when:\n"
	"      - {if: \"v.label == 'a'\", goto: look}\n"
	"      - {else: true, goto: look}\n"
	"  say:\n    kind: tool\n    command: [echo, '{{ v.label }}']\n    timeout_secs: 1\n"
	"    on: {ok: done, nonzero: done, timeout: done}\n";

/* An end whose result may not conform. */
static const char returns[] =
	"machine: m\nversion: 1\ninitial: look\nbudget: {max_transitions: 9}\nreturns: out\n"
	"schemas: {out: {n: {type: int, min: 1}}, any: {n: int}}\n"
	"vars: {code: {n: {type: int, default: 0}}}\n"
	"states:\n"
	"  look:\n    kind: tool\n    command: [ls]\n    timeout_secs: 1\n    output_schema: any\n"
	"    capture: {set: {n: '{{ result.n }}'}}\n"
	"    on: {ok: done, nonzero: none, timeout: none}\n"
	"  done: {kind: terminal, status: ok, reason: r, returns: {n: '{{ n }}'}}\n"
	"  none: {kind: terminal, status: failed, reason: r}\n";

/* A failure decides: by its exit status, its signal, or a text that a condition asks for. */
static const char reported[] =
	"  look:\n    kind: tool\n    command: [ls]\n    timeout_secs: 1\n"
	"    capture_failure: {set: {n: '{{ failure.exit }}', text: '{{ failure.stderr }}'}}\n"
	"    on: {ok: done, nonzero: pick, timeout: killed}\n"
	"  pick:\n    kind: branch\n    when:\n"
	"      - {if: \"n == 7\", goto: done}\n"
	"      - {if: \"n == -1\", goto: done}\n"
	"      - {if: \"text == 'no space'\", goto: done}\n"
	"      - {if: \"n == 0\", goto: done}\n"
	"      - {else: true, goto: done}\n"
	"  killed:\n    kind: branch\n    when:\n"
	"      - {if: \"n == -1\", goto: done}\n"
	"      - {else: true, goto: done}\n";

static void note(void *ctx, const json_t *event)
{
	const char *type, *state, *why = "", *label = "";
	json_t *path = NULL;
	json_unpack((json_t *)(uintptr_t)event, "{s:s, s:s, s?s, s?s, s?o}", "t", &type, "state",
		&state, "why", &why, "label", &label, "path", &path);
	if (!strcmp(type, "failure"))
		buf_addf(ctx, "%s: %s (%zu)\n", state, why, json_array_size(path));
	if (!strcmp(type, "untaken"))
		buf_addf(ctx, "untaken %s [%s]\n", state, label);
}

static void run_whole(const char *yaml, size_t failures, const char *want)
{
	struct fixture f;
	struct dry_result result = {0};
	AUTO_BUF got;
	buf_init(&got, 1 << 16);
	buf_adds(&got, "");
	fixture_init(&f, yaml);
	for (size_t i = 0; i < f.findings.count; i++)
		diag("%u: %s", f.findings.items[i].pos.line, f.findings.items[i].message);
	if (ok(f.m != NULL, "the machine loads")) {
		dry_run(f.m, NULL, note, &got, &result);
		is_str(got.data, want, "what is told");
		is(result.failures, failures, "failures");
		ok(!result.bounded, "all of it was explored: %zu", result.visited);
	}
	fixture_done(&f);
}

static void run(const char *states, size_t failures, const char *want)
{
	AUTO_BUF yaml;
	buf_init(&yaml, 1 << 16);
	buf_adds(&yaml, head);
	buf_adds(&yaml, states);
	run_whole(yaml.data, failures, want);
}

static const char *const words[] = {"bug", "idea"};
static const struct {
	struct type t;
	struct constraint constraint;
} narrow[] = {
	{{.kind = TYPE_INT}, {.min = {true, true, 5, 5}, .max = {true, true, 6, 6}}},
	{{.kind = TYPE_FLOAT}, {.min = {true, false, 0, 0.25}, .max = {true, false, 0, 0.5}}},
	{{.kind = TYPE_STR}, {.max_len = 2}},
	{{.kind = TYPE_STR}, {.values = words, .value_count = 2}},
	{{.kind = TYPE_LIST, .item = TYPE_STR}, {.values = words, .value_count = 2}},
};

static void values(void)
{
	struct fixture f;
	AUTO_BUF yaml, problems;
	buf_init(&yaml, 1 << 16);
	buf_init(&problems, 1 << 16);
	buf_adds(&yaml, head);
	buf_adds(&yaml, good);
	fixture_init(&f, yaml.data);
	struct type t = machine_variable(f.m, "v")->type;
	json_auto_t *hints = json_pack("[i, s, f]", 7, "hint", 2.5);
	for (unsigned variant = 0; variant < 40; variant++) {
		json_auto_t *value = dry_value(t, variant, hints);
		is(value_check(t, value, VALUE_WHOLE, "v", &problems), 0, "variant %u conforms",
			variant);
	}
	json_auto_t *weakest = dry_value(t, 0, hints), *fullest = dry_value(t, 1, hints);
	is(json_object_size(weakest), 1, "the weakest has the required field only");
	is(json_object_size(fullest), 3, "the fullest has all");
	for (unsigned i = 0; i < ARRAY_LEN(narrow) * 40; i++) {
		struct demand demand = {narrow[i / 40].t, &narrow[i / 40].constraint, VALUE_WHOLE};
		json_auto_t *value =
			dry_value_within(demand.type, demand.constraint, i % 40, hints);
		is(demand_check(&demand, value, "v", &problems), 0, "narrow %u, variant %u: %s",
			i / 40, i % 40, problems.data);
	}
	fixture_done(&f);
}

static void fixtures(void)
{
	struct fixture f;
	struct err e = ERR_NONE;
	AUTO_BUF yaml;
	buf_init(&yaml, 1 << 16);
	buf_adds(&yaml, head);
	buf_adds(&yaml, good);
	fixture_init(&f, yaml.data);
	json_auto_t *right = json_pack("{s:i, s:{s:s}}", "n", 3, "v", "label", "a");
	json_auto_t *wrong = json_pack("{s:s}", "n", "3"), *unknown = json_pack("{s:i}", "m", 3);
	json_auto_t *board = dry_blackboard(f.m, right, &e);
	is(json_integer_value(json_object_get(board, "n")), 3, "a value of the fixture: %s",
		e.text);
	is_str(json_string_value(json_object_get(board, "text")), "", "and a declared one");
	ok(!dry_blackboard(f.m, wrong, &e), "a wrong type is refused");
	has_str(e.text, "n: expected an integer", "with the reason");
	e = ERR_NONE;
	ok(!dry_blackboard(f.m, unknown, &e), "an unknown variable is refused");
	has_str(e.text, "no variable \"m\"", "with the reason");
	fixture_done(&f);
}

static size_t allocations;

static void *count_allocation(size_t size)
{
	allocations++;
	return malloc(size);
}

static void ignore(void *ctx, const json_t *event)
{
	(void)ctx;
	(void)event;
}

/* Returns the bytes of JSON allocated while exploring the good machine, with `more` variables that
 * nothing uses. */
static size_t allocations_with(unsigned more)
{
	struct fixture f;
	struct dry_result result;
	AUTO_BUF yaml;
	buf_init(&yaml, 1 << 16);
	buf_adds(&yaml, head);
	buf_adds(&yaml, good);
	char *at = strstr(yaml.data, "  agent:\n");
	AUTO_FREE char *rest = strdup(at);
	yaml.len = (size_t)(at - yaml.data);
	for (unsigned i = 0; i < more; i++)
		buf_addf(&yaml, "    more%u: {type: int, default: 0}\n", i);
	buf_adds(&yaml, rest);
	fixture_init(&f, yaml.data);
	size_t before = allocations;
	dry_run(f.m, NULL, ignore, NULL, &result);
	fixture_done(&f);
	return allocations - before;
}

static void variables(void)
{
	json_set_alloc_funcs(count_allocation, free);
	size_t few = allocations_with(0), many = allocations_with(400);
	ok(many < few + 400L * 10, "a path costs no allocation for what it leaves alone: %zu, %zu",
		few, many);
	json_set_alloc_funcs(malloc, free);
}

int main(void)
{
	run(good, 0, "untaken judge [text == 'never captured']\n");
	run(bad, 1, "say: \"v.label\" was read, but its field \"label\" is not set (3)\n");
	run(answers, 0, "");
	run(reported, 0, "untaken pick [n == 0]\nuntaken killed [else]\n");
	run(bounded, 0, "untaken pick [exhausted]\n");
	run(plain, 0, "");
	run(exits, 0, "untaken pick [n == 2]\n");
	run_whole(returns, 1, "done: returns.n: 0 is less than 1, the minimum (2)\n");
	values();
	fixtures();
	variables();
	return tap_done();
}
