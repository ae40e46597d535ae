/*
 * Soundness of the analyses over 10,000 random machines, each run many times on random facts: one
 * without a maybe-unset warning never halts on a missing field, a clause that is said never to fire
 * never does, and one that is said to hold always does. SOUND_SEED=N tries others.
 */
#include "base/buf.h"
#include "machine/analyse/analyse.h"
#include "machine/blackboard.h"
#include "machine/predicate.h"
#include "machine/template.h"
#include "tests/kit/machine.h"
#include "tests/kit/tap.h"
#include <string.h>

/* Each takes ten times as long under the sanitizers, which look for something else. */
#ifdef __SANITIZE_ADDRESS__
enum { MACHINES = 2000 };
#else
enum { MACHINES = 10000 };
#endif
enum { RUNS = 12, STEPS = 24, STATES_MAX = 7 };

static uint64_t seed;

static uint32_t below(uint32_t limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 33) % limit;
}

static const char *pick(const char *const *list, uint32_t count)
{
	return list[below(count)];
}

#define PICK(...)                                                                                  \
	pick((const char *const[]){__VA_ARGS__},                                                   \
		(uint32_t)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))

/* --- machines --------------------------------------------------------------------------------- */

static const char *random_default(void)
{
	return PICK("{}", "{a: x}", "{a: x, b: v, c: 1}", "{a: x, c: 0, inner: {x: q}}",
		"{inner: {}}", "{inner: {y: 1}}", "{a: z, b: u, c: 2, inner: {x: q, y: 3}}",
		"{a: z, b: u, c: 2, inner: {x: q, y: 3}}");
}

static void add_head(struct buf *buf)
{
	buf_adds(buf,
		"machine: m\nversion: 1\ninitial: s0\nbudget: {max_transitions: 9}\n"
		"returns: out\n"
		"schemas:\n"
		"  out: {x: str, r: {type: rec, optional: true}}\n"
		"  rec: {a: str, b: {type: str, optional: true, enum: [u, v]}, c: int, "
		"inner: {type: deep, optional: true}, all: {type: 'list[deep]', optional: true}, "
		"tags: {type: 'list[str]', enum: [u, v], optional: true}}\n"
		"  deep: {x: str, y: {type: int, optional: true}}\n"
		"  pair: {one: rec, two: {type: rec, optional: true}}\n"
		"vars:\n");
	buf_addf(buf, "  operator: {po: {type: rec, value: %s}}\n", random_default());
	buf_addf(buf,
		"  code:\n    n: {type: int, default: %u}\n    t: {type: bool, default: %s}\n"
		"    f: {type: float, default: %s}\n    w: {type: str, default: ''}\n",
		below(4), PICK("false", "true"), PICK("0.5", "1", "1.5"));
	buf_addf(buf, "    c1: {type: rec, default: %s}\n    c2: {type: rec, default: %s}\n",
		random_default(), random_default());
	buf_addf(buf, "    d: {type: deep, default: %s}\n", PICK("{}", "{x: q}", "{x: q, y: 1}"));
	buf_addf(buf,
		"  agent:\n    g1: {type: rec, default: %s}\n    g2: {type: rec, default: %s}\n",
		random_default(), random_default());
	buf_addf(buf,
		"    p: {type: pair, default: %s}\n    s: {type: str, default: ''}\nstates:\n",
		PICK("{}", "{one: {a: x, c: 1}}", "{one: {}}"));
}

static const char *random_record(void)
{
	return PICK("po", "c1", "c2", "g1", "g2", "p.one", "p.two");
}

static void add_scalar(struct buf *buf)
{
	buf_addf(buf, "%s.%s", random_record(), PICK("a", "b", "c", "inner.x", "inner.y"));
}

static void add_guarded(struct buf *buf)
{
	const char *record = random_record();
	const char *field = PICK("b", "inner.x", "inner.y", "a");
	buf_addf(buf, "has(%s.%s) and %s.%s %s %s.%s", record, field, record, field,
		PICK("==", "!="), record, field);
}

static void add_condition(struct buf *buf, int depth)
{
	switch (below(depth ? 13 : 10)) {
	case 0:
	case 1: buf_addf(buf, "n %s %u", PICK("==", "!=", "<", ">", "<=", ">="), below(4)); return;
	case 2:
		buf_addf(buf, "%s",
			PICK("t", "d.y == 1", "has(d.x)", "has(p.two)", "not t", "t == true",
				"false != t", "n in [1, 3]", "n not in [1.0, 7]", "n in [2]",
				"n in []", "f < 1.5", "1.0 <= f", "f == n", "n < 1.5 <= f",
				"-1 > -n", "not -n", "len(s) == 1", "len(s)", "s in ['', 'x']",
				"s in ['x']", "s != 'x'", "'x' in s", "w == ''", "len(w) > 0",
				"c1 == c2"));
		return;
	case 3:
		buf_addf(buf, "has(%s.%s)", random_record(), PICK("a", "b", "inner", "inner.y"));
		return;
	case 4:
	case 5:
	case 6: add_guarded(buf); return;
	case 7:
		buf_addf(buf, "%s.b %s", random_record(),
			PICK("== 'u'", "!= 'u'", "== 'v'", "!= 'w'", "in ['u', 'w']", "in ['w']",
				"not in ['v']", "not in ['u', 'v']", "in ['u', 'v']", "< 'v'"));
		return;
	case 8:
		buf_addf(buf, "%u < %s.c <= %u and len(%s.inner.x) > 1", below(3), random_record(),
			below(4), random_record());
		return;
	case 9: {
		const char *record = random_record();
		const char *about = PICK("len(%s) > 1:all", "has(%s):all", "%s:all",
			"'u' in %s:tags", "'w' not in %s:tags", "%s == ['v']:tags");
		const char *hole = strstr(about, "%s"), *field = strchr(about, ':');
		buf_addf(buf, "%.*s%s.%s%.*s", (int)(hole - about), about, record, field + 1,
			(int)(field - hole - 2), hole + 2);
		return;
	}
	case 10: buf_adds(buf, "not "); break;
	default:
		buf_adds(buf, "(");
		add_condition(buf, depth - 1);
		buf_addf(buf, ") %s (", PICK("and", "or"));
		add_condition(buf, depth - 1);
		buf_adds(buf, ")");
		return;
	}
	buf_adds(buf, "(");
	add_condition(buf, depth - 1);
	buf_adds(buf, ")");
}

static void add_target(struct buf *buf, const char *label, uint32_t states)
{
	uint32_t to = below(states + 1);
	if (to == states)
		buf_addf(buf, "%s: done, ", label);
	else
		buf_addf(buf, "%s: s%u, ", label, to);
}

/* The first label leads on, so that every state is reached; the others lead anywhere. */
static void add_on(struct buf *buf, uint32_t i, uint32_t states, const char *const *labels)
{
	bool limited = !below(4);
	if (limited)
		buf_addf(buf, "    max_visits: %u\n", 1 + below(3));
	buf_adds(buf, "    on: {");
	if (limited)
		add_target(buf, "exhausted", states);
	buf_addf(buf, "%s: ", labels[0]);
	if (i + 1 < states)
		buf_addf(buf, "s%u, ", i + 1);
	else
		buf_adds(buf, "done, ");
	for (uint32_t k = 1; labels[k]; k++)
		add_target(buf, labels[k], states);
	buf->data[buf->len - 2] = '}';
	buf->data[buf->len - 1] = '\n';
}

static void add_reads(struct buf *buf, const char *before, const char *after)
{
	buf_adds(buf, before);
	for (uint32_t i = below(6) / 4; i > 0; i--) {
		buf_adds(buf, "{{ ");
		add_scalar(buf);
		buf_adds(buf, " }} ");
	}
	buf_addf(buf, "%s", after);
}

static void add_tool(struct buf *buf, uint32_t i, uint32_t states)
{
	static const char *const labels[] = {"ok", "nonzero", "timeout", NULL};
	buf_addf(buf, "  s%u:\n    kind: tool\n    timeout_secs: 1\n", i);
	add_reads(buf, "    command: [x, \"", "\"]\n");
	buf_adds(buf, PICK("", "", "    ok_exit: [0, 1]\n", "    ok_exit: [3]\n"));
	switch (below(7)) {
	case 0: break;
	case 5: buf_adds(buf, "    capture: {stdout_text: w}\n"); break;
	case 6: buf_adds(buf, "    output_schema: deep\n    capture: {set: {}}\n"); break;
	case 1:
		buf_adds(buf, "    output_schema: rec\n    capture: {set: {c1: '{{ result }}'}}\n");
		break;
	case 2:
		buf_addf(buf,
			"    output_schema: rec\n    capture: {set: {%s: '{{ %s }}', c2: '{{ %s "
			"}}'}}\n",
			PICK("n", "n", "f"), PICK("result.c", "c1.c", "g1.inner.y", "exit"),
			random_record());
		break;
	case 3:
		buf_addf(buf,
			"    output_schema: pair\n    capture: {set: {c1: '{{ %s }}', d: '{{ %s "
			"}}'}}\n",
			PICK("result.one", "result.two", "c2"),
			PICK("result.one.inner", "c1.inner", "p.one.inner"));
		break;
	default:
		buf_addf(buf,
			"    output_schema: deep\n    capture: {set: {d: '{{ result }}', c1: '{{ "
			"%s }}'}}\n",
			random_record());
	}
	if (!below(3))
		buf_addf(buf,
			"    capture_failure: {set: {c1: '{{ %s }}', d: '{{ %s }}', n: '{{ "
			"failure.exit }}', w: '{{ failure.label }} {{ %s.a }}'}}\n",
			random_record(), PICK("d", "c2.inner", "g1.inner", "p.one.inner"),
			random_record());
	add_on(buf, i, states, labels);
}

static void add_agent(struct buf *buf, uint32_t i, uint32_t states)
{
	static const char *const labels[] = {"ok", "failed", "budget_exhausted", "timeout", NULL};
	buf_addf(buf, "  s%u:\n    kind: agent\n    timeout_secs: 1\n", i);
	add_reads(buf, "    prompt: \"do ", "\"\n");
	switch (below(4)) {
	case 0:
		buf_addf(buf, "    output_schema: rec\n    capture: {finish_json: %s}\n",
			PICK("g1", "g2"));
		break;
	case 1: buf_adds(buf, "    output_schema: pair\n    capture: {finish_json: p}\n"); break;
	case 2:
		buf_addf(buf,
			"    output_schema: rec\n    capture: {set: {g1: '{{ %s }}', g2: '{{ %s "
			"}}'}}\n",
			PICK("result", "g2", "p.one"), random_record());
		break;
	default:
		buf_addf(buf, "    output_schema: rec\n    capture: {set: {s: 'x {{ %s.a }}'}}\n",
			random_record());
	}
	if (!below(3))
		buf_addf(buf,
			"    capture_failure: {set: {g1: '{{ %s }}', s: '{{ failure.reason }}'}}\n",
			random_record());
	add_on(buf, i, states, labels);
}

static void add_branch(struct buf *buf, uint32_t i, uint32_t states)
{
	buf_addf(buf, "  s%u:\n    kind: branch\n", i);
	if (!below(4)) {
		buf_addf(buf, "    max_visits: %u\n    ", 1 + below(3));
		add_target(buf, "exhausted", states);
		buf->data[buf->len - 2] = '\n';
		buf->len--;
	}
	buf_adds(buf, "    when:\n");
	for (uint32_t k = 1 + below(4); k > 0; k--) {
		buf_adds(buf, "      - {if: \"");
		add_condition(buf, 2);
		buf_adds(buf, "\", ");
		add_target(buf, "goto", states);
		buf->data[buf->len - 2] = '}';
		buf->data[buf->len - 1] = '\n';
	}
	if (i + 1 < states)
		buf_addf(buf, "      - {else: true, goto: s%u}\n", i + 1);
	else
		buf_adds(buf, "      - {else: true, goto: done}\n");
}

static void add_wait(struct buf *buf, uint32_t i, uint32_t states)
{
	static const char *const labels[] = {"signal", "tick", NULL};
	buf_addf(buf, "  s%u:\n    kind: wait\n    every_secs: 1\n", i);
	add_reads(buf, "    notify: \"at ", "\"\n");
	add_on(buf, i, states, labels);
}

static void random_machine(struct buf *buf)
{
	static void (*const kinds[])(struct buf *, uint32_t, uint32_t) = {
		add_tool, add_agent, add_agent, add_branch, add_branch, add_wait};
	uint32_t states = 2 + below(STATES_MAX - 1);
	add_head(buf);
	for (uint32_t i = 0; i < states; i++)
		kinds[below(6)](buf, i, states);
	add_reads(buf, "  done: {kind: terminal, status: ok, reason: \"end ", "\", ");
	add_reads(buf, "returns: {x: \"out ", "\"");
	if (below(3) == 0)
		buf_addf(buf, ", r: '{{ %s }}'", random_record());
	buf_adds(buf, "}}\n");
}

/* --- runs ------------------------------------------------------------------------------------- */

static json_t *random_value(struct type t, const struct field *f)
{
	static const char *const texts[] = {"", "x", "long text"};
	if (t.kind == TYPE_LIST) {
		json_t *list = json_array();
		for (uint32_t left = below(3); left; left--)
			json_array_append_new(list, random_value(type_item(t), f));
		return list;
	}
	if (f && t.kind == TYPE_STR && f->constraint.values)
		return json_string(
			f->constraint.values[below((uint32_t)f->constraint.value_count)]);
	if (t.kind == TYPE_STR)
		return json_string(texts[below(3)]);
	if (t.kind != TYPE_RECORD)
		return json_integer(below(4));
	json_t *record = json_object();
	for (size_t i = 0; i < t.record->field_count; i++) {
		const struct field *field = &t.record->fields[i];
		if (!field->optional || below(2))
			json_object_set_new(record, field->name, random_value(field->type, field));
	}
	return record;
}

struct tally {
	size_t accepted, quiet, halts, quiet_halts, contradicted, silent_clauses;
};

struct run {
	const struct machine *m;
	const struct findings *findings;
	json_t *blackboard;
	bool halted;
	struct tally *tally;
};

static void render(struct run *run, const struct template *template)
{
	struct err e = ERR_NONE;
	AUTO_BUF out;
	buf_init(&out, 1 << 20);
	if (template && template_render(template, run->blackboard, NULL, &out, &e))
		run->halted = true;
}

/* Reports whether a finding contradicts the clause's actual result. */
static bool said_otherwise(const struct findings *findings, const struct clause *clause, bool holds)
{
	for (size_t i = 0; clause->node && i < findings->count; i++) {
		const struct finding *it = &findings->items[i];
		bool constant = it->rule == RULE_CONSTANT_BRANCH;
		bool always = constant && strstr(it->message, "always holds");
		/* If one text in a condition fits nothing, the whole condition may still hold. */
		bool never = it->rule == RULE_SHADOWED_CLAUSE ||
			     (constant && strstr(it->message, "never hold"));
		if ((holds ? never : always) && it->pos.line == clause->node->pos.line)
			return true;
	}
	return false;
}

static const struct state *run_branch(struct run *run, const struct state *state)
{
	for (size_t i = 0; i < state->clause_count; i++) {
		const struct clause *c = &state->clauses[i];
		struct err e = ERR_NONE;
		bool holds = true;
		if (c->condition && predicate_eval(c->condition, run->blackboard, &holds, &e)) {
			run->halted = true;
			return NULL;
		}
		if (said_otherwise(run->findings, c, holds)) {
			run->tally->contradicted++;
			diag("%s: %s", holds ? "fired" : "did not hold", c->text);
		}
		if (holds)
			return c->target;
	}
	return NULL;
}

static const struct state *run_failure(struct run *run, const struct state *state, uint32_t outcome)
{
	json_auto_t *failure = json_pack(
		"{s:s,s:s,s:i}", "label", outcome_name(outcome), "reason", "why", "exit", below(4));
	blackboard_capture_failure(state, failure, run->blackboard);
	return state->on[outcome];
}

static const struct state *run_work(struct run *run, const struct state *state)
{
	uint32_t outcome = below(2) ? OUTCOME_OK : below(OUTCOME_COUNT);
	while (!state->on[outcome] || outcome == OUTCOME_EXHAUSTED)
		outcome = below(OUTCOME_COUNT);
	if (outcome != OUTCOME_OK)
		return run_failure(run, state, outcome);
	if (!state->capture.present)
		return state->on[OUTCOME_OK];
	struct err e = ERR_NONE;
	struct type t = {.kind = TYPE_STR};
	if (state->output_schema)
		t = (struct type){.kind = TYPE_RECORD, .record = state->output_schema};
	json_t *result = random_value(t, NULL);
	json_t *status = json_integer(below(2));
	struct captured captured = {.result = result, .exit = status, .keeps = true};
	int failed = blackboard_capture(state, &captured, run->blackboard, &e);
	json_decref(result);
	json_decref(status);
	return failed ? run_failure(run, state,
				state->kind == KIND_TOOL ? OUTCOME_NONZERO : OUTCOME_FAILED)
		      : state->on[OUTCOME_OK];
}

static const struct state *run_state(struct run *run, const struct state *state)
{
	render(run, state->notify);
	if (state->kind == KIND_AGENT)
		render(run, state->agent.prompt);
	for (size_t i = 0; state->kind == KIND_TOOL && i < state->tool.command_count; i++)
		render(run, state->tool.command[i]);
	if (state->kind == KIND_TERMINAL)
		render(run, state->terminal.reason);
	for (size_t i = 0; state->kind == KIND_TERMINAL && i < state->terminal.return_count; i++) {
		struct err e = ERR_NONE;
		json_t *value =
			template_value(state->terminal.returns[i].value, run->blackboard, NULL, &e);
		run->halted |= !value;
		json_decref(value);
	}
	if (run->halted || state->kind == KIND_TERMINAL)
		return NULL;
	if (state->kind == KIND_BRANCH)
		return run_branch(run, state);
	if (state->kind == KIND_WAIT)
		return state->on[below(2) ? OUTCOME_TICK : OUTCOME_SIGNAL];
	return run_work(run, state);
}

static bool run_machine(
	const struct machine *machine, const struct findings *findings, struct tally *tally)
{
	bool halted = false;
	for (int i = 0; i < RUNS; i++) {
		struct run r = {machine, findings, blackboard_new(machine), false, tally};
		const struct state *s = machine->initial;
		int64_t visits[STATES_MAX + 2] = {0};
		for (int step = 0; s && step < STEPS; step++)
			s = s->max_visits && visits[s->index]++ >= s->max_visits
				    ? s->on[OUTCOME_EXHAUSTED]
				    : run_state(&r, s);
		halted |= r.halted;
		json_decref(r.blackboard);
	}
	return halted;
}

static bool has_rule(const struct findings *findings, enum rule rule)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->items[i].rule == rule)
			return true;
	return false;
}

static void try_machine(struct tally *tally)
{
	struct fixture f;
	AUTO_BUF yaml;
	buf_init(&yaml, 1 << 20);
	random_machine(&yaml);
	fixture_init(&f, yaml.data);
	if (f.m) {
		machine_analyse(f.m, &f.findings);
		bool quiet = !has_rule(&f.findings, RULE_MAYBE_UNSET);
		bool halted = run_machine(f.m, &f.findings, tally);
		tally->accepted++;
		tally->quiet += quiet;
		tally->halts += halted;
		tally->silent_clauses += has_rule(&f.findings, RULE_SHADOWED_CLAUSE) ||
					 has_rule(&f.findings, RULE_CONSTANT_BRANCH);
		if (quiet && halted && !tally->quiet_halts++)
			diag("halts without a warning:\n%s", yaml.data);
	}
	fixture_done(&f);
}

int main(void)
{
	struct tally tally = {0};
	const char *given = getenv("SOUND_SEED");
	seed = given ? strtoull(given, NULL, 10) * 2 + 1 : 20261121;
	size_t tries = 0;
	while (tally.accepted < MACHINES && tries++ < 4 * MACHINES)
		try_machine(&tally);
	diag("%zu tried, %zu accepted, %zu without a warning, %zu halted, %zu with a silent clause",
		tries, tally.accepted, tally.quiet, tally.halts, tally.silent_clauses);
	is(tally.accepted, MACHINES, "machines");
	is(tally.quiet_halts, 0, "no machine without maybe-unset halts on a missing field");
	is(tally.contradicted, 0,
		"no clause fires that was said never to, and none fails that always holds");
	/* Otherwise the two above would hold of nothing. */
	ok(tally.quiet > MACHINES / 20, "enough machines have no warning");
	ok(tally.halts > MACHINES / 20, "enough machines do halt");
	ok(tally.silent_clauses > MACHINES / 50, "enough machines have clauses that never fire");
	return tap_done();
}
