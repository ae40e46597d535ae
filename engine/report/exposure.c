#include "report/exposure.h"
#include "report/interface.h"

#include "agent/policy/redact.h"
#include "base/host.h"
#include "confine/confine.h"
#include "git/elsewhere.h"
#include "machine/fixed.h"
#include "machine/template.h"
#include "report/text.h"
#include "run/question.h"
#include <math.h>
#include <string.h>

const char *const exposure_sets[EXPOSURE_SETS] = {"reads", "writes", "egress", "env", "secrets"};
static const char *const workspace_ranks[] = {"none", "read", "write", NULL};
static const char *const mode_ranks[] = {"tool", "agent", "run", NULL};
static const char *const terminal_ranks[] = {"none", "own", NULL};

int exposure_rank(const char *what, const char *word)
{
	const char *const *ranks = !strcmp(what, "workspace")  ? workspace_ranks
				   : !strcmp(what, "terminal") ? terminal_ranks
							       : mode_ranks;
	for (int i = 0; ranks[i]; i++)
		if (!strcmp(ranks[i], word))
			return i;
	return -1;
}

/* --- tools ------------------------------------------------------------------------------------ */

static void add_word(struct buf *out, const char *word)
{
	buf_adds(out, out->len ? " " : "");
	question_show_word(out, word);
}

/* Returns a command for a review, without secrets that were pasted into it. */
static json_t *words_json(const struct buf *words)
{
	AUTO_BUF shown = BUF_INIT(EXPOSURE_BYTES_MAX);
	redact_text(NULL, words->data, words->len, &shown, NULL);
	return json_stringn(shown.data, shown.len);
}

static json_t *command_text(const struct tool_state *state)
{
	AUTO_BUF text = BUF_INIT(EXPOSURE_BYTES_MAX);
	for (size_t i = 0; i < state->command_count; i++)
		add_word(&text, template_source(state->command[i]));
	return words_json(&text);
}

static json_t *texts(const char *const *items, size_t count)
{
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_string(items[i]));
	return list;
}

/* Returns the egress that the state asks for, whether or not the operator allows it. */
static json_t *tool_egress(const struct tool_state *state, const json_t *blackboard)
{
	static const char *const any[] = {EXPOSURE_ANY_HOST};
	if (state->network != NETWORK_LIST)
		return texts(any, state->network == NETWORK_ALLOW);
	json_t *hosts = json_array();
	for (size_t i = 0; i < state->host_count; i++)
		json_array_append_new(hosts, json_string(fixed_host(state, i, blackboard)));
	return hosts;
}

/* Returns the operator's private hosts that the list reaches; each overlap of wildcards is cut down
 * to the narrower. */
static json_t *private_text(
	const struct tool_state *state, const json_t *blackboard, const struct config *config)
{
	const struct config_list *near = &config->sandbox.private_hosts;
	AUTO_BUF text = BUF_INIT(EXPOSURE_BYTES_MAX);
	for (size_t i = 0; state->network == NETWORK_LIST && i < state->host_count; i++)
		for (size_t k = 0; k < near->count; k++) {
			struct host_port host, name;
			const char *listed = fixed_host(state, i, blackboard);
			if (host_rule_decode(&host, listed, NULL) ||
				host_name_rule_decode(&name, near->items[k], NULL))
				continue;
			bool whole = host_name_covers(&name, &host);
			if (whole || host_name_covers(&host, &name))
				buf_addf(&text, "%s%s", text.len ? ", " : "",
					whole ? listed : near->items[k]);
		}
	if (text.len)
		buf_adds(&text, " may lead to this host and its networks (sandbox.private_hosts)");
	return json_stringn(text.data ? text.data : "", text.len);
}

static json_t *env_names(const struct tool_state *state)
{
	json_t *list = json_array();
	for (size_t i = 0; i < state->env_count; i++)
		json_array_append_new(list, json_string(state->env[i].name));
	return list;
}

/* Returns "exit 0, 1", the statuses that count as ok, in order; empty: 0 alone, as usual. */
static json_t *ok_exits(const struct tool_state *state)
{
	AUTO_BUF text = BUF_INIT(EXPOSURE_BYTES_MAX);
	for (int64_t status = 0; state->ok_exits && status < 256; status++)
		if (tool_exit_ok(state, status))
			buf_addf(&text, "%s%lld", text.len ? ", " : "exit ", (long long)status);
	bool usual = text.len && !strcmp(text.data, "exit 0");
	return json_stringn(text.data ? text.data : "", usual ? 0 : text.len);
}

static json_t *tool_exposure(
	const struct state *state, const json_t *blackboard, const struct confine *confine)
{
	const struct tool_state *t = &state->tool;
	AUTO_JAIL_POLICY policy = confine_policy(confine, state);
	json_t *limits = jail_policy_limits(&policy);
	json_object_set_new(
		limits, "timeout_secs", json_integer(fixed_timeout_secs(state, blackboard)));
	bool refused = network_refusal(confine_network_row(confine, state)->tool) != NULL;
	json_t *out = json_pack(
		"{s:s, s:s, s:o, s:{s:s, s:s, s:s}, s:{s:o, s:o, s:o, s:o, s:o}, s:o, s:b}",
		"state", state->name, "kind", "tool", "does", command_text(t), "ranks", "workspace",
		jail_access_name((enum jail_access)policy.access), "mode", "tool", "terminal",
		terminal_ranks[t->pty], "sets", "reads", path_list_encode(&policy.read), "writes",
		path_list_encode(&policy.write), "egress", tool_egress(t, blackboard), "env",
		env_names(t), "secrets", texts(t->secrets, t->secret_count), "limits", limits,
		"egress_refused", refused);
	json_auto_t *near = private_text(t, blackboard, confine->config);
	if (json_string_length(near))
		json_object_set(out, "private", near);
	json_auto_t *exits = ok_exits(t);
	if (json_string_length(exits))
		json_object_set(out, "ok_exit", exits);
	return out;
}

/* --- agents ----------------------------------------------------------------------------------- */

static json_t *whole(struct opt_int asked, int64_t otherwise)
{
	int64_t value = asked.present ? asked.value : otherwise;
	return value < 0 ? json_null() : json_integer((json_int_t)value);
}

static json_t *amount(struct opt_float usd)
{
	return usd.present && isfinite(usd.value) ? json_real(usd.value) : json_null();
}

static json_t *agent_limits(
	const struct state *state, const json_t *blackboard, const struct config *config)
{
	const struct agent_state *a = &state->agent;
	int64_t turns = a->mode == MODE_RUN ? config->agent.max_iterations_run
					    : config->agent.max_iterations;
	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "timeout_secs",
		(json_int_t)fixed_timeout_secs(state, blackboard), "turns",
		whole(a->max_iterations, turns), "input_tokens",
		whole(a->max_input_tokens, config->budget.max_input_tokens), "output_tokens",
		whole(a->max_output_tokens, config->budget.max_output_tokens), "usd",
		amount(fixed_max_usd(state, blackboard)), EXPOSURE_BEST_EFFORT,
		amount(a->best_effort_usd), "unmetered_tokens", whole(a->max_tokens_fallback, -1));
}

static json_t *agent_does(const struct agent_state *state)
{
	AUTO_BUF text = BUF_INIT(1 << 10);
	if (state->prompt_file)
		return json_string(state->prompt_file);
	buf_adds(&text, "prompt: ");
	text_clean(&text, template_source(state->prompt), 60);
	return json_stringn(text.data, text.len);
}

static json_t *agent_egress(const struct state *state, const struct config *config)
{
	const char *model;
	const struct config_provider *p = config_agent_provider(config, state, &model);
	const struct config_list *more = &config->sandbox.allow_urls;
	json_t *list = texts(more->items, more->count);
	const char *name =
		state->agent.provider ? state->agent.provider : config->models.worker.provider;
	json_array_insert_new(list, 0,
		p ? json_string(p->endpoint)
		  : json_sprintf("provider %s (not configured)",
			    name ? name : "of the operator's choice"));
	const struct config_provider *by = config_reviewer(config, &model);
	if (by && (!p || strcmp(by->endpoint, p->endpoint) != 0))
		json_array_append_new(list, json_string(by->endpoint));
	return list;
}

static json_t *verify_text(const struct config *config)
{
	const struct config_list *argv = &config->workflow.verify_command;
	AUTO_BUF text = BUF_INIT(EXPOSURE_BYTES_MAX);
	for (size_t i = 0; i < argv->count; i++)
		add_word(&text, argv->items[i]);
	return words_json(&text);
}

/* Returns the host program that prints the provider's key; empty: none. Its arguments are not
 * shown, since they are the operator's. */
static json_t *key_text(const struct state *state, const struct config *config)
{
	const char *model;
	const struct config_provider *p = config_agent_provider(config, state, &model);
	return p && p->token_command.count ? json_sprintf("printed by %s, which runs on this host",
						     p->token_command.items[0])
					   : json_string("");
}

/* Returns the rule for commands that the model proposes (docs/operating.md, Being asked). */
static const char *commands_words(const struct config *config)
{
	switch (config->sandbox.run_commands) {
	case RUN_COMMANDS_NO: return "none but the verify command";
	case RUN_COMMANDS_YES: return "its own choice, without approval";
	case RUN_COMMANDS_ASK: break;
	}
	return config->approval.mode == APPROVAL_AUTO
		       ? "its own choice; what writes or is worse after approval"
		       : "its own choice, each after approval";
}

/* Adds the exposure of an agent's commands in mode `run`. */
static void add_commands(json_t *exposure, const struct confine *confine)
{
	AUTO_JAIL_POLICY policy = confine_command_policy(confine);
	json_auto_t *limits = jail_policy_limits(&policy);
	json_t *sets = json_object_get(exposure, "sets");
	json_object_set_new(exposure, "verify", verify_text(confine->config));
	json_object_set_new(exposure, "commands", json_string(commands_words(confine->config)));
	json_object_set_new(sets, "reads", path_list_encode(&policy.read));
	json_object_set_new(sets, "writes", path_list_encode(&policy.write));
	if (confine_network_row(confine, NULL)->command == WAY_HOST)
		json_array_append_new(
			json_object_get(sets, "egress"), json_string(EXPOSURE_ANY_HOST));
	json_object_update_missing(json_object_get(exposure, "limits"), limits);
}

static json_t *agent_exposure(
	const struct state *state, const json_t *blackboard, const struct confine *confine)
{
	bool runs = state->agent.mode == MODE_RUN;
	json_t *out = json_pack(
		"{s:s, s:s, s:o, s:{s:s, s:s, s:s}, s:{s:[], s:[], s:o, s:[], s:[]}, s:o, "
		"s:b}",
		"state", state->name, "kind", "agent", "does", agent_does(&state->agent), "ranks",
		"workspace", runs ? "write" : "read", "mode", runs ? "run" : "agent", "terminal",
		"none", "sets", "reads", "writes", "egress", agent_egress(state, confine->config),
		"env", "secrets", "limits", agent_limits(state, blackboard, confine->config),
		"egress_refused", 0);
	json_auto_t *key = key_text(state, confine->config);
	if (json_string_length(key))
		json_object_set(out, "key", key);
	if (runs)
		add_commands(out, confine);
	return out;
}

/* --- the machine ------------------------------------------------------------------------------ */

static void join_set(json_t *into, const json_t *set)
{
	size_t i, k;
	json_t *item, *known;
	json_array_foreach (set, i, item) {
		bool found = false;
		json_array_foreach (into, k, known)
			found |= json_equal(known, item);
		if (!found)
			json_array_append(into, item);
	}
}

/* Returns the most that any state may do. */
static json_t *union_of(const json_t *states)
{
	static const char *const ranks[] = {"workspace", "terminal"};
	json_t *out = json_pack("{s:s, s:s}", "workspace", "none", "terminal", "none");
	size_t i;
	json_t *state;
	for (size_t k = 0; k < EXPOSURE_SETS; k++)
		json_object_set_new(out, exposure_sets[k], json_array());
	json_array_foreach (states, i, state) {
		for (size_t k = 0; k < ARRAY_LEN(ranks); k++) {
			json_t *own = json_object_get(json_object_get(state, "ranks"), ranks[k]);
			if (exposure_rank(ranks[k], json_string_value(own)) >
				exposure_rank(ranks[k], json_get_text(out, ranks[k])))
				json_object_set(out, ranks[k], own);
		}
		for (size_t k = 0; k < EXPOSURE_SETS; k++)
			join_set(json_object_get(out, exposure_sets[k]),
				json_object_get(json_object_get(state, "sets"), exposure_sets[k]));
	}
	return out;
}

/* Returns why the machine could not start on this host: one string per reason. */
static json_t *refusals_of(const struct machine *machine, const struct confine *confine)
{
	json_t *out = json_array();
	AUTO_BUF text = BUF_INIT(EXPOSURE_BYTES_MAX);
	if (!confine_refusals(machine, confine, &text) || !text.len)
		return out;
	for (const char *line = text.data; *line;) {
		size_t len = strcspn(line, "\n");
		if (len)
			json_array_append_new(out, json_stringn(line, len));
		line += len + (line[len] == '\n');
	}
	return out;
}

/* Returns the machine's limit in USD, or the configuration's if that is lower. */
static json_t *most_usd(struct opt_float usd, const struct config *config)
{
	double most = (double)config->budget.max_microusd / 1e6;
	bool own = usd.present && (most < 0 || usd.value <= most);
	return own || most < 0 ? amount(usd) : json_real(most);
}

/* NULL: the kind touches nothing outside the machine. */
struct exposer {
	json_t *(*expose)(
		const struct state *state, const json_t *blackboard, const struct confine *confine);
};
static const struct exposer expose_agent = {agent_exposure}, expose_tool = {tool_exposure},
			    expose_wait = {NULL}, expose_branch = {NULL}, expose_terminal = {NULL};

#define X(NAME, name) [KIND_##NAME] = &expose_##name,
static const struct exposer *const exposers[KIND_COUNT] = {STATE_KINDS(X)};
#undef X

/* Returns {STATE: the most visits} of the states that have a limit. */
static json_t *visits_of(const struct machine *machine, const json_t *blackboard)
{
	json_t *out = json_object();
	for (size_t i = 0; i < machine->state_count; i++)
		if (machine->states[i].max_visits)
			json_object_set_new(out, machine->states[i].name,
				json_integer(fixed_max_visits(&machine->states[i], blackboard)));
	return out;
}

/* Returns the keys that refer to parameters, with the parameters' names and values. */
static json_t *fixed_of(const struct machine *machine, const json_t *blackboard)
{
	json_t *out = json_array();
	for (const struct fixed_use *use = machine->fixed; use; use = use->next) {
		json_t *value = (json_t *)(uintptr_t)fixed_value(use->parameter, blackboard);
		json_array_append_new(out, json_pack("{s:s?, s:s, s:s, s:O?}", "state",
						   use->state ? use->state->name : NULL, "key",
						   fixed_key_name(use->key), "parameter",
						   use->parameter->name, "value", value));
	}
	return out;
}

json_t *exposure_of(const struct machine *machine, const json_t *blackboard,
	const struct config *config, const char *workspace)
{
	struct confine c = {.config = config,
		.profile = config->sandbox.profile == PROFILE_HARDENED ? "hardened" : "strict",
		.workspace = workspace};
	AUTO_ARENA arena;
	arena_init(&arena);
	struct git_elsewhere found = {.count = 0};
	if (workspace)
		git_elsewhere_find(workspace, &arena, &found);
	c.elsewhere = (struct config_list){found.paths, found.count};
	json_t *states = json_array();
	for (size_t i = 0; i < machine->state_count; i++) {
		const struct state *s = &machine->states[i];
		if (exposers[s->kind]->expose)
			json_array_append_new(states, exposers[s->kind]->expose(s, blackboard, &c));
	}
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:{s:I, s:o, s:o, s:o}, s:o}", "machine",
		machine->name, "visits", visits_of(machine, blackboard), "fixed",
		fixed_of(machine, blackboard), "interface", interface_of(machine), "states", states,
		"union", union_of(states), "limits", "transitions",
		(json_int_t)machine->max_transitions, "seconds",
		machine->max_secs ? json_integer(machine->max_secs) : json_null(), "usd",
		most_usd(fixed_budget_usd(machine, blackboard), config), EXPOSURE_BEST_EFFORT,
		amount(machine->best_effort_usd), "refusals", refusals_of(machine, &c));
}
