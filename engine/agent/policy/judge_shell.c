/* Shells and what a shell runs by itself. */
#include "agent/policy/judge.h"

#include <stdio.h>
#include <string.h>

static const char *const long_with_value[] = {"--rcfile", "--init-file", NULL};

/* The here-document or here-string that a shell reads as code. NULL: none. */
static const char *fed_text(const struct call *c)
{
	for (const struct sh_redirect *r = c->node ? c->node->redirects : NULL; r; r = r->next) {
		if (r->kind == SH_HERE_DOC)
			return r->body;
		if (r->kind == SH_HERE_STRING)
			return r->target->text;
	}
	return NULL;
}

/* The script behind -c: the first operand behind all options. */
static unsigned judge_command_string(struct judge *j, const struct call *c, size_t operand)
{
	if (operand >= c->count)
		return 0;
	const struct sh_word *script = c->words[operand];
	if (script->dynamic)
		judge_raise(j, LEVEL_DESTRUCTIVE, "%s -c runs text that is computed", c->name);
	return judge_script(j, script->text) | TRAIT_CODE;
}

unsigned judge_shell(struct judge *j, const struct call *c)
{
	const char *value;
	bool string = false, input = false;
	size_t operand = arg_skip_options(c, 1, "oO", long_with_value);
	for (size_t i = 1; i < operand; i++) {
		const char *word = c->words[i]->text;
		string = string || arg_has_flag(word, 'c', "oO", &value);
		input = input || arg_has_flag(word, 's', "oO", &value);
		if (arg_is_long(word, "--rcfile", &value) ||
			arg_is_long(word, "--init-file", &value) ||
			arg_has_flag(word, 'i', "oO", &value))
			judge_raise(j, LEVEL_DESTRUCTIVE, "%s reads start-up files", c->name);
	}
	/* +o takes a value as well; behind "--" there are no options any more. */
	bool ended = operand > 0 && !strcmp(call_text(c, operand - 1), "--");
	while (!ended && operand < c->count && c->words[operand]->text[0] == '+')
		operand += strcmp(c->words[operand]->text, "+o") &&
					   strcmp(c->words[operand]->text, "+O")
				   ? 1
				   : 2;
	if (string)
		return judge_command_string(j, c, operand);
	const char *file = call_text(c, operand);
	const char *fed = fed_text(c);
	if ((input || !*file || !strcmp(file, "-")) && fed)
		return judge_script(j, fed) | TRAIT_CODE;
	if (input || !*file || !strcmp(file, "-") || !strcmp(file, "/dev/stdin"))
		return TRAIT_RUNS_INPUT | TRAIT_CODE;
	judge_raise(j, LEVEL_WRITE, "%s runs the script %.80s", c->name, file);
	return TRAIT_CODE;
}

unsigned judge_eval(struct judge *j, const struct call *c)
{
	size_t len = 1, at = 0;
	bool dynamic = false;
	for (size_t i = 1; i < c->count; i++) {
		len += strlen(c->words[i]->text) + 1;
		dynamic = dynamic || c->words[i]->dynamic;
	}
	char *text = arena_alloc(&j->arena, len);
	for (size_t i = 1; i < c->count; i++)
		at += (size_t)snprintf(text + at, len - at, "%s ", c->words[i]->text);
	if (dynamic)
		judge_raise(j, LEVEL_DESTRUCTIVE, "eval runs text that is computed");
	return judge_script(j, text) | TRAIT_CODE;
}

unsigned judge_source(struct judge *j, const struct call *c)
{
	const char *file = call_text(c, 1);
	if (!strcmp(file, "/dev/stdin") || !strcmp(file, "-"))
		return TRAIT_RUNS_INPUT | TRAIT_CODE;
	judge_raise(j, LEVEL_DESTRUCTIVE, "reads commands from %.80s", file);
	return TRAIT_CODE;
}

unsigned judge_trap(struct judge *j, const struct call *c)
{
	size_t at = arg_skip_options(c, 1, "", NULL);
	if (at + 1 >= c->count)
		return 0;
	if (c->words[at]->dynamic)
		judge_raise(j, LEVEL_DESTRUCTIVE, "trap runs text that is computed");
	return judge_script(j, c->words[at]->text) | TRAIT_CODE;
}

/* Builtins that run code by one particular option. */
unsigned judge_builtin(struct judge *j, const struct call *c)
{
	static const struct {
		const char *name;
		char flag;
	} risky[] = {{"enable", 'f'}, {"hash", 'p'}, {"mapfile", 'C'}, {"readarray", 'C'},
		{"complete", 'C'}, {"complete", 'F'}, {"compgen", 'C'}, {"bind", 'x'}, {"fc", 'e'},
		{"fc", 's'}, {"jobs", 'x'}, {"history", 's'}};
	const char *value;
	for (size_t i = 1; i < c->count; i++)
		for (size_t k = 0; k < ARRAY_LEN(risky); k++)
			if (!strcmp(c->name, risky[k].name) &&
				arg_has_flag(c->words[i]->text, risky[k].flag, "", &value))
				judge_danger(j, c, "an option that runs code");
	return 0;
}

/* printf -v 'a[$(...)]' evaluates the subscript. */
unsigned judge_printf(struct judge *j, const struct call *c)
{
	size_t at = arg_find(c, "-v", NULL);
	if (at && strchr(call_text(c, at + 1), '['))
		judge_danger(j, c, "-v with a subscript, which is evaluated");
	return 0;
}
