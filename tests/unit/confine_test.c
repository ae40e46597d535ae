/* Tests why a machine is refused at its start, and what its jails must protect: on real
 * directories, since grants are compared by their real paths. */
#include "confine/confine.h"
#include "confine/grants.h"
#include "tests/kit/machine.h"
#include "tests/kit/tap.h"
#include "tests/kit/tree.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct arena kept_paths;
static const char *top, *ws;
static struct config config;
static struct fixture parsed;
static struct state tool, terminal = {.name = "end", .kind = KIND_TERMINAL};

/* A path below `top` that lives as long as the program; NULL for NULL. */
static const char *in(const char *path)
{
	AUTO_FREE char *text = NULL;
	if (path && asprintf(&text, "%s/%s", top, path) < 0)
		bail("out of memory");
	return path ? arena_copy(&kept_paths, text, strlen(text)) : NULL;
}

struct one {
	const char *items[2];
};

static struct config_list list(struct one *of, const char *path)
{
	*of = (struct one){{path, NULL}};
	return (struct config_list){of->items, path != NULL};
}

/* Nothing is configured, and one tool state reads the workspace. */
static struct confine fresh(const char *profile)
{
	config = (struct config){.state_dir = in("state")};
	config.budget.max_microusd = -1;
	config.sandbox.max_egress_bytes = -1;
	config.sandbox.limits =
		(struct config_limits){10, 10, 10, 10, 10, 10, 10, MEMORY_BOUND_ANY};
	tool = (struct state){.name = "tool",
		.kind = KIND_TOOL,
		.timeout_secs = 7,
		.tool = parsed.m->states[0].tool};
	return (struct confine){.config = &config, .profile = profile, .workspace = ws};
}

/* NULL: it may start. Valid until the next call. */
static const char *refusal(const struct confine *confine)
{
	static struct buf why;
	const struct state states[] = {tool, terminal};
	const struct machine m = {.name = "m", .states = states, .state_count = ARRAY_LEN(states)};
	buf_done(&why);
	buf_init(&why, 1 << 16);
	return confine_refusals(&m, confine, &why) ? why.data : NULL;
}

static void is_refused(const char *why, const char *want, const char *name, size_t row)
{
	ok(want ? why && strstr(why, want) : !why, "%s, row %zu", name, row);
	if (want ? !why || !strstr(why, want) : why != NULL)
		diag("got %s", why ? why : "nothing");
}

/* --- grants ----------------------------------------------------------------------------------- */

static void root(void)
{
	struct err e = ERR_NONE;
	if (geteuid()) {
		skip("only root is refused");
		return;
	}
	setenv("AGENT6_ALLOW_ROOT", "0", 1);
	is(confine_check_root(false, &e), -1, "root is refused, and so by a 0");
	is(confine_check_root(true, NULL), 0, "but for --allow-root,");
	setenv("AGENT6_ALLOW_ROOT", "1", 1);
	is(confine_check_root(false, NULL), 0, "or its variable");
}

static void own_places(void)
{
	static const struct {
		const char *path;
		bool write;
		const char *why;
	} rows[] = {{"", false, "which holds agent6's own state directory"},
		{"state", false, "which holds"}, {"to-state", false, "which holds"},
		{"state/data", true, "lies in agent6's own state directory"},
		{"state/data", false, NULL}, {"other", true, NULL}, {"other", false, NULL},
		{"missing", false, "no command runs without it"}};
	static const char *const states[] = {"state", "to-state"};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t k = 0; k < ARRAY_LEN(states); k++) {
			struct err e = ERR_NONE;
			int rc = confine_check_grant(
				"s", in(rows[i].path), rows[i].write, in(states[k]), &e);
			is_refused(rc ? e.text : NULL, rows[i].why, states[k], i);
		}
	struct err e = ERR_NONE;
	is(confine_check_grant("s", in("other"), false, in("other/new"), &e), -1,
		"one that is yet to be made counts, too");
}

static void configured_grants(void)
{
	static const struct {
		const char *read, *write;
		bool commands;
		const char *why;
	} rows[] = {{"missing", NULL, true, "sandbox.read: "}, {"missing", NULL, false, NULL},
		{NULL, "missing", true, NULL}, {"state", NULL, false, "sandbox.read grants"},
		{NULL, "data/more", true, "lies in agent6's own"}, {"data/more", NULL, true, NULL},
		{NULL, "state", true, "sandbox.write grants"}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct one read, write;
		struct confine c = fresh("strict");
		c.data_dir = in("data");
		config.sandbox.read = list(&read, in(rows[i].read));
		config.sandbox.write = list(&write, in(rows[i].write));
		if (!rows[i].commands)
			tool.kind = KIND_WAIT;
		is_refused(refusal(&c), rows[i].why, "what the operator grants", i);
	}
}

static void picked_grants(void)
{
	static const struct {
		const char *reads, *writes, *why;
	} rows[] = {{"r/x", NULL, NULL}, {"w/x", NULL, NULL}, {NULL, "w/x", NULL},
		{NULL, "r/x", "not inside sandbox.write"},
		{"other", NULL, "not inside sandbox.read or sandbox.write"},
		{NULL, "w/out", "state tool: writes "}, {"w/missing", NULL, "state tool: reads "}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct one read, write, reads, writes;
		struct confine c = fresh("strict");
		config.sandbox.read = list(&read, in("r"));
		config.sandbox.write = list(&write, in("w"));
		const struct config_list r = list(&reads, in(rows[i].reads)),
					 w = list(&writes, in(rows[i].writes));
		tool.tool.reads = r.items;
		tool.tool.read_count = r.count;
		tool.tool.writes = w.items;
		tool.tool.write_count = w.count;
		is_refused(refusal(&c), rows[i].why, "what a state picks", i);
	}
}

static void secrets(void)
{
	static const char *const machines[] = {"m", NULL};
	static const struct config_secret known[] = {{"key", "CONFINE_TEST_KEY", {machines, 1}}};
	static const struct {
		const char *machine, *name, *value, *why;
	} rows[] = {{"m", "key", "12345678", NULL}, {"m", "key", "1234567", "shorter than 8"},
		{"m", "key", NULL, "is not set"}, {"n", "key", "12345678", "add n to"},
		{"m", "other", "12345678", "grant it with"}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err e = ERR_NONE;
		fresh("strict");
		config.sandbox.secrets = known;
		config.sandbox.secret_count = ARRAY_LEN(known);
		unsetenv("CONFINE_TEST_KEY");
		if (rows[i].value)
			setenv("CONFINE_TEST_KEY", rows[i].value, 1);
		int rc = grants_check(&config, rows[i].machine, rows[i].name, &e);
		is_refused(rc ? e.text : NULL, rows[i].why, "a secret", i);
	}
}

/* --- what is kept from commands --------------------------------------------------------------- */

static void hidden(void)
{
	static const struct {
		const char *profile, *hide, *why;
		bool commands;
	} rows[] = {{"hardened", "ws/a", "cannot keep from them", true},
		{"strict", "ws/a", NULL, true}, {"hardened", "ws/a", NULL, false},
		{"hardened", "r/x", "cannot keep from them", true},
		{"hardened", "w/x", "cannot keep from them", true},
		{"hardened", "other", NULL, true},
		{"hardened", "/usr/bin", "cannot keep from them", true}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct one read, write, hide;
		char real[PATH_MAX];
		struct confine c = fresh(rows[i].profile);
		config.sandbox.read = list(&read, in("r"));
		config.sandbox.write = list(&write, in("w"));
		if (!realpath(*rows[i].hide == '/' ? rows[i].hide : in(rows[i].hide), real))
			bail("%s is not there", rows[i].hide);
		config.sandbox.hide = list(&hide, real);
		if (!rows[i].commands)
			tool.kind = KIND_WAIT;
		is_refused(refusal(&c), rows[i].why, "what is hidden", i);
	}
}

static bool holds(const struct path_list *paths, const char *path)
{
	for (size_t i = 0; i < paths->count; i++)
		if (!strcmp(paths->items[i], path))
			return true;
	return false;
}

static void lists(void)
{
	struct one protect, hide, writes;
	struct confine c = fresh("strict");
	struct reserved_path key = {in("ws/key"), RESERVED_SECRET, NULL},
			     far = {in("r/x"), RESERVED_PROGRAM, &key},
			     near = {in("w/x"), RESERVED_PROGRAM, &far},
			     own = {in("ws/bin"), RESERVED_PROGRAM, &near},
			     setting = {in("ws/conf"), RESERVED_SETTING, &own},
			     bundle = {in("ws/bundle"), RESERVED_BUNDLE, &setting};
	config.sandbox.protect = list(&protect, in("ws/link"));
	config.sandbox.hide = list(&hide, in("ws/veil"));
	c.reserved = &bundle;
	c.origin = ws;
	c.clone = "/clone";
	const struct config_list w = list(&writes, in("w"));
	tool.tool.writes = w.items;
	tool.tool.write_count = w.count;
	AUTO_PATH_LIST kept = confine_protected(&c, &tool.tool);
	AUTO_PATH_LIST less = confine_protected(&c, NULL);
	AUTO_PATH_LIST veiled = confine_hidden(&c);
	static const char *const protected[] = {
		"ws/.git", "ws/bin", "w/x", "ws/conf", "ws/bundle", "ws/link", "ws/a"};
	static const char *const cloned[] = {
		"/clone/conf", "/clone/bundle", "/clone/link", "/clone/a"};
	for (size_t i = 0; i < ARRAY_LEN(protected); i++)
		ok(holds(&kept, in(protected[i])), "%s is protected", protected[i]);
	for (size_t i = 0; i < ARRAY_LEN(cloned); i++)
		ok(holds(&kept, cloned[i]), "%s is, too", cloned[i]);
	is(kept.count, ARRAY_LEN(protected) + ARRAY_LEN(cloned), "and nothing else");
	ok(!holds(&less, in("w/x")), "but what is not picked needs no protection");
	static const char *const unseen[] = {"ws/key", "ws/veil"};
	for (size_t i = 0; i < ARRAY_LEN(unseen); i++)
		ok(holds(&veiled, in(unseen[i])), "%s is hidden", unseen[i]);
	ok(holds(&veiled, "/clone/key") && holds(&veiled, "/clone/veil"), "in the clone as well");
	is(veiled.count, 4, "and nothing else");
	config.sandbox.protect = list(&protect, in("other"));
	AUTO_PATH_LIST outside = confine_protected(&c, NULL);
	ok(holds(&outside, in("other")), "what lies elsewhere");
	is(outside.count, less.count - 3, "has nothing in the clone");
}

/* No state may pick a part of what is protected. */
static void parts(void)
{
	static const struct {
		const char *writes, *why;
	} rows[] = {{"ws/.git/x", "which no command may write"}, {"ws/.git", NULL},
		{"origin/.git/x", "which no command may write"},
		{"ws/conf/x", "which no command may write"},
		{"ws/bundle/x", "which no command may write"}, {"ws/bin/x", NULL}, {"w/x", NULL},
		{"ws/a/x", "which no command may write"}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct one protect, writes;
		struct err e = ERR_NONE;
		struct confine c = fresh("strict");
		struct reserved_path own = {in("ws/bin"), RESERVED_PROGRAM, NULL},
				     setting = {in("ws/conf"), RESERVED_SETTING, &own},
				     bundle = {in("ws/bundle"), RESERVED_BUNDLE, &setting};
		config.sandbox.protect = list(&protect, in("ws/link"));
		c.reserved = &bundle;
		c.origin = in("origin");
		c.clone = "/clone";
		const struct config_list w = list(&writes, in(rows[i].writes));
		tool.tool.writes = w.items;
		tool.tool.write_count = w.count;
		int rc = confine_check_reserved(&c, &tool, &e);
		is_refused(rc ? e.text : NULL, rows[i].why, "a part of what is protected", i);
	}
}

/* Landlock takes no part out of what it has granted. */
static void hardened(void)
{
	static const struct {
		const char *profile;
		enum workspace_access access;
		const char *path, *writes, *why;
		enum reserved_as as;
	} rows[] = {{"hardened", WORKSPACE_WRITE, "ws/bin", NULL, "lies where commands may write",
			    RESERVED_PROGRAM},
		{"hardened", WORKSPACE_WRITE, "ws/conf", NULL, "lies where commands may write",
			RESERVED_SETTING},
		{"hardened", WORKSPACE_WRITE, "ws/bundle", NULL, NULL, RESERVED_BUNDLE},
		{"hardened", WORKSPACE_READ, "ws/bin", NULL, NULL, RESERVED_PROGRAM},
		{"hardened", WORKSPACE_READ, "w/x", "w", "lies where commands may write",
			RESERVED_PROGRAM},
		{"hardened", WORKSPACE_WRITE, "r/x", "w", NULL, RESERVED_PROGRAM},
		{"strict", WORKSPACE_WRITE, "ws/bin", NULL, NULL, RESERVED_PROGRAM}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct one writes;
		struct err e = ERR_NONE;
		struct confine c = fresh(rows[i].profile);
		struct reserved_path path = {in(rows[i].path), rows[i].as, NULL};
		const struct config_list w = list(&writes, in(rows[i].writes));
		c.reserved = &path;
		tool.tool.workspace = rows[i].access;
		tool.tool.writes = w.items;
		tool.tool.write_count = w.count;
		int rc = confine_check_reserved(&c, &tool, &e);
		is_refused(rc ? e.text : NULL, rows[i].why, "hardened", i);
	}
}

/* A path that a command could make, or turn, is no wall. */
static void found(void)
{
	static const struct {
		enum workspace_access access;
		const char *protect, *hide, *writes, *why;
	} rows[] = {{WORKSPACE_WRITE, "ws/a", "ws/veil", NULL, NULL},
		{WORKSPACE_WRITE, "ws/none", NULL, NULL, "a command could make it"},
		{WORKSPACE_WRITE, "ws/a/none/deep", NULL, NULL, "a command could make it"},
		{WORKSPACE_READ, "ws/none", NULL, NULL, NULL},
		{WORKSPACE_READ, "w/none", NULL, "w", "a command could make it"},
		{WORKSPACE_WRITE, "r/none", NULL, "w", NULL},
		{WORKSPACE_WRITE, "ws/link", NULL, NULL, "leads through a link"},
		{WORKSPACE_READ, "ws/link", NULL, NULL, NULL},
		{WORKSPACE_READ, NULL, "ws/link", NULL, "leads through a link"},
		{WORKSPACE_NONE, NULL, "ws/link", NULL, NULL},
		{WORKSPACE_READ, NULL, "ws/dead", NULL, "is a link that leads nowhere"},
		{WORKSPACE_READ, NULL, "ws/loop", NULL, "is a link that leads nowhere"},
		{WORKSPACE_READ, NULL, "ws/none", NULL, NULL},
		{WORKSPACE_READ, NULL, "ws", NULL, "is the whole workspace"},
		{WORKSPACE_READ, NULL, "to-state", NULL, NULL}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct one protect, hide, writes, granted;
		struct confine c = fresh("strict");
		const struct config_list w = list(&writes, in(rows[i].writes));
		config.sandbox.write = list(&granted, in("w"));
		config.sandbox.protect = list(&protect, in(rows[i].protect));
		config.sandbox.hide = list(&hide, in(rows[i].hide));
		tool.tool.workspace = rows[i].access;
		tool.tool.writes = w.items;
		tool.tool.write_count = w.count;
		is_refused(refusal(&c), rows[i].why, "what is found", i);
	}
}

/* In a clone it is the commit that is refused. */
static void found_in_clone(void)
{
	struct one protect;
	struct confine c = fresh("strict");
	config.sandbox.protect = list(&protect, in("ws/none"));
	tool.tool.workspace = WORKSPACE_WRITE;
	const struct state states[] = {
		tool, {.name = "coder", .kind = KIND_AGENT, .agent = {.mode = MODE_RUN}}};
	for (size_t count = 1; count <= 2; count++) {
		const struct machine m = {.name = "m", .states = states, .state_count = count};
		AUTO_BUF why;
		buf_init(&why, 1 << 16);
		confine_refusals(&m, &c, &why);
		buf_adds(&why, "");
		is(strstr(why.data, "a command could make it") != NULL, count == 1,
			"a path that is not there, and %zu states", count);
	}
}

/* --- policies --------------------------------------------------------------------------------- */

static void policies(void)
{
	struct confine c = fresh("strict");
	c.objects = "/objects";
	c.data_dir = in("data");
	tool.tool.memory_mb = (struct opt_int){true, 5};
	tool.tool.cpu_secs = (struct opt_int){true, 50};
	AUTO_JAIL_POLICY some = confine_policy(&c, &tool);
	ok(holds(&some.read, "/objects"), "a clone's state reads its objects");
	is(some.memory_mb, 5, "a state may go lower");
	is(some.cpu_secs, 10, "and not higher");
	AUTO_JAIL_POLICY command = confine_command_policy(&c);
	is(command.write.count, 0, "a command has no data");
	tool.tool.workspace = WORKSPACE_NONE;
	AUTO_JAIL_POLICY none = confine_policy(&c, &tool);
	ok(!holds(&none.read, "/objects"), "without the clone not those either");
	is_str(none.cwd, c.data_dir, "and begins elsewhere");
	setenv("TERM", "", 1);
	setenv("TZ", "UTC", 1);
	json_auto_t *env = confine_environment();
	ok(!json_object_get(env, "TERM"), "an empty variable is none");
	is_str(json_string_value(json_object_get(env, "TZ")), "UTC", "another is passed on");
}

static void channels(void)
{
	struct confine c = fresh("strict");
	const struct config_provider one = {.name = "one", .endpoint = "a:1"},
				     two = {.name = "two", .endpoint = "b:1"};
	const struct config_provider *const asked[] = {&one, NULL, &two, &one};
	struct agent_order order;
	if (confine_agent(&c, asked, ARRAY_LEN(asked), "/state", &order, NULL))
		bail("there is no order");
	is(order.channel_count, 2, "a provider has one channel");
	agent_order_done(&order);
}

/* --- agents ----------------------------------------------------------------------------------- */

static void agents(void)
{
	static const struct config_price price = {"dear", 1, 1, 1, 1};
	static const struct {
		const char *model, *reviewer;
		bool state_usd, machine_usd, fallback;
		int64_t tokens;
		const char *why;
	} rows[] = {{"dear", NULL, true, true, true, 0, NULL},
		{"free", NULL, false, false, false, 0, NULL},
		{"free", NULL, true, false, false, 0, "so max_usd cannot be enforced"},
		{"free", NULL, false, true, false, 0, "so the machine's budget.max_usd cannot"},
		{"free", NULL, false, false, true, 0, "refuses to run unmetered"},
		{"free", NULL, false, false, true, 9, NULL},
		{"dear", "free", true, false, false, 0, "model free has no price"},
		{"dear", "dear", true, true, false, 0, NULL}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct confine c = fresh("strict");
		const struct config_provider near = {.name = "p",
			.base_url = "",
			.host = "localhost",
			.endpoint = "localhost:1",
			.loopback = true,
			.prices = &price,
			.price_count = 1};
		config.providers = &near;
		config.provider_count = 1;
		config.sandbox.agent_network = AGENT_NETWORK_LOCAL;
		config.agent.summarise = SUMMARISE_MODEL;
		config.models.worker = (struct config_role){"p", rows[i].model};
		if (rows[i].reviewer)
			config.models.reviewer = (struct config_role){"p", rows[i].reviewer};
		else
			config.agent.summarise = SUMMARISE_DIGEST;
		tool = (struct state){.name = "agent", .kind = KIND_AGENT};
		tool.agent.max_usd = (struct opt_float){rows[i].state_usd, 1};
		tool.agent.max_tokens_fallback = (struct opt_int){rows[i].fallback, rows[i].tokens};
		const struct state states[] = {tool, terminal};
		const struct machine m = {.name = "m",
			.states = states,
			.state_count = ARRAY_LEN(states),
			.max_usd = {rows[i].machine_usd, 1}};
		AUTO_BUF why;
		buf_init(&why, 1 << 16);
		confine_refusals(&m, &c, &why);
		is_refused(why.len ? why.data : NULL, rows[i].why, "what a model costs", i);
	}
}

int main(void)
{
	static const char *const files[] = {"state/data/x", "other/x", "r/x/x", "w/x/x",
		"data/more/x", "ws/a/x", "ws/bin/x", "ws/conf/x", "ws/bundle/x", "ws/.git/x",
		"ws/key", "ws/veil", "origin/.git/x"};
	char real[PATH_MAX];
	if (!realpath(tap_scratch(), real))
		bail("no scratch directory");
	arena_init(&kept_paths);
	top = real;
	ws = in("ws");
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		tree_file(top, files[i], "x", 0644);
	tree_link(top, "to-state", "state");
	tree_link(top, "w/out", "../other");
	tree_link(top, "ws/link", "a");
	tree_link(top, "ws/dead", "nowhere");
	tree_link(top, "ws/loop", "loop");
	fixture_init(&parsed,
		"machine: m\nversion: 1\ninitial: t\nbudget: {max_transitions: 9}\nstates:\n"
		"  t: {kind: tool, command: [make], timeout_secs: 7, workspace: read,\n"
		"    \"on\": {ok: e, nonzero: e, timeout: e}}\n"
		"  e: {kind: terminal, status: ok, reason: r}\n");
	if (!parsed.m)
		bail("%s", parsed.findings.count ? parsed.findings.items[0].message : "no machine");
	root();
	own_places();
	configured_grants();
	picked_grants();
	secrets();
	hidden();
	lists();
	parts();
	hardened();
	found();
	found_in_clone();
	policies();
	channels();
	agents();
	fixture_done(&parsed);
	arena_done(&kept_paths);
	return tap_done();
}
