#include "instance/budget.h"
#include "machine/template.h"
#include "run/plan_kinds.h"

#include <stdio.h>
#include <string.h>

enum { PROMPT_BYTES_MAX = 4 * 1024 * 1024 };

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
	lower(&left.hard_microusd, budget_microusd(a->max_usd), position->step.microusd);
	lower(&left.hard_microusd, budget_microusd(position->machine->max_usd),
		position->totals.microusd);
	lower(&left.hard_microusd, config->budget.max_microusd, position->totals.microusd);
	lower(&left.soft_microusd, budget_microusd(a->best_effort_usd), position->step.microusd);
	lower(&left.soft_microusd, budget_microusd(position->machine->best_effort_usd),
		position->totals.microusd);
	return left;
}

static json_t *cap(int64_t value)
{
	return value >= 0 ? json_integer((json_int_t)value) : json_null();
}

static json_t *limits(
	const struct position *position, const struct config *config, const struct caps *left)
{
	const struct agent_state *a = &position->state->agent;
	int64_t turns = a->mode == MODE_RUN ? config->agent.max_iterations_run
					    : config->agent.max_iterations;
	if (a->max_iterations.present)
		turns = a->max_iterations.value;
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:o,s:o,s:o,s:o}", "timeout_secs",
		(json_int_t)position->state->timeout_secs, "max_iterations", (json_int_t)turns,
		"max_output_tokens_per_call", (json_int_t)config->agent.max_output_tokens,
		"context_tokens", (json_int_t)config->agent.context_tokens, "max_calls_per_turn",
		(json_int_t)config->agent.max_calls_per_turn, "max_input_tokens",
		cap(left->input_tokens), "max_output_tokens", cap(left->output_tokens),
		"max_microusd", cap(left->hard_microusd), "best_effort_microusd",
		cap(left->soft_microusd));
}

static json_t *prices(const struct config_provider *provider, const char *model)
{
	const struct config_price *price = config_price(provider, model);
	if (!price)
		return json_null();
	return json_pack("{s:f,s:f,s:f,s:f}", "input", price->input, "output", price->output,
		"cache_read", price->cache_read, "cache_write", price->cache_write);
}

static json_t *provider(const struct plan_env *env, const struct step *step,
	const struct config_provider *provider, const char *model)
{
	json_t *url = env->rehearsal ? json_sprintf("%s/step/%llu/%d/%s", provider->base_url,
					       (unsigned long long)step->seq, step->attempt,
					       step->state->name)
				     : json_string(provider->base_url);
	return json_pack("{s:s,s:s,s:o,s:s,s:s?,s:s?,s:n,s:I,s:I,s:I,s:I,s:o}", "name",
		provider->name, "api_format", config_word("api_format", provider->api_format),
		"base_url", url, "auth", config_word("auth", provider->auth), "api_version",
		provider->api_version, "ca_file", provider->ca_file, "key", "connect_timeout_secs",
		(json_int_t)provider->connect_timeout_secs, "idle_timeout_secs",
		(json_int_t)provider->idle_timeout_secs, "timeout_secs",
		(json_int_t)provider->timeout_secs, "max_retries",
		(json_int_t)provider->max_retries, "prices", prices(provider, model));
}

static json_t *reviewer(const struct plan_env *env, const struct step *step)
{
	const char *model;
	const struct config_provider *p = config_reviewer(env->confine.config, &model);
	return p ? json_pack("{s:s,s:o}", "model", model, "provider", provider(env, step, p, model))
		 : json_null();
}

static json_t *thinking(enum thinking t)
{
	static const char *const names[] = {[THINKING_OFF] = "off",
		[THINKING_LOW] = "low",
		[THINKING_MEDIUM] = "medium",
		[THINKING_HIGH] = "high"};
	return t == THINKING_INHERIT ? json_null() : json_string(names[t]);
}

static json_t *request(const struct plan_env *env, const struct position *position,
	const struct step *step, const struct caps *left)
{
	const struct agent_state *a = &position->state->agent;
	json_t *result = position->state->output_schema
				 ? record_to_json(position->state->output_schema)
				 : json_null();
	json_t *temperature =
		a->temperature.present ? json_real(a->temperature.value) : json_null();
	/* A hidden path may not be written either. */
	json_t *hidden = confine_hidden(&env->confine),
	       *held = confine_protected(&env->confine, NULL);
	json_array_extend(held, hidden);
	return json_pack("{s:i,s:s,s:o,s:o,s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:[],s:b}", "version", 1,
		"mode", a->mode == MODE_RUN ? "run" : "agent", "result", result, "provider",
		provider(env, step, step->provider, step->model), "reviewer", reviewer(env, step),
		"model", step->model, "thinking", thinking(a->thinking), "temperature", temperature,
		"limits", limits(position, env->confine.config, left), "protect", held, "hide",
		hidden, "secrets", "record", env->record);
}

/* Returns how commands may be run in `run` mode. An agent that only reads runs none. */
static json_t *commands(const struct plan_env *env, const struct state *state)
{
	const struct config *c = env->confine.config;
	const struct config_list *argv = &c->workflow.verify_command;
	AUTO_JAIL_POLICY policy = confine_command_policy(&env->confine);
	policy.env = plan_environment(env);
	json_t *verify = argv->count ? json_array() : json_null();
	for (size_t i = 0; i < argv->count; i++)
		json_array_append_new(verify, json_string(argv->items[i]));
	return json_pack("{s:o,s:s,s:s,s:b,s:o,s:I,s:I}", "policy", jail_policy_encode(&policy),
		"run", config_word("sandbox.run_commands", c->sandbox.run_commands), "approval",
		config_word("approval.default", c->approval.mode), "auto_approve",
		env->auto_approve, "verify", verify, "timeout_secs",
		(json_int_t)state->timeout_secs, "verify_timeout_secs",
		(json_int_t)c->workflow.verify_timeout_secs);
}

/* Returns the fact of a state whose caps earlier attempts have used up: no provider needs to be
 * asked. */
static struct fact spent_fact(const struct step *step)
{
	struct fact fact = {.kind = FACT_AGENT,
		.agent = {.outcome = OUTCOME_BUDGET_EXHAUSTED},
		.reason = "nothing is left of its budget"};
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
		out->fact = spent_fact(out);
		return 0;
	}
	char dir[4096];
	if (snprintf(dir, sizeof(dir), "%s/%s", env->instance_path, out->dir) >= (int)sizeof(dir))
		return err_set(e, "the instance's path is too long");
	const char *unused;
	const struct config_provider *const providers[] = {
		out->provider, config_reviewer(env->confine.config, &unused)};
	out->confine = confine_agent(&env->confine, providers, ARRAY_LEN(providers), dir);
	if (position->state->agent.mode == MODE_RUN)
		json_object_set_new(out->confine, "commands", commands(env, position->state));
	out->request = request(env, position, out, &left);
	json_object_set_new(out->request, "prompt", json_stringn(prompt.data, prompt.len));
	return out->request && out->confine
		       ? 0
		       : err_set(e, "state %s: out of memory", position->state->name);
}
