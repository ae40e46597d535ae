/* Programs that run code which their arguments bring along. */
#include "agent/policy/judge.h"

#include <ctype.h>
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
	"exec'", "spawn", "os.execute", "shell_exec", "passthru", "proc_open", "runtime.getruntime",
	"__import__", "open3", "deno.command", "deno.run(", "syscmd", "shell script", "system*",
	"!", NULL};
static const char *const delete_marks[] = {"rmtree", "os.remove", "os.unlink", "unlink", "rmdir",
	"rm_rf", "rm_r", "fileutils.rm", "rmsync", "fs.rm", "file.delete", "file.remove",
	"file delete", "delete-file", "truncate", "deno.remove", "rm(", "from os import",
	"from shutil import", NULL};
static const char *const fetch_marks[] = {"urllib.request", "urllib2", "urllib3", "urlretrieve",
	"requests.", "import requests", "httpx", "http.client", "urlopen", "fetch(", "axios",
	"net/http", "open-uri", "lwp", "http::", "https.get", "http.get", "curl", "wget", "aiohttp",
	"file_get_contents(\"http", "file_get_contents('http", "uri.open", "require(\"http",
	"require('http", "node:http", NULL};
static const char *const net_marks[] = {"socket", "http://", "https://", "ftp://", "smtplib",
	"net.connect", "tcpsocket", "dns.", "require(\"net\")", "require('net')", NULL};

/* Reports whether an option loads what the marks name: perl -MLWP, ruby -ropen-uri. */
static bool loads_any(const struct program_call *call, const char *const *marks)
{
	for (size_t i = 1; i < call->count; i++)
		if (*call_text(call, i) == '-' && strchr("Mmr", call_text(call, i)[1]) &&
			(has_any(call_text(call, i), marks) ||
				has_any(call_text(call, i + 1), marks)))
			return true;
	return false;
}

/* Reports whether code of perl or ruby may open a pipe. */
static bool opens_pipe(const struct program_call *call, const char *code)
{
	return list_has("perl ruby", call->name, false) && strcasestr(code, "open") &&
	       strchr(code, '|');
}

static unsigned judge_inline(
	struct judge *judge, const struct program_call *call, const struct shell_word *code)
{
	const char *text = code->text;
	bool fetches = has_any(text, fetch_marks) || loads_any(call, fetch_marks);
	bool runs = has_any(text, exec_marks) || opens_pipe(call, text);
	if (fetches && runs)
		judge_raise(judge, LEVEL_DENIED, "%s fetches code and runs it", call->name);
	else if (fetches || has_any(text, net_marks))
		judge_raise(
			judge, LEVEL_NETWORK, "%s: inline code that uses the network", call->name);
	else if (runs || has_any(text, delete_marks) || code->computed)
		judge_raise(judge, LEVEL_DESTRUCTIVE,
			"%s: inline code that runs or removes something, or is computed",
			call->name);
	else
		judge_raise(judge, LEVEL_WRITE, "%s: inline code", call->name);
	return TRAIT_CODE;
}

/* Judges what an interpreter reads: a here-document is known, anything else is not. */
static unsigned judge_fed(struct judge *judge, const struct program_call *call)
{
	const struct shell_word fed = {.text = call_fed(call)};
	return fed.text ? judge_inline(judge, call, &fed) : TRAIT_RUNS_INPUT | TRAIT_CODE;
}

/* Judges perl's operands, which it opens: a name with a pipe at one end is a command. */
static void judge_opened(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	for (size_t i = 0; i < reading->operand_count && !strcmp(call->name, "perl"); i++)
		if (strchr(call_text(call, reading->operands[i]), '|'))
			judge_raise(judge, LEVEL_DESTRUCTIVE,
				"perl: a file name with a pipe runs a command");
}

unsigned run_code(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	const char *file = reading->operand_count ? call_text(call, reading->operands[0]) : NULL;
	bool evaluates = list_has("bun deno", call->name, false);
	for (const struct shell_word *code = reading->codes; code; code = code->next)
		judge_inline(judge, call, code);
	for (size_t i = 0; evaluates && i < reading->operand_count; i++)
		judge_inline(judge, call, call->words[reading->operands[i]]);
	judge_opened(judge, call, reading);
	if (reading->codes || evaluates)
		return TRAIT_CODE;
	bool tests = !strncmp(call->name, "node", 4) && !file &&
		     !strcmp(call_text(call, call->count - 1), "--test");
	if (!strcmp(call->name, "ed") || ((!file || path_is_stdin(file)) && !tests))
		return judge_fed(judge, call);
	judge_raise(judge, LEVEL_WRITE, "%s runs %.80s", call->name, file ? file : "tests");
	return TRAIT_CODE;
}

/* Judges uv pip: the words after it are those of pip. */
unsigned run_pip(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	const struct program_call pip = {
		"pip", call->words + reading->verb, call->count - reading->verb, call->node};
	return judge_by_rules(judge, &pip, rule_find("pip"));
}

unsigned run_python(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	if (!reading->module)
		return run_code(judge, call, reading);
	const char *module = reading->codes->text;
	size_t first = reading->operand_count ? reading->operands[0] : call->count;
	if (!strcmp(module, "pip")) {
		const struct reading behind = {.verb = first - 1};
		return run_pip(judge, call, &behind);
	}
	bool writes = !strcmp(module, "json.tool") && reading->operand_count > 1;
	enum level level = LEVEL_WRITE;
	if (list_has("http.server smtpd ftplib webbrowser twine", module, false))
		level = LEVEL_NETWORK;
	else if (!writes && list_has("pytest unittest mypy ruff compileall py_compile build tox "
				     "json.tool",
				    module, false))
		level = LEVEL_BUILD;
	judge_raise(judge, level, "python -m %.60s", module);
	for (size_t i = first; level == LEVEL_WRITE && i < call->count; i++)
		if (has_any(call_text(call, i), exec_marks) ||
			has_any(call_text(call, i), delete_marks))
			judge_inline(judge, call, call->words[i]);
	return 0;
}

/* --- sed and awk --------------------------------------------------------------------------- */

/* Returns the place after the next `stop` that no backslash takes. */
static const char *behind(const char *at, char stop)
{
	for (; *at && *at != stop; at++)
		at += *at == '\\' && at[1];
	return at + (*at != '\0');
}

static const char *behind_label(const char *at)
{
	at += strspn(at, " \t");
	return at + strcspn(at, " \t;}\n");
}

/* Judges the file after a w of sed: the rest of the line. */
static const char *judge_sed_file(struct judge *judge, const char *at)
{
	at += strspn(at, " \t");
	size_t len = strcspn(at, "\n");
	bool device = path_is_device(arena_copy(&judge->arena, at, len));
	judge_raise(judge, device ? LEVEL_DENIED : LEVEL_WRITE, "sed: the command w writes %.*s",
		(int)(len < 80 ? len : 80), at);
	return at + len;
}

/* Walks over a sed script, from one place where a command may stand to the next. */
static void judge_sed_script(struct judge *judge, const char *script)
{
	for (const char *at = script; *at;) {
		at += strspn(at, " \t\n;{}!,$+~0123456789");
		char letter = *at, stop = letter ? at[1] : '\0';
		if (letter == 'w' || letter == 'W') {
			at = judge_sed_file(judge, at + 1);
		} else if (letter == '/' || (letter == '\\' && stop)) {
			at = letter == '/' ? behind(at + 1, '/') : behind(at + 2, stop);
		} else if ((letter == 's' || letter == 'y') && stop) {
			at = behind(behind(at + 2, stop), stop);
			at += strcspn(at, letter == 's' ? "ew;}\n " : ";}\n ");
		} else if (letter && strchr("bTt:", letter)) {
			at = behind_label(at + 1);
		} else if (letter && strchr("aicrR#", letter)) {
			at = strchr("aic", letter) ? behind(at + 1, '\n')
						   : at + 1 + strcspn(at + 1, "\n");
		} else if (letter) {
			if (letter == 'e')
				judge_raise(judge, LEVEL_DESTRUCTIVE,
					"sed: the command e runs a shell");
			at++;
		}
	}
}

static void judge_sed_word(struct judge *judge, const struct shell_word *word)
{
	if (word->computed || word->globbed)
		judge_raise(
			judge, LEVEL_DESTRUCTIVE, "sed: the script is computed: %.80s", word->text);
	judge_sed_script(judge, word->text);
}

/* Judges a file of code: the standard input runs what it reads. */
static unsigned judge_file(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	if (reading->file)
		judge_raise(judge, LEVEL_WRITE, "%s runs a file of code", call->name);
	return reading->input ? TRAIT_RUNS_INPUT | TRAIT_CODE : reading->file ? TRAIT_CODE : 0;
}

unsigned run_sed(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	for (const struct shell_word *code = reading->codes; code; code = code->next)
		judge_sed_word(judge, code);
	if (!reading->codes && reading->operand_count)
		judge_sed_word(judge, call->words[reading->operands[0]]);
	return judge_file(judge, call, reading);
}

/* Reports whether a print of awk goes to a file: its > is in no brackets. */
static bool prints_to_file(const char *program)
{
	while ((program = strstr(program, "print"))) {
		for (int depth = 0; *program && !(depth <= 0 && strchr(";}\n", *program));
			program++) {
			depth += (*program == '(') - (*program == ')');
			if (*program == '>' && depth <= 0)
				return true;
		}
	}
	return false;
}

static void judge_awk_program(struct judge *judge, const struct shell_word *word)
{
	const char *text = word->text;
	/* The regular expression that a program begins with holds no pipe. */
	const char *end = *text == '/' ? strpbrk(text + 1, "/\\[\n") : NULL;
	const char *pipe = end && *end == '/' ? end : text;
	bool pipes = false, calls = strstr(text, "system") || strstr(text, "getline");
	for (; (pipe = strchr(pipe, '|')); pipe++) {
		pipes = pipes || pipe[1] != '|';
		pipe += pipe[1] == '|';
	}
	if (calls || pipes || strchr(text, '@'))
		judge_raise(judge, LEVEL_DESTRUCTIVE, "awk: the program may run commands");
	if (word->computed || word->globbed)
		judge_raise(judge, LEVEL_DESTRUCTIVE, "awk: the program is computed: %.80s", text);
	if (prints_to_file(text))
		judge_raise(judge, LEVEL_WRITE, "awk: the program writes files");
	if (strstr(text, "/inet"))
		judge_raise(judge, LEVEL_NETWORK, "awk opens /inet");
}

unsigned run_awk(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	for (const struct shell_word *code = reading->codes; code; code = code->next)
		judge_awk_program(judge, code);
	/* Behind an option that is not understood any word may be the program. */
	size_t first = reading->operand_count ? reading->operands[0] : call->count;
	size_t last = reading->unknown ? call->count : first + 1;
	if (!reading->codes && !reading->file)
		for (size_t i = reading->unknown ? 1 : first; i < last && i < call->count; i++)
			judge_awk_program(judge, call->words[i]);
	return judge_file(judge, call, reading);
}

/* --- make ---------------------------------------------------------------------------------- */

/* Judges the value of a make variable, which recipes give to a shell. */
static void judge_make_value(struct judge *judge, const char *value)
{
	struct verdict aside = {.level = LEVEL_READ_ONLY}, *whole = judge->verdict;
	bool plain = true, blank = strpbrk(value, " \t");
	for (const char *at = value; *at; at++)
		plain = plain && (isalnum((unsigned char)*at) || strchr(" _./,:+@%=-\"", *at));
	if (plain && !blank)
		return;
	judge->verdict = &aside;
	judge_script(judge, value + strspn(value, "@-+ \t"), false);
	judge->verdict = whole;
	if (!plain)
		judge_raise(judge, LEVEL_DESTRUCTIVE,
			"make: an assignment that may hold a command: %.80s", value);
	if (aside.level > LEVEL_WRITE)
		judge_adopt(judge, &aside);
}

unsigned run_make(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	for (size_t i = 0; i < reading->operand_count; i++) {
		const char *word = call_text(call, reading->operands[i]),
			   *equals = strchr(word, '=');
		if (!equals)
			continue;
		size_t len = strcspn(word, ":+?!= \t");
		char *plain = arena_copy(&judge->arena, word, strlen(word));
		memmove(plain + len, equals, strlen(equals) + 1);
		if (equals[-1] == '!' || !strncmp(plain, ".SHELLFLAGS=", 12))
			judge_raise(
				judge, LEVEL_DESTRUCTIVE, "make: %.60s changes what runs", word);
		judge_assign(judge, plain);
		judge_make_value(judge, equals + 1);
	}
	return reading->input ? TRAIT_RUNS_INPUT | TRAIT_CODE : 0;
}

/* --- debuggers, editors, databases --------------------------------------------------------- */

unsigned run_gdb(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	static const char looks[] = "bt run continue start next step up down quit info?threads "
				    "thread?apply?all?bt";
	for (const struct shell_word *code = reading->codes; code; code = code->next)
		if (!list_has(looks, code->text, true))
			judge_raise(judge, LEVEL_DESTRUCTIVE,
				"%s: a debugger command can run a shell", call->name);
	if (call_fed(call))
		judge_raise(judge, LEVEL_DESTRUCTIVE, "%s: a debugger command can run a shell",
			call->name);
	for (size_t i = 1; i < call->count; i++)
		if (list_has("-args --args", call_text(call, i), false))
			judge_rest(judge, call, i + 1);
	return 0;
}

/* Reports whether a text runs a command of a database's shell, which stands first on a line and may
 * be shortened. */
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
		if (memchr(text, '|', len) && (*text == '.' || memchr(text, '\\', len)))
			return true;
		text += len;
	}
	return false;
}

unsigned run_statement(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	static const char *const runs[] = {
		"load_extension", "to program", "from program", "edit(", "\\!", NULL};
	static const char *const deletes[] = {"drop ", "truncate ", "delete from", NULL};
	(void)reading;
	for (size_t i = 0; i < call->count; i++) {
		const char *text = i ? call_text(call, i) : call_fed(call);
		if (text && (has_any(text, runs) || runs_command(text)))
			judge_raise(judge, LEVEL_DESTRUCTIVE, "%s: a statement that runs a command",
				call->name);
		if (text && has_any(text, deletes))
			judge_raise(judge, LEVEL_DESTRUCTIVE, "%s: a statement that deletes",
				call->name);
	}
	return 0;
}

/* Judges at, batch, crontab, vi, bun without a verb: the input is a script, or commands of the
 * editor. */
unsigned run_input(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	const char *fed = call_fed(call);
	if (list_has("bun deno", call->name, false))
		return reading->operand_count ? 0 : TRAIT_RUNS_INPUT | TRAIT_CODE;
	bool edits = strcmp(call->name, "crontab") && strcmp(call->name, "at") &&
		     strcmp(call->name, "batch");
	if (edits && (fed || !strcmp(call->name, "ex")))
		judge_raise(
			judge, LEVEL_DESTRUCTIVE, "%s: the input is editor commands", call->name);
	if (edits)
		return 0;
	if (fed)
		return judge_script(judge, fed, false) | TRAIT_CODE;
	bool reads =
		strcmp(call->name, "crontab") != 0 ||
		(reading->operand_count && path_is_stdin(call_text(call, reading->operands[0])));
	return reads ? TRAIT_RUNS_INPUT | TRAIT_CODE : 0;
}
