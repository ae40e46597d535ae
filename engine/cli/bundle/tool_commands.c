#include "cli/bundle/tool_commands.h"

#include "agent/policy/classify.h"
#include "base/path.h"
#include "machine/kind.h"
#include "machine/site.h"
#include "machine/template.h"
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { PROGRAM_BYTES = 4200 };

struct commands {
	const struct bundle *bundle;
	const struct machine *m;
	struct findings *findings;
	const char *workspace, *home;
	json_t *seen; /* programs that were looked up already */
};

static bool runnable(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_mode & 0111;
}

/* Reports whether a path lies in the workspace, by its own name or by its target's. If it does not
 * exist yet, its directory counts. "/" is not taken for a workspace: whoever checks there will run
 * elsewhere. */
static bool in_workspace(const struct commands *commands, const char *path)
{
	if (!strcmp(commands->workspace, "/"))
		return false;
	AUTO_FREE char *real = realpath(path, NULL), *dir = strdup(path);
	for (char *slash; !real && dir && (slash = strrchr(dir, '/')) > dir;) {
		*slash = '\0';
		real = realpath(dir, NULL);
	}
	return path_is_within(path, commands->workspace) ||
	       (real && path_is_within(real, commands->workspace));
}

static bool is_listed(const char *text, const char *const *list)
{
	while (*list && strcmp(text, *list) != 0)
		list++;
	return *list;
}

/* Returns advice about a program that no directory holds. */
static const char *missing_help(const char *program)
{
	static const char *const builtins[] = {
		"cd", "export", "source", ".", "set", "unset", "umask", "ulimit", "exit", NULL};
	if (strchr(program, ' '))
		return "each argument is an item by itself: [make, test], not [make test]";
	if (is_listed(program, builtins))
		return "it is the shell's own: write [sh, -c, '...'] or a script below scripts/";
	if (strchr(program, '='))
		return "variables are set with `env`, a map beside `command`";
	return "install it, or bring it along below scripts/";
}

/* The PATH of every jail, unless the state's `env` sets another. */
#define JAIL_PATH "/usr/local/bin:/usr/bin:/bin"

static const char *own_path(const struct tool_state *state)
{
	for (size_t i = 0; i < state->env_count; i++)
		if (!strcmp(state->env[i].name, "PATH"))
			return state->env[i].text;
	return NULL;
}

enum place { PLACE_NONE, PLACE_FOUND, PLACE_WORKSPACE };

/* Looks a program up as the jail does. In a PATH of the state's own, no directory before the
 * program's may lie in the workspace; a relative path leads there. */
static enum place look_up(
	const struct commands *commands, const struct tool_state *state, const char *program)
{
	char file[PROGRAM_BYTES];
	const char *own = own_path(state), *next;
	for (const char *dir = own ? own : JAIL_PATH; dir; dir = *next ? next + 1 : NULL) {
		next = dir + strcspn(dir, ":");
		snprintf(file, sizeof(file), "%.*s/%s", (int)(next - dir), dir, program);
		if (own && (*dir != '/' || in_workspace(commands, file)))
			return PLACE_WORKSPACE;
		if (runnable(file))
			return PLACE_FOUND;
	}
	return PLACE_NONE;
}

static void report_missing(const struct commands *commands, const struct site *site,
	const struct tool_state *state, const char *program)
{
	char script[PROGRAM_BYTES];
	const char *own = own_path(state);
	struct finding *f = program[0] == '/' ? site_report(site, RULE_PROGRAM_MISSING,
							"this host has no program \"%s\"", program)
					      : site_report(site, RULE_PROGRAM_MISSING,
							"this host has no \"%s\" on %s", program,
							own ? own : JAIL_PATH);
	snprintf(script, sizeof(script), "scripts/%s", program);
	if (bundle_member(commands->bundle, script))
		site_help(site, f, "write `%s`", script);
	else
		site_help(site, f, "%s", missing_help(program));
}

/* Checks a script's interpreter. If it is missing, the kernel reports the script itself as
 * missing. */
static void check_interpreter(
	const struct commands *commands, const struct site *site, const char *script)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	if (bundle_read(commands->bundle, script, &text, &len, NULL) || strncmp(text, "#!", 2) != 0)
		return;
	char *name = text + 2 + strspn(text + 2, " \t");
	name[strcspn(name, " \t\r\n")] = '\0';
	if (*name != '/' || runnable(name))
		return;
	struct finding *f = site_report(site, RULE_PROGRAM_MISSING,
		"\"%s\" is to be run by \"%s\", which this host does not have", script, name);
	site_help(site, f, "install it, or name another one in the first line");
}

static void check_program(const struct commands *commands, const struct state *state)
{
	const char *program = template_literal(state->tool.command[0]);
	const struct doc_node *list = doc_get(state->node, "command");
	struct site site = {.findings = commands->findings,
		.doc = commands->m->doc,
		.node = &list->items[0],
		.state = state->name};
	bool own = own_path(&state->tool);
	if (!program || (!own && json_object_get(commands->seen, program)))
		return;
	if (!own)
		json_object_set_new(commands->seen, program, json_true());
	if (strncmp(program, "scripts/", 8) == 0) {
		check_interpreter(commands, &site, program);
		return;
	}
	enum place place = program[0] != '/' ? look_up(commands, &state->tool, program)
			   : in_workspace(commands, program) ? PLACE_WORKSPACE
			   : runnable(program)               ? PLACE_FOUND
							     : PLACE_NONE;
	if (place == PLACE_NONE)
		report_missing(commands, &site, &state->tool, program);
	if (place != PLACE_WORKSPACE)
		return;
	struct finding *f = site_report(&site, RULE_PROGRAM_IN_WORKSPACE,
		program[0] == '/'
			? "\"%s\" lies in the workspace, where whatever runs may replace it"
			: "the state's PATH looks for \"%s\" in the workspace, where "
			  "whatever runs may put one",
		program);
	site_help(&site, f, "bring it along below scripts/");
}

/* Reports whether an argument has a meaning for a shell and hardly any for other programs. */
static bool is_for_shell(const char *text)
{
	static const char *const operators[] = {
		"&&", "||", "|", "|&", ">", ">>", "<", "<<", "2>", "2>&1", "&>", "&", NULL};
	static const char *const variables[] = {"$AGENT6_", "${AGENT6_", "$HOME", "${HOME}", "~/"};
	size_t len = strlen(text);
	if (is_listed(text, operators) || (!strncmp(text, "$(", 2) && text[len - 1] == ')'))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(variables); i++)
		if (!strncmp(text, variables[i], strlen(variables[i])))
			return true;
	return false;
}

/* Reports whether the argument is the pattern of a search or the separator of fields. */
static bool is_data(const struct tool_state *state, size_t at)
{
	static const char *const searches[] = {
		"grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", NULL};
	static const char *const separators[] = {"-d", "-F", "-s", "-t", "-separator",
		"--delimiter", "--delimiters", "--separator", "--output-separator",
		"--field-separator", "--table-separator", "--ifs", "--ofs", "--fs", NULL};
	const char *before = template_literal(state->command[at - 1]);
	if (before && strlen(template_literal(state->command[at])) == 1 &&
		is_listed(before, separators))
		return true;
	while (--at && before && before[0] == '-')
		before = template_literal(state->command[at - 1]);
	return before && is_listed(before, searches);
}

/* Reports whether a shell, here or elsewhere, reads the words after this one, or a program whose
 * operators look like a shell's. */
static bool has_operators(const char *word)
{
	static const char *const programs[] = {
		"expr", "test", "[", "tr", "ssh", "watch", "parallel", NULL};
	size_t len = strlen(word);
	return is_listed(word, programs) ||
	       (word[0] == '-' && word[1] != '-' && word[len - 1] == 'c');
}

/* Reports one such word per command: its author thought of a shell throughout. */
static void check_shell_words(const struct commands *commands, const struct state *state)
{
	const struct doc_node *list = doc_get(state->node, "command");
	for (size_t i = 0; i < state->tool.command_count; i++) {
		const char *text = template_literal(state->tool.command[i]);
		if (text && has_operators(text))
			return;
		if (!i || !text || !is_for_shell(text) || is_data(&state->tool, i))
			continue;
		struct site site = {.findings = commands->findings,
			.doc = commands->m->doc,
			.node = &list->items[i],
			.state = state->name};
		struct finding *f = site_report(&site, RULE_SHELL_WORD,
			"no shell reads a command: \"%s\" reaches the program as it stands here",
			text);
		site_help(&site, f,
			"use a script below scripts/, [sh, -c, '...'], or a state for each "
			"command");
		return;
	}
}

/* Returns the command if all of it is known before it runs, as a heap list. NULL: it is not. */
static const char **static_argv(const struct tool_state *state)
{
	const char **argv = calloc(state->command_count + 1, sizeof(*argv));
	for (size_t i = 0; argv && i < state->command_count; i++) {
		argv[i] = template_literal(state->command[i]);
		if (!argv[i]) {
			free(argv);
			return NULL;
		}
	}
	return argv;
}

/* Returns advice about a command of that level in its jail. */
static const char *risk_help(enum level level, const struct tool_state *state)
{
	bool offline = state->network == NETWORK_AUTO || state->network == NETWORK_BLOCK;
	if (level == LEVEL_DENIED)
		return "no approval makes such a command run; write a narrower one";
	if (level == LEVEL_NETWORK && offline)
		return "the state has no network; `allow_network: [\"HOST:PORT\"]` names the hosts "
		       "that it needs";
	if (level == LEVEL_PRIVILEGED)
		return "a jail has no privileges and no service of the host; do this outside the "
		       "machine";
	return "make sure that this is meant; `agent6 check command` shows every reason";
}

static void check_risk(const struct commands *commands, const struct state *state)
{
	AUTO_FREE const char **argv = static_argv(&state->tool);
	struct classify_world world = {.workspace = commands->workspace, .home = commands->home};
	struct verdict verdict = {.level = LEVEL_READ_ONLY};
	if (argv)
		classify_argv(&world, argv, state->tool.command_count, &verdict);
	if (verdict.level < LEVEL_DESTRUCTIVE)
		return;
	bool denied = verdict.level == LEVEL_DENIED;
	struct site site = {.findings = commands->findings,
		.doc = commands->m->doc,
		.node = doc_get(state->node, "command"),
		.state = state->name};
	struct finding *f = site_report(&site, denied ? RULE_COMMAND_DENIED : RULE_COMMAND_RISK,
		"the command's level is %s%s%s", level_name(verdict.level),
		verdict.reason_count ? ": " : "", verdict.reason_count ? verdict.reasons[0] : "");
	site_help(&site, f, "%s", risk_help(verdict.level, &state->tool));
}

/* Reports whether the command has no refused part, each of which has its own finding. */
static bool is_whole(const struct tool_state *state)
{
	for (size_t i = 0; i < state->command_count; i++)
		if (!state->command[i])
			return false;
	const char *program = state->command_count ? template_literal(state->command[0]) : "";
	return !program || !strncmp(program, "scripts/", 8) || !program_fault(program);
}

void tool_commands_check(
	const struct loaded *loaded, const char *workspace, struct findings *findings)
{
	const struct machine *m = loaded->draft;
	struct commands c = {.bundle = loaded->bundle,
		.m = m,
		.findings = findings,
		.workspace = workspace,
		.seen = json_object()};
	for (size_t i = 0; i < m->state_count; i++)
		if (state_tool(&m->states[i]) && is_whole(&m->states[i].tool)) {
			check_program(&c, &m->states[i]);
			check_shell_words(&c, &m->states[i]);
			check_risk(&c, &m->states[i]);
		}
	json_decref(c.seen);
}
