#include "confine/confine.h"

#include "base/etc_table.h"
#include "base/path.h"
#include "confine/grants.h"
#include "launch/launcher.h"
#include "machine/template.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

const struct network_row *confine_network_row(const struct confine *c, const struct state *s)
{
	const struct config_sandbox *sandbox = &c->config->sandbox;
	return network_find(&(struct network_case){
		.profile = strcmp(c->profile, "hardened") ? NETWORK_ON_STRICT : NETWORK_ON_HARDENED,
		.agent = (int)sandbox->agent_network,
		.tool = (int)sandbox->tool_network,
		.asked = s ? (int)s->tool.network : NETWORK_AUTO});
}

/* --- refusals --------------------------------------------------------------------------------- */

struct refusals {
	const struct machine *machine;
	struct buf *out;
	size_t count;
	struct config_list read, write; /* the operator's grants: real paths */
};

static void refuse(struct refusals *r, const char *state, const char *why)
{
	if (state)
		buf_addf(r->out, "state %s: ", state);
	buf_adds(r->out, why);
	buf_addc(r->out, '\n');
	r->count++;
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

struct config_list confine_real(struct arena *a, const struct config_list *paths)
{
	char real[PATH_MAX];
	size_t count = 0;
	if (!paths->count)
		return *paths;
	const char **items = arena_array(a, paths->count + 1, sizeof(*items));
	for (size_t i = 0; i < paths->count; i++)
		if (realpath(paths->items[i], real))
			items[count++] = arena_copy(a, real, strlen(real));
	return (struct config_list){items, count};
}

bool confine_granted(const char *path, const struct config_list *grants)
{
	char real[PATH_MAX];
	if (!grants->count || !realpath(path, real))
		return false;
	for (size_t i = 0; i < grants->count; i++)
		if (path_is_within(real, grants->items[i]))
			return true;
	return false;
}

static void check_paths(struct refusals *r, const struct state *s)
{
	const struct tool_state *t = &s->tool;
	for (size_t i = 0; i < t->read_count + t->write_count; i++) {
		bool write = i >= t->read_count;
		const char *path = write ? t->writes[i - t->read_count] : t->reads[i];
		if (confine_granted(path, &r->write) || (!write && confine_granted(path, &r->read)))
			continue;
		char why[PATH_MAX + 256];
		snprintf(why, sizeof(why),
			"%s %s, which does not exist or is not inside %ssandbox.write; grant it "
			"there in your configuration",
			write ? "writes" : "reads", path, write ? "" : "sandbox.read or ");
		refuse(r, s->name, why);
	}
}

/* What an interpreter is given it may read there. */
static void check_program(struct refusals *r, const struct state *s, const struct confine *c)
{
	char why[PATH_MAX + 256];
	struct statvfs at;
	const char *program = template_source(s->tool.command[0]);
	if (strncmp(program, "scripts/", 8) != 0 || !c->bundle || statvfs(c->bundle, &at) ||
		!(at.f_flag & ST_NOEXEC))
		return;
	snprintf(why, sizeof(why),
		"%.100s cannot be executed: %s is mounted noexec; keep instances elsewhere "
		"(AGENT6_STATE_HOME, agent6.state_dir, a rehearsal's --dir)",
		program, c->bundle);
	refuse(r, s->name, why);
}

static void check_tool(struct refusals *r, const struct state *s, const struct confine *c)
{
	const struct network_refusal *refusal = network_refusal(confine_network_row(c, s)->tool);
	if (refusal) {
		char why[512];
		snprintf(why, sizeof(why), "%s; %s", refusal->reason, refusal->fix);
		refuse(r, s->name, why);
	}
	for (size_t i = 0; i < s->tool.secret_count; i++) {
		struct err why = ERR_NONE;
		if (grants_check(c->config, r->machine->name, s->tool.secrets[i], &why))
			refuse(r, s->name, why.text);
	}
	if (s->tool.pty && !strcmp(c->profile, "hardened"))
		refuse(r, s->name,
			"pty: sandbox.profile hardened has no terminals but the host's; use "
			"sandbox.profile strict, or take pty out");
	check_paths(r, s);
	check_program(r, s, c);
}

/* The model that a state may ask and that has no price: its own, or the reviewer's. Sets *p to its
 * provider. NULL: all have one. */
static const char *unpriced(
	const struct config *c, const struct config_provider **p, const char *model)
{
	const char *reviewer_model;
	const struct config_provider *reviewer = config_reviewer(c, &reviewer_model);
	if (!config_price(*p, model))
		return model;
	if (!reviewer || config_price(reviewer, reviewer_model))
		return NULL;
	*p = reviewer;
	return reviewer_model;
}

/* Whose limit in USD it is, and what to do about it where it is set. */
struct usd_limit {
	const char *name, *way_out;
};
static const struct usd_limit of_state = {"max_usd", "use best_effort_usd_limit"},
			      of_config = {"budget.max_usd of the configuration",
				      "take that limit away there"},
			      of_machine = {"the machine's budget.max_usd",
				      "use budget.best_effort_usd_limit"};

static void refuse_unpriced(struct refusals *r, const struct state *s,
	const struct config_provider *p, const char *model, const struct usd_limit *limit)
{
	char why[512];
	snprintf(why, sizeof(why),
		"model %s has no price, so %s cannot be enforced; set providers.%s.prices.%s "
		"({input: 0, output: 0} where it costs nothing), or %s",
		model, limit->name, p->name, model, limit->way_out);
	refuse(r, s->name, why);
}

static void check_agent(struct refusals *r, const struct state *s, const struct confine *c)
{
	const char *model;
	const struct config_provider *p = config_agent_provider(c->config, s, &model);
	char why[512];
	if (!p) {
		const char *own = s->agent.provider,
			   *name = own ? own : c->config->models.worker.provider;
		const char *before = name ? "the provider " : "no model provider";
		snprintf(why, sizeof(why),
			"%s%s is %sconfigured; `agent6 connect` adds one, and %s says which is "
			"used",
			before, name ? name : "", name ? "not " : "",
			own ? "the state's `provider`" : "models.worker.provider");
		refuse(r, s->name, why);
		return;
	}
	const char *bare = model ? unpriced(c->config, &p, model) : NULL;
	const struct opt_int *fallback = &s->agent.max_tokens_fallback;
	if (!model)
		refuse(r, s->name,
			"no model is set; set models.worker.model in your configuration");
	else if (bare && s->agent.max_usd.present)
		refuse_unpriced(r, s, p, bare, &of_state);
	else if (bare && c->config->budget.max_microusd >= 0)
		refuse_unpriced(r, s, p, bare, &of_config);
	else if (bare && fallback->present && !fallback->value)
		refuse(r, s->name,
			"its model has no price, and max_tokens_fallback is 0, which refuses to "
			"run unmetered");
	if (bare && r->machine->max_usd.present)
		refuse_unpriced(r, s, p, bare, &of_machine);
}

static void check_agent_network(struct refusals *r, const struct confine *c)
{
	char why[512];
	if (confine_network_row(c, NULL)->agent != WAY_LOOPBACK)
		return;
	for (size_t i = 0; i < c->config->provider_count; i++) {
		const struct config_provider *p = &c->config->providers[i];
		if (p->loopback)
			continue;
		snprintf(why, sizeof(why),
			"sandbox.agent_network is local, and provider %s (%s) is not on this host; "
			"remove the provider or set agent_network to providers",
			p->name, p->endpoint);
		refuse(r, NULL, why);
	}
}

int confine_check_grant(
	const char *setting, const char *path, bool write, const char *state, struct err *e)
{
	char grant[PATH_MAX], own[PATH_MAX];
	if (!realpath(path, grant))
		return err_set(e, "%s: %s: %s; no command runs without it", setting, path,
			strerror(errno));
	if (!realpath(state, own)) /* a first run makes it */
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

static bool state_runs_commands(const struct state *s, const struct config *c)
{
	bool agents =
		c->sandbox.run_commands != RUN_COMMANDS_NO || c->workflow.verify_command.count;
	return s->kind == KIND_TOOL ||
	       (s->kind == KIND_AGENT && s->agent.mode == MODE_RUN && agents);
}

static bool runs_commands(const struct machine *m, const struct config *c)
{
	for (size_t i = 0; i < m->state_count; i++)
		if (state_runs_commands(&m->states[i], c))
			return true;
	return false;
}

static void check_grants(struct refusals *r, const struct confine *c)
{
	const struct config_list *lists[] = {&c->config->sandbox.read, &c->config->sandbox.write};
	const char *const own[] = {c->config->state_dir, c->data_dir};
	const bool commands = runs_commands(r->machine, c->config);
	for (size_t l = 0; l < ARRAY_LEN(lists); l++)
		for (size_t i = 0; i < lists[l]->count; i++) {
			const char *setting = l ? "sandbox.write" : "sandbox.read";
			struct err why = ERR_NONE;
			if ((l || !commands) && access(lists[l]->items[i], F_OK))
				continue; /* only what every command gets has to be there */
			for (size_t o = 0; o < ARRAY_LEN(own); o++)
				if (own[o] && confine_check_grant(
						      setting, lists[l]->items[i], l, own[o], &why))
					break;
			if (*why.text)
				refuse(r, NULL, why.text);
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

/* Landlock cannot take a part out of what it has granted. */
static void check_hidden(struct refusals *r, const struct confine *c)
{
	char why[PATH_MAX + 256];
	size_t i;
	json_t *path;
	if (strcmp(c->profile, "hardened") != 0 || !runs_commands(r->machine, c->config))
		return;
	json_auto_t *hidden = confine_hidden(c);
	json_array_foreach (hidden, i, path) {
		const char *text = json_string_value(path);
		if (!path_is_within(text, c->workspace) && !confine_granted(text, &r->read) &&
			!confine_granted(text, &r->write) && !is_system(text))
			continue;
		snprintf(why, sizeof(why),
			"%s is to be hidden, and lies where commands may read, which "
			"sandbox.profile hardened cannot keep from them; move it elsewhere, or use "
			"sandbox.profile strict",
			text);
		refuse(r, NULL, why);
	}
}

/* With what the state and agent6 itself add to the operator's lists. */
static void check_sizes(struct refusals *r, const struct state *s, const struct confine *c)
{
	static const char *const lists[] = {"read", "write", "protect", "hide"};
	enum { POLICY_PATHS_MAX = 256 }; /* jail/policy.h */
	json_auto_t *policy =
		s->kind == KIND_TOOL ? confine_policy(c, s) : confine_command_policy(c);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		char why[256];
		size_t count = json_array_size(json_object_get(policy, lists[i]));
		if (count <= POLICY_PATHS_MAX)
			continue;
		snprintf(why, sizeof(why),
			"sandbox.%s comes to %zu paths with what is added to it, and a jail takes "
			"%d; name directories that hold several",
			lists[i], count, POLICY_PATHS_MAX);
		refuse(r, s->name, why);
	}
}

size_t confine_refusals(const struct machine *m, const struct confine *c, struct buf *out)
{
	AUTO_ARENA arena;
	arena_init(&arena);
	struct refusals r = {.machine = m,
		.out = out,
		.read = confine_real(&arena, &c->config->sandbox.read),
		.write = confine_real(&arena, &c->config->sandbox.write)};
	check_grants(&r, c);
	check_hidden(&r, c);
	bool agents = false, cloned = machine_writes_code(m);
	for (size_t i = 0; i < m->state_count; i++) {
		const struct state *s = &m->states[i];
		struct err why = ERR_NONE;
		if (confine_check_reserved(c, s, &why) ||
			(s->kind == KIND_TOOL && !cloned && confine_check_found(c, s, &why)))
			refuse(&r, s->name, why.text);
		if (state_runs_commands(s, c->config))
			check_sizes(&r, s, c);
		if (s->kind == KIND_TOOL)
			check_tool(&r, s, c);
		if (s->kind != KIND_AGENT)
			continue;
		agents = true;
		check_agent(&r, s, c);
	}
	if (agents)
		check_agent_network(&r, c);
	return r.count;
}

/* --- policies --------------------------------------------------------------------------------- */

static void add_texts(json_t *list, const char *const *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_string(items[i]));
}

/* What is carved out of the operator's directory is carved out of the clone of it, too. */
static void add_cloned(
	json_t *list, const struct confine *c, const char *const *items, size_t count)
{
	for (size_t i = 0; c->origin && i < count; i++)
		if (path_is_within(items[i], c->origin))
			json_array_append_new(
				list, json_sprintf("%s%s", c->clone, items[i] + strlen(c->origin)));
}

/* The jail finds no path behind a link that leads into what it grants, so where each of them leads
 * is added by that name, too. */
static void add_paths(json_t *list, const struct confine *c, const char *const *items, size_t count)
{
	char real[PATH_MAX];
	const char *const place = real;
	add_texts(list, items, count);
	add_cloned(list, c, items, count);
	for (size_t i = 0; i < count; i++)
		if (realpath(items[i], real) && strcmp(real, items[i]) != 0) {
			add_texts(list, &place, 1);
			add_cloned(list, c, &place, 1);
		}
}

/* By their real paths, in `a`, which is begun. */
static struct config_list real_writes(struct arena *a, const struct tool_state *t)
{
	arena_init(a);
	return confine_real(a, &(struct config_list){t ? t->writes : NULL, t ? t->write_count : 0});
}

json_t *confine_protected(const struct confine *c, const struct tool_state *t)
{
	json_t *list = json_array();
	AUTO_ARENA arena;
	const struct config_list grants = real_writes(&arena, t);
	json_array_append_new(list, json_sprintf("%s/.git", c->workspace));
	for (const struct reserved_path *h = c->reserved; h; h = h->next) {
		if (h->as != RESERVED_SECRET && (path_is_within(h->path, c->workspace) ||
							confine_granted(h->path, &grants)))
			add_texts(list, &h->path, 1);
		/* Nothing runs agent6 from a clone, and a clone of its repository is to be built
		 * in. */
		if (h->as == RESERVED_SETTING || h->as == RESERVED_BUNDLE)
			add_cloned(list, c, &h->path, 1);
	}
	add_paths(list, c, c->config->sandbox.protect.items, c->config->sandbox.protect.count);
	return list;
}

json_t *confine_hidden(const struct confine *c)
{
	json_t *list = json_array();
	for (const struct reserved_path *h = c->reserved; h; h = h->next)
		if (h->as == RESERVED_SECRET)
			add_paths(list, c, &h->path, 1);
	add_paths(list, c, c->config->sandbox.hide.items, c->config->sandbox.hide.count);
	return list;
}

bool confine_writes(const struct state *s)
{
	return s->kind == KIND_TOOL ? s->tool.workspace == WORKSPACE_WRITE
				    : s->kind == KIND_AGENT && s->agent.mode == MODE_RUN;
}

/* A jail lets through what is granted inside of what is protected. agent6's own directories may
 * hold anything else: of them it is the programs that are protected. */
static int check_picked(const struct confine *c, const struct state *s, struct err *e)
{
	char real[PATH_MAX];
	size_t k;
	json_t *path;
	json_auto_t *protected = json_array();
	json_array_append_new(protected, json_sprintf("%s/.git", c->workspace));
	if (c->origin)
		json_array_append_new(protected, json_sprintf("%s/.git", c->origin));
	for (const struct reserved_path *h = c->reserved; h; h = h->next)
		if (h->as == RESERVED_SETTING || h->as == RESERVED_BUNDLE)
			add_texts(protected, &h->path, 1);
	add_paths(protected, c, c->config->sandbox.protect.items, c->config->sandbox.protect.count);
	for (size_t i = 0; s->kind == KIND_TOOL && i < s->tool.write_count; i++)
		json_array_foreach (protected, k, path)
			if (realpath(s->tool.writes[i], real) &&
				path_is_below(real, json_string_value(path)))
				return err_set(e, "%s lies in %s, which no command may write", real,
					json_string_value(path));
	return 0;
}

/* Returns where commands may write around `path`, a grant or the workspace; NULL: nowhere. */
static const char *writable_around(const struct confine *c, const struct state *s,
	const struct config_list *grants, const char *path)
{
	char real[PATH_MAX];
	const char *at = realpath(path, real) ? real : path;
	if (confine_writes(s) && path_is_within(path, c->workspace))
		return c->workspace;
	for (size_t i = 0; i < grants->count; i++)
		if (path_is_within(at, grants->items[i]))
			return grants->items[i];
	return NULL;
}

/* Adds what `hardened` cannot keep in a workspace that commands may write, and is left open there,
 * but in no grant. */
static void add_left_open(json_t *list, const struct confine *c, const struct state *s)
{
	if (!confine_writes(s))
		json_array_append_new(list, json_sprintf("%s/.git", c->workspace));
	for (const struct reserved_path *h = c->reserved; h; h = h->next)
		if (h->as == RESERVED_BUNDLE &&
			!(confine_writes(s) && path_is_within(h->path, c->workspace)))
			add_texts(list, &h->path, 1);
}

int confine_check_reserved(const struct confine *c, const struct state *s, struct err *e)
{
	size_t i;
	json_t *path;
	if (check_picked(c, s, e))
		return -1;
	if (strcmp(c->profile, "hardened") != 0 || !state_runs_commands(s, c->config))
		return 0;
	AUTO_ARENA arena;
	const struct config_list grants =
		real_writes(&arena, s->kind == KIND_TOOL ? &s->tool : NULL);
	json_auto_t *protected = json_array();
	for (const struct reserved_path *h = c->reserved; h; h = h->next)
		if (h->as == RESERVED_PROGRAM || h->as == RESERVED_SETTING)
			add_texts(protected, &h->path, 1);
	add_paths(protected, c, c->config->sandbox.protect.items, c->config->sandbox.protect.count);
	add_left_open(protected, c, s);
	json_array_foreach (protected, i, path) {
		const char *held = json_string_value(path);
		const char *in = writable_around(c, s, &grants, held);
		if (in)
			return err_set(e,
				"%s is not to be written, and lies where commands may write, in "
				"%s, which sandbox.profile hardened cannot keep from them; move it "
				"elsewhere, give them less to write, or use sandbox.profile strict",
				held, in);
	}
	return 0;
}

/* A state may only go lower. */
static json_int_t lower(struct opt_int asked, int64_t ceiling)
{
	return asked.present && asked.value < ceiling ? asked.value : ceiling;
}

static json_t *limits(const struct tool_state *t, const struct config_limits *l)
{
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:s*}", "memory_mb",
		lower(t->memory_mb, l->memory_mb), "cpu_secs", lower(t->cpu_secs, l->cpu_secs),
		"processes", lower(t->processes, l->processes), "open_files",
		lower(t->open_files, l->open_files), "file_mb", lower(t->file_mb, l->file_mb),
		"tmp_mb", (json_int_t)l->tmp_mb, "memory_by", config_memory_by(l));
}

json_t *confine_policy(const struct confine *c, const struct state *s)
{
	static const char *const access[] = {
		[WORKSPACE_WRITE] = "write", [WORKSPACE_READ] = "read", [WORKSPACE_NONE] = "none"};
	const struct tool_state *t = &s->tool;
	const struct config_sandbox *sandbox = &c->config->sandbox;
	enum network_way way = confine_network_row(c, s)->tool;
	json_t *network = way == WAY_LISTED ? json_pack("{s:i}", "proxy_fd", (int)LAUNCHER_PROXY_FD)
					    : json_string(way == WAY_HOST ? "host" : "none");
	json_t *read = json_array(), *write = json_array();
	add_texts(read, sandbox->read.items, sandbox->read.count);
	add_texts(read, t->reads, t->read_count);
	if (t->workspace != WORKSPACE_NONE)
		add_texts(read, c->elsewhere.items, c->elsewhere.count);
	if (c->objects && t->workspace != WORKSPACE_NONE)
		add_texts(read, &c->objects, 1);
	add_texts(write, t->writes, t->write_count);
	if (c->data_dir)
		json_array_append_new(write, json_string(c->data_dir));
	json_t *repositories = c->data_dir ? json_pack("[s]", c->data_dir) : NULL;
	return json_pack(
		"{s:i,s:o*,s:s*,s:s,s:s*,s:o,s:{s:s,s:s},s:o,s:o,s:o,s:o,s:s*,s:I,s:o,s:b,s:o*}",
		"version", 1, "repositories", repositories, "aside", c->aside, "profile",
		c->profile, "cwd", t->workspace == WORKSPACE_NONE ? c->data_dir : c->workspace,
		"network", network, "workspace", "path", c->workspace, "access",
		access[t->workspace], "read", read, "write", write, "protect",
		confine_protected(c, t), "hide", confine_hidden(c), "bundle", c->bundle,
		"timeout_secs", (json_int_t)s->timeout_secs, "limits", limits(t, &sandbox->limits),
		"allow_root_jail", c->allow_root_jail, "pty", t->pty ? json_true() : NULL);
}

json_t *confine_command_policy(const struct confine *c)
{
	bool host = confine_network_row(c, NULL)->command == WAY_HOST;
	struct state any = {.kind = KIND_TOOL, .tool = {.network = NETWORK_AUTO}};
	json_t *policy = confine_policy(c, &any);
	json_object_set_new(policy, "network", json_string(host ? "host" : "none"));
	json_object_set_new(
		policy, "write", json_array()); /* the data directory is for tool states */
	json_object_del(policy, "repositories");
	json_object_del(policy, "timeout_secs");
	return policy;
}

json_t *confine_environment(void)
{
	static const char *const names[] = {"LANG", "LC_ALL", "TERM", "TZ"};
	json_t *out = json_object();
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *value = getenv(names[i]);
		if (value && *value)
			json_object_set_new(out, names[i], json_string(value));
	}
	return out;
}
