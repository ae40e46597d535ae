/* Shells and what a shell runs by itself. */
#include "agent/policy/judge.h"

#include <string.h>

const char *call_fed(const struct call *c)
{
	for (const struct sh_redirect *r = c->node ? c->node->redirects : NULL; r; r = r->next) {
		if (r->kind == SH_HERE_DOC)
			return r->body;
		if (r->kind == SH_HERE_STRING)
			return r->target->text;
	}
	return NULL;
}

static bool is_bash(const struct call *c)
{
	return word_in(c->name, WORDS("bash", "rbash", "ksh", "zsh"));
}

/* Text for the shell that `c` calls, where it reads some of it as no other one does. */
static unsigned judge_own(struct judge *j, const struct call *c, const char *text)
{
	if (!strcmp(c->name, "zsh") && (strstr(text, "path=") || strstr(text, "path+=")))
		judge_danger(j, c, "path is another name of PATH");
	if (!strcmp(c->name, "fish") && strchr(text, '\r'))
		judge_danger(j, c, "a carriage return ends a word");
	return judge_bash_script(j, text, is_bash(c));
}

/* The script behind -c: the first operand behind all options. */
static unsigned judge_command_string(struct judge *j, const struct call *c, size_t operand)
{
	if (operand >= c->count) /* of xargs, what it reads */
		return TRAIT_RUNS_INPUT | TRAIT_CODE;
	const struct sh_word *script = c->words[operand];
	if (script->dynamic)
		judge_raise(j, LEVEL_DESTRUCTIVE, "%s -c runs text that is computed", c->name);
	for (size_t i = operand + 1; i < c->count; i++)
		value_add(j, "@", c->words[i]->text);
	return judge_own(j, c, script->text) | TRAIT_CODE;
}

/* What the options of a shell ask for. */
struct shell_options {
	bool string, input, starts; /* -c; -s; files that are read at the start */
	const char *text, *before;  /* --command=TEXT, fish's -C TEXT; NULL: not so */
	size_t operand;             /* behind them */
};

static void long_option(const struct call *c, struct shell_options *o)
{
	const char *word = call_text(c, o->operand), *value = NULL;
	bool starts =
		arg_is_long(word, "--rcfile", &value) || arg_is_long(word, "--init-file", &value);
	o->starts = o->starts || starts;
	o->operand += starts && !value ? 2 : 1;
	if (arg_is_long(word, "--command", &value)) {
		o->string = true;
		o->text = value;
	}
	if (arg_is_long(word, "--init-command", &value))
		o->before = value ? value : call_text(c, o->operand++);
}

/* An o or O anywhere in a cluster, behind - or +, takes one of the words that follow it. */
static struct shell_options read_options(const struct call *c)
{
	struct shell_options o = {.operand = 1};
	for (const char *word; (word = call_text(c, o.operand)), *word == '-' || *word == '+';) {
		if (!strcmp(word, "-") || !strcmp(word, "--")) {
			o.operand += word[1] == '-';
			break;
		}
		if (word[1] == '-') {
			long_option(c, &o);
			continue;
		}
		o.operand++;
		const char *value;
		if (!strcmp(c->name, "fish") && arg_has_flag(word, 'C', "cdoDp", &value)) {
			o.before = *value ? value : call_text(c, o.operand++);
			continue;
		}
		for (const char *flag = word + 1; *flag; flag++) {
			o.operand += *flag == 'o' || *flag == 'O';
			o.string = o.string || *flag == 'c';
			o.input = o.input || *flag == 's';
			o.starts = o.starts || *flag == 'i';
		}
	}
	return o;
}

/* From the command's here-document, where it has one, and from what is before it in a pipe. */
static unsigned judge_input(struct judge *j, const struct call *c)
{
	const char *fed = call_fed(c);
	return fed ? judge_own(j, c, fed) | TRAIT_CODE : TRAIT_RUNS_INPUT | TRAIT_CODE;
}

unsigned judge_shell(struct judge *j, const struct call *c)
{
	struct shell_options o = read_options(c);
	const char *file = call_text(c, o.operand);
	if (o.before)
		judge_own(j, c, o.before);
	if (o.starts)
		judge_raise(j, LEVEL_DESTRUCTIVE, "%s reads start-up files", c->name);
	if (o.text)
		return judge_own(j, c, o.text) | TRAIT_CODE;
	if (o.string)
		return judge_command_string(j, c, o.operand);
	if (o.input || !*file || path_is_stdin(file))
		return judge_input(j, c);
	bool printed = !strncmp(file, "/dev/fd/", 8);
	judge_raise(j, printed ? LEVEL_DESTRUCTIVE : LEVEL_WRITE, "%s runs the script %.80s",
		c->name, file);
	return TRAIT_CODE;
}

unsigned judge_eval(struct judge *j, const struct call *c)
{
	bool dynamic = false;
	for (size_t i = 1; i < c->count; i++)
		dynamic = dynamic || c->words[i]->dynamic;
	if (dynamic)
		judge_raise(j, LEVEL_DESTRUCTIVE, "eval runs text that is computed");
	size_t from = 1 + !strcmp(call_text(c, 1), "--");
	return judge_bash_script(j, words_join(j, "", c, from), j->bash) | TRAIT_CODE |
	       (dynamic ? TRAIT_RUNS_INPUT : 0u);
}

unsigned judge_source(struct judge *j, const struct call *c)
{
	const char *file = call_text(c, 1);
	if (path_is_stdin(file))
		return judge_input(j, c);
	size_t len = strlen(file), tail = strlen("bin/activate");
	bool venv = len >= tail && !strcmp(file + len - tail, "bin/activate");
	judge_raise(j, LEVEL_DESTRUCTIVE, "reads commands from %.80s%s", file,
		venv ? ": the programs beside it need no activation" : "");
	return TRAIT_CODE;
}

unsigned judge_trap(struct judge *j, const struct call *c)
{
	size_t at = arg_skip_options(c, 1, "", NULL);
	if (at + 1 >= c->count || !strcmp(call_text(c, at), "-"))
		return 0;
	if (c->words[at]->dynamic)
		judge_raise(j, LEVEL_DESTRUCTIVE, "trap runs text that is computed");
	/* What runs around commands prints into the substitutions that they stand in. */
	for (size_t i = at + 1; i < c->count; i++)
		if (c->words[i]->dynamic || strcasestr(c->words[i]->text, "DEBUG") ||
			strcasestr(c->words[i]->text, "ERR"))
			judge_danger(j, c, "runs around other commands");
	return judge_bash_script(j, c->words[at]->text, j->bash) | TRAIT_CODE;
}

/* Builtins that run code by one particular option. */
unsigned judge_builtin(struct judge *j, const struct call *c)
{
	return judge_flags(j, c) | judge_setter(j, c);
}

/* printf -v 'a[$(...)]' evaluates the subscript, and arithmetic what is in the variable. */
unsigned judge_printf(struct judge *j, const struct call *c)
{
	const char *name = arg_given(c, 1, 'v', "v", NULL);
	if (!name)
		return 0;
	if (strchr(name, '['))
		judge_danger(j, c, "-v with a subscript, which is evaluated");
	judge_name(j, name);
	value_read(j, name);
	for (size_t i = 2; i < c->count; i++)
		value_add(j, name, call_text(c, i));
	return judge_names(j, c);
}

/* let, read, test -v and their kind do so with every name and number they are given. */
unsigned judge_names(struct judge *j, const struct call *c)
{
	const char *fed = call_fed(c);
	const char *subscript = fed && !strcmp(c->name, "read") ? strchr(fed, '[') : NULL;
	if (subscript && shell_holds_code(subscript))
		judge_danger(j, c, "a quoted substitution, which may be evaluated");
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text, *inside = strchr(word, '[');
		if (shell_holds_code(word))
			judge_danger(j, c, "a quoted substitution, which is evaluated");
		if (inside)
			judge_name(j, inside);
	}
	return 0;
}

/* read, getopts, let: whatever word is a name, it is one that they set. What unset leaves empty
 * names no program, but without a PATH they are looked for where one stands. */
unsigned judge_setter(struct judge *j, const struct call *c)
{
	bool unset = !strcmp(c->name, "unset");
	for (size_t i = 1; i < c->count; i++)
		if (!unset || !strcmp(c->words[i]->text, "PATH")) {
			judge_name(j, c->words[i]->text);
			value_read(j, c->words[i]->text);
			if (call_fed(c))
				value_add(j, c->words[i]->text, call_fed(c));
		}
	return judge_names(j, c);
}

/* set: its operands are the arguments from now on. */
unsigned judge_positional(struct judge *j, const struct call *c)
{
	for (size_t i = 1; i < c->count; i++)
		value_add(j, "@", c->words[i]->text);
	return judge_names(j, c);
}
