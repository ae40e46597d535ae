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

static void add_texts(json_t *list, const char *const *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_string(items[i]));
}

/* Adds the clone's counterparts of paths in the operator's directory: what is protected or hidden
 * in one is so in the other. */
static void add_cloned(
	json_t *list, const struct confine *confine, const char *const *items, size_t count)
{
	for (size_t i = 0; confine->origin && i < count; i++)
		if (path_is_within(items[i], confine->origin))
			json_array_append_new(list, json_sprintf("%s%s", confine->clone,
							    items[i] + strlen(confine->origin)));
}

/* Adds paths, and the real path of each: the jail finds no path behind a link that leads into what
 * it grants. */
static void add_paths(
	json_t *list, const struct confine *confine, const char *const *items, size_t count)
{
	char real[PATH_MAX];
	const char *const place = real;
	add_texts(list, items, count);
	add_cloned(list, confine, items, count);
	for (size_t i = 0; i < count; i++)
		if (realpath(items[i], real) && strcmp(real, items[i]) != 0) {
			add_texts(list, &place, 1);
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

json_t *confine_protected(const struct confine *confine, const struct tool_state *state)
{
	json_t *list = json_array();
	AUTO_ARENA arena;
	const struct config_list grants = real_writes(&arena, state);
	json_array_append_new(list, json_sprintf("%s/.git", confine->workspace));
	for (const struct reserved_path *h = confine->reserved; h; h = h->next) {
		if (h->as != RESERVED_SECRET && (path_is_within(h->path, confine->workspace) ||
							confine_granted(h->path, &grants)))
			add_texts(list, &h->path, 1);
		/* A program is not added for the clone: nobody runs agent6 from there, and a clone
		 * of agent6's own repository must be buildable. */
		if (h->as == RESERVED_SETTING || h->as == RESERVED_BUNDLE)
			add_cloned(list, confine, &h->path, 1);
	}
	add_paths(list, confine, confine->config->sandbox.protect.items,
		confine->config->sandbox.protect.count);
	return list;
}

json_t *confine_hidden(const struct confine *confine)
{
	json_t *list = json_array();
	for (const struct reserved_path *h = confine->reserved; h; h = h->next)
		if (h->as == RESERVED_SECRET)
			add_paths(list, confine, &h->path, 1);
	add_paths(list, confine, confine->config->sandbox.hide.items,
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
	size_t k;
	json_t *path;
	json_auto_t *protected = json_array();
	json_array_append_new(protected, json_sprintf("%s/.git", confine->workspace));
	if (confine->origin)
		json_array_append_new(protected, json_sprintf("%s/.git", confine->origin));
	for (const struct reserved_path *h = confine->reserved; h; h = h->next)
		if (h->as == RESERVED_SETTING || h->as == RESERVED_BUNDLE)
			add_texts(protected, &h->path, 1);
	add_paths(protected, confine, confine->config->sandbox.protect.items,
		confine->config->sandbox.protect.count);
	const struct tool_state *tool = state_tool(state);
	for (size_t i = 0; tool && i < tool->write_count; i++)
		json_array_foreach (protected, k, path)
			if (realpath(tool->writes[i], real) &&
				path_is_below(real, json_string_value(path)))
				return err_set(e, "%s lies in %s, which no command may write", real,
					json_string_value(path));
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
static void add_left_open(json_t *list, const struct confine *confine, const struct state *state)
{
	if (!confine_writes(state))
		json_array_append_new(list, json_sprintf("%s/.git", confine->workspace));
	for (const struct reserved_path *h = confine->reserved; h; h = h->next)
		if (h->as == RESERVED_BUNDLE &&
			!(confine_writes(state) && path_is_within(h->path, confine->workspace)))
			add_texts(list, &h->path, 1);
}

int confine_check_reserved(const struct confine *confine, const struct state *state, struct err *e)
{
	size_t i;
	json_t *path;
	if (check_picked(confine, state, e))
		return -1;
	if (strcmp(confine->profile, "hardened") != 0 ||
		!confine_runs_commands(state, confine->config))
		return 0;
	AUTO_ARENA arena;
	const struct config_list grants = real_writes(&arena, state_tool(state));
	json_auto_t *protected = json_array();
	for (const struct reserved_path *h = confine->reserved; h; h = h->next)
		if (h->as == RESERVED_PROGRAM || h->as == RESERVED_SETTING)
			add_texts(protected, &h->path, 1);
	add_paths(protected, confine, confine->config->sandbox.protect.items,
		confine->config->sandbox.protect.count);
	add_left_open(protected, confine, state);
	json_array_foreach (protected, i, path) {
		const char *held = json_string_value(path);
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
static json_int_t lower(struct opt_int asked, int64_t ceiling)
{
	return asked.present && asked.value < ceiling ? asked.value : ceiling;
}

static json_t *limits(const struct tool_state *state, const struct config_limits *limits)
{
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:s*}", "memory_mb",
		lower(state->memory_mb, limits->memory_mb), "cpu_secs",
		lower(state->cpu_secs, limits->cpu_secs), "processes",
		lower(state->processes, limits->processes), "open_files",
		lower(state->open_files, limits->open_files), "file_mb",
		lower(state->file_mb, limits->file_mb), "tmp_mb", (json_int_t)limits->tmp_mb,
		"memory_by", config_memory_by(limits));
}

json_t *confine_policy(const struct confine *confine, const struct state *state)
{
	static const char *const access[] = {
		[WORKSPACE_WRITE] = "write", [WORKSPACE_READ] = "read", [WORKSPACE_NONE] = "none"};
	const struct tool_state *t = &state->tool;
	const struct config_sandbox *sandbox = &confine->config->sandbox;
	enum network_way way = confine_network_row(confine, state)->tool;
	json_t *network = way == WAY_LISTED ? json_pack("{s:i}", "proxy_fd", (int)LAUNCHER_PROXY_FD)
					    : json_string(way == WAY_HOST ? "host" : "none");
	json_t *read = json_array(), *write = json_array();
	add_texts(read, sandbox->read.items, sandbox->read.count);
	add_texts(read, t->reads, t->read_count);
	if (t->workspace != WORKSPACE_NONE)
		add_texts(read, confine->elsewhere.items, confine->elsewhere.count);
	if (confine->objects && t->workspace != WORKSPACE_NONE)
		add_texts(read, &confine->objects, 1);
	add_texts(write, t->writes, t->write_count);
	if (confine->data_dir)
		json_array_append_new(write, json_string(confine->data_dir));
	json_t *repositories = confine->data_dir ? json_pack("[s]", confine->data_dir) : NULL;
	return json_pack(
		"{s:i,s:o*,s:s*,s:s,s:s*,s:o,s:{s:s,s:s},s:o,s:o,s:o,s:o,s:s*,s:o,s:b,s:o*}",
		"version", 1, "repositories", repositories, "aside", confine->aside, "profile",
		confine->profile, "cwd",
		t->workspace == WORKSPACE_NONE ? confine->data_dir : confine->workspace, "network",
		network, "workspace", "path", confine->workspace, "access", access[t->workspace],
		"read", read, "write", write, "protect", confine_protected(confine, t), "hide",
		confine_hidden(confine), "bundle", confine->bundle, "limits",
		limits(t, &sandbox->limits), "allow_root_jail", confine->allow_root_jail, "pty",
		t->pty ? json_true() : NULL);
}

json_t *confine_command_policy(const struct confine *confine)
{
	bool host = confine_network_row(confine, NULL)->command == WAY_HOST;
	struct state any = {.kind = KIND_TOOL, .tool = {.network = NETWORK_AUTO}};
	json_t *policy = confine_policy(confine, &any);
	json_object_set_new(policy, "network", json_string(host ? "host" : "none"));
	json_object_set_new(
		policy, "write", json_array()); /* the data directory is for tool states only */
	json_object_del(policy, "repositories");
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
