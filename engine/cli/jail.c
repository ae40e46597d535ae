#include "base/io.h"
#include "base/json.h"
#include "cli/verb/jail_call.h"
#include "cli/verb/setup.h"
#include "config/operator_file.h"
#include "confine/confine.h"
#include "confine/reserved.h"
#include "git/elsewhere.h"
#include "launch/ending.h"
#include "launch/planted.h"
#include "report/layers.h"
#include "report/mounts.h"
#include "report/text.h"
#include "run/profile.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { MOUNTS_BYTES_MAX = 1024 * 1024 };

struct jailing {
	const struct call *call;
	struct setup setup;
	struct state state;
	struct reserved reserved;
	struct confine confine;
	struct git_elsewhere elsewhere;
	char aside[PATH_MAX];
	struct jail_order order; /* the command; owned */
};

/* --- the policy ------------------------------------------------------------------------------- */

/* Reads grants as real paths, because the jail accepts no others; heap strings. */
static int read_grants(const struct call *call, const char *option, const char *paths[],
	size_t *count, struct err *e)
{
	for (const char *given; (given = call_value_at(call, option, *count)); (*count)++) {
		paths[*count] = realpath(given, NULL);
		if (!paths[*count])
			return err_errno(e, "--%s %s", option, given);
	}
	return 0;
}

static json_t *command(const struct call *call)
{
	json_t *argv = json_array();
	for (int i = 0; i < call->argument_count; i++)
		json_array_append_new(argv, json_string(call->arguments[i]));
	return argv;
}

static struct jail_order order_of(const struct jailing *jailing, json_t *argv)
{
	return (struct jail_order){.argv = argv,
		.env = confine_environment(),
		.timeout_secs = jailing->state.timeout_secs};
}

/* Returns the policy of a tool state with these grants. */
static struct jail_policy make_policy(const struct jailing *jailing)
{
	struct jail_policy policy = confine_policy(&jailing->confine, &jailing->state);
	const char *network = call_value(jailing->call, "network");
	policy.network = network && !strcmp(network, "host") ? JAIL_HOST : JAIL_OFFLINE;
	policy.proxy_fd = 0;
	return policy;
}

/* Checks the grants as a run does. */
static int check_grants(const struct jailing *jailing, struct err *e)
{
	const struct tool_state *t = &jailing->state.tool;
	const struct config_list *shown = &jailing->setup.config->sandbox.read;
	for (size_t i = 0; i < shown->count; i++)
		if (confine_check_grant("sandbox.read", shown->items[i], false,
			    jailing->setup.statedir.root, e))
			return -1;
	for (size_t i = 0; i < t->read_count; i++)
		if (confine_check_grant(
			    "--read", t->reads[i], false, jailing->setup.statedir.root, e))
			return -1;
	for (size_t i = 0; i < t->write_count; i++)
		if (confine_check_grant(
			    "--write", t->writes[i], true, jailing->setup.statedir.root, e))
			return -1;
	return 0;
}

static int fix_policy(struct jailing *jailing, struct err *e)
{
	struct setup *s = &jailing->setup;
	const struct tool_state *t = &jailing->state.tool;
	jailing->reserved = (struct reserved){.arena = &s->arena,
		.config = s->config,
		.workspace = s->paths.workspace,
		.only_read = !confine_writes(&jailing->state),
		.writes = {t->writes, t->write_count}};
	if (confine_check_root(call_has(jailing->call, "allow-root"), e) ||
		check_grants(jailing, e) || reserved_init(&jailing->reserved, &s->paths, e))
		return -1;
	git_elsewhere_find(s->paths.workspace, &s->arena, &jailing->elsewhere);
	snprintf(jailing->aside, sizeof(jailing->aside), "%s/aside", s->statedir.repo);
	jailing->confine = (struct confine){.config = s->config,
		.profile = s->config->sandbox.profile == PROFILE_HARDENED ? "hardened" : "strict",
		.workspace = s->paths.workspace,
		.reserved = jailing->reserved.paths,
		.elsewhere = {jailing->elsewhere.paths, jailing->elsewhere.count},
		.aside = jailing->aside,
		.allow_root_jail = call_has(jailing->call, "allow-root-jail")};
	return confine_check_reserved(&jailing->confine, &jailing->state, e) ||
			       confine_check_found(&jailing->confine, &jailing->state, e)
		       ? -1
		       : 0;
}

/* --- what could be seen ----------------------------------------------------------------------- */

/* Prints the mounts of a real jail, as its kernel reports them. */
static int explain(struct jailing *jailing, const struct jail_policy *policy, struct err *e)
{
	AUTO_JAIL_STATUS status = {.given = false};
	AUTO_FD int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	AUTO_FD int seen = memfd_create("mounts", MFD_CLOEXEC);
	if (nothing < 0 || seen < 0)
		return err_errno(e, "cannot make a memory file");
	jail_order_done(&jailing->order);
	jailing->order = order_of(jailing, json_pack("[s,s]", "/bin/cat", "/proc/self/mountinfo"));
	int stdio[] = {nothing, seen, STDERR_FILENO};
	int code = jail_call(policy, &jailing->order, stdio, NULL, &status, e);
	AUTO_BUF text = BUF_INIT(MOUNTS_BYTES_MAX);
	if (code || lseek(seen, 0, SEEK_SET) < 0 || io_read_all(seen, &text, "the mounts", e))
		return code < 0 ? -1 : err_set(e, "the jail cannot be looked at");
	AUTO_BUF title = BUF_INIT(MOUNTS_BYTES_MAX), layers = BUF_INIT(MOUNTS_BYTES_MAX),
		 shown = BUF_INIT(4 * MOUNTS_BYTES_MAX);
	text_clean(&title, policy->cwd, PATH_MAX);
	buf_adds(&layers, "in force: ");
	layers_text(&layers, status.layers, 2);
	printf("%s in %s\n\n", jailing->confine.profile, title.data);
	if (policy->profile == JAIL_STRICT && text.len)
		printf("%s", mounts_text(&shown, text.data) ? "" : shown.data);
	else
		text_print("the host's own tree; Landlock lets through: the workspace, the "
			   "system's directories, and what is granted",
			2);
	printf("\n%s", layers.data);
	if (jailing->elsewhere.around)
		printf("\nof the repository %s nothing else is shown; sandbox.read: [%s/.git] "
		       "grants its history, which git finds with "
		       "GIT_DISCOVERY_ACROSS_FILESYSTEM=1\n",
			jailing->elsewhere.around, jailing->elsewhere.around);
	return 0;
}

/* --- the verb --------------------------------------------------------------------------------- */

/* Reports whether another strict jail works: the first one may have failed because of a command's
 * doing. */
static bool strict_works(const struct jailing *jailing)
{
	AUTO_JAIL_STATUS status = {.given = false};
	AUTO_JAIL_POLICY policy = profile_probe(JAIL_STRICT, jailing->confine.allow_root_jail);
	struct jail_order order = profile_order(NULL);
	AUTO_FD int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	int stdio[] = {nothing, nothing, nothing};
	bool works = nothing < 0 || !jail_call(&policy, &order, stdio, NULL, &status, NULL);
	jail_order_done(&order);
	return works;
}

/* Tells about planted repositories. The exit status stays the command's own, unless it would mean
 * success. */
static int tell_planted(const struct jail_status *status, int code)
{
	AUTO_BUF reason = BUF_INIT(MOUNTS_BYTES_MAX);
	if (!planted_reason(status, PLANTED_IN_TMP, &reason))
		return code;
	text_complain("%s", reason.failed ? "the command made a repository" : reason.data);
	return code ? code : EXIT_FAILED;
}

/* Replaces terminals for a command that has its own: if it could read this one, it could make it
 * that of its session. It gets no input, and write-only descriptors, which stay open as long as
 * this program. */
static int keep_terminals(int stdio[3], struct err *e)
{
	static const char *const paths[] = {"/dev/null", "/proc/self/fd/1", "/proc/self/fd/2"};
	for (int fd = 0; fd < 3; fd++) {
		if (!isatty(stdio[fd]))
			continue;
		stdio[fd] = open(paths[fd], (fd ? O_WRONLY : O_RDONLY) | O_NOCTTY | O_CLOEXEC);
		if (stdio[fd] < 0)
			return err_errno(e, "cannot open this terminal for writing only");
		if (!fd)
			text_complain("--pty: this terminal stays outside; the command reads "
				      "/dev/null");
	}
	return 0;
}

static int run_in_jail(
	struct jailing *jailing, struct jail_policy *policy, struct relay *relay, struct err *e)
{
	AUTO_JAIL_STATUS status = {.given = false};
	char limit[ENDING_LIMIT_BYTES];
	int code = jail_call(policy, &jailing->order, relay->command, relay, &status, e);
	if (code > 0 && ending_limit(&status, limit, sizeof(limit)))
		text_complain("the command ended with status %d: %s", code, limit);
	if (code > 128 && !status.given)
		text_complain("launcher lost: agent6-jail was killed by signal %d; how the command "
			      "ended is not known",
			code - 128);
	if (code >= 0)
		code = tell_planted(&status, code);
	/* A faulty policy is faulty in either profile. */
	if (code < 0 || (code > 128 && !status.given) ||
		ending_of(&status, NULL) != ENDING_UNMADE ||
		jailing->setup.config->sandbox.profile != PROFILE_AUTO || strict_works(jailing))
		return code;
	text_complain("trying the hardened profile; \"agent6 check sandbox\" says what that means");
	jailing->confine.profile = "hardened";
	if (confine_check_reserved(&jailing->confine, &jailing->state, e))
		return -1;
	policy->profile = JAIL_HARDENED;
	jail_status_done(&status);
	code = jail_call(policy, &jailing->order, relay->command, relay, &status, e);
	return code < 0 ? code : tell_planted(&status, code);
}

/* Limits the command's output, which is a file of the jail's. The limit on file sizes holds for it,
 * and too much output is an error. */
static void limit_output(const struct jail_policy *policy)
{
	struct rlimit limit;
	if (policy->file_mb <= 0 || getrlimit(RLIMIT_FSIZE, &limit))
		return;
	rlim_t bytes = (rlim_t)policy->file_mb * 1024 * 1024;
	limit.rlim_cur = bytes < limit.rlim_cur ? bytes : limit.rlim_cur;
	setrlimit(RLIMIT_FSIZE, &limit);
}

static int run_command(struct jailing *jailing, struct jail_policy *policy, struct err *e)
{
	static struct relay relay; /* too large for the stack */
	limit_output(policy);
	int failed = relay_open(&relay, e) ||
		     (jailing->state.tool.pty && keep_terminals(relay.command, e));
	int code = failed ? -1 : run_in_jail(jailing, policy, &relay, e);
	relay_done(&relay);
	if (relay.failed)
		text_complain(
			"%s of the command was cut short: %s", relay.what, strerror(relay.failed));
	return code || !relay.failed ? code : EXIT_FAILED;
}

static int run_jail(struct jailing *jailing, struct err *e)
{
	const struct call *c = jailing->call;
	long secs = 0, range[] = {1, 366l * 24 * 3600};
	if (!call_has(c, "explain") && !c->argument_count)
		return err_set(e, "a command is missing: agent6 jail -- CMD [ARG...]");
	if (call_value(c, "timeout") && call_int(c, "timeout", range, &secs, e))
		return -1;
	jailing->state.timeout_secs = secs ? secs : 24l * 3600;
	jailing->state.tool.workspace = call_has(c, "read-only") ? WORKSPACE_READ : WORKSPACE_WRITE;
	jailing->state.tool.pty = call_has(c, "pty");
	if (fix_policy(jailing, e))
		return -1;
	AUTO_JAIL_POLICY policy = make_policy(jailing);
	jailing->order = order_of(jailing, command(c));
	if (!call_has(c, "explain") && operator_file_dir(jailing->setup.statedir.repo, e))
		return -1;
	return call_has(c, "explain") ? explain(jailing, &policy, e)
				      : run_command(jailing, &policy, e);
}

static int run(const struct call *call)
{
	struct jailing g = {.call = call, .state = {.name = "jail", .kind = KIND_TOOL}};
	struct tool_state *t = &g.state.tool;
	struct err e = ERR_NONE;
	const char *reads[CALL_OPTIONS_MAX], *writes[CALL_OPTIONS_MAX];
	if (setup_open(&g.setup, call))
		return EXIT_REFUSED;
	setup_tell_link(&g.setup);
	t->reads = reads;
	t->writes = writes;
	int code = -1;
	if (!read_grants(call, "read", reads, &t->read_count, &e) &&
		!read_grants(call, "write", writes, &t->write_count, &e))
		code = run_jail(&g, &e);
	jail_order_done(&g.order);
	for (size_t i = 0; i < t->read_count; i++)
		free((char *)(uintptr_t)reads[i]);
	for (size_t i = 0; i < t->write_count; i++)
		free((char *)(uintptr_t)writes[i]);
	setup_done(&g.setup);
	return code < 0 ? verb_fail(EXIT_REFUSED, &e) : code;
}

static const struct verb_option options[] = {
	{"network", "none|host", "the network it gets (none)", false},
	{"read", "PATH", "may also be read", true},
	{"write", "PATH", "may also be written", true},
	{"read-only", NULL, "the working directory may only be read", false},
	{"pty", NULL, "give it pseudo-terminals of its own, and none of this host's", false},
	{"timeout", "SECS", "kill it after so long (a day)", false},
	{"explain", NULL, "run nothing; show what a command could see", false},
	{"config", "FILE", "configuration on top of the usual files", false},
	{"allow-root", NULL, "run although this is root (AGENT6_ALLOW_ROOT=1)", false},
	{"allow-root-jail", NULL, "let root's command be root where ids cannot be mapped", false},
	{NULL, NULL, NULL, false},
};

const struct verb verb_jail = {
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
