/* Tools whose level is their verb's. */
#include "agent/policy/judge.h"

#include <string.h>

enum level verb_level(const struct verbs *list, const char *verb)
{
	while (list->names && !word_in(verb, list->names))
		list++;
	return list->level;
}

static const struct verbs npm_verbs[] = {
	{LEVEL_BUILD, WORDS("", "install", "ci", "update", "rebuild", "i", "test", "t", "run",
			      "build", "start", "add")},
	{LEVEL_NETWORK, WORDS("outdated", "info", "show", "publish", "login", "adduser", "exec",
				"x", "dlx", "create", "unpublish", "audit", "view", "search")},
	{LEVEL_READ_ONLY, WORDS("ls", "list", "ll", "la", "explain", "why", "root", "prefix", "bin",
				  "query", "help")},
	{LEVEL_WRITE, NULL},
};

/* yarn and pnpm: what is no verb is a script of the project's. */
static const struct verbs yarn_verbs[] = {
	{LEVEL_NETWORK,
		WORDS("outdated", "info", "publish", "login", "logout", "x", "dlx", "create",
			"audit", "npm", "view", "search", "owner", "tag", "team")},
	{LEVEL_READ_ONLY, WORDS("ls", "list", "why", "root", "bin")},
	{LEVEL_WRITE,
		WORDS("remove", "rm", "uninstall", "un", "link", "ln", "unlink", "init", "version",
			"pack", "cache", "config", "c", "set", "get", "plugin", "import",
			"policies", "patch", "patch-commit", "patch-remove", "global", "node",
			"env", "setup", "store", "deploy", "prune", "self-update", "autoclean",
			"unplug", "server", "workspace", "workspaces", "constraints", "stage",
			"upgrade-interactive", "generate-lock-entry", "check", "dedupe", "pkg",
			"approve-builds", "runtime", "completion", "help")},
	{LEVEL_BUILD, NULL},
};

static const struct verbs dotnet_verbs[] = {
	{LEVEL_BUILD, WORDS("", "build", "test", "run", "restore", "publish", "clean", "msbuild",
			      "pack", "watch", "vstest", "list")},
	{LEVEL_NETWORK, WORDS("nuget", "tool", "workload")},
	{LEVEL_WRITE, NULL},
};

static const struct verbs terraform_verbs[] = {
	{LEVEL_READ_ONLY, WORDS("", "version", "help")},
	{LEVEL_BUILD, WORDS("validate")},
	{LEVEL_WRITE, WORDS("fmt")},
	{LEVEL_NETWORK, NULL},
};

static const struct verbs pip_verbs[] = {
	{LEVEL_BUILD, WORDS("install", "sync", "lock", "wheel", "build", "tree", "export")},
	{LEVEL_READ_ONLY, WORDS("list", "show", "freeze", "check", "inspect", "help")},
	{LEVEL_NETWORK, WORDS("index", "publish", "download", "run", "tool")},
	{LEVEL_DESTRUCTIVE, WORDS("uninstall")},
	{LEVEL_WRITE, NULL},
};

static const struct verbs cargo_verbs[] = {
	{LEVEL_NETWORK, WORDS("publish", "login", "owner", "yank", "search", "install", "fetch")},
	{LEVEL_DESTRUCTIVE, WORDS("clean")},
	{LEVEL_WRITE,
		WORDS("add", "remove", "rm", "uninstall", "vendor", "new", "init", "fmt", "fix")},
	{LEVEL_READ_ONLY, WORDS("metadata", "tree")},
	{LEVEL_BUILD, NULL},
};

static const struct verbs go_verbs[] = {
	{LEVEL_NETWORK, WORDS("get")},
	{LEVEL_DESTRUCTIVE, WORDS("clean")},
	{LEVEL_WRITE, WORDS("fmt", "generate", "fix", "work", "telemetry")},
	{LEVEL_READ_ONLY, WORDS("env", "list", "version", "doc")},
	{LEVEL_BUILD, NULL},
};

static const struct verbs docker_verbs[] = {
	{LEVEL_WRITE, WORDS("ps", "images", "logs", "inspect")},
	{LEVEL_READ_ONLY, WORDS("version")},
	{LEVEL_NETWORK, WORDS("push", "pull", "login")},
	{LEVEL_PRIVILEGED, NULL},
};

static const struct verbs systemctl_verbs[] = {
	{LEVEL_READ_ONLY, WORDS("status", "show", "list-units", "is-active", "is-enabled", "cat",
				  "", "list-timers")},
	{LEVEL_DENIED,
		WORDS("reboot", "poweroff", "halt", "kexec", "soft-reboot", "rescue", "emergency")},
	{LEVEL_PRIVILEGED, NULL},
};

static const struct verbs hostname_verbs[] = {
	{LEVEL_READ_ONLY, WORDS("", "status")},
	{LEVEL_PRIVILEGED, NULL},
};

/* The options before the verb, and the verbs. */
static const struct tool {
	const char *name;
	struct arg_options options;
	const struct verbs *verbs;
} tools[] = {
	{"cargo",
		{"qv", "CZ",
			WORDS("--quiet", "--verbose", "--offline", "--locked", "--frozen",
				"--list"),
			WORDS("--color", "--config", "--explain")},
		cargo_verbs},
	{"go", {"", "C", NULL, NULL}, go_verbs},
	{"npm",
		{"sqdglLpfy", "wC",
			WORDS("--silent", "--quiet", "--verbose", "--no-audit", "--no-fund",
				"--offline", "--prefer-offline", "--global", "--json", "--long",
				"--parseable", "--yes", "--force", "--if-present", "--workspaces",
				"--include-workspace-root", "--ignore-scripts",
				"--legacy-peer-deps", "--no-save", "--no-progress"),
			WORDS("--prefix", "--registry", "--workspace", "--loglevel", "--userconfig",
				"--cache", "--tag")},
		npm_verbs},
	{"yarn",
		{"sv", "",
			WORDS("--silent", "--verbose", "--offline", "--json", "--frozen-lockfile",
				"--ignore-scripts", "--non-interactive", "--no-progress"),
			WORDS("--cwd", "--registry", "--cache-folder", "--modules-folder")},
		yarn_verbs},
	{"pnpm",
		{"rwsg", "CF",
			WORDS("--recursive", "--workspace-root", "--silent", "--global",
				"--parallel", "--stream", "--offline", "--if-present", "--no-bail"),
			WORDS("--dir", "--filter", "--registry", "--loglevel", "--filter-prod")},
		yarn_verbs},
	{"dotnet", {"d", "", WORDS("--info", "--version", "--list-sdks", "--list-runtimes"), NULL},
		dotnet_verbs},
	{"terraform", {"", "", NULL, NULL}, terraform_verbs},
	{"tofu", {"", "", NULL, NULL}, terraform_verbs},
	{"pip",
		{"qvh", "",
			WORDS("--quiet", "--verbose", "--isolated", "--no-input", "--no-color",
				"--disable-pip-version-check", "--no-cache-dir",
				"--require-virtualenv", "--debug", "--no-python-version-warning"),
			WORDS("--log", "--proxy", "--python", "--timeout", "--cert", "--cache-dir",
				"--retries", "--exists-action", "--trusted-host", "--client-cert",
				"--use-feature", "--use-deprecated")},
		pip_verbs},
	{"docker",
		{"D", "cHl", WORDS("--debug", "--tls", "--tlsverify"),
			WORDS("--config", "--context", "--host", "--log-level", "--tlscacert",
				"--tlscert", "--tlskey")},
		docker_verbs},
	{"podman",
		{"r", "cHl", WORDS("--remote"),
			WORDS("--connection", "--url", "--log-level", "--root")},
		docker_verbs},
	{"systemctl",
		{"qalTrfi", "HMnopPst",
			WORDS("--user", "--system", "--no-pager", "--quiet", "--all", "--full",
				"--failed", "--plain", "--no-legend", "--recursive",
				"--no-ask-password", "--now"),
			WORDS("--host", "--machine", "--type", "--property", "--root", "--state",
				"--lines", "--output")},
		systemctl_verbs},
	{"hostnamectl",
		{"", "HM", WORDS("--static", "--transient", "--pretty", "--no-ask-password"),
			WORDS("--host", "--machine")},
		hostname_verbs},
	{"hostname", {"adfiIsAy", "F", NULL, WORDS("--file")}, hostname_verbs}, /* shows the name */
	{"",
		{"qvn", "",
			WORDS("--quiet", "--verbose", "--offline", "--no-cache", "--no-config",
				"--no-progress", "--native-tls"),
			WORDS("--directory", "--project", "--python", "--cache-dir",
				"--config-file", "--color")},
		pip_verbs}, /* pipx, uv */
};

static const struct tool *tool_find(const struct call *c)
{
	const struct tool *t = tools;
	while (*t->name && strcmp(t->name, program_base(c->name)) != 0)
		t++;
	return t;
}

unsigned judge_verb(struct judge *j, const struct call *c)
{
	const struct tool *t = tool_find(c);
	size_t from = 1;
	/* The version of a tool chain: cargo +nightly build. */
	if (!strcmp(c->name, "cargo") && *call_text(c, 1) == '+')
		from++;
	struct places p = arg_places(j, c, from, &t->options);
	for (size_t i = 0; i < p.count; i++) {
		judge_computed(j, c, p.at[i], "the verb is computed");
		judge_raise(j, verb_level(t->verbs, call_text(c, p.at[i])), "%s %.60s", c->name,
			call_text(c, p.at[i]));
	}
	return judge_flags(j, c);
}

static const struct arg_options executing = {"yqs", "cpw",
	WORDS("--yes", "--no", "--no-install", "--quiet", "--silent", "--offline",
		"--prefer-offline", "--ignore-existing", "--shell-mode", "--parallel",
		"--recursive"),
	WORDS("--call", "--package", "--prefix", "--workspace", "--registry", "--cache",
		"--userconfig", "--filter", "--from", "--with", "--python")};

/* What npx, npm exec and their kin are told to run is no package, and no script of the project's,
 * where it is the system's. */
static unsigned judge_executed(struct judge *j, const struct call *c, size_t from)
{
	struct verdict own = {.level = LEVEL_READ_ONLY}, *whole = j->verdict;
	const char *script;
	unsigned traits = 0;
	bool known = false;
	struct places p = arg_places(j, c, from, &executing);
	j->verdict = &own;
	bool shell = false; /* yarn's is one, too: a word that is no name */
	for (size_t i = from; i < p.last; i++)
		shell = shell || !strcmp(c->words[i]->text, "--shell-mode");
	for (size_t i = 0; i < p.count && p.at[i] < c->count; i++) {
		if (shell || strpbrk(call_text(c, p.at[i]), " \t\n;|&<>`$()"))
			traits |= judge_script(j, words_join(j, "", c, p.at[i])) | TRAIT_CODE;
		traits |= judge_words(j, c->words + p.at[i], c->count - p.at[i], c->node);
		known = known || program_find(call_text(c, p.at[i]));
	}
	for (size_t i = from; i < p.last; i++)
		if ((script = arg_given(c, i, 'c', executing.with_value, "--call")))
			traits |= judge_script(j, script) | TRAIT_CODE;
	j->verdict = whole;
	if (known || own.level > LEVEL_WRITE)
		judge_adopt(j, &own);
	return traits;
}

/* yarn and pnpm run what is no verb of theirs: a script, a package's program, and pnpm any. */
static unsigned judge_unlisted(struct judge *j, const struct call *c)
{
	const struct tool *t = tool_find(c);
	unsigned traits = 0;
	if (t->verbs != yarn_verbs)
		return 0;
	struct places p = arg_places(j, c, 1, &t->options);
	for (size_t i = 0; i < p.count; i++) {
		const char *verb = call_text(c, p.at[i]);
		if (verb_level(yarn_verbs, verb) == LEVEL_BUILD && strcmp(verb, "install") != 0)
			traits |= judge_executed(j, c, p.at[i]);
	}
	return traits;
}

/* npm, yarn, pnpm, npx, bunx, uvx */
unsigned judge_npm(struct judge *j, const struct call *c)
{
	/* Behind the package's name, or a --, they are the options of what runs. */
	struct call own = {c->name, c->words, arg_skip_options(c, 1, "", NULL), c->node};
	if (!strcmp(c->name, "npx") &&
		(arg_find(&own, NULL, "--no-install") || arg_find(&own, NULL, "--no"))) {
		judge_raise(j, LEVEL_BUILD, "npx runs an installed package");
	} else if (word_in(c->name, WORDS("npx", "bunx", "uvx"))) {
		judge_raise(j, LEVEL_NETWORK, "%s fetches and runs a package%s", c->name,
			strcmp(c->name, "npx") ? "" : ": --no-install runs one that is installed");
	} else {
		unsigned traits = 0;
		while (own.count < c->count && strcmp(c->words[own.count]->text, "--") != 0)
			own.count++;
		for (size_t i = 1; i < own.count && !traits; i++)
			if (word_in(c->words[i]->text, WORDS("exec", "x", "dlx")))
				traits = judge_executed(j, c, i + 1) | TRAIT_CODE;
		return traits | judge_unlisted(j, c) | judge_verb(j, &own);
	}
	return judge_executed(j, c, 1) | judge_flags(j, &own);
}

static const struct verbs bun_verbs[] = {
	{LEVEL_BUILD, WORDS("install", "i", "ci", "test", "build", "add", "a", "update", "check",
			      "lint", "bench", "task", "cache", "doc", "info")},
	{LEVEL_NETWORK, WORDS("x", "create", "c", "publish", "outdated", "audit", "upgrade")},
	{LEVEL_WRITE, NULL},
};

/* bun and deno, of which each is an interpreter as well. */
unsigned judge_bun(struct judge *j, const struct call *c)
{
	const char *verb = call_text(c, 1), *what = call_text(c, 2);
	bool script = !strcmp(verb, "run") && *what && !strpbrk(what, "-./:");
	enum level level = script ? LEVEL_BUILD : verb_level(bun_verbs, verb);
	judge_raise(j, level, "%s %.60s", c->name, verb);
	for (size_t i = 1; i < c->count; i++)
		if (strstr(c->words[i]->text, "://"))
			judge_raise(j, LEVEL_NETWORK, "%s runs %.100s", c->name, c->words[i]->text);
	unsigned traits = 0;
	for (size_t i = 1; i + 1 < c->count; i++) {
		if (word_in(c->words[i]->text, WORDS("x", "run")))
			traits |= judge_executed(j, c, i + 1);
		if (!strcmp(c->words[i]->text, "exec"))
			traits |= judge_script(j, c->words[i + 1]->text) | TRAIT_CODE;
	}
	bool runs = !strcmp(verb, "run"), evaluates = !strcmp(verb, "eval");
	for (size_t i = 2; evaluates && i < c->count; i++)
		judge_inline_code(j, c, c->words[i]);
	const struct call code = {c->name, c->words + runs, c->count - runs, c->node};
	return level == LEVEL_WRITE ? traits | judge_inline(j, &code) : traits;
}

unsigned judge_pip(struct judge *j, const struct call *c)
{
	if (!strcmp(c->name, "uv") && !strcmp(call_text(c, 1), "run"))
		return judge_runner(j, c);
	if (!strcmp(c->name, "uv") && !strcmp(call_text(c, 1), "pip")) {
		struct call pip = {"pip", c->words + 1, c->count - 1, c->node};
		return judge_pip(j, &pip);
	}
	judge_verb(j, c);
	if (arg_find(c, "-i", "--index-url") || arg_find(c, NULL, "--extra-index-url"))
		judge_danger(j, c, "another package index");
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text, *value = NULL;
		if (i > 1 && strstr(word, "://"))
			judge_raise(j, LEVEL_NETWORK, "%s fetches %.100s", c->name, word);
		if (arg_is_long(word, "--python", &value) &&
			strchr(value ? value : call_text(c, i + 1), '/'))
			judge_raise(j, LEVEL_WRITE, "%s runs the Python that it is given", c->name);
	}
	return 0;
}

unsigned judge_cargo(struct judge *j, const struct call *c)
{
	if (!strcmp(call_text(c, 1), "fmt") && formatter_looks(c))
		judge_raise(j, LEVEL_BUILD, "cargo fmt looks only");
	else
		judge_verb(j, c);
	if (arg_find(c, NULL, "--config"))
		judge_danger(j, c, "--config can change what runs");
	return 0;
}

/* -extld is a program, and -extldflags can name more of them; -static is what is asked for. */
static bool names_linker(const char *word)
{
	for (const char *at = word; (at = strstr(at, "-extld"));) {
		at += strlen("-extld");
		size_t len = strcspn(at, " =");
		const char *flag = at + len + (at[len] != '\0');
		bool quoted = *flag == '\'' || *flag == '"';
		const char *end = flag + quoted + strlen("-static");
		if (len != strlen("flags") || strncmp(at, "flags", len) ||
			strncmp(flag + quoted, "-static", strlen("-static")) ||
			(quoted ? *end != *flag : *end && *end != ' '))
			return true;
	}
	return false;
}

unsigned judge_go(struct judge *j, const struct call *c)
{
	size_t mod = !strcmp(call_text(c, 1), "-C") ? 3 : 1;
	bool looks = word_in(call_text(c, mod + 1), WORDS("graph", "why", "verify"));
	judge_verb(j, c);
	if (!strcmp(call_text(c, mod), "mod") && !looks)
		judge_raise(j, LEVEL_WRITE, "go mod %.60s", call_text(c, mod + 1));
	static const char *const runs[] = {"exec", "toolexec", "overlay", "vettool"};
	bool env = false;
	for (size_t i = 1; i < c->count; i++) {
		/* One dash or two, the value in the same word or the next. */
		const char *word = c->words[i]->text;
		env = env || !strcmp(word, "env");
		if (env && word_in(word, WORDS("-w", "--w", "-u", "--u")))
			judge_danger(j, c, "env -w can change what runs");
		size_t dashes = strspn(word, "-"), len = strcspn(word + dashes, "=");
		for (size_t k = 0; dashes && k < ARRAY_LEN(runs); k++)
			if (strlen(runs[k]) == len && !strncmp(word + dashes, runs[k], len))
				judge_danger(j, c, "an option that runs a command");
		if (i > 1 && word_in(call_text(c, 1), WORDS("run", "install")) && strchr(word, '@'))
			judge_raise(j, LEVEL_NETWORK, "go fetches %.100s", word);
		if (names_linker(word))
			judge_danger(j, c, "-extld runs a command");
	}
	return 0;
}
