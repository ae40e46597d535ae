/* Programs that run others: the judgement is that of what they run. */
#include "agent/policy/judge.h"

#include <fnmatch.h>
#include <string.h>

static size_t first_operand(const struct program_call *call, const struct reading *reading)
{
	return reading->operand_count ? reading->operands[0] : call->count;
}

/* Judges every place where a command may begin: an option that is not understood hides it. */
static unsigned judge_everywhere(struct judge *judge, const struct program_call *call)
{
	unsigned traits = 0;
	for (size_t i = 1; i < call->count; i++)
		if (*call_text(call, i) != '-')
			traits |= judge_rest(judge, call, i);
	return traits;
}

static unsigned judge_codes(struct judge *judge, const struct reading *reading)
{
	unsigned traits = 0;
	for (const struct shell_word *code = reading->codes; code; code = code->next)
		traits |= judge_script_word(judge, code, true) | TRAIT_CODE;
	return traits;
}

unsigned run_rest(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	size_t first = first_operand(call, reading), at = first + reading->skip;
	for (size_t i = 1; !strcmp(call->name, "command") && i < first; i++)
		if (strpbrk(call_text(call, i), "vV"))
			return 0;
	unsigned traits = judge_codes(judge, reading);
	bool splits = false;
	for (size_t i = 1; i < at && i < call->count; i++)
		splits = splits || call->words[i]->splits;
	if (reading->unknown || splits)
		traits |= judge_everywhere(judge, call);
	/* The operand may have been left out, and options may follow it. */
	if (reading->skip && rule_find(call_text(call, first)))
		traits |= judge_rest(judge, call, first);
	if (!strcmp(call->name, "flock") && list_has("-c --command", call_text(call, at), false))
		return traits | judge_script(judge, call_text(call, at + 1), false) | TRAIT_CODE;
	if (*call_text(call, at) != '-' || reading->skip == 0)
		return traits | judge_rest(judge, call, at);
	judge_raise(judge, LEVEL_DESTRUCTIVE, "%s: the option %.60s is not understood", call->name,
		call_text(call, at));
	return traits | judge_everywhere(judge, call);
}

unsigned run_script(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	unsigned traits = judge_codes(judge, reading);
	for (size_t i = 0; !reading->codes && i < reading->operand_count; i++) {
		size_t at = reading->operands[i];
		traits |= judge_rest(judge, call, at);
		if (i || strpbrk(call_text(call, at), " \t\n;|&"))
			traits |= judge_script(judge, words_join(judge, "", call, at), false);
	}
	return traits;
}

unsigned run_strings(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	unsigned traits = TRAIT_CODE;
	size_t first = first_operand(call, reading);
	if (first < call->count)
		traits |= judge_script(judge, words_join(judge, "", call, first), false);
	for (size_t i = first; strcmp(call->name, "watch") && i < call->count; i++)
		traits |= judge_script(judge, call->words[i]->text, false);
	return reading->unknown ? traits | judge_everywhere(judge, call) : traits;
}

/* --- shells -------------------------------------------------------------------------------- */

static bool reads_as_bash(const struct program_call *call)
{
	return list_has("bash rbash ksh zsh", call->name, false);
}

static unsigned judge_input(struct judge *judge, const struct program_call *call)
{
	const char *fed = call_fed(call);
	return fed ? judge_script(judge, fed, reads_as_bash(call)) | TRAIT_CODE
		   : TRAIT_RUNS_INPUT | TRAIT_CODE;
}

/* Judges text for the shell that `call` starts, where it reads some of it as no other one does. */
static unsigned judge_shell_text(
	struct judge *judge, const struct program_call *call, const struct shell_word *word)
{
	if (!strcmp(call->name, "fish") && strchr(word->text, '\r'))
		judge_raise(judge, LEVEL_DESTRUCTIVE, "fish: a carriage return ends a word");
	return judge_script_word(judge, word, reads_as_bash(call)) | TRAIT_CODE;
}

/* A shell's options, as far as they matter. */
struct shell_options {
	bool string, input, starts; /* -c; -s; start-up files are read */
	size_t operand;
	unsigned traits; /* of the text that options have */
};

/* Reads a long option. */
static void read_long(
	struct judge *judge, const struct program_call *call, struct shell_options *options)
{
	const char *word = call_text(call, options->operand), *value = strchr(word, '=');
	bool starts = list_has("--rcfile* --init-file*", word, true);
	bool before = list_has("--init-c*", word, true), code = list_has("--c*", word, true);
	options->starts = options->starts || starts;
	options->string = options->string || (code && !value);
	if ((starts || before) && !value)
		options->operand++;
	if (before || (code && value)) {
		struct shell_word text =
			*call->words[options->operand < call->count ? options->operand : 0];
		text.text = value ? value + 1 : text.text;
		options->traits |= judge_shell_text(judge, call, &text);
	}
	options->operand++;
}

/* Reads a cluster: each o or O, behind - or +, takes one of the words that follow it. */
static void read_short(
	struct judge *judge, const struct program_call *call, struct shell_options *options)
{
	const char *word = call_text(call, options->operand++);
	if (!strcmp(call->name, "fish") && word[1] == 'C') {
		struct shell_word text =
			*call->words[options->operand < call->count ? options->operand : 0];
		text.text = word[2] ? word + 2 : text.text;
		options->operand += !word[2];
		options->traits |= judge_shell_text(judge, call, &text);
		return;
	}
	for (const char *flag = word + 1; *flag; flag++) {
		options->operand += *flag == 'o' || *flag == 'O';
		options->string = options->string || *flag == 'c';
		options->input = options->input || *flag == 's';
		options->starts = options->starts || *flag == 'i';
	}
}

static struct shell_options read_options(struct judge *judge, const struct program_call *call)
{
	struct shell_options o = {.operand = 1};
	for (const char *word; (word = call_text(call, o.operand)), *word == '-' || *word == '+';) {
		if (call->words[o.operand]->computed || call->words[o.operand]->splits)
			judge_raise(
				judge, LEVEL_DESTRUCTIVE, "%s: an option is computed", call->name);
		if (!strcmp(word, "-") || !strcmp(word, "--")) {
			o.operand += word[1] == '-';
			break;
		}
		if (word[1] == '-')
			read_long(judge, call, &o);
		else
			read_short(judge, call, &o);
	}
	return o;
}

unsigned run_shell(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	struct shell_options o = read_options(judge, call);
	const char *file = call_text(call, o.operand);
	if (o.starts)
		judge_raise(judge, LEVEL_DESTRUCTIVE, "%s reads start-up files", call->name);
	for (size_t i = o.operand + 1; i < call->count; i++)
		judge_value(judge, call->words[i]->text);
	if (o.string && o.operand >= call->count) /* of xargs: what it reads */
		return o.traits | TRAIT_RUNS_INPUT | TRAIT_CODE;
	if (o.string)
		return o.traits | judge_shell_text(judge, call, call->words[o.operand]);
	if (o.input || path_is_stdin(file) || (!*file && !o.traits))
		return o.traits | judge_input(judge, call);
	bool computed = o.operand < call->count && call->words[o.operand]->computed;
	if (computed && call->words[o.operand]->splits) { /* it may be nothing */
		const struct program_call rest = {
			call->name, call->words + o.operand, call->count - o.operand, call->node};
		o.traits |= run_shell(judge, &rest, reading);
	}
	judge_raise(judge, computed ? LEVEL_DESTRUCTIVE : LEVEL_WRITE, "%s runs the script %.80s",
		call->name, file);
	return o.traits | TRAIT_CODE;
}

unsigned run_eval(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	(void)reading;
	struct shell_word text = {.text = NULL};
	for (size_t i = 1; i < call->count; i++)
		text.computed = text.computed || call->words[i]->computed;
	text.text = words_join(judge, "", call, 1 + !strcmp(call_text(call, 1), "--"));
	unsigned traits = judge_script_word(judge, &text, judge->bash) | TRAIT_CODE;
	return traits | (text.computed ? TRAIT_RUNS_INPUT : 0u);
}

unsigned run_source(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	const char *file = call_text(call, 1);
	(void)reading;
	if (path_is_stdin(file))
		return judge_input(judge, call);
	judge_raise(judge, LEVEL_DESTRUCTIVE, "reads commands from %.80s%s", file,
		list_has("*bin/activate", file, true)
			? ": the programs beside it need no activation"
			: "");
	return TRAIT_CODE;
}

unsigned run_trap(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	if (reading->operand_count < 2 || !strcmp(call_text(call, reading->operands[0]), "-"))
		return 0;
	size_t at = reading->operands[0];
	for (size_t i = at + 1; i < call->count; i++)
		if (list_has("*[dD][eE][bB][uU][gG]* *[eE][rR][rR]* *$*", call_text(call, i), true))
			judge_raise(judge, LEVEL_DESTRUCTIVE, "trap runs around other commands");
	return judge_script_word(judge, call->words[at], judge->bash) | TRAIT_CODE;
}

/* --- wrappers with rules of their own ------------------------------------------------------ */

/* Judges env, sudo and others: settings, then the command. */
unsigned run_env(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	size_t at = first_operand(call, reading);
	unsigned traits = 0;
	bool splits = !strcmp(call->name, "env") && reading->codes && *reading->codes->text;
	for (const struct shell_word *code = reading->codes; code; code = code->next) {
		const struct program_call own = {.words = &code, .count = 1};
		struct shell_word text = *code;
		text.text = words_join(judge, splits ? "env" : "", &own, 0);
		text.text = words_join(judge, text.text, call, at);
		traits |= judge_script_word(judge, &text, false) | TRAIT_CODE;
	}
	if (splits)
		judge_raise(judge, LEVEL_DESTRUCTIVE, "env -S: no shell reads this as env does");
	if (reading->unknown)
		traits |= judge_everywhere(judge, call);
	at += !strcmp(call_text(call, at), "-");
	for (; at < call->count && strchr(call_text(call, at), '='); at++)
		judge_assign(judge, call_text(call, at));
	return traits | judge_rest(judge, call, at);
}

static const struct shell_word input_word = {.text = "$(input)", .computed = true, .splits = true};

/* Returns the text that xargs replaces by what it reads, or NULL where it appends that. */
static const char *replaced(const struct program_call *call, size_t end)
{
	const char *mark = NULL;
	for (size_t i = 1; i < end; i++) {
		const char *word = call_text(call, i);
		if (!strncmp(word, "-I", 2))
			mark = word[2] ? word + 2 : call_text(call, i + 1);
		else if (!strncmp(word, "--replace", 9) || !strncmp(word, "-i", 2))
			mark = "{}";
	}
	return mark;
}

/* Judges the command with a word that nobody knows where its input stands. */
static unsigned judge_with_input(struct judge *judge, const struct program_call *call, size_t from,
	size_t end, const char *mark)
{
	const struct shell_word **words =
		arena_array(&judge->arena, end - from + 1, sizeof(*words));
	size_t count = 0;
	for (size_t i = from; i < end; i++)
		words[count++] =
			mark && strstr(call_text(call, i), mark) ? &input_word : call->words[i];
	if (!mark)
		words[count++] = &input_word;
	return judge_words(judge, words, count, call->node);
}

unsigned run_xargs(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	size_t at = first_operand(call, reading);
	unsigned traits = reading->unknown ? judge_everywhere(judge, call) : 0;
	if (at == call->count)
		return traits;
	if (call_fed(call))
		judge_value(judge, call_fed(call));
	traits |= judge_rest(judge, call, at);
	traits |= judge_with_input(judge, call, at, call->count, replaced(call, at));
	/* Its input becomes a part of the code. */
	return traits | (traits & TRAIT_CODE ? TRAIT_RUNS_INPUT : 0u);
}

/* Arguments behind ::: fill the command, or are commands; without them the input does. */
unsigned run_parallel(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	size_t from = first_operand(call, reading), end = from;
	while (end < call->count && strncmp(call_text(call, end), ":::", 3) != 0)
		end++;
	const struct program_call template = {.words = call->words, .count = end};
	const char *command = words_join(judge, "", &template, from);
	bool reads = end == call->count || !strncmp(call_text(call, end), "::::", 4);
	unsigned traits = reading->unknown ? judge_everywhere(judge, call) : 0;
	traits |= judge_script(judge, command, false);
	bool runs = from == end || strchr(command, '{') || (traits & TRAIT_CODE);
	if (strstr(command, "{="))
		judge_raise(judge, LEVEL_DESTRUCTIVE, "parallel: {= runs Perl");
	if (reads && !runs)
		traits |= judge_with_input(judge, call, from, end, NULL);
	for (size_t i = end + 1; i < call->count; i++) {
		const struct program_call one = {.words = call->words + i, .count = 1};
		judge_script(judge, words_join(judge, command, &one, 0), false);
		if (runs)
			judge_script(judge, call_text(call, i), false);
	}
	return traits | (reads && runs ? TRAIT_RUNS_INPUT | TRAIT_CODE : 0u);
}

/* --- find ---------------------------------------------------------------------------------- */

/* Reports whether find visits all of a vital tree and no test picks from it. */
static bool finds_everything(const struct judge *judge, const struct program_call *call)
{
	bool all = false;
	size_t i = 1;
	while (list_has("-H -L -P -O?", call_text(call, i), true))
		i++;
	for (; i < call->count && !strchr("-(!", *call_text(call, i)); i++)
		all = all || path_is_vital(judge, call_text(call, i));
	for (; i < call->count && strncmp(call_text(call, i), "-exec", 5) != 0; i++)
		all = all &&
		      (*call_text(call, i) != '-' ||
			      list_has("-type -depth -mindepth -maxdepth -xdev -mount -delete "
				       "-print* -d",
				      call_text(call, i), true));
	return all;
}

/* Judges the command behind -exec. Returns the index of its end. */
static size_t judge_exec(
	struct judge *judge, const struct program_call *call, size_t at, unsigned *traits)
{
	size_t end = at + 1;
	while (end < call->count && strcmp(call_text(call, end), ";") != 0 &&
		(strcmp(call_text(call, end), "+") != 0 ||
			strcmp(call_text(call, end - 1), "{}") != 0))
		end++;
	*traits |= judge_words(judge, call->words + at + 1, end - at - 1, NULL);
	if (list_has("rm */rm", call_text(call, at + 1), true) && finds_everything(judge, call))
		judge_raise(judge, LEVEL_DENIED, "find removes everything there is");
	return end;
}

unsigned run_find(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	static const char compared[] = "-name -iname -path -ipath -wholename -regex -newer* -size "
				       "-mtime -mmin -user -group -perm -samefile";
	unsigned traits = 0;
	(void)reading;
	for (size_t i = 1; i < call->count; i++) {
		const char *word = call_text(call, i), *next = call_text(call, i + 1);
		const struct shell_word *own = call->words[i];
		bool value = list_has(compared, call_text(call, i - 1), true) && !own->splits;
		if (own->computed && !value && (i > 1 || own->splits))
			judge_raise(judge, LEVEL_DESTRUCTIVE, "find: an expression is computed");
		if (list_has("-exec -execdir -ok -okdir", word, false)) {
			i = judge_exec(judge, call, i, &traits);
		} else if (list_has("-fls -fprint -fprint0 -fprintf", word, false)) {
			judge_raise(judge, path_is_device(next) ? LEVEL_DENIED : LEVEL_WRITE,
				"find: %s writes a file", word);
		} else if (!strcmp(word, "-delete")) {
			judge_raise(judge,
				finds_everything(judge, call) ? LEVEL_DENIED : LEVEL_DESTRUCTIVE,
				"find: -delete removes what it finds");
		}
	}
	return traits;
}

/* --- package runners ----------------------------------------------------------------------- */

/* Judges npx, uv run, yarn NAME: a program of the system is judged; any other is a script or a
 * package of the project's. */
unsigned run_executed(
	struct judge *judge, const struct program_call *call, const struct reading *reading)
{
	struct verdict aside = {.level = LEVEL_READ_ONLY}, *whole = judge->verdict;
	size_t at = first_operand(call, reading);
	if (reading->verb && list_has("yarn pnpm", call->name, false) &&
		strcmp(call_text(call, reading->verb), "exec") != 0)
		at = reading->verb;
	bool cmake = !strcmp(call->name, "cmake"), bun = list_has("bun deno", call->name, false);
	for (size_t i = 1; cmake && i + 1 < call->count; i++)
		if (!strcmp(call_text(call, i), "-E"))
			at = i + 1;
	if (path_is_stdin(call_text(call, at)) || (bun && at == call->count))
		return TRAIT_RUNS_INPUT | TRAIT_CODE;
	judge->verdict = &aside;
	unsigned traits = judge_codes(judge, reading);
	bool known = reading->codes || rule_find(call_text(call, at));
	if (strpbrk(call_text(call, at), " \t\n;|&<>`$()"))
		traits |= judge_script(judge, words_join(judge, "", call, at), false) | TRAIT_CODE;
	traits |= judge_rest(judge, call, at);
	if (reading->unknown)
		traits |= judge_everywhere(judge, call);
	judge->verdict = whole;
	bool whatever = list_has("uv poetry pipenv bundle conda", call->name, false) ||
			!strcmp(call_text(call, reading->verb), "exec");
	if (known || whatever || aside.level > LEVEL_WRITE)
		judge_adopt(judge, &aside);
	if (cmake && list_has("remove remove_directory", call_text(call, at), false))
		judge_raise(judge, LEVEL_DESTRUCTIVE, "cmake -E removes files");
	return traits;
}
