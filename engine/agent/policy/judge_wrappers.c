/* Programs that run another one: the judgement is that of what they run. */
#include "agent/policy/judge.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* name, operands before the command, short options with a value, long ones; of all others nothing
 * stands before it but options */
static const struct wrapper {
	const char *name;
	size_t operands;
	const char *with_value;
	const char *const *long_with_value;
} wrappers[] = {
	{"nice", 0, "n", WORDS("--adjustment", "--class", "--classdata", "--pid")},
	{"ionice", 0, "cnpPu", WORDS("--adjustment", "--class", "--classdata", "--pid")},
	{"chrt", 1, "TPDp",
		WORDS("--sched-runtime", "--sched-period", "--sched-deadline", "--pid")},
	{"taskset", 1, "", NULL},
	{"stdbuf", 0, "ioe", WORDS("--input", "--output", "--error")},
	{"timeout", 1, "ks", WORDS("--kill-after", "--signal")},
	{"time", 0, "fo", WORDS("--format", "--output")},
	{"watch", 0, "nq", WORDS("--interval", "--equexit")},
	{"flock", 1, "wE", WORDS("--wait", "--timeout", "--conflict-exit-code")},
	{"prlimit", 0, "p", NULL},
	{"setarch", 1, "", NULL},
	{"strace", 0, "aeEIopPsSuUX",
		WORDS("--output", "--attach", "--user", "--trace", "--trace-path", "--signal",
			"--status", "--string-limit", "--columns", "--env")},
	{"ltrace", 0, "aAeFlnopsuxw",
		WORDS("--output", "--attach", "--user", "--trace", "--trace-path", "--signal",
			"--status", "--string-limit", "--columns", "--env")},
	{"chroot", 1, "", WORDS("--userspec", "--groups")},
	{"unshare", 0, "RGSlw",
		WORDS("--map-user", "--map-group", "--map-users", "--map-groups", "--setuid",
			"--setgid", "--root", "--wd", "--propagation", "--setgroups", "--monotonic",
			"--boottime")},
	{"nsenter", 0, "tSGrw", WORDS("--target", "--wd", "--setuid", "--setgid")},
	{"setpriv", 0, "",
		WORDS("--reuid", "--regid", "--groups", "--inh-caps", "--bounding-set",
			"--ambient-caps", "--securebits")},
	{"systemd-run", 0, "pEuHM",
		WORDS("--unit", "--property", "--slice", "--uid", "--gid", "--setenv")},
	{"xvfb-run", 0, "efnpsw",
		WORDS("--error-file", "--auth-file", "--server-num", "--xauth-protocol",
			"--server-args", "--wait")},
	{"fakeroot", 0, "lsib", NULL},
	{"faketime", 1, "", NULL},
	{"start-stop-daemon", 0, "npxcugrdNPIkaR", NULL},
	{"parallel", 0, "jaINLnsPS",
		WORDS("--jobs", "--max-args", "--max-procs", "--colsep", "--arg-file",
			"--delimiter", "--joblog", "--results", "--retries", "--timeout",
			"--tmpdir", "--tagstring", "--workdir", "--halt", "--delay", "--nice",
			"--load", "--memfree", "--env", "--block", "--recstart", "--recend")},
	{"exec", 0, "a", NULL},
	{"perf", 1, "eopFCtGrIDx",
		WORDS("--event", "--output", "--pid", "--freq", "--repeat", "--field-separator")},
	{"rlwrap", 0, "bCDefgHlMOPqsStw",
		WORDS("--break-chars", "--command-name", "--history-no-dupes", "--file",
			"--forget-matching", "--history-filename", "--logfile", "--multi-line-ext",
			"--pre-given", "--quote-characters", "--histsize", "--substitute-prompt",
			"--set-term-name", "--wait-before-prompt")},
	{"ld-linux-x86-64.so.2", 0, "",
		WORDS("--library-path", "--preload", "--audit", "--argv0", "--inhibit-rpath")},
	{"ld.so", 0, "",
		WORDS("--library-path", "--preload", "--audit", "--argv0", "--inhibit-rpath")},
	{"", 0, "", NULL},
};

static const struct wrapper *wrapper_find(const char *name)
{
	const struct wrapper *w = wrappers;
	while (*w->name && strcmp(w->name, name) != 0)
		w++;
	return w;
}

static unsigned judge_rest(struct judge *j, const struct call *c, size_t from)
{
	return from < c->count ? judge_words(j, c->words + from, c->count - from, c->node) : 0;
}

/* `first` (may be "") and the words behind it as one text. */
static const char *join(struct judge *j, const char *first, const struct call *c, size_t from)
{
	size_t len = strlen(first) + 2, at;
	for (size_t i = from; i < c->count; i++)
		len += strlen(c->words[i]->text) + 1;
	char *text = arena_alloc(&j->arena, len);
	at = (size_t)snprintf(text, len, "%s ", first);
	for (size_t i = from; i < c->count; i++)
		at += (size_t)snprintf(text + at, len - at, "%s ", c->words[i]->text);
	return text;
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
	return 0;
}

/* Each word is a command of its own. */
static unsigned judge_scripts(struct judge *j, const struct call *c, size_t from)
{
	unsigned traits = TRAIT_CODE;
	for (size_t i = from; i < c->count; i++)
		traits |= judge_script(j, c->words[i]->text);
	return traits;
}

static void judge_strace(
	struct judge *j, const struct call *c, const char *with_value, size_t options)
{
	for (size_t i = 1; i < options; i++) {
		const char *output = arg_given(c, i, 'o', with_value, "--output");
		const char *sets = arg_given(c, i, 'E', with_value, "--env");
		if (output && *output == '|')
			judge_danger(j, c, "-o '|command' runs a command");
		if (sets)
			judge_name(j, sets);
	}
}

unsigned judge_wrapper(struct judge *j, const struct call *c)
{
	const struct wrapper *w = wrapper_find(c->name);
	size_t from = arg_skip_options(c, 1, w->with_value, w->long_with_value);
	if (!strcmp(c->name, "command") && (arg_find(c, "-v", NULL) || arg_find(c, "-V", NULL)))
		return 0;
	if (!strcmp(c->name, "strace"))
		judge_strace(j, c, w->with_value, from);
	/* The architecture may be left out. */
	bool named = strcmp(c->name, "setarch") != 0 ||
		     (from + 1 < c->count && !program_find(call_text(c, from)));
	from += named ? w->operands : 0;
	if (!strcmp(c->name, "perf"))
		from = arg_skip_options(c, from, w->with_value, w->long_with_value);
	if (!strcmp(c->name, "parallel") && from >= c->count)
		return TRAIT_RUNS_INPUT | TRAIT_CODE;
	if (!strcmp(c->name, "parallel") && !strncmp(call_text(c, from), ":::", 3))
		return judge_scripts(j, c, from + 1);
	if (!strcmp(c->name, "watch") || !strcmp(c->name, "parallel"))
		return from < c->count ? judge_script(j, join(j, "", c, from)) : 0;
	const char *word = call_text(c, from);
	if (!strcmp(c->name, "flock") && (!strcmp(word, "-c") || !strcmp(word, "--command")))
		return judge_string_option(j, c);
	return judge_rest(j, c, from);
}

/* Variables that make a program load or run what they name, or read its settings elsewhere. */
static const char *const dangerous[] = {"LD_*", "GIT_*", "BASH_ENV", "BASH_FUNC_*", "ENV", "SHELL",
	"PATH", "IFS", "HOME", "XDG_CONFIG_HOME", "ZDOTDIR", "FPATH", "PROMPT_COMMAND", "PS0",
	"PS4", "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "PYTHONBREAKPOINT", "PERL5OPT",
	"PERL5LIB", "PERL5DB", "PERLLIB", "RUBYOPT", "RUBYLIB", "NODE_OPTIONS", "NODE_PATH",
	"LUA_INIT*", "LUA_PATH*", "LUA_CPATH*", "PHPRC", "PHP_INI_SCAN_DIR", "JAVA_TOOL_OPTIONS",
	"JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "DOTNET_STARTUP_HOOKS", "TAR_OPTIONS", "MAKEFLAGS",
	"GNUMAKEFLAGS", "MAKEFILES", "GOFLAGS", "RUSTC", "RUSTC_*WRAPPER", "RUSTFLAGS", "RUSTDOC",
	"CARGO_HOME", "CARGO_BUILD_*", "CARGO_TARGET_*", "npm_config_*", "NPM_CONFIG_*", "PAGER",
	"DPKG_PAGER", "SYSTEMD_PAGER", "APT_CONFIG", "GCC_EXEC_PREFIX", "COMPILER_PATH",
	"PYTHONUSERBASE", "EDITOR", "VISUAL", "MANPAGER", "MANOPT", "BROWSER", "LESS", "LESSOPEN",
	"LESSCLOSE", "LESSKEYIN", "RIPGREP_CONFIG_PATH", "AWKPATH", "AWKLIBPATH", "VIMINIT",
	"EXINIT", "RSYNC_RSH", "CVS_RSH", "SSH_ASKPASS", "SUDO_ASKPASS", "GCONV_PATH",
	"OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "CMAKE_*_LAUNCHER"};
/* What of it does no harm: a pager that is none, an editor that leaves the text, who committed. */
static const char *const harmless[] = {"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat",
	"SYSTEMD_PAGER=cat", "SYSTEMD_PAGER=", "PAGER=", "GIT_PAGER=", "EDITOR=true",
	"GIT_EDITOR=true", "GIT_EDITOR=:", "GIT_SEQUENCE_EDITOR=true",
	"GIT_SEQUENCE_EDITOR=:", "GIT_AUTHOR_*=*", "GIT_COMMITTER_*=*", "GIT_TERMINAL_PROMPT=*",
	"GIT_OPTIONAL_LOCKS=*", "GIT_MERGE_AUTOEDIT=*", "CARGO_TARGET_DIR=*", "CARGO_BUILD_JOBS=*",
	"NODE_OPTIONS=", "NODE_OPTIONS=--max-old-space-size=[1-9][0-9][0-9][0-9]",
	"npm_config_loglevel=*", "npm_config_yes=*", "npm_config_cache=*", "NPM_CONFIG_CACHE=*",
	"LESS=", "LESS=-R", "LESS=-FRX", "LESS=FRX", "GOFLAGS=", "GOFLAGS=-count=[0-9]",
	"GOFLAGS=-mod=mod", "GOFLAGS=-mod=readonly", "GOFLAGS=-mod=vendor",
	"RUSTFLAGS=", "RUSTFLAGS=-[AD]warnings", "RUSTFLAGS=-[AD] warnings",
	"RUSTFLAGS=-Ctarget-cpu=native", "RUSTFLAGS=-C target-cpu=native"};

static bool matches(const char *const *patterns, size_t count, const char *text)
{
	while (count && fnmatch(patterns[count - 1], text, 0))
		count--;
	return count;
}

static void judge_set(struct judge *j, const char *word)
{
	size_t len = strcspn(word, "=+[");
	const char *name = arena_copy(&j->arena, word, len);
	if (matches(dangerous, ARRAY_LEN(dangerous), name) &&
		!matches(harmless, ARRAY_LEN(harmless), word))
		judge_raise(j, LEVEL_DESTRUCTIVE, "sets %.40s, which can run code", name);
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
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		size_t len = strcspn(word, "=+[");
		if (word[len] && shell_holds_code(word + len))
			judge_raise(j, LEVEL_DESTRUCTIVE,
				"sets %.*s to a text with a substitution in it", (int)len, word);
		if (word[0] != '-' && word[len])
			judge_name(j, word);
		if (names && word[len] == '=')
			judge_name(j, word + len + 1);
	}
	return 0;
}

unsigned judge_env(struct judge *j, const struct call *c)
{
	size_t at = arg_skip_options(c, 1, "uCa", WORDS("--unset", "--chdir", "--argv0"));
	for (size_t i = 1; i < at; i++) {
		const char *text = arg_take(c, &i, 'S', "uCa", "--split-string");
		if (!text)
			continue;
		if (strstr(text, "\\_"))
			judge_raise(j, LEVEL_DESTRUCTIVE, "env -S splits at escapes");
		/* Its words are arguments of env: options and settings may be among them. */
		const struct sh_word self = {.text = join(j, text, c, i + 1)};
		const struct sh_word *words[] = {&self};
		const struct call split = {c->name, words, 1, NULL};
		return judge_script(j, join(j, "env", &split, 0));
	}
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

unsigned judge_xargs(struct judge *j, const struct call *c)
{
	static const struct sh_word read = {.text = "$input", .dynamic = true};
	size_t from = arg_skip_options(c, 1, "adEILnPs",
		WORDS("--arg-file", "--delimiter", "--max-lines", "--max-args", "--max-procs",
			"--max-chars", "--process-slot-var"));
	const char *mark = replaced(c, from);
	unsigned traits = judge_rest(j, c, from);
	/* The same with a word of what it reads. */
	const struct sh_word **words = arena_array(&j->arena, c->count - from + 1, sizeof(*words));
	size_t count = c->count - from;
	for (size_t i = 0; i < count; i++)
		words[i] =
			mark && strstr(c->words[from + i]->text, mark) ? &read : c->words[from + i];
	if (!mark)
		words[count++] = &read;
	if (from < c->count)
		traits |= judge_words(j, words, count, c->node);
	/* What it reads becomes a part of the code. */
	return traits | (mark && (traits & TRAIT_CODE) ? TRAIT_RUNS_INPUT : 0u);
}

/* poetry run, bundle exec, uv run: programs of a project's own environment. */
unsigned judge_runner(struct judge *j, const struct call *c)
{
	size_t at = arg_skip_options(c, 1, "", NULL);
	const char *verb = call_text(c, at);
	if (strcmp(verb, "run") != 0 && strcmp(verb, "exec") != 0) {
		judge_raise(j,
			!strcmp(verb, "install")   ? LEVEL_BUILD
			: !strcmp(verb, "publish") ? LEVEL_NETWORK
						   : LEVEL_WRITE,
			"%s %.60s", c->name, verb);
		return 0;
	}
	judge_raise(j, LEVEL_BUILD, "%s %s", c->name, verb);
	return judge_rest(j, c, arg_skip_options(c, at + 1, "", NULL));
}

unsigned judge_sudo(struct judge *j, const struct call *c)
{
	bool named = arg_find(c, "-u", "--user");
	if (!strcmp(c->name, "su") || (!strcmp(c->name, "runuser") && !named))
		return judge_string_option(j, c);
	size_t from = arg_skip_options(c, 1, "ughpCDRrtU",
		WORDS("--user", "--group", "--host", "--prompt", "--chdir", "--close-from",
			"--role", "--type"));
	while (from < c->count && strchr(c->words[from]->text, '='))
		from++;
	return judge_rest(j, c, from);
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

/* Expression tokens, not options: the commands after -exec end at ; or +. */
unsigned judge_find(struct judge *j, const struct call *c)
{
	static const char *const remover[] = {"rm", "*/rm"};
	unsigned traits = 0;
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		if (word_in(word, WORDS("-exec", "-execdir", "-ok", "-okdir"))) {
			size_t end = i + 1;
			while (end < c->count && !word_in(c->words[end]->text, WORDS(";", "+")))
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
