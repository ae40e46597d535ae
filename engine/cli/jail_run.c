#include "base/io.h"
#include "base/json.h"
#include "base/path.h"
#include "cli/held.h"
#include "cli/jail_call.h"
#include "cli/layers.h"
#include "cli/mounts.h"
#include "cli/setup.h"
#include "cli/text.h"
#include "launch/ending.h"
#include "run/confine.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { GRANTS_MAX = 256, MOUNTS_BYTES_MAX = 1024 * 1024 };

/* --- the policy ------------------------------------------------------------------------------- */

/* Real paths, because the jail takes no other; heap strings. */
static int read_grants(
	const struct call *c, const char *option, const char *paths[], size_t *count, struct err *e)
{
	for (const char *given; (given = call_value_at(c, option, *count)); (*count)++) {
		if (*count == GRANTS_MAX)
			return err_set(e, "more than %d times --%s", GRANTS_MAX, option);
		paths[*count] = realpath(given, NULL);
		if (!paths[*count])
			return err_errno(e, "--%s %s", option, given);
	}
	return 0;
}

static json_t *environment(void)
{
	static const char *const kept[] = {"LANG", "LC_ALL", "TERM", "TZ"};
	json_t *env = json_object();
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (getenv(kept[i]))
			json_object_set_new(env, kept[i], json_string(getenv(kept[i])));
	return env;
}

static json_t *command(const struct call *c)
{
	json_t *argv = json_array();
	for (int i = 0; i < c->argument_count; i++)
		json_array_append_new(argv, json_string(c->arguments[i]));
	return argv;
}

/* The policy of a tool state with these grants, without a bundle and a data directory. */
static json_t *make_policy(const struct call *c, struct setup *s, const struct state *state)
{
	struct held held;
	held_init(&held, &s->arena, s->config, &s->paths, s->paths.workspace);
	struct confine confine = {.config = s->config,
		.profile = s->config->sandbox.profile == PROFILE_HARDENED ? "hardened" : "strict",
		.workspace = s->paths.workspace,
		.bundle = s->paths.workspace,
		.data_dir = s->paths.workspace,
		.protect = held.protect,
		.protect_count = held.protect_count,
		.hide = held.hide,
		.hide_count = held.hide_count,
		.allow_root_jail = call_has(c, "allow-root-jail")};
	json_t *policy = confine_policy(&confine, state);
	json_t *write = json_object_get(policy, "write");
	json_array_remove(write, json_array_size(write) - 1);
	json_object_del(policy, "bundle");
	const char *network = call_value(c, "network");
	json_object_set_new(policy, "network", json_string(network ? network : "none"));
	json_object_set_new(policy, "argv", command(c));
	json_object_set_new(policy, "env", environment());
	return policy;
}

/* --- what could be seen ----------------------------------------------------------------------- */

/* Asks a real jail: what is printed is what the kernel has mounted there. */
static int explain(json_t *policy, struct err *e)
{
	json_auto_t *status = NULL;
	AUTO_FD int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	AUTO_FD int seen = memfd_create("mounts", MFD_CLOEXEC);
	if (nothing < 0 || seen < 0)
		return err_errno(e, "cannot make a memory file");
	json_object_set_new(policy, "argv", json_pack("[s,s]", "/bin/cat", "/proc/self/mountinfo"));
	int stdio[] = {nothing, seen, STDERR_FILENO};
	int code = jail_call(policy, stdio, &status, e);
	AUTO_BUF text;
	buf_init(&text, MOUNTS_BYTES_MAX);
	if (code || lseek(seen, 0, SEEK_SET) < 0 || io_read_all(seen, &text, "the mounts", e))
		return code < 0 ? -1 : err_set(e, "the jail cannot be looked at");
	AUTO_BUF title, layers, shown;
	buf_init(&title, MOUNTS_BYTES_MAX);
	text_clean(&title, text_of(policy, "cwd"), PATH_MAX);
	buf_init(&layers, MOUNTS_BYTES_MAX);
	buf_init(&shown, 4 * MOUNTS_BYTES_MAX);
	buf_adds(&layers, "in force: ");
	layers_text(&layers, json_object_get(status, "layers"), 2);
	printf("%s in %s\n\n", text_of(policy, "profile"), title.data);
	if (!strcmp(text_of(policy, "profile"), "strict") && text.len)
		printf("%s", mounts_text(&shown, text.data) ? "" : shown.data);
	else
		printf("the host's own tree; Landlock lets through: the workspace, the system's "
		       "directories, and what is granted\n");
	printf("\n%s", layers.data);
	return 0;
}

/* --- the verb --------------------------------------------------------------------------------- */

static int run_command(const struct setup *s, json_t *policy, struct err *e)
{
	static const int stdio[] = {0, 1, 2};
	json_auto_t *status = NULL;
	int code = jail_call(policy, stdio, &status, e);
	/* What is wrong with the policy itself is wrong in either profile. */
	if (code < 0 || ending_of(status, NULL) != ENDING_UNMADE ||
		s->config->sandbox.profile != PROFILE_AUTO)
		return code;
	text_complain("trying the hardened profile; \"agent6 check sandbox\" says what that means");
	json_object_set_new(policy, "profile", json_string("hardened"));
	json_decref(status);
	status = NULL;
	return jail_call(policy, stdio, &status, e);
}

static int run_jail(const struct call *c, struct setup *s, struct state *state, struct err *e)
{
	long secs = 0, range[] = {1, 366l * 24 * 3600};
	if (!call_has(c, "explain") && !c->argument_count)
		return err_set(e, "a command is missing: agent6 jail -- CMD [ARG...]");
	if (call_value(c, "timeout") && call_int(c, "timeout", range, &secs, e))
		return -1;
	state->timeout_secs = secs ? secs : 24l * 3600;
	state->tool.workspace = call_has(c, "read-only") ? WORKSPACE_READ : WORKSPACE_WRITE;
	json_auto_t *policy = make_policy(c, s, state);
	return call_has(c, "explain") ? explain(policy, e) : run_command(s, policy, e);
}

static int run(const struct call *c)
{
	struct setup setup;
	struct err e = ERR_NONE;
	const char *reads[GRANTS_MAX], *writes[GRANTS_MAX];
	struct state state = {.name = "jail", .kind = KIND_TOOL};
	if (setup_open(&setup, c))
		return EXIT_REFUSED;
	int code = -1;
	if (!read_grants(c, "read", reads, &state.tool.read_count, &e) &&
		!read_grants(c, "write", writes, &state.tool.write_count, &e)) {
		state.tool.reads = reads;
		state.tool.writes = writes;
		code = run_jail(c, &setup, &state, &e);
	}
	for (size_t i = 0; i < state.tool.read_count; i++)
		free((char *)(uintptr_t)reads[i]);
	for (size_t i = 0; i < state.tool.write_count; i++)
		free((char *)(uintptr_t)writes[i]);
	setup_done(&setup);
	return code < 0 ? fail(EXIT_REFUSED, &e) : code;
}

static const struct verb_option options[] = {
	{"network", "none|host", "the network it gets (none)", false},
	{"read", "PATH", "may also be read", true},
	{"write", "PATH", "may also be written", true},
	{"read-only", NULL, "the working directory may only be read", false},
	{"timeout", "SECS", "kill it after so long (a day)", false},
	{"explain", NULL, "run nothing; show what a command could see", false},
	{"config", "FILE", "configuration on top of the usual files", false},
	{"allow-root-jail", NULL, "let root's command be root where ids cannot be mapped", false},
	{NULL, NULL, NULL, false},
};

const struct verb verb_jail_run = {
	.path = "jail",
	.summary = "run a command in the jail of a tool state",
	.arguments = "[--] CMD [ARG...]",
	.min_arguments = 0,
	.max_arguments = -1,
	.acts = true,
	.details = "The working directory is the workspace; everything else follows your "
		   "configuration. The exit status is the command's, 128+N for signal N, 124 "
		   "when its time was over, 125 when the jail could not be set up (nothing ran), "
		   "126 or 127 when the command cannot be run.",
	.options = options,
	.run = run,
};
