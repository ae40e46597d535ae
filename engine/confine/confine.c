#include "confine/confine.h"

#include "base/path.h"
#include "launch/launcher.h"
#include "machine/kind.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

const struct network_row *confine_network_row(
	const struct confine *confine, const struct state *state)
{
	const struct config_sandbox *sandbox = &confine->config->sandbox;
	return network_find(&(struct network_case){.profile = strcmp(confine->profile, "hardened")
								      ? NETWORK_ON_STRICT
								      : NETWORK_ON_HARDENED,
		.agent = (int)sandbox->agent_network,
		.tool = (int)sandbox->tool_network,
		.asked = state ? (int)state->tool.network : NETWORK_AUTO});
}

struct config_list confine_real(struct arena *arena, const struct config_list *paths)
{
	char real[PATH_MAX];
	size_t count = 0;
	if (!paths->count)
		return *paths;
	const char **items = arena_array(arena, paths->count + 1, sizeof(*items));
	for (size_t i = 0; i < paths->count; i++)
		if (realpath(paths->items[i], real))
			items[count++] = arena_copy(arena, real, strlen(real));
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

/* Adds the clone's counterparts of paths in the operator's directory: what is protected or hidden
 * in one is so in the other. */
static void add_cloned(struct path_list *list, const struct confine *confine,
	const char *const *items, size_t count)
{
	for (size_t i = 0; confine->origin && i < count; i++)
		if (path_is_within(items[i], confine->origin))
			path_list_addf(
				list, "%s%s", confine->clone, items[i] + strlen(confine->origin));
}

/* Adds paths, and the real path of each: the jail finds no path behind a link that leads into what
 * it grants. */
static void add_paths(struct path_list *list, const struct confine *confine,
	const char *const *items, size_t count)
{
	char real[PATH_MAX];
	const char *const place = real;
	path_list_add_each(list, items, count);
	add_cloned(list, confine, items, count);
	for (size_t i = 0; i < count; i++)
		if (realpath(items[i], real) && strcmp(real, items[i]) != 0) {
			path_list_add(list, real);
			add_cloned(list, confine, &place, 1);
		}
}

/* Returns the state's `writes` as real paths, in `arena`, which it begins. */
static struct config_list real_writes(struct arena *arena, const struct tool_state *state)
{
	arena_init(arena);
	return confine_real(arena, &(struct config_list){state ? state->writes : NULL,
					   state ? state->write_count : 0});
}

struct path_list confine_protected(const struct confine *confine, const struct tool_state *state)
{
	struct path_list list = {0};
	AUTO_ARENA arena;
	const struct config_list grants = real_writes(&arena, state);
	path_list_addf(&list, "%s/.git", confine->workspace);
	for (const struct reserved_path *h = confine->reserved; h; h = h->next) {
		if (h->as != RESERVED_SECRET && (path_is_within(h->path, confine->workspace) ||
							confine_granted(h->path, &grants)))
			path_list_add(&list, h->path);
		/* A program is not added for the clone: nobody runs agent6 from there, and a clone
		 * of agent6's own repository must be buildable. */
		if (h->as == RESERVED_SETTING || h->as == RESERVED_BUNDLE)
			add_cloned(&list, confine, &h->path, 1);
	}
	add_paths(&list, confine, confine->config->sandbox.protect.items,
		confine->config->sandbox.protect.count);
	return list;
}

struct path_list confine_hidden(const struct confine *confine)
{
	struct path_list list = {0};
	path_list_give(&list);
	for (const struct reserved_path *h = confine->reserved; h; h = h->next)
		if (h->as == RESERVED_SECRET)
			add_paths(&list, confine, &h->path, 1);
	add_paths(&list, confine, confine->config->sandbox.hide.items,
		confine->config->sandbox.hide.count);
	return list;
}

bool confine_writes(const struct state *state)
{
	return state_writing(state) != WRITES_NOTHING;
}

/* Refuses a grant inside a protected path, because a jail lets grants through there. Of agent6's
 * own directories only the programs are protected: the rest may hold anything. */
static int check_picked(const struct confine *confine, const struct state *state, struct err *e)
{
	char real[PATH_MAX];
	AUTO_PATH_LIST protected = {0};
	path_list_addf(&protected, "%s/.git", confine->workspace);
	if (confine->origin)
		path_list_addf(&protected, "%s/.git", confine->origin);
	for (const struct reserved_path *h = confine->reserved; h; h = h->next)
		if (h->as == RESERVED_SETTING || h->as == RESERVED_BUNDLE)
			path_list_add(&protected, h->path);
	add_paths(&protected, confine, confine->config->sandbox.protect.items,
		confine->config->sandbox.protect.count);
	const struct tool_state *tool = state_tool(state);
	for (size_t i = 0; tool && i < tool->write_count; i++)
		for (size_t k = 0; k < protected.count; k++)
			if (realpath(tool->writes[i], real) &&
				path_is_below(real, protected.items[k]))
				return err_set(e, "%s lies in %s, which no command may write", real,
					protected.items[k]);
	return 0;
}

/* Returns the place around `path` where commands may write, a grant or the workspace; NULL:
 * none. */
static const char *writable_around(const struct confine *confine, const struct state *state,
	const struct config_list *grants, const char *path)
{
	char real[PATH_MAX];
	const char *at = realpath(path, real) ? real : path;
	if (confine_writes(state) && path_is_within(path, confine->workspace))
		return confine->workspace;
	for (size_t i = 0; i < grants->count; i++)
		if (path_is_within(at, grants->items[i]))
			return grants->items[i];
	return NULL;
}

/* Adds the paths that `hardened` cannot protect in a workspace that commands may write, and accepts
 * there, but that no grant may contain. */
static void add_left_open(
	struct path_list *list, const struct confine *confine, const struct state *state)
{
	if (!confine_writes(state))
		path_list_addf(list, "%s/.git", confine->workspace);
	for (const struct reserved_path *h = confine->reserved; h; h = h->next)
		if (h->as == RESERVED_BUNDLE &&
			!(confine_writes(state) && path_is_within(h->path, confine->workspace)))
			path_list_add(list, h->path);
}

int confine_check_reserved(const struct confine *confine, const struct state *state, struct err *e)
{
	if (check_picked(confine, state, e))
		return -1;
	if (strcmp(confine->profile, "hardened") != 0 ||
		!confine_runs_commands(state, confine->config))
		return 0;
	AUTO_ARENA arena;
	const struct config_list grants = real_writes(&arena, state_tool(state));
	AUTO_PATH_LIST protected = {0};
	for (const struct reserved_path *h = confine->reserved; h; h = h->next)
		if (h->as == RESERVED_PROGRAM || h->as == RESERVED_SETTING)
			path_list_add(&protected, h->path);
	add_paths(&protected, confine, confine->config->sandbox.protect.items,
		confine->config->sandbox.protect.count);
	add_left_open(&protected, confine, state);
	for (size_t i = 0; i < protected.count; i++) {
		const char *held = protected.items[i];
		const char *in = writable_around(confine, state, &grants, held);
		if (in)
			return err_set(e,
				"%s is not to be written, and lies where commands may write, in "
				"%s, which sandbox.profile hardened cannot keep from them; move it "
				"elsewhere, give them less to write, or use sandbox.profile strict",
				held, in);
	}
	return 0;
}

/* Returns a limit: a state may only lower the operator's. */
static int64_t lower(struct opt_int asked, int64_t ceiling)
{
	return asked.present && asked.value < ceiling ? asked.value : ceiling;
}

enum jail_memory_by confine_memory_by(const struct config *config)
{
	static const enum jail_memory_by by[] = {[MEMORY_BOUND_ANY] = JAIL_BY_ANY,
		[MEMORY_BOUND_WATCH] = JAIL_BY_WATCH,
		[MEMORY_BOUND_CGROUP] = JAIL_BY_CGROUP};
	return by[config->sandbox.limits.memory_by];
}

static void set_limits(
	struct jail_policy *policy, const struct tool_state *state, const struct config *config)
{
	const struct config_limits *limits = &config->sandbox.limits;
	policy->memory_mb = lower(state->memory_mb, limits->memory_mb);
	policy->cpu_secs = lower(state->cpu_secs, limits->cpu_secs);
	policy->processes = lower(state->processes, limits->processes);
	policy->open_files = lower(state->open_files, limits->open_files);
	policy->file_mb = lower(state->file_mb, limits->file_mb);
	policy->tmp_mb = limits->tmp_mb;
	policy->memory_by = confine_memory_by(config);
}

static void set_grants(
	struct jail_policy *policy, const struct confine *confine, const struct tool_state *state)
{
	const struct config_sandbox *sandbox = &confine->config->sandbox;
	path_list_give(&policy->read);
	path_list_give(&policy->write);
	path_list_add_each(&policy->read, sandbox->read.items, sandbox->read.count);
	path_list_add_each(&policy->read, state->reads, state->read_count);
	if (state->workspace != WORKSPACE_NONE)
		path_list_add_each(
			&policy->read, confine->elsewhere.items, confine->elsewhere.count);
	if (confine->objects && state->workspace != WORKSPACE_NONE)
		path_list_add(&policy->read, confine->objects);
	path_list_add_each(&policy->write, state->writes, state->write_count);
	if (confine->data_dir)
		path_list_add(&policy->write, confine->data_dir);
}

struct jail_policy confine_policy(const struct confine *confine, const struct state *state)
{
	static const enum jail_access access[] = {[WORKSPACE_WRITE] = JAIL_WRITE,
		[WORKSPACE_READ] = JAIL_READ,
		[WORKSPACE_NONE] = JAIL_NO_ACCESS};
	const struct tool_state *t = &state->tool;
	enum network_way way = confine_network_row(confine, state)->tool;
	struct jail_policy policy = jail_policy_of(
		jail_profile_find(confine->profile), confine->workspace, access[t->workspace]);
	if (t->workspace == WORKSPACE_NONE)
		policy.cwd = confine->data_dir;
	policy.network = way == WAY_HOST ? JAIL_HOST : JAIL_OFFLINE;
	policy.proxy_fd = way == WAY_LISTED ? LAUNCHER_PROXY_FD : 0;
	set_grants(&policy, confine, t);
	policy.protect = confine_protected(confine, t);
	policy.hide = confine_hidden(confine);
	if (confine->data_dir)
		path_list_add(&policy.repositories, confine->data_dir);
	policy.aside = confine->aside;
	policy.bundle = confine->bundle;
	set_limits(&policy, t, confine->config);
	policy.allow_root_jail = confine->allow_root_jail;
	policy.pty = t->pty;
	return policy;
}

struct jail_policy confine_command_policy(const struct confine *confine)
{
	bool host = confine_network_row(confine, NULL)->command == WAY_HOST;
	struct state any = {.kind = KIND_TOOL, .tool = {.network = NETWORK_AUTO}};
	struct jail_policy policy = confine_policy(confine, &any);
	policy.network = host ? JAIL_HOST : JAIL_OFFLINE;
	policy.proxy_fd = 0;
	path_list_clear(&policy.write); /* the data directory is for tool states only */
	path_list_done(&policy.repositories);
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
