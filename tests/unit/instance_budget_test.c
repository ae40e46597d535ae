/* Tests budgets: exactly at a limit is not over it, whatever the kind of the next state. */
#include "instance/budget.h"
#include "tests/kit/machine.h"
#include "tests/kit/tap.h"

/* One state of each kind. */
static const char *const yaml =
	"machine: m\nversion: 1\ninitial: agent\n"
	"budget: {max_transitions: 7, max_usd: 0.3}\n"
	"schemas: {r: {n: int}}\n"
	"vars: {operator: {n: {type: int, value: 3}}}\n"
	"states:\n"
	"  agent: {kind: agent, prompt: p, timeout_secs: 1, output_schema: r,\n"
	"    on: {ok: tool, failed: tool, budget_exhausted: tool, timeout: tool}}\n"
	"  tool: {kind: tool, command: [x], timeout_secs: 1,\n"
	"    on: {ok: wait, nonzero: wait, timeout: wait}}\n"
	"  wait: {kind: wait, every_secs: 5, on: {tick: branch, signal: branch}}\n"
	"  branch: {kind: branch, when: [{if: 'n > 2', goto: terminal}, {else: true, goto: "
	"terminal}]}\n"
	"  terminal: {kind: terminal, status: ok, reason: r}\n";

enum { MACHINE_USD = 300000, OPERATOR_USD = 100000, SOFT_USD = 700000, TOKENS = 500 };

enum { BEGUN_US = 5000000 };

static struct fixture fixture;
static int64_t now_us = BEGUN_US;
static struct config config = {
	.budget = {.max_microusd = -1, .max_input_tokens = -1, .max_output_tokens = -1}};

static bool exhausted(enum state_kind kind, const struct totals *totals, char reason[400])
{
	struct position position;
	position_init(&position, fixture.m);
	position.state = machine_state(fixture.m, state_kind_name(kind));
	position.totals = *totals;
	*reason = '\0';
	position.begun = true;
	position.started_us = BEGUN_US;
	bool is_over = budget_exhausted(&position, &config, now_us, reason, 400);
	position_done(&position);
	return is_over;
}

static void expect(enum state_kind kind, struct totals totals, const char *why)
{
	char reason[400], whole[400] = "";
	if (why)
		snprintf(whole, sizeof(whole), "%s before state %s", why, state_kind_name(kind));
	is(exhausted(kind, &totals, reason), why != NULL, "before a state of kind %s: %s",
		state_kind_name(kind), why ? why : "it may begin");
	is_str(reason, whole, "and the reason");
	ok(!why || budget_is_machine(reason) == !strstr(why, "of the configuration"),
		"which tells whose limit it is");
}

/* A terminal takes no time, so it may be reached in the last moment. */
static void test_time(enum state_kind kind)
{
	bool ends = kind == KIND_TERMINAL;
	fixture.m->max_secs = 2;
	now_us = BEGUN_US + 1999999;
	expect(kind, (struct totals){0}, NULL);
	now_us = BEGUN_US + 2000000;
	expect(kind, (struct totals){0}, ends ? NULL : "budget.max_secs (2) is used up");
	fixture.m->max_secs = 0;
	expect(kind, (struct totals){0}, NULL);
	now_us = BEGUN_US;
}

/* A terminal makes no transition, so it may be reached by the last one. */
static void test_transitions(enum state_kind kind)
{
	bool ends = kind == KIND_TERMINAL;
	expect(kind, (struct totals){.transitions = 6}, NULL);
	expect(kind, (struct totals){.transitions = 7},
		ends ? NULL : "max_transitions (7) is used up");
	expect(kind, (struct totals){.transitions = 8}, "max_transitions (7) is used up");
}

static void test_spending(enum state_kind kind)
{
	struct opt_float hard = fixture.m->max_usd;
	expect(kind, (struct totals){.microusd = MACHINE_USD - 1}, NULL);
	expect(kind, (struct totals){.microusd = MACHINE_USD}, NULL);
	expect(kind, (struct totals){.microusd = MACHINE_USD + 1},
		"budget.max_usd of the machine (0.3) is used up (0.300001)");
	fixture.m->max_usd.present = false;
	fixture.m->best_effort_usd = (struct opt_float){.present = true, .value = 0.7};
	expect(kind, (struct totals){.microusd = SOFT_USD}, NULL);
	expect(kind, (struct totals){.microusd = SOFT_USD + 1},
		"budget.best_effort_usd_limit of the machine (0.7) is used up (0.700001)");
	fixture.m->best_effort_usd.present = false;
	fixture.m->max_usd = hard;

	config.budget.max_microusd = OPERATOR_USD;
	expect(kind, (struct totals){.microusd = OPERATOR_USD}, NULL);
	expect(kind, (struct totals){.microusd = OPERATOR_USD + 1},
		"budget.max_usd of the configuration (0.1) is used up (0.100001)");
	config.budget.max_microusd = 0;
	expect(kind, (struct totals){0}, NULL);
	config.budget.max_microusd = -1;

	config.budget.max_input_tokens = TOKENS;
	expect(kind, (struct totals){.input_tokens = TOKENS}, NULL);
	expect(kind, (struct totals){.input_tokens = TOKENS + 1},
		"budget.max_input_tokens of the configuration (500) is used up (501)");
	config.budget.max_input_tokens = -1;

	config.budget.max_output_tokens = TOKENS;
	expect(kind, (struct totals){.output_tokens = TOKENS}, NULL);
	expect(kind, (struct totals){.output_tokens = TOKENS + 1},
		"budget.max_output_tokens of the configuration (500) is used up (501)");
	config.budget.max_output_tokens = -1;
}

int main(void)
{
	fixture_init(&fixture, yaml);
	if (!fixture.m)
		bail("the fixture is wrong: %s", fixture.findings.items[0].message);
	for (enum state_kind kind = 0; kind < KIND_COUNT; kind++) {
		ok(machine_state(fixture.m, state_kind_name(kind)) != NULL, "a state of kind %s",
			state_kind_name(kind));
		test_transitions(kind);
		test_time(kind);
		test_spending(kind);
	}
	fixture_done(&fixture);
	return tap_done();
}
