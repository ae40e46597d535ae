#include "instance/budget.h"
#include "machine/fixed.h"
#include "machine/template.h"
#include "run/plan_kinds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PROMPT_BYTES_MAX = 4 * 1024 * 1024, URL_BYTES_MAX = 64 * 1024 };

/* Lowers `*least` to what is left of `allowed`. -1 stands for no limit in both. */
static void lower(int64_t *least, int64_t allowed, int64_t spent)
{
	if (allowed < 0)
		return;
	int64_t left = allowed > spent ? allowed - spent : 0;
	if (*least < 0 || left < *least)
		*least = left;
}

static int64_t count(struct opt_int n)
{
	return n.present ? n.value : -1;
}

struct caps {
	int64_t input_tokens, output_tokens, hard_microusd, soft_microusd;
};

/* Returns the caps of the next attempt. All attempts share their state's caps, and no state gets
 * more than its machine has left. */
static struct caps caps_left(
	const struct position *position, const struct config *config, bool metered)
{
	const struct agent_state *a = &position->state->agent;
	const json_t *board = position->blackboard;
	struct caps left = {-1, -1, -1, -1};
	lower(&left.input_tokens, count(a->max_input_tokens), position->step.input_tokens);
	lower(&left.input_tokens, config->budget.max_input_tokens, position->totals.input_tokens);
	lower(&left.output_tokens, count(a->max_output_tokens), position->step.output_tokens);
	lower(&left.output_tokens, config->budget.max_output_tokens,
		position->totals.output_tokens);
	/* -1 means no cap; a cap of 0 was refused at the start. */
	if (!metered) {
		lower(&left.input_tokens, count(a->max_tokens_fallback),
			position->step.input_tokens);
		lower(&left.output_tokens, count(a->max_tokens_fallback),
			position->step.output_tokens);
	}
	lower(&left.hard_microusd, budget_microusd(fixed_max_usd(position->state, board)),
		position->step.microusd);
	lower(&left.hard_microusd, budget_microusd(fixed_budget_usd(position->machine, board)),
		position->totals.microusd);
	lower(&left.hard_microusd, config->budget.max_microusd, position->totals.microusd);
	lower(&left.soft_microusd, budget_microusd(a->best_effort_usd), position->step.microusd);
	lower(&left.soft_microusd, budget_microusd(position->machine->best_effort_usd),
		position->totals.microusd);
	return left;
}

static struct agent_limits limits(
	const struct position *position, const struct config *config, const struct caps *left)
{
	const struct agent_state *a = &position->state->agent;
	int64_t turns = a->mode == MODE_RUN ? config->agent.max_iterations_run
					    : config->agent.max_iterations;
	if (a->max_iterations.present)
		turns = a->max_iterations.value;
	return (struct agent_limits){
		.timeout_secs = fixed_timeout_secs(position->state, position->blackboard),
		.max_iterations = turns,
		.max_output_tokens_per_call = config->agent.max_output_tokens,
		.context_tokens = config->agent.context_tokens,
		.max_calls_per_turn = config->agent.max_calls_per_turn,
		.max_input_tokens = left->input_tokens,
		.max_output_tokens = left->output_tokens,
		.max_microusd = left->hard_microusd,
		.best_effort_microusd = left->soft_microusd};
}

static struct prices *prices(
	struct arena *arena, const struct config_provider *provider, const char *model)
{
	const struct config_price *price = config_price(provider, model);
	if (!price)
		return NULL;
	struct prices *out = arena_alloc(arena, sizeof(*out));
	*out = (struct prices){.input = price->input,
		.output = price->output,
		.cache_read = price->cache_read,
		.cache_write = price->cache_write};
	return out;
}

static const char *base_url(struct arena *arena, const struct plan_env *env,
	const struct step *step, const struct config_provider *provider)
{
	AUTO_BUF url = BUF_INIT(URL_BYTES_MAX);
	if (!env->rehearsal)
		return provider->base_url;
	buf_addf(&url, "%s/step/%llu/%d/%s", provider->base_url, (unsigned long long)step->seq,
		step->attempt, step->state->name);
	return arena_copy(arena, url.data, url.len);
}

static struct agent_provider provider(struct arena *arena, const struct plan_env *env,
	const struct step *step, const struct config_provider *provider, const char *model)
{
	return (struct agent_provider){.name = provider->name,
		.api_format = config_word("api_format", provider->api_format),
		.base_url = base_url(arena, env, step, provider),
		.auth = config_word("auth", provider->auth),
		.api_version = provider->api_version,
		.ca_file = provider->ca_file,
		.connect_timeout_secs = provider->connect_timeout_secs,
		.idle_timeout_secs = provider->idle_timeout_secs,
		.timeout_secs = provider->timeout_secs,
		.max_retries = provider->max_retries,
		.prices = prices(arena, provider, model)};
}

static struct agent_reviewer *reviewer(
	struct arena *arena, const struct plan_env *env, const struct step *step)
{
	const char *model;
	const struct config_provider *p = config_reviewer(env->confine.config, &model);
	if (!p)
		return NULL;
	struct agent_reviewer *out = arena_alloc(arena, sizeof(*out));
	*out = (struct agent_reviewer){
		.provider = provider(arena, env, step, p, model), .model = model};
	return out;
}

static const char *thinking(enum thinking t)
{
	static const char *const names[] = {[THINKING_OFF] = "off",
		[THINKING_LOW] = "low",
		[THINKING_MEDIUM] = "medium",
		[THINKING_HIGH] = "high"};
	return t == THINKING_INHERIT ? NULL : names[t];
}

static void make_task(const struct plan_env *env, const struct position *position,
	const struct step *step, const struct caps *left, struct agent_task *out)
{
	const struct agent_state *a = &position->state->agent;
	const struct record *result = position->state->output_schema;
	/* A hidden path may not be written either. */
	AUTO_PATH_LIST hidden = confine_hidden(&env->confine);
	AUTO_PATH_LIST held = confine_protected(&env->confine, NULL);
	path_list_add_all(&held, &hidden);
	*out = (struct agent_task){.version = AGENT_ORDER_VERSION,
		.mode = a->mode == MODE_RUN ? "run" : "agent",
		.result = result ? record_to_json(result) : NULL,
		.model = step->model,
		.thinking = thinking(a->thinking),
		.temperature = a->temperature.present ? a->temperature.value : NAN,
		.limits = limits(position, env->confine.config, left),
		.record = env->record};
	out->held = json_pack("[o*]", out->result);
	out->provider = provider(&out->arena, env, step, step->provider, step->model);
	out->reviewer = reviewer(&out->arena, env, step);
	agent_texts_copy(&held, &out->arena, &out->protect);
	agent_texts_copy(&hidden, &out->arena, &out->hide);
}

/* Adds how commands may be run in `run` mode. An agent that only reads runs none. */
static void add_commands(
	const struct plan_env *env, int64_t timeout_secs, struct agent_order *order)
{
	const struct config *c = env->confine.config;
	const struct config_list *argv = &c->workflow.verify_command;
	order->commands = arena_alloc(&order->arena, sizeof(*order->commands));
	*order->commands = (struct agent_commands){.policy = confine_command_policy(&env->confine),
		.run = config_word("sandbox.run_commands", c->sandbox.run_commands),
		.approval = config_word("approval.default", c->approval.mode),
		.auto_approve = env->auto_approve,
		.timeout_secs = timeout_secs,
		.verify_timeout_secs = c->workflow.verify_timeout_secs};
	order->commands->policy.env = plan_environment(env);
	if (argv->count)
		order->held = order->commands->verify = json_array();
	for (size_t i = 0; i < argv->count; i++)
		json_array_append_new(order->commands->verify, json_string(argv->items[i]));
}

/* Returns the fact of a state that ends before a provider is asked. */
static struct fact unasked_fact(const struct step *step, enum outcome outcome, const char *reason)
{
	struct fact fact = {.kind = FACT_AGENT, .agent = {.outcome = outcome}, .reason = reason};
	fact.agent.provider = fact_text(&fact, step->provider->name);
	fact.agent.model = fact_text(&fact, step->model);
	return fact;
}

int plan_agent(const struct plan_env *env, const struct position *position, struct step *out,
	struct err *e)
{
	AUTO_BUF prompt = BUF_INIT(PROMPT_BYTES_MAX);
	if (template_render(position->state->agent.prompt, position->blackboard, NULL, &prompt, e))
		return err_wrap(e, "state %s, prompt", position->state->name);
	out->provider = config_agent_provider(env->confine.config, position->state, &out->model);
	if (!out->provider || !out->model)
		return err_set(e, "state %s: its provider or model is not configured",
			position->state->name);
	bool metered = config_price(out->provider, out->model) != NULL;
	struct caps left = caps_left(position, env->confine.config, metered);
	if (!left.input_tokens || !left.output_tokens || !left.hard_microusd ||
		!left.soft_microusd) {
		out->fact = unasked_fact(
			out, OUTCOME_BUDGET_EXHAUSTED, "nothing is left of its budget");
		return 0;
	}
	/* No provider takes a message without text. */
	if (!prompt.data[strspn(prompt.data, " \t\r\n")]) {
		out->fact = unasked_fact(out, OUTCOME_FAILED,
			"the prompt is empty: the values that it is made of hold no text");
		return 0;
	}
	char dir[4096];
	if (snprintf(dir, sizeof(dir), "%s/%s", env->instance_path, out->dir) >= (int)sizeof(dir))
		return err_set(e, "the instance's path is too long");
	const char *unused;
	const struct config_provider *const providers[] = {
		out->provider, config_reviewer(env->confine.config, &unused)};
	if (confine_agent(
		    &env->confine, providers, ARRAY_LEN(providers), dir, &out->agent_order, e))
		return err_wrap(e, "state %s", position->state->name);
	if (position->state->agent.mode == MODE_RUN)
		add_commands(env, out->timeout_secs, &out->agent_order);
	make_task(env, position, out, &left, &out->agent_task);
	out->agent_task.prompt = arena_copy(&out->agent_task.arena, prompt.data, prompt.len);
	return 0;
}
