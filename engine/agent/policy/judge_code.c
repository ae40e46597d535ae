/* Interpreters, debuggers, editors and whatever else runs code that its arguments bring along. */
#include "agent/policy/judge.h"

#include <string.h>
#include <strings.h>

static bool has_any(const char *code, const char *const *marks)
{
	for (; *marks; marks++)
		if (strcasestr(code, *marks))
			return true;
	return false;
}

static const char *const exec_marks[] = {"os.system", "subprocess", "os.exec", "os.popen",
	"pty.spawn", "child_process", "execsync", "spawnsync", "system(", "system ", "exec(",
	"exec ", "eval(", "eval ", "popen", "qx", "`", "%x", "system\"", "system'", "exec\"",
	"exec'", "spawn(", "os.execute", "shell_exec", "passthru", "proc_open",
	"runtime.getruntime", "__import__", "os.spawn", "open3", "deno.command", "deno.run(", NULL};
static const char *const delete_marks[] = {"rmtree", "os.remove", "os.unlink", "unlink", "rmdir",
	"rm_rf", "rm_r", "fileutils.rm", "rmsync", "fs.rm", "file.delete", "file.remove",
	"truncate", "deno.remove", ".rm(", "from os import", "from shutil import", NULL};
static const char *const fetch_marks[] = {"urllib.request", "urllib2", "urllib3", "urlretrieve",
	"requests.", "import requests", "httpx", "http.client", "urlopen", "fetch(", "axios",
	"net/http", "open-uri", "lwp", "http::", "https.get", "http.get", "curl", "wget", "aiohttp",
	"file_get_contents(\"http", "file_get_contents('http", "uri.open", "require(\"http",
	"require('http", "node:http", NULL};
static const char *const net_marks[] = {"socket", "http://", "https://", "ftp://", "smtplib",
	"net.connect", "tcpsocket", "dns.", "require(\"net\")", "require('net')", NULL};

/* perl -MLWP, ruby -ropen-uri: what an option loads is there for the code. */
static bool loads_any(const struct call *c, const char *const *marks)
{
	for (size_t i = 1; i < c->count; i++)
		if (c->words[i]->text[0] == '-' && strchr("Mmr", c->words[i]->text[1]) &&
			has_any(c->words[i]->text, marks))
			return true;
	return false;
}

/* interpreter, flags whose value is code, other flags with a value, those of them whose value may
 * be the next word, what runs or removes something in this language alone, whether `open` takes a
 * pipe; of all others only long options have code */
static const struct interpreter {
	const char *name, *code, *with_value, *separate;
	const char *const *runs;
	bool opens;
} interpreters[] = {
	{"python", "c", "mWX", "WX", NULL, false},
	{"pypy", "c", "mWX", "WX", NULL, false},
	{"perl", "eE", "ICDFiMmVx", "I", NULL, true},
	{"ruby", "e", "ICEFIKrTW", "CEIr", WORDS("spawn"), true},
	{"node", "ep", "rC", "rC", NULL, false},
	{"nodejs", "ep", "rC", "rC", NULL, false},
	{"bun", "e", "", "", NULL, false},
	{"php", "rBRE", "cdfFSzt", "cdzt", NULL, false},
	{"lua", "e", "l", "l", NULL, false},
	{"luajit", "e", "l", "l", NULL, false},
	{"expect", "c", "f", "", WORDS("spawn ", "file delete"), true},
	{"tclsh", "", "", "", WORDS("file delete"), true},
	{"Rscript", "e", "", "", NULL, false},
	{"R", "e", "f", "", NULL, false},
	{"gnuplot", "e", "", "", WORDS("!"), false},
	{"guile", "c", "els", "l", WORDS("system*", "delete-file"), false},
	{"julia", "eE", "", "", WORDS("rm("), false},
	{"osascript", "e", "", "", WORDS("shell script"), false},
	{"dc", "e", "f", "", WORDS("!"), false},
	{"ed", "", "p", "p", WORDS("!"), false},
	{"m4", "", "DUI", "I", WORDS("syscmd"), false},
	{"", "", "", "", NULL, false},
};

static const struct interpreter *interpreter_find(const char *name)
{
	const char *base = program_base(name);
	const struct interpreter *in = interpreters;
	while (*in->name && strcmp(in->name, base) != 0)
		in++;
	return in;
}

/* q with a letter, or with what begins a line of a pattern, for its quote. */
static bool quotes_oddly(const char *code)
{
	for (const char *at = code; (at = strchr(at, 'q')); at++) {
		bool begins = at == code || !strchr("$@%&", at[-1]);
		begins = begins && (at == code || !shell_in_name(at[-1]));
		const char *quote = at + 1 + (at[1] && strchr("qwxr", at[1]));
		size_t blanks = strspn(quote, " \t\n");
		if (begins && (quote[blanks] == '^' || (blanks && shell_in_name(quote[blanks]))))
			return true;
	}
	return false;
}

/* Between two words it is one of a pattern's, a word or the beginning of a line behind it, and with
 * another one an "or". What is opened begins or ends with its pipe. */
static bool is_pipe(const char *code, const char *at)
{
	const char *next = at + 1 + strspn(at + 1, " \t"), *last = at;
	while (last > code && strchr(" \t", last[-1]))
		last--;
	bool parts =
		last > code && shell_in_name(last[-1]) && (shell_in_name(*next) || *next == '^');
	return at[1] != '|' && !(parts && !quotes_oddly(code));
}

/* Whether a pipe may be what is opened. */
static bool opens_pipe(const char *code)
{
	const char *at = strcasestr(code, "open") ? strchr(code, '|') : NULL;
	while (at && !is_pipe(code, at))
		at = strchr(at + 2, '|');
	return at;
}

unsigned judge_inline_code(struct judge *j, const struct call *c, const struct sh_word *code)
{
	const struct interpreter *in = interpreter_find(c->name);
	bool fetches = has_any(code->text, fetch_marks) || loads_any(c, fetch_marks);
	bool runs = has_any(code->text, exec_marks) || (in->runs && has_any(code->text, in->runs));
	runs = runs || (in->opens && opens_pipe(code->text));
	if (fetches && runs)
		judge_raise(j, LEVEL_DENIED, "%s fetches code and runs it", c->name);
	else if (fetches || has_any(code->text, net_marks))
		judge_raise(j, LEVEL_NETWORK, "%s: inline code that uses the network", c->name);
	else if (runs || has_any(code->text, delete_marks))
		judge_raise(j, LEVEL_DESTRUCTIVE, "%s: inline code that runs or removes something",
			c->name);
	else
		judge_raise(j, LEVEL_WRITE, "%s: inline code", c->name);
	if (code->dynamic)
		judge_raise(j, LEVEL_DESTRUCTIVE, "%s: inline code that is computed", c->name);
	return TRAIT_CODE;
}

static const char *const long_code[] = {
	"--eval", "--print", "--execute", "--command", "--run", NULL};

/* Whether the option's value is the next word. */
static bool takes_next(const char *word, const struct interpreter *in)
{
	const char *value = NULL;
	if (!strcmp(word, "--require") || !strcmp(word, "--import"))
		return true;
	for (const char *f = in->separate; *f; f++)
		if (arg_has_flag(word, *f, in->with_value, &value) && !*value)
			return true;
	return false;
}

/* Whether the word is an option that code follows, or that has it in `value`. */
static bool takes_code(const char *word, const struct interpreter *flags, const char **value)
{
	bool hit = false;
	for (const char *f = flags->code; *f && !hit; f++)
		hit = arg_has_flag(word, *f, flags->with_value, value);
	for (const char *const *l = long_code; *l && !hit; l++)
		hit = arg_is_long(word, *l, value);
	return hit;
}

/* What the interpreter runs of its input: all of it, unless a here-document says what that is. */
static unsigned judge_fed(struct judge *j, const struct call *c)
{
	struct sh_word fed = {.text = call_fed(c)};
	return fed.text ? judge_inline_code(j, c, &fed) : TRAIT_RUNS_INPUT | TRAIT_CODE;
}

/* perl opens its operands, and a name with a pipe at one end is a command. */
static void judge_opened(struct judge *j, const struct call *c, size_t from)
{
	for (size_t i = from; i < c->count && !strcmp(program_base(c->name), "perl"); i++) {
		const char *word = c->words[i]->text + strspn(c->words[i]->text, " \t\n");
		size_t len = strlen(word);
		while (len && strchr(" \t\n", word[len - 1]))
			len--;
		if (len && (*word == '|' || word[len - 1] == '|'))
			judge_danger(j, c, "a file name with a pipe runs a command");
	}
}

unsigned judge_inline(struct judge *j, const struct call *c)
{
	const struct interpreter *in = interpreter_find(c->name);
	bool tests = false, coded = false;
	size_t i = 1;
	for (; i < c->count && !(coded && in->code[0] == 'c'); i++) {
		const char *word = c->words[i]->text, *value = NULL;
		if (takes_code(word, in, &value)) {
			struct sh_word own = {
				.text = value ? value : "", .dynamic = c->words[i]->dynamic};
			bool next = !*own.text && i + 1 < c->count;
			i += next;
			judge_inline_code(j, c, next ? c->words[i] : &own);
			coded = true;
			continue;
		}
		if (!strcmp(word, "-") || word[0] != '-' || (coded && !strcmp(word, "--")))
			break;
		tests = strcmp(word, "--no-test") && (tests || !strcmp(word, "--test"));
		i += takes_next(word, in);
	}
	judge_opened(j, c, i);
	if (!strcmp(c->name, "ed"))
		return judge_fed(j, c);
	/* node looks for them itself */
	if (coded || (tests && i == c->count && !strncmp(c->name, "node", strlen("node"))))
		return TRAIT_CODE;
	if (i < c->count && !path_is_stdin(c->words[i]->text)) {
		judge_raise(j, LEVEL_WRITE, "%s runs %.80s", c->name, c->words[i]->text);
		return TRAIT_CODE;
	}
	return judge_fed(j, c);
}

/* `python -m MODULE`; the call is the module with what follows. */
static unsigned judge_module(struct judge *j, const struct call *c, const char *module)
{
	static const struct {
		const char *module;
		enum level level;
	} modules[] = {{"pytest", LEVEL_BUILD}, {"unittest", LEVEL_BUILD}, {"mypy", LEVEL_BUILD},
		{"ruff", LEVEL_BUILD}, {"compileall", LEVEL_BUILD}, {"py_compile", LEVEL_BUILD},
		{"build", LEVEL_BUILD}, {"tox", LEVEL_BUILD}, {"venv", LEVEL_WRITE},
		{"json.tool", LEVEL_BUILD}, {"http.server", LEVEL_NETWORK},
		{"smtpd", LEVEL_NETWORK}, {"ftplib", LEVEL_NETWORK}, {"webbrowser", LEVEL_NETWORK},
		{"twine", LEVEL_NETWORK}};
	size_t i = 0;
	while (i < ARRAY_LEN(modules) && strcmp(modules[i].module, module) != 0)
		i++;
	if (i == ARRAY_LEN(modules)) {
		judge_raise(j, LEVEL_WRITE, "python -m %.60s", module);
		for (size_t k = 1; k < c->count; k++) /* timeit's code, and whoever has some, too */
			if (has_any(c->words[k]->text, exec_marks) ||
				has_any(c->words[k]->text, delete_marks))
				judge_inline_code(j, c, c->words[k]);
		return 0;
	}
	bool output = !strcmp(module, "json.tool") && c->count > 2;
	judge_raise(j, output ? LEVEL_WRITE : modules[i].level, "python -m %s", module);
	return 0;
}

unsigned judge_python(struct judge *j, const struct call *c)
{
	if (!strcmp(call_text(c, 1), "-V"))
		return 0;
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		if (word[0] != '-' || arg_has_flag(word, 'c', "mWX", NULL))
			break;
		const char *module = arg_take(c, &i, 'm', "cWX", NULL);
		if (!module) {
			i += takes_next(word, interpreter_find(c->name));
			continue;
		}
		bool pip = !strcmp(module, "pip");
		struct call run = {pip ? "pip" : c->name, c->words + i, c->count - i, c->node};
		return pip ? judge_pip(j, &run) : judge_module(j, &run, module);
	}
	return judge_inline(j, c);
}

/* --- the rest ------------------------------------------------------------------------------ */

unsigned judge_init(struct judge *j, const struct call *c)
{
	const char *to = call_text(c, 1);
	if (!strcmp(to, "0") || !strcmp(to, "6") || !strcmp(c->name, "telinit"))
		judge_raise(j, LEVEL_DENIED, "%s %.10s ends the system", c->name, to);
	return 0;
}

static const struct verbs ip_verbs[] = {
	{LEVEL_READ_ONLY, WORDS("", "show", "list", "ls", "get")},
	{LEVEL_PRIVILEGED, NULL},
};

/* An object, and what is done with it: looking at it is what is left out. */
unsigned judge_ip(struct judge *j, const struct call *c)
{
	size_t object = arg_skip_options(c, 1, "nbf", WORDS("-family", "-netns", "-batch"));
	judge_raise(j, verb_level(ip_verbs, call_text(c, object + 1)), "ip %.60s",
		call_text(c, object));
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		word += !strncmp(word, "--", 2);
		if (!strncmp(word, "-b", 2) && word[2] != 'r') /* -batch, not -brief */
			judge_raise(j, LEVEL_PRIVILEGED, "ip reads orders from a file");
	}
	return 0;
}

static const struct verbs package_verbs[] = {
	{LEVEL_READ_ONLY, WORDS("list", "show", "search", "policy", "depends", "rdepends", "-l",
				  "-L", "-s", "-S", "--list", "--listfiles", "--status", "--search",
				  "--print-architecture")},
	{LEVEL_PRIVILEGED, NULL},
};

/* apt, apt-cache, dpkg: what a package is, without settings of their own. */
unsigned judge_packages(struct judge *j, const struct call *c)
{
	const char *verb = call_text(c, 1);
	judge_raise(j, verb_level(package_verbs, verb), "%s %.60s", c->name, verb);
	for (size_t i = 2; i < c->count; i++) {
		const char *word = c->words[i]->text;
		if (arg_has_flag(word, 'o', "", NULL) || arg_has_flag(word, 'c', "", NULL) ||
			!strncmp(word, "--opt", 5) || !strncmp(word, "--conf", 6))
			judge_raise(j, LEVEL_PRIVILEGED, "%s with other settings", c->name);
	}
	return 0;
}

unsigned judge_mount(struct judge *j, const struct call *c)
{
	if (c->count > 1)
		judge_raise(j, LEVEL_PRIVILEGED, "%s", c->name);
	return 0;
}

unsigned judge_vim(struct judge *j, const struct call *c)
{
	bool script = !strcmp(c->name, "ex");
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		script = script || arg_has_flag(word, 'e', "iSTuUwW", NULL) ||
			 arg_has_flag(word, 'E', "iSTuUwW", NULL);
		if (strstr(word, "://"))
			judge_raise(j, LEVEL_NETWORK, "%s connects to %.100s", c->name, word);
		if (word[0] == '+' || arg_has_flag(word, 'c', "", NULL) ||
			arg_has_flag(word, 'S', "", NULL) || arg_is_long(word, "--cmd", NULL) ||
			arg_has_flag(word, 's', "", NULL) || arg_is_long(word, "--eval", NULL))
			judge_danger(j, c, "an option that runs editor commands");
	}
	if (script)
		judge_danger(j, c, "the input is editor commands");
	return 0;
}

/* \o |x, select 1 \g |x */
static bool pipes(const char *text, size_t len)
{
	const char *end = text + len;
	while ((text = memchr(text, '\\', (size_t)(end - text)))) {
		text++;
		while (text < end && *text >= 'a' && *text <= 'z')
			text++;
		text += strspn(text, " \t");
		if (text < end && *text == '|')
			return true;
	}
	return false;
}

/* Commands of the shells of databases, which stand first on a line and are taken shortened. */
static bool runs_command(const char *text)
{
	static const char *const commands[] = {".sh", ".sy", ".lo", "system ", "pager ", "source ",
		"system\t", "pager\t", "source\t", "\\."};
	while (*text) {
		text += strspn(text, " \t\n;");
		for (size_t i = 0; i < ARRAY_LEN(commands); i++)
			if (!strncmp(text, commands[i], strlen(commands[i])))
				return true;
		size_t len = strcspn(text, "\n;");
		if (*text == '.' && memchr(text, '|', len)) /* .once |x */
			return true;
		if (pipes(text, len))
			return true;
		text += len;
	}
	return false;
}

static void judge_statement(struct judge *j, const struct call *c, const char *text)
{
	static const char *const runs[] = {
		"load_extension", "to program", "from program", "edit(", "\\!", NULL};
	static const char *const deletes[] = {"drop ", "truncate ", "delete from", NULL};
	if (has_any(text, runs) || runs_command(text))
		judge_danger(j, c, "a statement that runs a command");
	if (has_any(text, deletes))
		judge_danger(j, c, "a statement that deletes");
}

unsigned judge_sqlite(struct judge *j, const struct call *c)
{
	const char *fed = call_fed(c);
	if (fed)
		judge_statement(j, c, fed);
	for (size_t i = 1; i < c->count; i++)
		judge_statement(j, c, c->words[i]->text);
	return judge_flags(j, c);
}

/* gdb takes each of its options behind one dash or two, and shortened. */
static bool gdb_runs(const char *name)
{
	static const char *const options[] = {"x", "command", "ex", "eval-command", "ix",
		"init-command", "iex", "init-eval-command", "eix", "early-init-command", "eiex",
		"early-init-eval-command"};
	size_t len = strcspn(name, "=");
	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		if (!strncmp(name, options[i], len) && (len > 1 || !strcmp(options[i], "x")))
			return len;
	return false;
}

/* A debugger command that looks: plain words, of which none is an expression, for those call. */
static bool gdb_looks(const char *command)
{
	static const char *const commands[] = {"bt", "backtrace", "where", "run", "r", "start",
		"continue", "c", "next", "n", "step", "s", "finish", "up", "down", "quit", "q",
		"list", "l", "info", "break", "b", "thread", "set pagination off",
		"set confirm off", NULL};
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_ .:-";
	if (!strncmp(command, "thread apply all ", strlen("thread apply all ")))
		command += strlen("thread apply all ");
	for (size_t i = 0; commands[i]; i++) {
		size_t len = strlen(commands[i]);
		if (!strncmp(command, commands[i], len) && (!command[len] || command[len] == ' '))
			return !command[strspn(command, plain)] && !strstr(command, " if ") &&
			       strcmp(commands[i], "thread") != 0;
	}
	return false;
}

unsigned judge_gdb(struct judge *j, const struct call *c)
{
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		size_t dashes = strspn(word, "-");
		if (dashes && !strcmp(word + dashes, "args"))
			return judge_words(j, c->words + i + 1, c->count - i - 1, NULL);
		bool one = dashes && word_in(word + dashes, WORDS("ex", "eval-command"));
		if (one && gdb_looks(call_text(c, i + 1)))
			i++;
		else if (dashes && gdb_runs(word + dashes))
			judge_danger(j, c, "a debugger command can run a shell");
	}
	if (call_fed(c))
		judge_danger(j, c, "a debugger command can run a shell");
	return judge_flags(j, c);
}

unsigned judge_kill(struct judge *j, const struct call *c)
{
	if (arg_find(c, "-l", "--list") == 1 && c->count == 2)
		return 0;
	judge_raise(j, LEVEL_DESTRUCTIVE, "%s ends processes", c->name);
	return 0;
}

unsigned judge_crontab(struct judge *j, const struct call *c)
{
	if (c->count == 2 && !strcmp(call_text(c, 1), "-l"))
		return 0;
	judge_raise(j, LEVEL_DESTRUCTIVE, "%s plants a command that runs later", c->name);
	return path_is_stdin(call_text(c, c->count - 1)) ? TRAIT_RUNS_INPUT | TRAIT_CODE : 0;
}

/* at, batch: the input is a script. */
unsigned judge_later(struct judge *j, const struct call *c)
{
	const char *fed = call_fed(c);
	return fed ? judge_script(j, fed) | TRAIT_CODE : TRAIT_RUNS_INPUT | TRAIT_CODE;
}
