/* Plans: jail policies, commands, agents' requests, budgets and wakes. */
#include "base/json.h"
#include "instance/budget.h"
#include "run/plan.h"
#include "tests/kit/machine.h"
#include "tests/kit/tap.h"

#include <math.h>
#include <string.h>

static const char *const yaml =
	"machine: m\nversion: 1\ninitial: tool\nbudget: {max_transitions: 9, max_usd: 1.0}\n"
	"schemas: {r: {n: int}}\n"
	"vars:\n"
	"  operator: {secs: {type: int, value: 5}, when: {type: str, value: '2030-01-01'},\n"
	"    program: {type: str, value: echo}}\n"
	"  code: {list: {type: 'list[float]', default: [1, 2.5]}, n: {type: int, default: 0}}\n"
	"  agent: {v: {type: r, default: {}}}\n"
	"states:\n"
	"  tool: {kind: tool, command: [echo, '{{ list }}', 'n={{ n }}'], timeout_secs: 7,\n"
	"    workspace: read, env: {A: b, LANG: mine}, limits: {memory_mb: 99, processes: 99999},\n"
	"    capture: {set: {n: '{{ n }}'}}, on: {ok: agent, nonzero: wait, timeout: until}}\n"
	"  none: {kind: tool, command: [a], timeout_secs: 7, workspace: none,\n"
	"    on: {ok: agent, nonzero: wait, timeout: chosen}}\n"
	"  chosen: {kind: tool, command: ['{{ program }}', x], timeout_secs: 7,\n"
	"    on: {ok: agent, nonzero: wait, timeout: script}}\n"
	"  script: {kind: tool, command: [scripts/x, scripts/y], stdin: 'n={{ n }}',\n"
	"    timeout_secs: 7, on: {ok: agent, nonzero: wait, timeout: until}}\n"
	"  agent: {kind: agent, prompt: 'n is {{ n }}', timeout_secs: 60, output_schema: r,\n"
	"    capture: {finish_json: v}, max_usd: 0.5, max_output_tokens: 100, thinking: low,\n"
	"    on: {ok: wait, failed: bad, budget_exhausted: bad, timeout: bad}}\n"
	"  coder: {kind: agent, prompt: p, mode: run, timeout_secs: 60, output_schema: r,\n"
	"    capture: {finish_json: v}, on: {ok: wait, failed: bad, budget_exhausted: bad,\n"
	"    timeout: bad}}\n"
	"  wait: {kind: wait, every_secs: '{{ secs }}', on: {tick: until, signal: coder}}\n"
	"  until: {kind: wait, until: '{{ when }}', on: {tick: none, signal: bad}}\n"
	"  bad: {kind: terminal, status: failed, reason: bad}\n";

static struct fixture f;
static struct config *config;
static struct plan_env env;
static struct position at;

static void stand_in(const char *state)
{
	position_done(&at);
	position_init(&at, f.m);
	at.state = machine_state(f.m, state);
}

static char *text_at(const json_t *object, const char *key)
{
	return json_dumps(
		json_object_get(object, key), JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
}

static void part_is(const json_t *object, const char *key, const char *want)
{
	AUTO_FREE char *got = text_at(object, key);
	is_str(got, want, "%s", key);
}

static void text_is(const json_t *value, const char *want)
{
	AUTO_FREE char *got = json_text(value);
	is_str(got, want, "%.40s", want);
}

/* A program that is chosen at run time is no way around what check refuses. */
static void test_chosen_program(void)
{
	static const char *const rows[][2] = {{"echo", ""}, {"/bin/echo", ""}, {"/wsx/echo", ""},
		{"./echo", "a program that is a relative path"},
		{"scripts/echo", "a program that is a relative path"},
		{"/ws/echo", "a program that lies in the workspace"},
		{"/bin/../ws/echo", "a program that is not a clean path"},
		{"/proc/self/cwd/echo", "a program that lies where names lead elsewhere"},
		{"", "an empty program name"}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct step step;
		stand_in("chosen");
		json_object_set_new(at.blackboard, "program", json_string(rows[i][0]));
		if (!ok(plan_step(&env, &at, &step, NULL) == 0, "'%s' is planned", rows[i][0]))
			continue;
		const char *why = step.fact.kind == FACT_NOT_RUN ? step.fact.not_run : NULL;
		has_str(why ? why : "", rows[i][1], "and refused or not");
		is(why == NULL, !*rows[i][1], "exactly where it should");
		step_done(&step);
	}
}

/* Checks that everything lies in a workspace "/". */
static void test_chosen_in_root(void)
{
	struct step step;
	const char *workspace = env.confine.workspace;
	env.confine.workspace = "/";
	stand_in("chosen");
	json_object_set_new(at.blackboard, "program", json_string("/bin/echo"));
	if (ok(plan_step(&env, &at, &step, NULL) == 0, "a program, and the workspace is /")) {
		const char *why = step.fact.kind == FACT_NOT_RUN ? step.fact.not_run : NULL;
		has_str(why ? why : "", "lies in the workspace", "it lies in it");
		step_done(&step);
	}
	env.confine.workspace = workspace;
}

static void test_policy(void)
{
	struct step step;
	stand_in("tool");
	at.seq = 4;
	if (!ok(plan_step(&env, &at, &step, NULL) == 0 && step.policy.workspace,
		    "a tool is planned"))
		return;
	text_is(step.order.argv, "[\"echo\",\"1.0\",\"2.5\",\"n=0\"]");
	text_is(step.order.env,
		"{\"A\":\"b\",\"AGENT6_BUNDLE_DIR\":\"/i/bundle\","
		"\"AGENT6_MACHINE_DATA_DIR\":\"/i/data\",\"AGENT6_STEP_KEY\":\"id-5\","
		"\"LANG\":\"mine\",\"TZ\":\"UTC\"}");
	json_auto_t *policy = jail_policy_encode(&step.policy);
	part_is(policy, "workspace", "{\"access\":\"read\",\"path\":\"/ws\"}");
	part_is(policy, "cwd", "\"/ws\"");
	is(step.policy.network, JAIL_OFFLINE, "no network");
	part_is(policy, "write", "[\"/i/data\"]");
	part_is(policy, "protect", "[\"/ws/.git\",\"/ws/machines/m\"]");
	part_is(policy, "hide", "[\"/ws/secret\"]");
	part_is(policy, "bundle", "\"/i/bundle\"");
	is(step.order.timeout_secs, 7, "the time-out");
	part_is(json_object_get(policy, "limits"), "memory_mb", "99");
	part_is(json_object_get(policy, "limits"), "processes", "256");
	is(step.execution, 1, "the first execution");
	is_str(step.dir, "states/5-tool", "its directory");
	step_done(&step);
	stand_in("none");
	if (ok(plan_step(&env, &at, &step, NULL) == 0, "a tool without the workspace")) {
		is_str(step.policy.workspace, "/ws", "the workspace");
		is(step.policy.access, JAIL_NO_ACCESS, "is not shown");
		is_str(step.policy.cwd, "/i/data", "and it starts elsewhere");
	}
	step_done(&step);
}

/* Checks that a listed name of the own host is reached through the proxy. */
static void test_direct_names(void)
{
	static const char *const hosts[] = {
		"localhost:8080", "[::1]:8080", "api.test:443", "*.localhost:1"};
	struct state listed;
	struct step step;
	stand_in("tool");
	listed = *at.state;
	listed.tool.network = NETWORK_LIST;
	listed.tool.hosts = hosts;
	listed.tool.host_count = ARRAY_LEN(hosts);
	at.state = &listed;
	if (ok(plan_step(&env, &at, &step, NULL) == 0 && step.policy.workspace,
		    "a tool with a list")) {
		const json_t *given = step.order.env;
		part_is(given, "NO_PROXY", "\"127.0.0.1\"");
		part_is(given, "no_proxy", "\"127.0.0.1\"");
	}
	step_done(&step);
}

/* A bundle's own script, what it reads, and the message it was woken by. */
static void test_script(void)
{
	struct step step;
	json_auto_t *poke = json_pack("{s:s}", "message", "hi");
	stand_in("script");
	at.poke = json_incref(poke);
	if (ok(plan_step(&env, &at, &step, NULL) == 0 && step.policy.workspace,
		    "a script is planned")) {
		text_is(step.order.argv, "[\"/i/bundle/scripts/x\",\"/i/bundle/scripts/y\"]");
		is_mem(step.stdin_text, step.stdin_len, "n=0", 3, "its input");
		ok(step.poke == poke, "its message");
		step_done(&step);
	}
}

static void refused_command(const char *why)
{
	struct step step;
	if (!ok(plan_step(&env, &at, &step, NULL) == 0, "a long command"))
		return;
	const char *said = step.fact.kind == FACT_NOT_RUN ? step.fact.not_run : NULL;
	is_str(said ? said : "", why, "is refused exactly beyond what is taken");
	step_done(&step);
}

static void test_long_commands(void)
{
	static const char *const many = "the command rendered to more than 4096 arguments";
	for (size_t items = 4094; items <= 4095; items++) {
		json_t *list = json_array();
		stand_in("tool");
		for (size_t i = 0; i < items; i++)
			json_array_append_new(list, json_integer(1));
		json_object_set_new(at.blackboard, "list", list);
		refused_command(items == 4094 ? "" : many);
	}
	static char program[256 * 1024] = "/bin/";
	memset(program + 5, 'x', sizeof(program) - 6);
	stand_in("chosen");
	json_object_set_new(at.blackboard, "program", json_string(program));
	refused_command("the command rendered to more than 192 KiB");
}

/* The newest agent's order and task as they are sent; NULL: there is no agent to start. */
static json_t *order, *task;

static void encode(const struct step *step)
{
	bool any = step->agent_task.version;
	json_decref(order);
	json_decref(task);
	order = any ? agent_order_encode(&step->agent_order) : NULL;
	task = any ? agent_task_encode(&step->agent_task) : NULL;
}

static json_t *agent_limits(struct step *step)
{
	if (plan_step(&env, &at, step, NULL))
		bail("an agent cannot be planned");
	encode(step);
	return json_object_get(task, "limits");
}

static void test_agent(void)
{
	struct step step;
	stand_in("agent");
	json_t *limits = agent_limits(&step);
	part_is(limits, "max_microusd", "500000");
	part_is(limits, "max_output_tokens", "100");
	part_is(limits, "max_input_tokens", "null");
	part_is(task, "prompt", "\"n is 0\"");
	part_is(task, "thinking", "\"low\"");
	part_is(task, "protect", "[\"/ws/.git\",\"/ws/machines/m\",\"/ws/secret\"]");
	part_is(task, "hide", "[\"/ws/secret\"]");
	part_is(json_object_get(task, "provider"), "key", "null");
	part_is(json_object_get(task, "provider"), "base_url",
		"\"http://127.0.0.1:1/step/1/1/agent\"");
	part_is(order, "max_egress_bytes", "null");
	part_is(order, "agent_network", "\"providers\"");
	AUTO_FREE char *all = json_dumps(order, JSON_COMPACT);
	has_str(all, "\"endpoint\":\"127.0.0.1:1\"", "one channel, to the provider");
	step_done(&step);
	at.totals.microusd = 700000;
	part_is(agent_limits(&step), "max_microusd", "300000");
	step_done(&step);
	at.step.microusd = 450000;
	at.step.output_tokens = 60;
	limits = agent_limits(&step);
	part_is(limits, "max_microusd", "50000");
	part_is(limits, "max_output_tokens", "40");
	step_done(&step);
	at.step.output_tokens = 100;
	limits = agent_limits(&step);
	ok(!limits && step.fact.kind == FACT_AGENT, "with nothing left no provider is asked");
	is(step.fact.agent.outcome, OUTCOME_BUDGET_EXHAUSTED, "and that is its outcome");
	step_done(&step);
}

/* Every owner's cap binds by itself, less what was spent of it, and is used up by all of it. */
static void test_caps(void)
{
	struct agent_state *own = &((struct state *)(uintptr_t)machine_state(f.m, "coder"))->agent;
	struct opt_float of_machine = f.m->max_usd;
	const struct {
		const char *limit;
		int64_t *spent, *set; /* one of the three is set */
		struct opt_int *count;
		struct opt_float *usd;
	} rows[] = {
		{"max_input_tokens", &at.totals.input_tokens, &config->budget.max_input_tokens,
			NULL, NULL},
		{"max_input_tokens", &at.step.input_tokens, NULL, &own->max_input_tokens, NULL},
		{"max_output_tokens", &at.totals.output_tokens, &config->budget.max_output_tokens,
			NULL, NULL},
		{"max_output_tokens", &at.step.output_tokens, NULL, &own->max_output_tokens, NULL},
		{"max_microusd", &at.totals.microusd, &config->budget.max_microusd, NULL, NULL},
		{"max_microusd", &at.totals.microusd, NULL, NULL, &f.m->max_usd},
		{"max_microusd", &at.step.microusd, NULL, NULL, &own->max_usd},
		{"best_effort_microusd", &at.totals.microusd, NULL, NULL, &f.m->best_effort_usd},
		{"best_effort_microusd", &at.step.microusd, NULL, NULL, &own->best_effort_usd},
	};
	f.m->max_usd.present = false;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct step step;
		stand_in("coder");
		part_is(agent_limits(&step), rows[i].limit, "null");
		step_done(&step);
		if (rows[i].set)
			*rows[i].set = 1000;
		else if (rows[i].count)
			*rows[i].count = (struct opt_int){true, 1000};
		else
			*rows[i].usd = (struct opt_float){true, 0.001};
		*rows[i].spent = 999;
		part_is(agent_limits(&step), rows[i].limit, "1");
		step_done(&step);
		for (*rows[i].spent = 1000; *rows[i].spent < 1002; ++*rows[i].spent) {
			ok(!agent_limits(&step) && step.fact.kind != FACT_NONE,
				"%s, row %zu: used up", rows[i].limit, i);
			step_done(&step);
		}
		if (rows[i].set)
			*rows[i].set = -1;
		else if (rows[i].count)
			rows[i].count->present = false;
		else
			rows[i].usd->present = false;
	}
	f.m->max_usd = of_machine;
}

/* Checks the members of a request, from the state or else from the configuration. */
static void test_request(void)
{
	static const char *const verify[] = {"make", "test"};
	struct agent_state *own = &((struct state *)(uintptr_t)machine_state(f.m, "agent"))->agent;
	struct config as_it_was = *config;
	struct step step;
	config->agent.max_iterations = 11;
	config->agent.max_iterations_run = 22;
	config->models.reviewer = (struct config_role){.provider = "local", .model = "small"};
	config->workflow.verify_command = (struct config_list){verify, 2};
	stand_in("coder");
	part_is(agent_limits(&step), "max_iterations", "22");
	part_is(task, "mode", "\"run\"");
	part_is(task, "temperature", "null");
	part_is(task, "reviewer", "null");
	part_is(json_object_get(order, "commands"), "verify", "[\"make\",\"test\"]");
	part_is(json_object_get(json_object_get(order, "commands"), "policy"), "env",
		"{\"AGENT6_BUNDLE_DIR\":\"/i/bundle\",\"LANG\":\"C\",\"TZ\":\"UTC\"}");
	step_done(&step);
	stand_in("agent");
	part_is(agent_limits(&step), "max_iterations", "11");
	part_is(task, "mode", "\"agent\"");
	part_is(task, "result", "{\"fields\":[{\"name\":\"n\",\"type\":\"int\"}],\"name\":\"r\"}");
	step_done(&step);
	own->max_iterations = (struct opt_int){true, 3};
	own->temperature = (struct opt_float){true, 0.25};
	config->agent.summarise = SUMMARISE_MODEL;
	part_is(agent_limits(&step), "max_iterations", "3");
	part_is(task, "temperature", "0.25");
	part_is(json_object_get(task, "reviewer"), "model", "\"small\"");
	step_done(&step);
	own->max_iterations.present = own->temperature.present = false;
	*config = as_it_was;
}

/* Only an agent that may write gets to run commands, and never outside its workspace. */
static void test_commands(void)
{
	struct step step;
	stand_in("agent");
	agent_limits(&step);
	ok(!json_object_get(order, "commands"), "an agent that reads runs no commands");
	step_done(&step);
	stand_in("coder");
	agent_limits(&step);
	json_t *commands = json_object_get(order, "commands");
	json_t *policy = json_object_get(commands, "policy");
	part_is(commands, "run", "\"ask\"");
	part_is(commands, "approval", "\"confirm\"");
	part_is(commands, "auto_approve", "false");
	part_is(commands, "verify", "null");
	ok(!json_object_get(policy, "network"), "commands have no network");
	part_is(policy, "write", "[]");
	part_is(policy, "workspace", "{\"access\":\"write\",\"path\":\"/ws\"}");
	part_is(policy, "protect", "[\"/ws/.git\",\"/ws/machines/m\"]");
	ok(!json_object_get(policy, "timeout_secs"), "the agent sets the time-out, within its own");
	step_done(&step);
}

static void test_budget(void)
{
	char why[256];
	stand_in("tool");
	ok(!budget_exhausted(&at, config, 0, why, sizeof(why)), "nothing is used up at first");
	at.totals.microusd = 999999;
	ok(!budget_exhausted(&at, config, 0, why, sizeof(why)), "nor just below");
	static const char *const next[] = {"tool", "agent", "wait", "bad"};
	for (size_t i = 0; i < ARRAY_LEN(next); i++) {
		stand_in(next[i]);
		at.totals.microusd = 1000000;
		ok(!budget_exhausted(&at, config, 0, why, sizeof(why)),
			"before %s: exactly at the limit is not over it", next[i]);
		at.totals.microusd = 1000001;
		ok(budget_exhausted(&at, config, 0, why, sizeof(why)), "before %s: over it",
			next[i]);
		has_str(why, "max_usd of the machine (1) is used up (1.000001)", "and said");
	}
	stand_in("tool");
	at.totals = (struct totals){.unpriced = true};
	ok(budget_exhausted(&at, config, 0, why, sizeof(why)), "nor goes on what nobody counted");
	has_str(why, "cannot be held", "which is said");
	struct opt_float own = f.m->max_usd;
	f.m->max_usd.present = false;
	ok(!budget_exhausted(&at, config, 0, why, sizeof(why)),
		"without a limit in USD it goes on");
	config->budget.max_microusd = 5000000;
	ok(budget_exhausted(&at, config, 0, why, sizeof(why)),
		"the operator's limit stops it as well");
	has_str(why, "budget.max_usd of the configuration cannot be held", "by its name");
	config->budget.max_microusd = -1;
	config->budget.max_output_tokens = 5000;
	ok(!budget_exhausted(&at, config, 0, why, sizeof(why)), "tokens are known without a price");
	at.totals.unmetered = true;
	ok(budget_exhausted(&at, config, 0, why, sizeof(why)), "and not without usage");
	has_str(why, "budget.max_output_tokens of the configuration cannot be held", "by its name");
	at.totals.unmetered = false;
	config->budget.max_input_tokens = 5000;
	at.totals.input_tokens = 5000;
	ok(!budget_exhausted(&at, config, 0, why, sizeof(why)),
		"all of the tokens are not too many");
	at.totals.input_tokens = 5001;
	ok(budget_exhausted(&at, config, 0, why, sizeof(why)), "one more is");
	has_str(why, "max_input_tokens of the configuration (5000) is used up (5001)", "as said");
	config->budget.max_output_tokens = config->budget.max_input_tokens = -1;
	f.m->best_effort_usd = own;
	ok(!budget_exhausted(&at, config, 0, why, sizeof(why)),
		"best effort goes by what is known");
	f.m->best_effort_usd.present = false;
	f.m->max_usd = own;
	at.totals = (struct totals){.transitions = 9};
	ok(budget_exhausted(&at, config, 0, why, sizeof(why)), "so are transitions");
	stand_in("bad");
	at.totals = (struct totals){.transitions = 9, .microusd = 1000000};
	ok(!budget_exhausted(&at, config, 0, why, sizeof(why)), "but a terminal takes none");
	at.totals.unpriced = true;
	ok(!budget_exhausted(&at, config, 0, why, sizeof(why)), "nor has to hold a limit");
	at.totals.microusd++;
	ok(budget_exhausted(&at, config, 0, why, sizeof(why)),
		"and does not hide what was crossed");
	at.totals = (struct totals){0};
}

static void test_wake(void)
{
	int64_t wake = 0;
	struct err e = ERR_NONE;
	stand_in("wait");
	ok(plan_wake(&at, 1000000, &wake, NULL) == 0 && wake == 6000000, "five seconds from now");
	json_object_set_new(at.blackboard, "secs", json_integer(0));
	ok(plan_wake(&at, 1000000, &wake, &e) < 0, "every 0 seconds is refused");
	has_str(e.text, "at least 1", "with the reason");
	json_object_set_new(at.blackboard, "secs", json_integer(INT64_MAX));
	ok(plan_wake(&at, 1000000, &wake, NULL) == 0 && wake > 0, "for ever does not overflow");
	stand_in("until");
	ok(plan_wake(&at, 1, &wake, NULL) == 0 && wake == 1893456000000000, "2030, in UTC");
	json_object_set_new(at.blackboard, "when", json_string("1969-01-01"));
	ok(plan_wake(&at, 1, &wake, NULL) == 0 && wake > 0, "an instant before 1970 is past");
	json_object_set_new(at.blackboard, "when", json_string("noon"));
	e = ERR_NONE;
	ok(plan_wake(&at, 1, &wake, &e) < 0, "no instant is refused");
}

static void test_backoff(void)
{
	struct state s = {.retry = {.backoff_secs = 1.5, .factor = 2, .max_backoff_secs = 5}};
	is(plan_backoff_ms(&s, 1, 0.5), 1500, "the first delay");
	is(plan_backoff_ms(&s, 2, 0.5), 3000, "doubles");
	is(plan_backoff_ms(&s, 3, 0.5), 5000, "up to the most");
	is(plan_backoff_ms(&s, 900, 0.5), 5000, "however often");
	s.retry.jitter = true;
	is(plan_backoff_ms(&s, 1, 0), 1500, "jitter shortens by nothing");
	is(plan_backoff_ms(&s, 1, 0.5), 1125, "or by some");
	s.retry = (struct retry){
		.backoff_secs = 1e300, .factor = 1e300, .max_backoff_secs = INFINITY};
	ok(plan_backoff_ms(&s, 10, 0) > 0, "and never overflows");
	s.retry.backoff_secs = 0;
	is(plan_backoff_ms(&s, 10, 0), 0, "no delay stays none, however it grows");
	s.retry = (struct retry){.backoff_secs = 1, .factor = 2};
	is(plan_backoff_ms(&s, 1, 0), 0, "nor is there one above a max_backoff_secs of 0");
}

static void test_refusals(void)
{
	AUTO_BUF why;
	buf_init(&why, 1 << 16);
	is(confine_refusals(f.m, &env.confine, &why), 0, "this machine may start");
	struct config closed = *config;
	closed.provider_count = 0;
	struct confine c = env.confine;
	c.config = &closed;
	ok(confine_refusals(f.m, &c, &why) > 0, "without its provider it may not");
	has_str(why.data, "state agent: the provider", "which is named");
}

/* max_tokens_fallback binds where the model has no price, and 0 refuses to run it then. */
static void test_unmetered(void)
{
	static const char *const states =
		"machine: m\nversion: 1\ninitial: one\nbudget: {max_transitions: 9}\n"
		"schemas: {r: {n: int}}\n"
		"states:\n"
		"  one: {kind: agent, prompt: p, timeout_secs: 60, output_schema: r,\n"
		"    max_tokens_fallback: 500, max_input_tokens: 700,\n"
		"    on: {ok: two, failed: end, budget_exhausted: end, timeout: end}}\n"
		"  two: {kind: agent, prompt: p, timeout_secs: 60, output_schema: r,\n"
		"    max_tokens_fallback: 0,\n"
		"    on: {ok: end, failed: end, budget_exhausted: end, timeout: end}}\n"
		"  end: {kind: terminal, status: ok, reason: r}\n";
	struct fixture g;
	struct position p;
	struct step step;
	fixture_init(&g, states);
	if (!g.m)
		bail("the fixture is wrong: %s", g.findings.items[0].message);
	position_init(&p, g.m);
	ok(plan_step(&env, &p, &step, NULL) == 0, "with a price");
	encode(&step);
	part_is(json_object_get(task, "limits"), "max_input_tokens", "700");
	part_is(json_object_get(task, "limits"), "max_output_tokens", "null");
	step_done(&step);
	struct config_provider free_of_charge = config->providers[0];
	struct config unpriced = *config;
	struct plan_env without = env;
	free_of_charge.price_count = 0;
	unpriced.providers = &free_of_charge;
	without.confine.config = &unpriced;
	ok(plan_step(&without, &p, &step, NULL) == 0, "without one");
	encode(&step);
	part_is(json_object_get(task, "limits"), "max_input_tokens", "500");
	part_is(json_object_get(task, "limits"), "max_output_tokens", "500");
	step_done(&step);
	AUTO_BUF why;
	buf_init(&why, 1 << 16);
	is(confine_refusals(g.m, &env.confine, &why), 0, "with a price it may start");
	ok(confine_refusals(g.m, &without.confine, &why) > 0, "without one it may not");
	has_str(why.data, "state two: its model has no price, and max_tokens_fallback is 0", "why");
	unpriced.budget.max_microusd = 1000000;
	ok(confine_refusals(g.m, &without.confine, &why) > 0, "nor under the operator's ceiling");
	has_str(why.data, "budget.max_usd of the configuration cannot be enforced", "whose it is");
	has_str(why.data, "or take that limit away there", "and what to do there");
	position_done(&p);
	fixture_done(&g);
}

int main(void)
{
	static struct reserved_path secret = {"/ws/secret", RESERVED_SECRET, NULL},
				    elsewhere = {"/elsewhere", RESERVED_BUNDLE, &secret},
				    held = {"/ws/machines/m", RESERVED_BUNDLE, &elsewhere};
	static const char *const providers[] = {"local"};
	json_auto_t *host = json_pack("{s:s, s:s}", "LANG", "C", "TZ", "UTC");
	fixture_init(&f, yaml);
	if (!f.m)
		bail("the fixture is wrong: %s", f.findings.items[0].message);
	config = config_rehearsal(providers, 1, API_ANTHROPIC, "http://127.0.0.1:1", "/state");
	env = (struct plan_env){.confine = {.config = config,
					.profile = "strict",
					.workspace = "/ws",
					.bundle = "/i/bundle",
					.data_dir = "/i/data",
					.reserved = &held},
		.instance_id = "id",
		.instance_path = "/i",
		.host_env = host,
		.rehearsal = true};
	position_init(&at, f.m);
	test_policy();
	test_direct_names();
	test_chosen_program();
	test_chosen_in_root();
	test_script();
	test_long_commands();
	test_agent();
	test_caps();
	test_request();
	test_commands();
	test_budget();
	test_wake();
	test_backoff();
	test_refusals();
	test_unmetered();
	json_decref(order);
	json_decref(task);
	position_done(&at);
	config_free(config);
	fixture_done(&f);
	return tap_done();
}
