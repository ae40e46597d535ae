/* A machine's overlay, provider keys, rehearsal, addresses. */
#include "base/io.h"
#include "config/config.h"
#include "config/url.h"
#include "schema/read.h"
#include "tests/kit/tap.h"
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>

static struct config *operator_config(void)
{
	static const char *const names[] = {"one", "two"};
	return config_rehearsal(names, 2, API_OPENAI, "http://127.0.0.1:5", "/nonexistent/state");
}

static int overlay(
	struct config *config, struct doc *doc, const char *text, struct findings *findings)
{
	doc_read_yaml(doc, "m.yaml", text, strlen(text), findings);
	return config_overlay(config, doc, doc->root, findings);
}

static void expect_overlay(const char *text, const char *rules)
{
	struct config *c = operator_config();
	struct findings f;
	struct doc d;
	findings_init(&f);
	is(overlay(c, &d, text, &f), *rules ? -1 : 0, "%s", text);
	AUTO_BUF got;
	buf_init(&got, 1000);
	buf_adds(&got, "");
	for (size_t i = 0; i < f.count; i++)
		buf_addf(&got, "%s%u:%u %s", i ? "\n" : "", f.items[i].pos.line,
			f.items[i].pos.column, rule_info(f.items[i].rule)->id);
	is_str(got.data, rules, "%s", text);
	if (*rules) {
		is(c->agent.max_iterations, 50, "refused as a whole");
		is(c->agent.max_output_tokens, 8192, "refused as a whole");
	}
	config_free(c);
	doc_done(&d);
	findings_done(&f);
}

static void test_overlay(void)
{
	expect_overlay("agent: {max_iterations: 50}", "");
	expect_overlay(
		"agent: {max_iterations: 51, max_output_tokens: 1}", "1:25 config-only-lower");
	expect_overlay("budget: {max_usd: 1000000}", "");
	expect_overlay("models: {worker: {provider: two, model: m}}", "");
	expect_overlay("models: {worker: {provider: three, model: m}}", "1:29 config-provider");
	expect_overlay("models: {worker: {model: m}}", "");
	expect_overlay("models: {reviewer: {model: m}}", "1:10 config-provider");
	struct config *c = operator_config();
	struct findings f;
	struct doc d;
	findings_init(&f);
	overlay(c, &d,
		"agent: {max_iterations: 3}\nmodels: {worker: {provider: two, model: m}}\n"
		"workflow: {verify_command: [make]}\ngit: {commit: {name: n}}\n",
		&f);
	is(c->agent.max_iterations, 3, "lowered");
	is(c->agent.max_output_tokens, 8192, "others stay");
	is_str(c->models.worker.provider, "two", "the worker");
	is_str(c->workflow.verify_command.items[0], "make", "the verify command");
	is_str(c->git.name, "n", "who commits");
	is(config_overlay(c, &d, NULL, &f), 0, "no overlay");
	config_free(c);
	doc_done(&d);
	c = operator_config();
	overlay(c, &d, "models: {worker: {model: other}}\n", &f);
	is_str(c->models.worker.provider, "one", "key by key: the operator's provider");
	is_str(c->models.worker.model, "other", "with the machine's model");
	config_free(c);
	doc_done(&d);
	findings_done(&f);
}

static void test_rehearsal(void)
{
	struct config *c = operator_config();
	const struct config_provider *p = config_provider(c, "two");
	if (ok(p != NULL, "a provider of each name")) {
		ok(p->loopback && !p->tls && p->auth == AUTH_NONE,
			"loopback, plain, without a key");
		is_str(p->endpoint, "127.0.0.1:5", "its endpoint");
		ok(config_price(p, "any model") != NULL, "every model has a price");
		char *key = (char[]){"x"};
		ok(!config_provider_key(c, p, &key, NULL) && !key, "no key is looked for");
	}
	is_str(c->models.worker.provider, "one", "the worker");
	config_free(c);
}

static void test_urls(void)
{
	static const struct {
		const char *text, *endpoint;
		bool tls, loopback;
	} good[] = {
		{"https://api.example.com", "api.example.com:443", true, false},
		{"https://API.example.com/v1/", "api.example.com:443", true, false},
		{"http://localhost:11434/v1", "localhost:11434", false, true},
		{"http://x.localhost", "x.localhost:80", false, true},
		{"http://127.9.9.9", "127.9.9.9:80", false, true},
		{"http://[::1]:5", "[::1]:5", false, true},
		{"https://[2001:DB8::1]", "[2001:db8::1]:443", true, false},
		{"http://[::ffff:127.0.0.1]", "[::ffff:127.0.0.1]:80", false, true},
		{"http://[0:0:0:0:0:0:0:1]:5", "[::1]:5", false, true},
		{"http://notlocalhost", "notlocalhost:80", false, false},
		{"http://localhost.evil.example", "localhost.evil.example:80", false, false},
	};
	static const char *const bad[] = {"", "api.example.com", "ftp://a", "https://",
		"https:///x", "https://a:", "https://a:0", "https://a:65536", "https://a:+1",
		"https://a b", "https://u@a", "https://a?b", "https://a#b", "https://a\\b",
		"https://[::1", "https://[::1]x", "https://[1.2.3.4.5]", "https://[::g]",
		"https://a:80:80", "https://a%41", "http://[127.0.0.1]:5"};
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct url u;
		if (!ok(!url_parse(good[i].text, &u, NULL), "%s", good[i].text))
			continue;
		is_str(u.at.text, good[i].endpoint, "%s", good[i].text);
		is(u.tls, good[i].tls, "TLS");
		is(u.loopback, good[i].loopback, "loopback");
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct url u;
		struct err e = ERR_NONE;
		is(url_parse(bad[i], &u, &e), -1, "refused: %s", bad[i]);
		ok(e.text[0], "with a reason");
	}
	struct url u;
	ok(!url_parse_host("h.example", &u, NULL) && u.tls && u.at.port == 443, "a host means TLS");
	ok(!url_parse_host("h.example:80", &u, NULL) && u.at.port == 80, "with a port");
	is(url_parse_host("h.example/x", &u, NULL), -1, "no path without a scheme");
}

/* --- keys ------------------------------------------------------------------------------------- */

static int scratch;
static char config_dir[4200];

static void put(const char *name, const char *text, mode_t mode)
{
	unlinkat(scratch, name, 0);
	AUTO_FD int fd = openat(scratch, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || io_write(fd, text, strlen(text)) || fchmod(fd, mode))
		bail("cannot write %s", name);
}

static void expect_key(const char *provider, const char *want, const char *reason)
{
	struct config_paths paths = {.config_dir = config_dir, .state_dir = "/nonexistent/state"};
	struct findings f;
	struct err e = ERR_NONE;
	char *key = NULL;
	findings_init(&f);
	struct config *c = config_load(&paths, &f);
	int rc = config_provider_key(c, config_provider(c, provider), &key, &e);
	is(rc, reason ? -1 : 0, "%s", provider);
	is_str(key, want, "its key");
	if (reason)
		has_str(e.text, reason, "the reason");
	ok(!strstr(e.text, "s3cret"), "no message holds a key");
	free(key);
	config_free(c);
	findings_done(&f);
}

static void test_keys(void)
{
	scratch = open(tap_scratch(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(config_dir, sizeof(config_dir), "%s", tap_scratch());
	put("config.yaml",
		"providers:\n"
		"  far: {api_format: openai, base_url: 'https://a.example', api_key_env: "
		"TEST_FAR_KEY}\n"
		"  near: {api_format: openai, base_url: 'http://127.0.0.1:1'}\n"
		"  open: {api_format: openai, base_url: 'https://a.example', auth: none}\n",
		0600);
	unsetenv("TEST_FAR_KEY");
	expect_key("far", NULL, "TEST_FAR_KEY");
	expect_key("near", NULL, NULL);
	put("secrets.yaml", "providers: {far: s3cret-file}\n", 0600);
	expect_key("far", "s3cret-file", NULL);
	expect_key("near", NULL, NULL);
	setenv("TEST_FAR_KEY", "from-env", 1);
	expect_key("far", "from-env", NULL);
	setenv("TEST_FAR_KEY", "s3cret-env\n", 1);
	expect_key("far", NULL, "stray line break");
	setenv("TEST_FAR_KEY", "", 1);
	expect_key("far", "s3cret-file", NULL);
	static const mode_t modes[] = {0640, 0604, 0660, 0700, 0666};
	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		put("secrets.yaml", "providers: {far: s3cret}\n", modes[i]);
		expect_key("far", NULL, "0600");
	}
	expect_key("open", NULL, NULL);
	put("secrets.yaml", "providers: {far: [s3cret]}\n", 0600);
	expect_key("far", NULL, "wrong-type");
	put("secrets.yaml", "providers: {far: 's3cret\n", 0600);
	expect_key("far", NULL, "yaml-syntax");
	put("real.yaml", "providers: {far: s3cret}\n", 0600);
	unlinkat(scratch, "secrets.yaml", 0);
	is(symlinkat("real.yaml", scratch, "secrets.yaml"), 0, "a link");
	expect_key("far", NULL, "not a link");
	unlinkat(scratch, "secrets.yaml", 0);
	mkfifoat(scratch, "secrets.yaml", 0600);
	expect_key("far", NULL, "regular file");
	unlinkat(scratch, "secrets.yaml", 0);
	put("secrets.toml", "[providers]\nfar = 's3cret-toml'\n", 0600);
	expect_key("far", "s3cret-toml", NULL);
}

static void test_other_owner(void)
{
	if (geteuid()) {
		skip("only root can give a file away");
		return;
	}
	put("secrets.toml", "[providers]\nfar = 's3cret'\n", 0600);
	is(fchownat(scratch, "secrets.toml", 12345, 12345, 0), 0, "given away");
	unsetenv("SUDO_UID");
	expect_key("far", NULL, "another user");
	setenv("SUDO_UID", "12345", 1);
	expect_key("far", "s3cret", NULL);
	unsetenv("SUDO_UID");
}

static void test_paths(void)
{
	struct config_paths paths;
	struct arena arena;
	arena_init(&arena);
	setenv("HOME", "/srv/someone", 1);
	unsetenv("SUDO_UID");
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("XDG_STATE_HOME");
	unsetenv("AGENT6_STATE_HOME");
	ok(!config_paths_init(&paths, &arena, NULL), "by HOME");
	is_str(paths.config_dir, "/srv/someone/.config/agent6", "configuration");
	is_str(paths.state_dir, "/srv/someone/.local/state/agent6", "state");
	is_str(paths.state_home, NULL, "not moved");
	static const char *const homes[][2] = {
		{"/srv/someone/", "/srv/someone/.local/state/agent6"},
		{"//srv///some.one//", "/srv/some.one/.local/state/agent6"},
		{"/", "/.local/state/agent6"}, {"/./a/./b/.", "/a/b/.local/state/agent6"},
		{"/a/../b", "/a/../b/.local/state/agent6"}};
	for (size_t i = 0; i < ARRAY_LEN(homes); i++) {
		setenv("HOME", homes[i][0], 1);
		ok(!config_paths_init(&paths, &arena, NULL), "HOME %s", homes[i][0]);
		is_str(paths.state_dir, homes[i][1], "however it is spelled");
	}
	setenv("HOME", "/srv/someone", 1);
	setenv("XDG_CONFIG_HOME", "/xc/", 1);
	setenv("XDG_STATE_HOME", "/xs//", 1);
	setenv("AGENT6_STATE_HOME", "/moved/", 1);
	ok(!config_paths_init(&paths, &arena, NULL), "variables with a slash at their end");
	is_str(paths.config_dir, "/xc/agent6", "configuration");
	is_str(paths.state_dir, "/xs/agent6", "state");
	is_str(paths.state_home, "/moved", "moved");
	setenv("XDG_CONFIG_HOME", "/xc", 1);
	setenv("XDG_STATE_HOME", "relative", 1);
	setenv("AGENT6_STATE_HOME", "/moved", 1);
	ok(!config_paths_init(&paths, &arena, NULL), "by the XDG variables");
	is_str(paths.config_dir, "/xc/agent6", "configuration");
	is_str(paths.state_dir, "/srv/someone/.local/state/agent6", "a relative one is ignored");
	is_str(paths.state_home, "/moved", "moved");
	setenv("AGENT6_STATE_HOME", "relative", 1);
	struct err e = ERR_NONE;
	is(config_paths_init(&paths, &arena, &e), -1, "a relative state directory");
	has_str(e.text, "AGENT6_STATE_HOME", "it is named");
	unsetenv("AGENT6_STATE_HOME");
	unsetenv("XDG_CONFIG_HOME");
	const struct passwd *nobody = geteuid() ? NULL : getpwnam("nobody");
	if (nobody) {
		char uid[20], want[300];
		snprintf(uid, sizeof(uid), "%u", nobody->pw_uid);
		snprintf(want, sizeof(want), "%s/.config/agent6", nobody->pw_dir);
		setenv("SUDO_UID", uid, 1);
		ok(!config_paths_init(&paths, &arena, NULL), "under sudo");
		is_str(paths.config_dir, want, "the invoking user's");
		unsetenv("SUDO_UID");
	}
	arena_done(&arena);
}

int main(void)
{
	test_overlay();
	test_rehearsal();
	test_urls();
	test_keys();
	test_other_owner();
	test_paths();
	return tap_done();
}
