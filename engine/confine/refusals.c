/* Refuses a machine at its start: each demand that this host cannot confine, with its fix. */
#include "confine/confine.h"

#include "base/etc_table.h"
#include "base/path.h"
#include "confine/grants.h"
#include "machine/kind.h"
#include "machine/template.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct refusals {
	const struct machine *machine;
	struct buf *out;
	size_t count;
	struct config_list read, write; /* the operator's grants: real paths */
};

static void refuse(struct refusals *refusals, const char *state, const char *why)
{
	if (state)
		buf_addf(refusals->out, "state %s: ", state);
	buf_adds(refusals->out, why);
	buf_addc(refusals->out, '\n');
	refusals->count++;
}

int confine_check_root(bool allowed, struct err *e)
{
	const char *variable = getenv("AGENT6_ALLOW_ROOT");
	if (geteuid() || allowed || (variable && !strcmp(variable, "1")))
		return 0;
	return err_set(e,
		"running as root is refused: a fault in the confinement would have the whole host; "
		"run as an ordinary user, or say --allow-root (AGENT6_ALLOW_ROOT=1)");
}

static void check_paths(struct refusals *refusals, const struct state *state)
{
	const struct tool_state *t = &state->tool;
	for (size_t i = 0; i < t->read_count + t->write_count; i++) {
		bool write = i >= t->read_count;
		const char *path = write ? t->writes[i - t->read_count] : t->reads[i];
		if (confine_granted(path, &refusals->write) ||
			(!write && confine_granted(path, &refusals->read)))
			continue;
		char why[PATH_MAX + 256];
		snprintf(why, sizeof(why),
			"%s %s, which does not exist or is not inside %ssandbox.write; grant it "
			"there in your configuration",
			write ? "writes" : "reads", path, write ? "" : "sandbox.read or ");
		refuse(refusals, state->name, why);
	}
}

/* Refuses a bundle's script on a file system mounted noexec. An interpreter that reads it is no
 * problem. */
static void check_program(
	struct refusals *refusals, const struct state *state, const struct confine *confine)
{
	char why[PATH_MAX + 256];
	struct statvfs at;
	const char *program = template_source(state->tool.command[0]);
	if (strncmp(program, "scripts/", 8) != 0 || !confine->bundle ||
		statvfs(confine->bundle, &at) || !(at.f_flag & ST_NOEXEC))
		return;
	snprintf(why, sizeof(why),
		"%.100s cannot be executed: %s is mounted noexec; keep instances elsewhere "
		"(AGENT6_STATE_HOME, agent6.state_dir, a rehearsal's --dir)",
		program, confine->bundle);
	refuse(refusals, state->name, why);
}

static void check_tool(
	struct refusals *refusals, const struct state *state, const struct confine *confine)
{
	const struct network_refusal *refusal =
		network_refusal(confine_network_row(confine, state)->tool);
	if (refusal) {
		char why[512];
		snprintf(why, sizeof(why), "%s; %s", refusal->reason, refusal->fix);
		refuse(refusals, state->name, why);
	}
	for (size_t i = 0; i < state->tool.secret_count; i++) {
		struct err why = ERR_NONE;
		if (grants_check(
			    confine->config, refusals->machine->name, state->tool.secrets[i], &why))
			refuse(refusals, state->name, why.text);
	}
	if (state->tool.pty && !strcmp(confine->profile, "hardened"))
		refuse(refusals, state->name,
			"pty: sandbox.profile hardened has no terminals but the host's; use "
			"sandbox.profile strict, or take pty out");
	check_paths(refusals, state);
	check_program(refusals, state, confine);
}

/* Returns a model without a price that a state may ask: its own, or the reviewer's. Sets *provider
 * to its provider. NULL: all have one. */
static const char *unpriced(
	const struct config *config, const struct config_provider **provider, const char *model)
{
	const char *reviewer_model;
	const struct config_provider *reviewer = config_reviewer(config, &reviewer_model);
	if (!config_price(*provider, model))
		return model;
	if (!reviewer || config_price(reviewer, reviewer_model))
		return NULL;
	*provider = reviewer;
	return reviewer_model;
}

/* A limit in USD: its name, and the advice for whoever has set it. */
struct usd_limit {
	const char *name, *way_out;
};
static const struct usd_limit of_state = {"max_usd", "use best_effort_usd_limit"},
			      of_config = {"budget.max_usd of the configuration",
				      "take that limit away there"},
			      of_machine = {"the machine's budget.max_usd",
				      "use budget.best_effort_usd_limit"};

static void refuse_unpriced(struct refusals *refusals, const struct state *state,
	const struct config_provider *provider, const char *model, const struct usd_limit *limit)
{
	char why[512];
	snprintf(why, sizeof(why),
		"model %s has no price, so %s cannot be enforced; set providers.%s.prices.%s "
		"({input: 0, output: 0} where it costs nothing), or %s",
		model, limit->name, provider->name, model, limit->way_out);
	refuse(refusals, state->name, why);
}

static void check_agent(
	struct refusals *refusals, const struct state *state, const struct confine *confine)
{
	const char *model;
	const struct config_provider *p = config_agent_provider(confine->config, state, &model);
	char why[512];
	if (!p) {
		const char *own = state->agent.provider,
			   *name = own ? own : confine->config->models.worker.provider;
		const char *before = name ? "the provider " : "no model provider";
		snprintf(why, sizeof(why),
			"%s%s is %sconfigured; `agent6 connect` adds one, and %s says which is "
			"used",
			before, name ? name : "", name ? "not " : "",
			own ? "the state's `provider`" : "models.worker.provider");
		refuse(refusals, state->name, why);
		return;
	}
	const char *bare = model ? unpriced(confine->config, &p, model) : NULL;
	const struct opt_int *fallback = &state->agent.max_tokens_fallback;
	if (!model)
		refuse(refusals, state->name,
			"no model is set; set models.worker.model in your configuration");
	else if (bare && state->agent.max_usd.present)
		refuse_unpriced(refusals, state, p, bare, &of_state);
	else if (bare && confine->config->budget.max_microusd >= 0)
		refuse_unpriced(refusals, state, p, bare, &of_config);
	else if (bare && fallback->present && !fallback->value)
		refuse(refusals, state->name,
			"its model has no price, and max_tokens_fallback is 0, which refuses to "
			"run unmetered");
	if (bare && refusals->machine->max_usd.present)
		refuse_unpriced(refusals, state, p, bare, &of_machine);
}

static void check_agent_network(struct refusals *refusals, const struct confine *confine)
{
	char why[512];
	if (confine_network_row(confine, NULL)->agent != WAY_LOOPBACK)
		return;
	for (size_t i = 0; i < confine->config->provider_count; i++) {
		const struct config_provider *p = &confine->config->providers[i];
		if (p->loopback)
			continue;
		snprintf(why, sizeof(why),
			"sandbox.agent_network is local, and provider %s (%s) is not on this host; "
			"remove the provider or set agent_network to providers",
			p->name, p->endpoint);
		refuse(refusals, NULL, why);
	}
}

int confine_check_grant(
	const char *setting, const char *path, bool write, const char *state, struct err *e)
{
	char grant[PATH_MAX], own[PATH_MAX];
	if (!realpath(path, grant))
		return err_set(e, "%s: %s: %s; no command runs without it", setting, path,
			strerror(errno));
	if (!realpath(state, own)) /* the first run makes it */
		snprintf(own, sizeof(own), "%s", state);
	if (path_is_within(own, grant))
		return err_set(e,
			"%s grants %s, which holds agent6's own state directory; grant narrower "
			"directories",
			setting, grant);
	return write && path_is_below(grant, own)
		       ? err_set(e,
				 "%s grants %s, which lies in agent6's own state directory; grant "
				 "a directory elsewhere",
				 setting, grant)
		       : 0;
}

/* The demands of a state kind on this host. */
struct demands {
	bool (*runs_commands)(const struct state *state, const struct config *config);
	/* The jail policy of its commands; NULL: it runs none. */
	struct jail_policy (*policy)(const struct confine *confine, const struct state *state);
	/* Refuses what the state asks for and does not get; NULL: it asks for nothing. */
	void (*check)(struct refusals *refusals, const struct state *state,
		const struct confine *confine);
};

static bool agent_runs_commands(const struct state *state, const struct config *config)
{
	return state->agent.mode == MODE_RUN && (config->sandbox.run_commands != RUN_COMMANDS_NO ||
							config->workflow.verify_command.count);
}

static bool tool_runs_commands(const struct state *state, const struct config *config)
{
	(void)state, (void)config;
	return true;
}

static bool runs_no_commands(const struct state *state, const struct config *config)
{
	(void)state, (void)config;
	return false;
}

static struct jail_policy agent_policy(const struct confine *confine, const struct state *state)
{
	(void)state;
	return confine_command_policy(confine);
}

static const struct demands demands_agent = {agent_runs_commands, agent_policy, check_agent};
static const struct demands demands_tool = {tool_runs_commands, confine_policy, check_tool};
static const struct demands demands_wait = {runs_no_commands, NULL, NULL};
static const struct demands demands_branch = {runs_no_commands, NULL, NULL};
static const struct demands demands_terminal = {runs_no_commands, NULL, NULL};

#define X(NAME, name) [KIND_##NAME] = &demands_##name,
static const struct demands *const demands[KIND_COUNT] = {STATE_KINDS(X)};
#undef X

bool confine_runs_commands(const struct state *state, const struct config *config)
{
	return demands[state->kind]->runs_commands(state, config);
}

static bool runs_commands(const struct machine *machine, const struct config *config)
{
	for (size_t i = 0; i < machine->state_count; i++)
		if (confine_runs_commands(&machine->states[i], config))
			return true;
	return false;
}

static void check_grants(struct refusals *refusals, const struct confine *confine)
{
	const struct config_list *lists[] = {
		&confine->config->sandbox.read, &confine->config->sandbox.write};
	const char *const own[] = {confine->config->state_dir, confine->data_dir};
	const bool commands = runs_commands(refusals->machine, confine->config);
	for (size_t l = 0; l < ARRAY_LEN(lists); l++)
		for (size_t i = 0; i < lists[l]->count; i++) {
			const char *setting = l ? "sandbox.write" : "sandbox.read";
			struct err why = ERR_NONE;
			if ((l || !commands) && access(lists[l]->items[i], F_OK))
				continue; /* only what every command gets must exist */
			for (size_t o = 0; o < ARRAY_LEN(own); o++)
				if (own[o] && confine_check_grant(
						      setting, lists[l]->items[i], l, own[o], &why))
					break;
			if (*why.text)
				refuse(refusals, NULL, why.text);
		}
}

static bool is_system(const char *path)
{
	static const char *const read[] = {
		PATH_SYSTEM_DIRS, PATH_HARDENED_FILES, ETC_SHOWN(ETC_PATHS)};
	for (size_t i = 0; i < ARRAY_LEN(read); i++)
		if (path_is_within(path, read[i]))
			return true;
	return false;
}

/* Refuses a hidden path inside a grant on hardened: Landlock cannot take a part out of a grant. */
static void check_hidden(struct refusals *refusals, const struct confine *confine)
{
	char why[PATH_MAX + 256];
	if (strcmp(confine->profile, "hardened") != 0 ||
		!runs_commands(refusals->machine, confine->config))
		return;
	AUTO_PATH_LIST hidden = confine_hidden(confine);
	for (size_t i = 0; i < hidden.count; i++) {
		const char *text = hidden.items[i];
		if (!path_is_within(text, confine->workspace) &&
			!confine_granted(text, &refusals->read) &&
			!confine_granted(text, &refusals->write) && !is_system(text))
			continue;
		snprintf(why, sizeof(why),
			"%s is to be hidden, and lies where commands may read, which "
			"sandbox.profile hardened cannot keep from them; move it elsewhere, or use "
			"sandbox.profile strict",
			text);
		refuse(refusals, NULL, why);
	}
}

/* Checks the lengths of the policy's lists, with what the state and agent6 itself add to the
 * operator's. */
static void check_sizes(
	struct refusals *refusals, const struct state *state, const struct confine *confine)
{
	AUTO_JAIL_POLICY policy = demands[state->kind]->policy(confine, state);
	const struct {
		const char *name;
		size_t count;
	} lists[] = {{"read", policy.read.count}, {"write", policy.write.count},
		{"protect", policy.protect.count}, {"hide", policy.hide.count}};
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		char why[256];
		if (lists[i].count <= JAIL_PATHS_MAX)
			continue;
		snprintf(why, sizeof(why),
			"sandbox.%s comes to %zu paths with what is added to it, and a jail takes "
			"%d; name directories that hold several",
			lists[i].name, lists[i].count, JAIL_PATHS_MAX);
		refuse(refusals, state->name, why);
	}
}

size_t confine_refusals(
	const struct machine *machine, const struct confine *confine, struct buf *out)
{
	AUTO_ARENA arena;
	arena_init(&arena);
	struct refusals r = {.machine = machine,
		.out = out,
		.read = confine_real(&arena, &confine->config->sandbox.read),
		.write = confine_real(&arena, &confine->config->sandbox.write)};
	check_grants(&r, confine);
	check_hidden(&r, confine);
	bool agents = false, cloned = machine_writes_code(machine);
	for (size_t i = 0; i < machine->state_count; i++) {
		const struct state *s = &machine->states[i];
		struct err why = ERR_NONE;
		if (confine_is_recorded(confine, s))
			continue;
		if (confine_check_reserved(confine, s, &why) ||
			(state_tool(s) && !cloned && confine_check_found(confine, s, &why)))
			refuse(&r, s->name, why.text);
		if (confine_runs_commands(s, confine->config))
			check_sizes(&r, s, confine);
		if (demands[s->kind]->check)
			demands[s->kind]->check(&r, s, confine);
		agents = agents || state_is(s, TRAIT_MODEL);
	}
	if (agents)
		check_agent_network(&r, confine);
	return r.count;
}
