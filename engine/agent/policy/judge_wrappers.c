/* Programs that run another one: the judgement is that of what they run. */
#include "agent/policy/judge.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static unsigned judge_rest(struct judge *j, const struct call *c, size_t from)
{
	return from < c->count ? judge_words(j, c->words + from, c->count - from, c->node) : 0;
}

/* Where what a program runs may begin, behind its own options. An option that nobody knows may hide
 * the command behind it: each reading counts. */
static struct places places_of(
	struct judge *j, const struct call *c, size_t from, const struct arg_options *o)
{
	struct places p = arg_places(j, c, from, o);
	if (p.unknown)
		judge_raise(
			j, LEVEL_WRITE, "%s: the option %.60s is not known", c->name, p.unknown);
	return p;
}

/* Their dangers: what stands behind them has its own. */
static void judge_own(struct judge *j, const struct call *c, const struct places *p)
{
	const struct call own = {c->name, c->words, p->last, c->node};
	judge_flags(j, &own);
}

/* -c STRING of flock, script, su and friends. */
unsigned judge_string_option(struct judge *j, const struct call *c)
{
	const char *with_value = !strcmp(c->name, "flock")    ? "wE"
				 : !strcmp(c->name, "script") ? "EIOBmTo"
							      : "gGuswT";
	for (size_t i = 1; i < c->count; i++) {
		const char *script = arg_given(c, i, 'c', with_value, "--command");
		if (!strcmp(c->words[i]->text, "--"))
			break;
		if (script)
			return judge_script(j, script) | TRAIT_CODE;
	}
	/* Of script, words behind the file or behind a -- are the command, too. */
	unsigned traits = 0;
	size_t at = arg_skip_options(c, 1, with_value, NULL);
	for (size_t i = at; !strcmp(c->name, "script") && i < c->count; i++)
		if (i == at + 1 || !strcmp(call_text(c, i - 1), "--"))
			traits |= judge_script(j, words_join(j, "", c, i)) | judge_rest(j, c, i);
	return traits;
}

/* Each word is a command of its own. */
static unsigned judge_scripts(struct judge *j, const struct call *c, size_t from)
{
	unsigned traits = TRAIT_CODE;
	for (size_t i = from; i < c->count; i++)
		traits |= judge_script(j, c->words[i]->text);
	return traits;
}

/* tmux, screen: a command may be any of their words, in one or in several. */
unsigned judge_terminal(struct judge *j, const struct call *c)
{
	return judge_scripts(j, c, 1);
}

static void judge_strace(struct judge *j, const struct call *c, const char *with_value)
{
	for (size_t i = 1; i < c->count; i++) {
		const char *output = arg_given(c, i, 'o', with_value, "--output");
		const char *sets = arg_given(c, i, 'E', with_value, "--env");
		if (output && *output && strchr("|!", *output))
			judge_danger(j, c, "-o '|command' runs a command");
		if (sets)
			judge_name(j, sets);
	}
}

/* The command with its argument in the place of {}, or behind it, as the shell gets it. */
static unsigned judge_filled(
	struct judge *j, const char *command, const char *argument, const char *quote)
{
	const char *hole = strstr(command, "{}");
	int before = hole ? (int)(hole - command) : (int)strlen(command);
	char *text;
	size_t len = strlen(command) + strlen(argument) + 4;
	text = arena_alloc(&j->arena, len);
	snprintf(text, len, "%.*s%s%s%s%s", before, command, quote, argument, quote,
		hole ? hole + strlen("{}") : "");
	return judge_script(j, text);
}

/* Arguments behind ::: fill the command, or are commands; without them the input does. */
static unsigned judge_parallel(struct judge *j, const struct call *c, size_t from)
{
	size_t end = from;
	while (end < c->count && strncmp(c->words[end]->text, ":::", 3))
		end++;
	const struct call template = {c->name, c->words, end, c->node};
	bool reads = end == c->count;
	for (size_t i = end + 1; i < c->count; i++) /* :::: - */
		reads = reads || path_is_stdin(c->words[i]->text);
	unsigned input = reads ? TRAIT_RUNS_INPUT | TRAIT_CODE : 0u;
	if (from == end)
		return input | judge_scripts(j, c, end + 1);
	const char *command = words_join(j, "", &template, from);
	unsigned traits = judge_script(j, command);
	for (size_t i = end + 1; i < c->count && judge_afford(j, 0); i++) {
		traits |= judge_filled(j, command, c->words[i]->text, "");
		traits |= judge_filled(j, command, c->words[i]->text, "'");
	}
	if (strstr(command, "{="))
		judge_danger(j, c, "{= runs Perl");
	bool runs = (traits & TRAIT_CODE) || !strncmp(call_text(c, from), "{", 1);
	return traits | (runs ? input : 0u);
}

static unsigned judge_wrapped(struct judge *j, const struct call *c, size_t from)
{
	const char *word = call_text(c, from);
	if (!strcmp(c->name, "parallel"))
		return judge_parallel(j, c, from);
	if (!strcmp(c->name, "watch"))
		return from < c->count ? judge_script(j, words_join(j, "", c, from)) : 0;
	if (!strcmp(c->name, "flock") && word_in(word, WORDS("-c", "--command")))
		return judge_string_option(j, c);
	return judge_rest(j, c, from);
}

/* What may stand at the wrapper's operands: where a program does, they may have been left out. */
static unsigned judge_operands(
	struct judge *j, const struct call *c, const struct wrapper *w, size_t at)
{
	bool perf = !strcmp(c->name, "perf");
	unsigned traits = 0;
	if (w->operands && !perf && program_find(call_text(c, at)))
		traits = judge_wrapped(j, c, at);
	if (!perf && strcmp(c->name, "setarch"))
		return traits | judge_wrapped(j, c, at + w->operands);
	/* They have options behind their operand, too. */
	struct places p = places_of(j, c, at + w->operands, &w->options);
	judge_own(j, c, &p);
	for (size_t i = 0; i < p.count; i++)
		traits |= judge_wrapped(j, c, p.at[i]);
	return traits;
}

unsigned judge_wrapper(struct judge *j, const struct call *c)
{
	const struct wrapper *w = wrapper_find(program_base(c->name));
	struct places p = places_of(j, c, 1, &w->options);
	const struct call own = {c->name, c->words, p.last, c->node};
	unsigned traits = 0;
	judge_flags(j, &own);
	for (size_t i = 1; i < p.last; i++) {
		const char *word = c->words[i]->text;
		if (!strcmp(c->name, "command") &&
			(arg_has_flag(word, 'v', "", NULL) || arg_has_flag(word, 'V', "", NULL)))
			return 0;
	}
	if (!strcmp(c->name, "strace"))
		judge_strace(j, &own, w->options.with_value);
	for (size_t i = 0; i < p.count; i++)
		traits |= judge_operands(j, c, w, p.at[i]);
	return traits;
}

/* Variables that make a program load or run what they name, or read its settings elsewhere. */
static const char *const dangerous[] = {"LD_*", "GIT_*", "BASH_ENV", "BASH_FUNC_*", "ENV", "SHELL",
	"PATH", "IFS", "HOME", "XDG_CONFIG_HOME", "ZDOTDIR", "FPATH", "PROMPT_COMMAND", "PS0",
	"PS4", "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "PYTHONBREAKPOINT", "PERL5OPT",
	"PERL5LIB", "PERL5DB", "PERLLIB", "RUBYOPT", "RUBYLIB", "NODE_OPTIONS", "NODE_PATH",
	"LUA_INIT*", "LUA_PATH*", "LUA_CPATH*", "PHPRC", "PHP_INI_SCAN_DIR", "JAVA_TOOL_OPTIONS",
	"JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "DOTNET_STARTUP_HOOKS", "TAR_OPTIONS", "MAKEFLAGS",
	"GNUMAKEFLAGS", "MAKEFILES", "GOFLAGS", "RUSTC", "RUSTC_*WRAPPER", "RUSTFLAGS", "RUSTDOC",
	"CARGO_HOME", "CARGO_BUILD_*", "CARGO_TARGET_*", "npm_config_*", "NPM_CONFIG_*", "*PAGER",
	"TERMINFO*", "DBUS_*_ADDRESS", "PARALLEL", "PARALLEL_SHELL", "PARALLEL_SSH", "RUSTFMT",
	"PIP_*", "GREP", "GOROOT", "GOENV", "GOAUTH", "GOCACHEPROG", "PYTEST_ADDOPTS",
	"PYTEST_PLUGINS", "CCACHE_COMPILER", "CCACHE_PREFIX*", "CCACHE_CONFIGPATH", "HARNESS_PERL*",
	"MANROFF*", "VALGRIND_OPTS", "APT_CONFIG", "GCC_EXEC_PREFIX", "COMPILER_PATH",
	"PYTHONUSERBASE", "*EDITOR", "VISUAL", "MANOPT", "BROWSER", "LESS*", "RIPGREP_CONFIG_PATH",
	"AWKPATH", "AWKLIBPATH", "VIMINIT", "EXINIT", "RSYNC_RSH", "CVS_RSH", "SSH_ASKPASS",
	"SUDO_ASKPASS", "GCONV_PATH", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES",
	"CMAKE_*_LAUNCHER", "POSIXLY_CORRECT", "*_OPTS", "MAVEN_ARGS", "JAVA_HOME",
	"YARN_YARN_PATH", "YARN_PLUGINS", "YARN_RC_FILENAME", "COREPACK_*", "BUN_OPTIONS",
	"TF_CLI_*", "GROFF_*", "SYSTEMD_*", "PYTHONWARNINGS", "TAPE", "ZIPOPT",
	"RSYNC_CONNECT_PROG", "UV_*INDEX*", "UV_CONFIG_FILE", "GOPROXY", "GONOSUM*", "GOINSECURE",
	"CGO_*FLAGS*", "GEM_PATH", "RUBYGEMS_GEMDEPS", "RUSTUP_*", "CURL_HOME", "WGETRC",
	"SYSTEM_WGETRC", "PSQLRC", "MYSQL_HOME", "KUBECONFIG", "HELM_PLUGINS", "ANSIBLE_*",
	"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "CLOUDSDK_PYTHON*", "GH_CONFIG_DIR",
	"TURBO_BINARY_PATH", "ESBUILD_BINARY_PATH", "BASH_ALIASES", "BASH_CMDS", "BASH_XTRACEFD"};
/* What of it does no harm: a pager that is none, an editor that leaves the text, who committed. */
static const char *const harmless[] = {"*PAGER=cat", "*PAGER=", "*EDITOR=true",
	"*EDITOR=:", "GIT_AUTHOR_*=*", "GIT_COMMITTER_*=*", "GIT_TERMINAL_PROMPT=*",
	"GIT_OPTIONAL_LOCKS=*", "GIT_MERGE_AUTOEDIT=*", "CARGO_TARGET_DIR=*", "CARGO_BUILD_JOBS=*",
	"NODE_OPTIONS=", "NODE_OPTIONS=--max-old-space-size=[1-9][0-9][0-9][0-9]",
	"npm_config_loglevel=*", "npm_config_yes=*", "npm_config_cache=*", "NPM_CONFIG_CACHE=*",
	"PARALLEL=[0-9]", "PARALLEL=[0-9][0-9]", "LESSCHARSET=*", "LESSOPEN=", "GOENV=off",
	"GOROOT=", "PIP_NO_*=*", "PIP_DISABLE_PIP_VERSION_CHECK=*", "PIP_CACHE_DIR=*",
	"PIP_ROOT_USER_ACTION=*", "PIP_BREAK_SYSTEM_PACKAGES=*", "PIP_PROGRESS_BAR=*",
	"LESS=", "LESS=-R", "LESS=-FRX", "LESS=FRX", "GOFLAGS=", "GOFLAGS=-count=[0-9]",
	"GOFLAGS=-mod=mod", "GOFLAGS=-mod=readonly", "GOFLAGS=-mod=vendor",
	"RUSTFLAGS=", "RUSTFLAGS=-[AD]warnings", "RUSTFLAGS=-[AD] warnings",
	"RUSTFLAGS=-Ctarget-cpu=native", "RUSTFLAGS=-C target-cpu=native",
	"*_OPTS=", "*_OPTS=-Xmx[1-9][gG]", "*_OPTS=-Xmx[1-9][0-9][0-9][mM]",
	"*_OPTS=-Xmx[1-9][0-9][0-9][0-9][mM]", "COREPACK_ENABLE_*=[01]", "SYSTEMD_COLORS=[01]",
	"PYTHONWARNINGS=ignore", "PYTHONWARNINGS=default", "PYTHONWARNINGS=error",
	"PYTHONWARNINGS=always", "GOPROXY=off", "GOPROXY=direct",
	"GOPROXY=https://proxy.golang.org,direct", "RUSTUP_TOOLCHAIN=stable",
	"RUSTUP_TOOLCHAIN=beta", "RUSTUP_TOOLCHAIN=nightly", "SHELL=/bin/sh", "SHELL=/bin/bash",
	"SHELL=/bin/dash", "SHELL=/usr/bin/bash"};

static bool matches(const char *const *patterns, size_t count, const char *text)
{
	while (count && fnmatch(patterns[count - 1], text, 0))
		count--;
	return count;
}

/* `value` with its =. The pattern's is the first one: PAGER='./x; PAGER=cat' is no cat. */
static bool is_harmless(const char *word, const char *value)
{
	size_t i = 0;
	while (i < ARRAY_LEN(harmless) &&
		(fnmatch(harmless[i], word, 0) || fnmatch(strchr(harmless[i], '='), value, 0)))
		i++;
	return i < ARRAY_LEN(harmless);
}

static void judge_set(struct judge *j, const char *word)
{
	size_t len = strcspn(word, "=+[");
	const char *name = arena_copy(&j->arena, word, len);
	bool tables = word[len] == '[' && word_in(name, WORDS("aliases", "galiases", "saliases",
								"functions", "commands"));
	if (tables)
		judge_raise(j, LEVEL_DESTRUCTIVE, "sets %s of zsh, which change what runs", name);
	if (matches(dangerous, ARRAY_LEN(dangerous), name) && !is_harmless(word, word + len))
		judge_raise(j, LEVEL_DESTRUCTIVE, "sets %.40s, which can change what runs", name);
}

/* A subscript, and a value that is taken for arithmetic, may set other names: a[PATH=1]=, x=PATH=1.
 */
void judge_name(struct judge *j, const char *word)
{
	judge_set(j, word);
	for (const char *at = strchr(word, '='); at; at = strchr(at + 1, '=')) {
		const char *name = at;
		while (name > word && shell_in_name(name[-1]))
			name--;
		if (name > word)
			judge_set(j, name);
	}
}

/* Words of the form NAME=VALUE: of env, of export and its kin, and before a command. */
unsigned judge_assign(struct judge *j, const struct call *c)
{
	bool names = arg_find(c, "-n", NULL); /* declare -n: the value is a name, too */
	bool alters = false; /* declare -l and its like: the variable holds another text */
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		size_t len = strcspn(word, "=+[");
		alters = alters || (*word == '-' && strpbrk(word, "luciLRZEF"));
		if (alters && strcmp(c->name, "env") != 0)
			value_read(j, word);
		if (word[len] && shell_holds_code(word + len))
			judge_raise(j, LEVEL_DESTRUCTIVE,
				"sets %.*s to a text with a substitution in it", (int)len, word);
		if (word[0] != '-' && word[len])
			judge_name(j, word);
		value_assign(j, word);
		if (names && word[len] == '=') {
			judge_name(j, word + len + 1);
			value_read(j, word + len + 1);
			value_read(j, word);
		}
	}
	return 0;
}

static unsigned judge_env_command(struct judge *j, const struct call *c, size_t at)
{
	at += !strcmp(call_text(c, at), "-");
	size_t from = at;
	while (from < c->count && strchr(c->words[from]->text, '='))
		from++;
	if (from > at) {
		const struct call assigns = {
			.name = "env", .words = c->words + at - 1, .count = from - at + 1};
		judge_assign(j, &assigns);
	}
	return judge_rest(j, c, from);
}

/* env -S TEXT: its words and what stands behind it are arguments of env, options and settings, too.
 */
static unsigned judge_env_string(
	struct judge *j, const struct call *c, const char *text, size_t from)
{
	const struct sh_word self = {.text = text}, *one = &self;
	const struct call split = {.words = &one, .count = 1};
	const char *script = words_join(j, "env", &split, 0);
	const struct sh_node *list = shell_parse(script, strlen(script), true, &j->arena, NULL);
	const struct sh_word **words;
	if (!list || strpbrk(text, "\\#`()<>;&|{\n\v\f\r")) {
		judge_raise(j, LEVEL_DESTRUCTIVE, "env -S: no shell reads this as env does");
		return judge_script(j, words_join(j, script, c, from));
	}
	size_t own = words_of(j, list->children->children, &words);
	size_t rest = from < c->count ? c->count - from : 0;
	const struct sh_word **all = arena_array(&j->arena, own + rest, sizeof(*all));
	memcpy(all, words, own * sizeof(*all));
	for (size_t i = 0; i < rest; i++)
		all[own + i] = c->words[from + i];
	return judge_words(j, all, own + rest, c->node);
}

unsigned judge_env(struct judge *j, const struct call *c)
{
	const struct arg_options *options = &wrapper_find("env")->options;
	struct places p = places_of(j, c, 1, options);
	unsigned traits = 0;
	judge_own(j, c, &p);
	for (size_t i = 1; i < p.last; i++) {
		const char *text = arg_take(c, &i, 'S', options->with_value, "--split-string");
		if (text)
			return judge_env_string(j, c, text, i + 1);
	}
	for (size_t i = 0; i < p.count; i++)
		traits |= judge_env_command(j, c, p.at[i]);
	return traits;
}

/* What xargs puts in the place of its replace string; NULL: it appends what it reads. */
static const char *replaced(const struct call *c, size_t options)
{
	const char *mark = NULL, *value = NULL;
	for (size_t i = 1; i < options; i++) {
		const char *word = c->words[i]->text;
		const char *given = arg_given(c, i, 'I', "adEelLnPs", NULL);
		if (given)
			mark = given;
		else if (arg_has_flag(word, 'i', "adEelLnPs", &value) ||
			 arg_is_long(word, "--replace", &value))
			mark = value && *value ? value : "{}";
	}
	return mark;
}

/* The command, and the same with a word of what it reads. */
static unsigned judge_read(struct judge *j, const struct call *c, size_t from, const char *mark)
{
	static const struct sh_word read = {.text = "$input", .dynamic = true};
	if (from >= c->count)
		return 0;
	if (call_fed(c))
		value_add(j, "input", call_fed(c));
	unsigned traits = judge_rest(j, c, from);
	const struct sh_word **words = arena_array(&j->arena, c->count - from + 1, sizeof(*words));
	size_t count = c->count - from;
	for (size_t i = 0; i < count; i++)
		words[i] =
			mark && strstr(c->words[from + i]->text, mark) ? &read : c->words[from + i];
	if (!mark)
		words[count++] = &read;
	return traits | judge_words(j, words, count, c->node);
}

unsigned judge_xargs(struct judge *j, const struct call *c)
{
	struct places p = places_of(j, c, 1, &wrapper_find("xargs")->options);
	const char *mark = replaced(c, p.last);
	unsigned traits = 0;
	for (size_t i = 0; i < p.count; i++)
		traits |= judge_read(j, c, p.at[i], mark);
	/* What it reads becomes a part of the code. */
	return traits | (mark && (traits & TRAIT_CODE) ? TRAIT_RUNS_INPUT : 0u);
}

static const struct verbs runner_verbs[] = {
	{LEVEL_BUILD, WORDS("install", "update", "lock", "build", "sync", "show", "list", "info",
			      "check", "graph")},
	{LEVEL_NETWORK, WORDS("publish", "outdated", "search")},
	{LEVEL_WRITE, NULL},
};

static unsigned judge_run(
	struct judge *j, const struct call *c, const struct arg_options *options, size_t at)
{
	const char *verb = call_text(c, at);
	unsigned traits = 0;
	if (strcmp(verb, "run") != 0 && strcmp(verb, "exec") != 0) {
		judge_raise(j, verb_level(runner_verbs, verb), "%s %.60s", c->name, verb);
		return 0;
	}
	judge_raise(j, LEVEL_BUILD, "%s %s", c->name, verb);
	struct places p = places_of(j, c, at + 1, options);
	for (size_t i = 0; i < p.count; i++)
		traits |= judge_rest(j, c, p.at[i]);
	return traits;
}

/* poetry run, bundle exec, uv run: programs of a project's own environment. */
unsigned judge_runner(struct judge *j, const struct call *c)
{
	const struct arg_options *options = &wrapper_find(c->name)->options;
	struct places p = places_of(j, c, 1, options);
	unsigned traits = 0;
	for (size_t i = 0; i < p.count; i++)
		traits |= judge_run(j, c, options, p.at[i]);
	return traits;
}

unsigned judge_sudo(struct judge *j, const struct call *c)
{
	bool named = arg_find(c, "-u", "--user");
	unsigned traits = 0;
	if (!strcmp(c->name, "su") || (!strcmp(c->name, "runuser") && !named))
		return judge_string_option(j, c);
	struct places p = places_of(j, c, 1, &wrapper_find(c->name)->options);
	for (size_t i = 0; i < p.count; i++) {
		size_t from = p.at[i];
		while (from < c->count && strchr(c->words[from]->text, '='))
			from++;
		traits |= judge_rest(j, c, from);
	}
	return traits;
}

unsigned judge_busybox(struct judge *j, const struct call *c)
{
	return judge_rest(j, c, 1);
}

/* All of a tree, from the root, a home directory or above the workspace on: no test picks. */
static bool finds_everything(const struct judge *j, const struct call *c)
{
	static const char *const other[] = {"-type", "-depth", "-mindepth", "-maxdepth", "-xdev",
		"-mount", "-delete", "-print*", "-d"};
	static const char *const before[] = {"-[HLP]", "-O?"};
	bool all = false;
	size_t i = 1;
	while (matches(before, ARRAY_LEN(before), call_text(c, i)))
		i++;
	for (; i < c->count && !strchr("-(!", c->words[i]->text[0]); i++) {
		const char *from = c->words[i]->text;
		all = all || path_is_root(from) || path_is_home(j, from) || path_is_above(j, from);
	}
	for (; i < c->count && strncmp(c->words[i]->text, "-exec", 5); i++)
		all = all && (c->words[i]->text[0] != '-' ||
				     matches(other, ARRAY_LEN(other), c->words[i]->text));
	return all;
}

/* A + is an argument like others, unless {} is before it. */
static bool ends_exec(const struct call *c, size_t at)
{
	const char *word = c->words[at]->text;
	return !strcmp(word, ";") || (!strcmp(word, "+") && !strcmp(call_text(c, at - 1), "{}"));
}

/* Expression tokens, not options: they end the commands after -exec. */
/* Whether the word is what the test before it compares with, and nothing else, whatever it holds.
 */
static bool is_compared(const struct call *c, size_t at)
{
	static const char *const alone[] = {"-a", "-and", "-d", "-daystart", "-depth", "-empty",
		"-executable", "-false", "-follow", "-ls", "-mount", "-nogroup", "-noleaf", "-not",
		"-nouser", "-o", "-or", "-print", "-print0", "-prune", "-quit", "-readable",
		"-true", "-writable", "-xdev", NULL};
	const char *before = call_text(c, at - 1);
	return *before == '-' && !word_in(before, alone) && !c->words[at]->splits;
}

unsigned judge_find(struct judge *j, const struct call *c)
{
	static const char *const remover[] = {"rm", "*/rm"};
	unsigned traits = 0;
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		if (i > 1 && !is_compared(c, i))
			judge_computed(j, c, i, "an expression that is computed, or not quoted");
		if (word_in(word, WORDS("-exec", "-execdir", "-ok", "-okdir"))) {
			size_t end = i + 1;
			while (end < c->count && !ends_exec(c, end))
				end++;
			traits |= judge_words(j, c->words + i + 1, end - i - 1, NULL);
			if (matches(remover, ARRAY_LEN(remover), call_text(c, i + 1)) &&
				finds_everything(j, c))
				judge_raise(j, LEVEL_DENIED, "find removes everything there is");
			i = end;
		}
		if (word_in(word, WORDS("-fls", "-fprint", "-fprint0", "-fprintf")))
			judge_raise(j,
				path_is_device(call_text(c, i + 1)) ? LEVEL_DENIED : LEVEL_WRITE,
				"find: %s writes a file", word);
		if (!strcmp(word, "-delete")) {
			judge_danger(j, c, "-delete removes what it finds");
			if (finds_everything(j, c))
				judge_raise(j, LEVEL_DENIED, "find removes everything there is");
		}
	}
	return traits;
}
