/* Configuration: defaults, layers, what is refused, what is shown. */
#include "tests/unit/config_kit.h"
#include <grp.h>
#include <pwd.h>

/* A value that YAML refuses is of no kind: nothing is decoded from its file. */
static void test_unreadable(void)
{
	expect_global("sandbox: {profile: *a}", "1:20 yaml-anchor");
	expect_global("sandbox: {tool_network: 99999999999999999999}", "1:25 integer-range");
	expect_global(
		"sandbox: {agent_network: .nan, read: *a}", "1:26 not-finite\n1:38 yaml-anchor");
	expect_global("sandbox: {secrets: {tok: {env: *a, machines: [*b]}}}",
		"1:32 yaml-anchor\n1:47 yaml-anchor");
	expect_global("providers: {a: {api_format: !x x, base_url: 'http://127.0.0.1'}}",
		"1:29 yaml-tag");
	expect_global("providers: {a: *a}", "1:16 yaml-anchor");
	expect_global("models: {worker: *a}", "1:18 yaml-anchor");
	unlinkat(scratch, "config/config.yaml", 0);
}

static void test_defaults(void)
{
	struct findings f;
	findings_init(&f);
	struct config_paths paths = places();
	struct config *c = config_load(&paths, &f);
	is(f.count, 0, "no files, no findings");
	is_str(c->state_dir, state_dir, "the state directory");
	is(c->agent.max_iterations, 50, "agent.max_iterations");
	is(c->agent.max_iterations_run, 200, "agent.max_iterations_run");
	is(c->agent.max_output_tokens, 8192, "agent.max_output_tokens");
	is(c->agent.context_tokens, 150000, "agent.context_tokens");
	is(c->agent.max_calls_per_turn, 10, "agent.max_calls_per_turn");
	is(c->agent.summarise, SUMMARISE_DIGEST, "agent.summarise");
	is(c->budget.max_microusd, CONFIG_NONE, "budget.max_usd");
	is(c->sandbox.profile, PROFILE_AUTO, "sandbox.profile");
	is(c->sandbox.agent_network, AGENT_NETWORK_PROVIDERS, "sandbox.agent_network");
	is(c->sandbox.tool_network, TOOL_NETWORK_BLOCK, "sandbox.tool_network");
	is(c->sandbox.run_commands, RUN_COMMANDS_ASK, "sandbox.run_commands");
	is(c->sandbox.max_egress_bytes, CONFIG_NONE, "sandbox.max_egress_bytes");
	is(c->sandbox.limits.memory_mb, 2048, "limits.memory_mb");
	is(c->sandbox.limits.cpu_secs, 300, "limits.cpu_secs");
	is(c->sandbox.limits.processes, 256, "limits.processes");
	is(c->sandbox.limits.open_files, 1024, "limits.open_files");
	is(c->sandbox.limits.file_mb, 1024, "limits.file_mb");
	is(c->sandbox.limits.tmp_mb, 512, "limits.tmp_mb");
	is(c->sandbox.limits.output_kb, 1024, "limits.output_kb");
	is(c->approval.mode, APPROVAL_CONFIRM, "approval.default");
	is(c->approval.timeout_secs, 300, "approval.timeout_secs");
	is(c->workflow.verify_command.count, 0, "workflow.verify_command");
	is(c->workflow.verify_timeout_secs, 600, "workflow.verify_timeout_secs");
	ok(!c->git.run_repo_hooks && !c->git.run_repo_filters, "git.run_repo_*");
	ok(!c->machine.require_signature, "machine.require_signature");
	is(c->machine.state_log_keep, 50, "machine.state_log_keep");
	is(c->audit.retain_days, 30, "audit.retain_days");
	is(c->provider_count, 0, "no provider");
	config_free(c);
	findings_done(&f);
}

static const char *const global_text =
	"providers:\n"
	"  near: {api_format: openai, base_url: 'http://LocalHost:8080/v1', prices: {m: {input: 1, "
	"output: 2}}}\n"
	"  far: {api_format: anthropic, base_url: 'https://api.anthropic.com', api_key_env: "
	"FAR_KEY}\n"
	"models: {worker: {provider: far, model: claude-sonnet-4-20250514}}\n"
	"agent: {max_iterations: 40}\n"
	"sandbox: {read: [/data], upstream_proxy: 'http://me:pa@ss@proxy:1/', limits: {memory_mb: "
	"100}, secrets: {tok: {env: TOK, machines: "
	"[a]}}}\n"
	"budget: {max_usd: 1.5}\n"
	"machine: {notify: {on_event: [/bin/true]}}\n";

static void test_layers(void)
{
	put("config/config.yaml", global_text);
	put("state/repo/config.toml", "[agent]\nmax_iterations = 30\ncontext_tokens = 9000\n"
				      "[sandbox]\nread = ['/other']\n");
	put("file.json", "{\"agent\": {\"max_iterations\": 20}, \"providers\": {\"near\": "
			 "{\"max_retries\": 0,"
			 " \"api_format\": \"openai\", \"base_url\": \"http://127.0.0.1:9\"}}}");
	struct findings f;
	findings_init(&f);
	struct config_paths paths = places();
	paths.file = file_path;
	struct config *c = config_load(&paths, &f);
	if (!is(f.count, 0, "no findings"))
		diag("%s", f.items[0].message);
	is(c->agent.max_iterations, 20, "--config wins");
	is(c->agent.context_tokens, 9000, "then the repository");
	is(c->sandbox.limits.memory_mb, 100, "then the global file");
	is(c->sandbox.limits.cpu_secs, 300, "then the default");
	is(c->sandbox.read.count, 1, "lists are replaced whole");
	is_str(c->sandbox.read.items[0], "/other", "by the higher layer's");
	is_str(c->sandbox.read.items[1], NULL, "and end in NULL");
	is(c->budget.max_microusd, 1500000, "money is an integer");
	is_str(c->machine.on_event.items[0], "/bin/true", "machine.notify.on_event");
	is(c->sandbox.secret_count, 1, "secrets");
	is_str(c->sandbox.secrets[0].env, "TOK", "a secret's variable");
	is_str(c->sandbox.secrets[0].machines.items[0], "a", "a secret's machine");
	is_str(c->models.worker.provider, "far", "the worker");
	is_str(c->models.planner.model, "claude-sonnet-4-20250514", "the planner falls back");
	const struct config_provider *near = config_provider(c, "near"),
				     *far = config_provider(c, "far");
	if (ok(near && far, "both providers")) {
		is(near->max_retries, 0, "merged key by key");
		is_str(near->endpoint, "127.0.0.1:9", "its endpoint");
		ok(near->loopback && !near->tls, "loopback, plain");
		is(near->idle_timeout_secs, 600, "loopback may think longer");
		is(near->auth, AUTH_BEARER, "auth by format");
		ok(config_price(near, "m") && config_price(near, "m")->cache_read == 1.0,
			"a price; cached tokens cost what others do");
		ok(!config_price(near, "claude-sonnet-4"), "a vendor's price is not everyone's");
		is_str(far->endpoint, "api.anthropic.com:443", "the other endpoint");
		is(far->idle_timeout_secs, 60, "its idle time-out");
		is(far->auth, AUTH_X_API_KEY, "its auth");
		is_str(far->api_version, "2023-06-01", "its version");
		ok(config_price(far, "claude-sonnet-4-20250514") != NULL,
			"a dated model is priced");
		ok(!config_price(far, "claude-sonnet-42"), "another model is not");
		ok(!config_price(far, "claude-opus-99") && !config_price(far, ""),
			"nor one that nobody has heard of");
		const struct config_price *haiku = config_price(far, "claude-haiku-5-5");
		ok(haiku && haiku->input == 0.5 && haiku->output == 2.5,
			"long prompts cost more: the higher price");
	}
	ok(!config_provider(c, NULL), "there is no single provider");
	config_free(c);
	findings_done(&f);
	unlinkat(scratch, "state/repo/config.toml", 0);
}

static void test_too_many_urls(void)
{
	AUTO_BUF text;
	buf_init(&text, 1 << 12);
	buf_adds(&text, "sandbox:\n  allow_urls:\n");
	for (int i = 0; i < ALLOW_URLS_MAX; i++)
		buf_addf(&text, "    - h%d.example\n", i);
	expect_global(text.data, "");
	buf_adds(&text, "    - one.too.many\n");
	expect_global(text.data, "34:7 config-url");
}

/* Every pair of the two settings; which ones contradict each other does not depend on a profile. */
static void test_networks(void)
{
	static const char *const agents[] = {"providers", "local", "open"};
	static const char *const tools[] = {"block", "only_explicit_states", "allow"};
	static const char *const profiles[] = {"auto", "strict", "hardened"};
	for (size_t i = 0; i < 27; i++) {
		char text[200];
		size_t agent = i / 3 % 3, tool = i % 3;
		snprintf(text, sizeof(text),
			"sandbox:\n  tool_network: %s\n  agent_network: %s\n  profile: %s\n",
			tools[tool], agents[agent], profiles[i / 9]);
		expect_global(text, tool == 2 && agent != 2 ? "2:17 config-network" : "");
	}
}

/* Checks the settings of an agent's connections, each error at its place. */
static void test_egress(void)
{
	static const char *const good[] = {"http://proxy:3128", "http://me:word@proxy:1/",
		"socks5://10.0.0.1:1080", "socks5h://[fd00::1]:65535/"};
	static const char *const bad[] = {"ftp://x:1", "https://proxy:443", "http://proxy",
		"http://proxy:0", "http://proxy:65536", "http://", "proxy:3128",
		"socks5h://me:word@p"};
	char text[200];
	for (size_t i = 0; i < ARRAY_LEN(good) + ARRAY_LEN(bad); i++) {
		bool fine = i < ARRAY_LEN(good);
		snprintf(text, sizeof(text), "sandbox:\n  upstream_proxy: '%s'\n",
			fine ? good[i] : bad[i - ARRAY_LEN(good)]);
		expect_global(text, fine ? "" : "2:19 config-url");
	}
	expect_global("sandbox: {upstream_proxy: ''}\n", "1:27 out-of-range");
	expect_global("sandbox: {upstream_proxy: 8080}\n", "1:27 wrong-type");
	expect_global("sandbox: {max_egress_bytes: 0}\n", "");
	expect_global("sandbox: {max_egress_bytes: 9223372036854775807}\n", "");
	expect_global("sandbox: {max_egress_bytes: -1}\n", "1:29 out-of-range");
	expect_global("sandbox:\n  max_egress_bytes: 1.5\n", "2:21 wrong-type");
	expect_global("sandbox: {max_egress_bytes: 1MB}\n", "1:29 wrong-type");
	expect_global("sandbox: {max_egress_bytes: null}\n", "");
	expect_global("sandbox: {max_egress_bytes: }\n", "1:29 wrong-type");
	expect_global("sandbox: {limits: {memory_mb: null}}\n", "1:31 wrong-type");
	expect_global("sandbox: {allow_urls: null}\n", "1:23 wrong-type");
	expect_global("sandbox: {allow_urls: a.example}\n", "1:23 wrong-type");
	expect_global("sandbox: {allow_urls: [a.example, 5]}\n", "1:35 wrong-type");
	expect_global("sandbox: {allow_urls: [a.example, a.example]}\n", "1:35 repeated-item");
	expect_global("sandbox: {allow_urls: ['']}\n", "1:24 out-of-range");
	expect_global("sandbox: {agent_network: loopback}\n", "1:26 not-one-of");
	expect_global(
		"sandbox: {agent_network: open, allow_urls: [a.example]}\n", "1:44 config-network");
	expect_global("sandbox: {agent_network: open, allow_urls: []}\n", "");
	/* An empty list removes a lower layer's, and config show prints it so. */
	expect_global("workflow: {verify_command: []}\nmachine: {notify: {on_event: []}}\n", "");
}

/* Checks that values too large for a jail's policy, a clock or a sum of money are refused here. */
static void test_most(void)
{
	expect_global("sandbox: {limits: {memory_mb: 16777217, cpu_secs: 1073741825, processes: "
		      "1048577, open_files: 1048577, file_mb: 16777217, tmp_mb: 1048577, "
		      "output_kb: 1048577}}\n",
		"1:31 out-of-range\n1:51 out-of-range\n1:74 out-of-range\n1:95 out-of-range\n1:113 "
		"out-of-range\n1:131 out-of-range\n1:151 out-of-range");
	expect_global("agent: {context_tokens: 1000000000, max_output_tokens: 1000000000}\n", "");
	expect_global("agent: {context_tokens: 1000000001, max_output_tokens: 1000000001}\n",
		"1:25 out-of-range\n1:56 out-of-range");
	expect_global("approval: {timeout_secs: 3155760001}\nworkflow: {verify_timeout_secs: "
		      "3155760001}\naudit: {retain_days: 200000000}\n",
		"1:26 out-of-range\n2:33 out-of-range\n3:22 out-of-range");
	expect_global("providers: {a: {api_format: openai, base_url: 'https://h', "
		      "connect_timeout_secs: 604801, idle_timeout_secs: 604801, timeout_secs: "
		      "604801, prices: {m: {input: 1.0e300, output: 1000001}}}}\n",
		"1:82 out-of-range\n1:109 out-of-range\n1:131 out-of-range\n1:159 "
		"out-of-range\n1:176 out-of-range");
}

/* A key that leaves unencrypted is told; where nobody but the operator's own network sees it, not.
 */
static void test_cleartext(void)
{
	static const struct {
		const char *url, *more, *rules;
	} cases[] = {
		{"http://api.example.com", "", "1:47 config-cleartext"},
		{"http://203.0.114.7:8080/v1", "", "1:47 config-cleartext"},
		{"http://172.32.0.1", "", "1:47 config-cleartext"},
		{"http://[2600::1]", "", "1:47 config-cleartext"},
		{"http://[::ffff:203.0.114.7]", "", "1:47 config-cleartext"},
		{"http://[::ffff:10.1.2.3]", "", ""},
		{"http://[::ffff:127.0.0.9]", "", ""},
		{"https://api.example.com", "", ""},
		{"http://api.example.com", ", auth: none", ""},
		{"http://gpu", ", private_network: true", ""},
		{"http://127.0.0.9", "", ""},
		{"http://localhost:11434", "", ""},
		{"http://10.1.2.3", "", ""},
		{"http://172.31.255.255", "", ""},
		{"http://192.168.0.1", "", ""},
		{"http://100.127.0.1", "", ""},
		{"http://169.254.1.1", "", ""},
		{"http://[fd00::1]", "", ""},
		{"http://[fe80::1]", "", ""},
	};
	char text[300];
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		snprintf(text, sizeof(text),
			"providers: {a: {api_format: openai, base_url: '%s'%s}}\n", cases[i].url,
			cases[i].more);
		expect_global(text, cases[i].rules);
	}
}

/* The groups of this host do not matter: these replace them. */
static char ada[] = "ada", eve[] = "eve", users[] = "users";
static char *nobody[] = {NULL}, *herself[] = {ada, NULL}, *two[] = {ada, eve, NULL};
static const struct group own = {.gr_name = ada, .gr_mem = nobody},
			  listed = {.gr_name = ada, .gr_mem = herself},
			  shared = {.gr_name = ada, .gr_mem = two},
			  staff = {.gr_name = users, .gr_mem = nobody};
static struct passwd owner = {.pw_name = ada};
static const struct group *group;
static int lookups;

struct passwd *getpwuid(uid_t uid)
{
	lookups++;
	return uid == geteuid() ? &owner : NULL;
}

struct group *getgrgid(gid_t gid)
{
	lookups++;
	return gid == getegid() ? (struct group *)(uintptr_t)group : NULL;
}

static void test_writable(void)
{
	static const struct {
		mode_t mode;
		const char *rules;
		const struct group *group; /* what the file's is called and holds */
		gid_t first;               /* the owner's group, 0: the file's */
		int lookups;
	} cases[] = {{0644, "", &own, 0, 0}, {0664, "", &own, 0, 2}, {0660, "", &listed, 0, 2},
		{0664, "0:0 config-writable", &own, 1, 1},
		{0664, "0:0 config-writable", &staff, 0, 2},
		{0664, "0:0 config-writable", &shared, 0, 2},
		{0664, "0:0 config-writable", NULL, 0, 2},
		{0602, "0:0 config-writable", &own, 0, 0},
		{0666, "0:0 config-writable", &own, 0, 0}, {0600, "", &own, 0, 0}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		lookups = 0;
		group = cases[i].group;
		owner.pw_gid = getegid() + cases[i].first;
		if (fchmodat(scratch, "config/config.yaml", cases[i].mode, 0))
			bail("cannot change the mode of config.yaml");
		expect_global("agent: {max_iterations: 7}\n", cases[i].rules);
		is(lookups, cases[i].lookups, "what mode %04o asks of passwd and group",
			(unsigned)cases[i].mode);
	}
}

static void test_refusals(void)
{
	expect_global("# nothing yet\n", "");
	expect_global("agnet: {}\n", "1:1 unknown-key");
	expect_global("agent: {max_iterations: 0}\n", "1:25 out-of-range");
	expect_global("sandbox: {run_commands: no}\n", "");
	expect_global("sandbox: {run_commands: false}\n", "1:25 wrong-type");
	expect_global("sandbox: {tool_network: allow}\n", "1:25 config-network");
	expect_global("sandbox: {tool_network: allow, agent_network: open}\n", "");
	expect_global("sandbox: {agent_network: local, allow_urls: [a.example]}\n",
		"1:45 config-network");
	expect_global("sandbox: {allow_urls: [a.example, 'b.example:1', 'http://c/x', 'd e', "
		      "'f:0', 'u@h']}\n",
		"1:64 config-url\n1:71 config-url\n1:78 config-url");
	expect_global(
		"sandbox:\n  allow_urls:\n    - ok.example\n    - '*.example'\n    - a..b\n"
		"    - a.example.\n    - '[::g]:1'\n    - 'ftp://a.example'\n    - '[::1]:8080'\n",
		"4:7 config-url\n5:7 config-url\n6:7 config-url\n7:7 config-url\n8:7 config-url");
	test_too_many_urls();
	test_networks();
	expect_global("sandbox: {read: [/a/../b, /a//b, /a/., /a/, /, /a.b/..c]}\n",
		"1:18 config-path\n1:27 config-path\n1:34 config-path\n1:40 config-path");
	test_egress();
	expect_global(
		"git: {allow_push: true, allow_force: false}\n", "1:19 config-never-honoured");
	test_most();
	test_cleartext();
	test_writable();
	expect_global("models: {worker: {provider: x, model: m}}\n", "1:29 config-provider");
	expect_global("models: {worker: {model: m}}\n", "1:18 config-provider");
	expect_global("providers: {a: {api_format: openai, base_url: 'http://u:p@h'}, "
		      "b: {api_format: openai, base_url: 'https://h:99999'}, "
		      "c: {api_format: openai, base_url: 'https://[::1'}, "
		      "d: {api_format: openai, base_url: 'https://h/?q'}, "
		      "e: {api_format: openai, base_url: \"https://h/\\x05\"}, "
		      "f: {api_format: openai, base_url: 'http://127.1'}}\n",
		"1:47 config-url\n1:98 config-url\n1:152 config-url\n1:203 config-url\n1:254 "
		"config-url\n1:307 config-url");
	expect_global("providers: {a: {api_format: openai}}\n", "1:16 missing-key");
	expect_global("providers: {a: {api_format: openai, base_url: 'http://127.0.0.1:1'}}\n"
		      "models: {worker: {provider: a}}\nsandbox: {secrets: {s: {env: S}}}\n",
		"2:18 missing-key\n3:24 missing-key");
	expect_global("agent6: {state_dir: relative}\n", "1:21 bad-name");
	expect_global("a: [\n", "2:1 yaml-syntax");
}

/* Loads the configuration from the existing files. */
static struct config *load_valid(const char *what)
{
	struct findings f;
	findings_init(&f);
	struct config_paths paths = places();
	struct config *c = config_load(&paths, &f);
	is(f.errors, 0, "%s", what);
	findings_done(&f);
	return c;
}

static void test_only_provider(void)
{
	put("config/config.yaml",
		"providers: {a: {api_format: openai, base_url: 'http://127.0.0.1:1'}}\n"
		"models: {worker: {model: m}, planner: {model: p}}\n");
	struct config *c = load_valid("a role need not name the only provider");
	is_str(c->models.worker.provider, "a", "which is the worker's");
	is_str(c->models.planner.provider, "a", "and of every role with a model of its own");
	config_free(c);
}

/* Checks that "*" sets a vendor's price for every model. */
static void test_price_of_all(void)
{
	put("config/config.yaml",
		"providers:\n  far: {api_format: anthropic, base_url: 'https://api.anthropic.com', "
		"prices: {'*': {input: 7, output: 8}, claude-opus-5: {input: 9, output: 9}}}\n");
	struct config *c = load_valid("prices");
	const struct config_provider *far = config_provider(c, "far");
	is((int64_t)config_price(far, "claude-sonnet-5")->input, 7, "not the built-in price");
	is((int64_t)config_price(far, "claude-opus-5")->input, 9, "a model's own price");
	config_free(c);
}

/* Every key of an entry by itself, also of one that a lower layer has made. */
static void test_layers_of_entries(void)
{
	put("config/config.yaml",
		"providers: {a: {api_format: openai, base_url: 'http://127.0.0.1:1', "
		"max_retries: 1}, b: {api_format: openai, base_url: 'http://127.0.0.1:2'}}\n"
		"models: {worker: {provider: a, model: m}}\n");
	put("state/repo/config.yaml",
		"providers: {a: {timeout_secs: 7}}\nmodels: {worker: {provider: b}}\n");
	struct config *c = load_valid("a layer may set single keys of an entry");
	const struct config_provider *a = config_provider(c, "a");
	is(a->timeout_secs, 7, "which win");
	is(a->max_retries, 1, "over what stays");
	is_str(c->models.worker.provider, "b", "a role's provider");
	is_str(c->models.worker.model, "m", "and its model");
	config_free(c);
	unlinkat(scratch, "state/repo/config.yaml", 0);
}

static void test_places(void)
{
	put("config/config.yaml", "agent: {max_iterations: 7}\n");
	put("config/config.json", "{}");
	struct config_paths paths = places();
	expect_rules(&paths, "0:0 config-file");
	unlinkat(scratch, "config/config.json", 0);
	put("state/repo/config.yaml", "agent6: {state_dir: /elsewhere}\n");
	expect_rules(&paths, "1:10 config-layer");
	unlinkat(scratch, "state/repo/config.yaml", 0);
	paths.file = "/nonexistent/config.yaml";
	expect_rules(&paths, "0:0 config-file");
	paths.file = NULL;
	paths.workspace = state_dir;
	mkdirat(scratch, "state", 0700);
	expect_rules(&paths, "0:0 config-path");
	paths.workspace = config_dir;
	char inside[4300];
	snprintf(inside, sizeof(inside), "%s/not/yet", config_dir);
	paths.state_home = inside;
	expect_rules(&paths, "0:0 config-path");
	is(symlinkat("config", scratch, "link"), 0, "a link into the workspace");
	snprintf(inside, sizeof(inside), "%s/../link/not/yet", config_dir);
	char link[4300];
	snprintf(
		link, sizeof(link), "%.*s/link/not/yet", (int)(strlen(config_dir) - 7), config_dir);
	paths.state_home = link;
	expect_rules(&paths, "0:0 config-path");
}

struct shown {
	struct buf text;
};

static void show(void *ctx, const char *key, const json_t *value, enum config_layer layer)
{
	struct shown *s = ctx;
	AUTO_FREE char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	buf_addf(&s->text, "%s=%s (%s)\n", key, text, config_layer_name(layer));
}

static void test_show(void)
{
	put("config/config.yaml", global_text);
	struct findings f;
	findings_init(&f);
	struct config_paths paths = places();
	paths.state_home = "/var/state";
	struct config *c = config_load(&paths, &f);
	struct shown s;
	buf_init(&s.text, 1 << 20);
	config_each(c, show, &s);
	has_str(s.text.data, "agent6.state_dir=\"/var/state\" (environment)\n", "the environment");
	has_str(s.text.data, "\nagent.max_iterations=40 (global)\n", "a set value");
	has_str(s.text.data, "\nagent.context_tokens=150000 (default)\n", "a default");
	has_str(s.text.data, "\nbudget.max_usd=1.5 (global)\n", "money");
	has_str(s.text.data, "\nbudget.max_input_tokens=null (default)\n", "no value");
	has_str(s.text.data, "\nproviders.near.base_url=\"http://LocalHost:8080/v1\" (global)\n",
		"a provider");
	has_str(s.text.data, "\nproviders.far.auth=\"x-api-key\" (default)\n", "a derived value");
	has_str(s.text.data, "\nsandbox.secrets.tok={", "a secret's grant");
	has_str(s.text.data, "\nsandbox.upstream_proxy=\"http://[REDACTED]@proxy:1/\" (global)\n",
		"a proxy's password is not shown");
	has_str(s.text.data, "\nsandbox.read=[\"/data\"] (global)\n", "a list");
	buf_done(&s.text);
	config_free(c);
	findings_done(&f);
}

int main(void)
{
	config_kit_init();
	test_defaults();
	test_unreadable();
	test_layers();
	test_refusals();
	test_only_provider();
	test_price_of_all();
	test_layers_of_entries();
	test_places();
	test_show();
	return tap_done();
}
