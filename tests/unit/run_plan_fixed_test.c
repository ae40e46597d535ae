/* Tests fixed parameters: plans, budgets, visits and snapshots go by the values of the start. */
#include "instance/budget.h"
#include "machine/fixed.h"
#include "run/plan.h"
#include "tests/kit/machine.h"
#include "tests/kit/tap.h"
#include <math.h>
#include <string.h>

static const char *const yaml =
	"machine: m\nversion: 1\ninitial: tool\n"
	"budget: {max_transitions: 9, max_usd: '{{ cap }}'}\n"
	"schemas: {r: {n: int}}\n"
	"vars:\n"
	"  operator: {secs: {type: int, value: 5}, tries: {type: int, max: 7}, more: {type: int},\n"
	"    cap: {type: float, value: 1}, own: {type: int}, host: {type: str, value: "
	"'a.test:1'},\n"
	"    other: {type: str}}\n"
	"states:\n"
	"  tool: {kind: tool, command: [x], timeout_secs: '{{ secs }}', max_visits: '{{ tries "
	"}}',\n"
	"    allow_network: ['{{ host }}', 'literal.test:2', '{{ other }}'],\n"
	"    on: {ok: agent, nonzero: tool, timeout: late, exhausted: done}}\n"
	"  agent: {kind: agent, prompt: p, timeout_secs: '{{ more }}', max_usd: '{{ own }}',\n"
	"    output_schema: r, on: {ok: done, failed: late, budget_exhausted: done, timeout: "
	"late}}\n"
	"  late: {kind: wait, every_secs: '{{ secs }}', on: {tick: done, signal: done}}\n"
	"  done: {kind: terminal, status: ok, reason: done}\n";

static struct fixture f;
static struct config *config;
static struct plan_env env;

#define BEGIN(more)                                                                                \
	"{\"t\":\"begin\",\"seq\":0,\"ts\":\"2026-11-21T00:00:00Z\",\"machine\":\"m\","            \
	"\"format\":2,\"parameters\":{\"more\":60,\"own\":2,\"other\":\"b.test:3\"" more "}}"

static int begin(struct position *position, const char *line, struct err *e)
{
	json_auto_t *event = json_loads(line, 0, NULL);
	position_init(position, f.m);
	return position_apply_event(position, event, e);
}

static void begin_well(struct position *position, const char *line)
{
	struct err e = ERR_NONE;
	if (begin(position, line, &e))
		bail("%s", e.text);
}

static void test_declared(void)
{
	const struct state *tool = machine_state(f.m, "tool"), *agent = machine_state(f.m, "agent");
	is(fixed_timeout_secs(tool, NULL), 5, "the declared value");
	is(fixed_max_visits(tool, NULL), 7, "or the most that a start may give");
	is(fixed_timeout_secs(agent, NULL), MACHINE_SECS_MAX, "or all that the key allows");
	ok(fixed_budget_usd(f.m, NULL).value == 1, "the budget's");
	ok(isinf(fixed_max_usd(agent, NULL).value), "an amount without a bound");
	is_str(fixed_host(&tool->tool, 0, NULL), "a.test:1", "a host");
	is_str(fixed_host(&tool->tool, 1, NULL), "literal.test:2", "a literal one");
	is_str(fixed_host(&tool->tool, 2, NULL), "{{ other }}", "and one that is not given yet");
	for (size_t i = 0; i < f.m->variable_count; i++)
		ok(fixed_is(f.m, &f.m->variables[i]), "%s is fixed", f.m->variables[i].name);
}

/* Checks that a journal cannot begin with a value that a start is refused for. */
static void test_begin(void)
{
	static const struct {
		const char *line, *why;
	} rows[] = {
		{BEGIN(",\"tries\":0"), "max_visits of state tool takes an integer from 1 to"},
		{BEGIN(",\"tries\":1,\"secs\":0"), "every_secs must be at least 1"},
		{BEGIN(",\"tries\":1,\"cap\":0"), "max_usd of the budget takes an amount in USD"},
		{BEGIN(",\"tries\":1,\"own\":-1"), "max_usd of state agent takes an amount in USD"},
		{BEGIN(",\"tries\":1,\"host\":\"a.test:1,b.test:2\""),
			"allow_network of state tool takes HOST:PORT, and not "
			"\"a.test:1,b.test:2\""},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct position p;
		struct err e = ERR_NONE;
		is(begin(&p, rows[i].line, &e), -1, "refused: %s", rows[i].line);
		has_str(e.text, rows[i].why, "because of the key's rule");
		position_done(&p);
	}
}

static void test_plan(void)
{
	struct position p;
	struct step step;
	begin_well(&p, BEGIN(",\"tries\":1,\"secs\":8,\"host\":\"c.test:4\""));
	if (!ok(plan_step(&env, &p, &step, NULL) == 0, "a tool is planned"))
		return;
	is(step.timeout_secs, 8, "its time");
	is(step.order.timeout_secs, 8, "that the jail keeps, too");
	is(step.host_count, 3, "its hosts");
	is_str(step.hosts[0], "c.test:4", "one of the start");
	is_str(step.hosts[1], "literal.test:2", "a literal one");
	is_str(step.hosts[2], "b.test:3", "and another of the start");
	step_done(&step);
	p.state = machine_state(f.m, "agent");
	if (!ok(plan_step(&env, &p, &step, NULL) == 0, "an agent is planned"))
		return;
	is(step.timeout_secs, 60, "its time");
	json_auto_t *task = agent_task_encode(&step.agent_task);
	const json_t *limits = json_object_get(task, "limits");
	is(json_integer_value(json_object_get(limits, "timeout_secs")), 60, "in its task");
	is(json_integer_value(json_object_get(limits, "max_microusd")), 1000000,
		"the machine's budget is lower");
	step_done(&step);
	position_done(&p);
	begin_well(&p, BEGIN(",\"tries\":1,\"cap\":9.5"));
	p.state = machine_state(f.m, "agent");
	plan_step(&env, &p, &step, NULL);
	json_auto_t *other = agent_task_encode(&step.agent_task);
	is(json_integer_value(json_object_get(json_object_get(other, "limits"), "max_microusd")),
		2000000, "or the state's");
	step_done(&step);
	position_done(&p);
}

static void test_budget(void)
{
	struct position p;
	char reason[400] = "";
	begin_well(&p, BEGIN(",\"tries\":1,\"cap\":0.25"));
	p.totals.microusd = 250000;
	ok(!budget_exhausted(&p, NULL, p.started_us, reason, sizeof(reason)), "at the limit");
	p.totals.microusd = 250001;
	ok(budget_exhausted(&p, NULL, p.started_us, reason, sizeof(reason)), "above it");
	has_str(reason, "budget.max_usd of the machine (0.25) is used up", "which says so");
	position_done(&p);
}

static void test_visits(void)
{
	struct position p, again;
	struct err e = ERR_NONE;
	begin_well(&p, BEGIN(",\"tries\":2"));
	json_object_set_new(p.visits, "tool", json_integer(2));
	ok(!position_exhausted(&p), "two visits of two");
	json_object_set_new(p.visits, "tool", json_integer(3));
	ok(position_exhausted(&p), "the third is one too many");
	json_auto_t *snapshot = position_encode(&p);
	if (ok(!position_decode(f.m, snapshot, &again, &e), "a snapshot")) {
		ok(position_exhausted(&again), "keeps the limit");
		position_done(&again);
	}
	json_object_set_new(json_object_get(snapshot, "blackboard"), "tries", json_integer(0));
	is(position_decode(f.m, snapshot, &again, &e), -1, "one with another limit is no snapshot");
	position_done(&p);
}

int main(void)
{
	static const char *const providers[] = {"local"};
	json_auto_t *host = json_object();
	fixture_init(&f, yaml);
	if (!f.m)
		bail("the fixture is wrong: %s", f.findings.items[0].message);
	config = config_rehearsal(providers, 1, API_ANTHROPIC, "http://127.0.0.1:1", "/state");
	env = (struct plan_env){.confine = {.config = config,
					.profile = "strict",
					.workspace = "/ws",
					.bundle = "/i/bundle",
					.data_dir = "/i/data"},
		.instance_id = "id",
		.instance_path = "/i",
		.host_env = host,
		.rehearsal = true};
	test_declared();
	test_begin();
	test_plan();
	test_budget();
	test_visits();
	config_free(config);
	fixture_done(&f);
	return tap_done();
}
