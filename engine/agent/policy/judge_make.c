/* make and cmake: what they are told goes through their own language to a shell. */
#include "agent/policy/judge.h"

#include <ctype.h>
#include <string.h>

static const char make_values[] = "CEfIjloW";

/* A function of make's that runs, writes or becomes something. */
static bool calls_make(const char *text)
{
	static const char *const functions[] = {"shell", "file", "eval", "call", "guile"};
	for (const char *at = strchr(text, '$'); at; at = strchr(at + 1, '$'))
		for (size_t i = 0; i < ARRAY_LEN(functions); i++)
			if (at[1] && strchr("({", at[1]) &&
				!strncmp(at + 2, functions[i], strlen(functions[i])))
				return true;
	return false;
}

/* What the shell gets of a value: `$$` is a dollar, and what make puts in the place of a variable
 * is a word. `bare`: a recipe's own quotes end those of the value. */
static const char *expanded(struct judge *j, const char *value, bool bare)
{
	char *text = arena_alloc(&j->arena, strlen(value) + 1), *to = text;
	for (const char *from = value; *from; from++) {
		if (bare && strchr("'\"\\#", *from))
			continue;
		bool dollar = *from == '$' && from[1];
		from += dollar;
		if (dollar && *from != '$' && strchr("({", *from))
			from += strcspn(from, *from == '(' ? ")" : "}");
		*to++ = dollar && *from != '$' ? 'x' : *from;
		if (!*from)
			break;
	}
	*to = '\0';
	return text;
}

/* The bytes of a variable at `at` that may well be empty; 0: of anything else. */
static size_t variable(const char *at)
{
	size_t braced = !strncmp(at, "${", 2), len = 1 + braced;
	if (*at != '$')
		return 0;
	if (isdigit((unsigned char)at[len]) || (at[len] && strchr("@*", at[len])))
		len++;
	else
		while (shell_in_name(at[len]))
			len++;
	return len > 1 + braced && (!braced || at[len] == '}') ? len + braced : 0;
}

/* What the shell gets of a recipe that is the value: make takes what says how to run it, and of
 * variables that nobody knows nothing may be left. NULL: a pattern of programs below the directory,
 * which nobody knows either. */
static const char *as_recipe(struct judge *j, const char *value)
{
	value += strspn(value, "@-+ \t");
	size_t word = strcspn(value, " \t\n"), pattern = strcspn(value, "*?");
	bool plain = strcspn(value, " \t\n'\"\\$`{}[]()<>|&;=~!#") == word;
	bool below = *value != '/' && pattern < word && memchr(value, '/', pattern);
	if (plain && below && !strstr(value, ".."))
		return NULL;
	char *text = arena_copy(&j->arena, value, strlen(value)), *to = text;
	const char *end = value + word;
	while (value < end)
		if (variable(value))
			value += variable(value);
		else
			*to++ = *value++;
	memmove(to, value, strlen(value) + 1);
	return text;
}

/* What a recipe would run of one reading. Where nothing in the value can begin a command behind its
 * first word, a reading that is no command is an error of the shell's. */
static void judge_recipe(struct judge *j, const char *text, bool begins)
{
	struct err e = ERR_NONE;
	if (begins || shell_parse(text, strlen(text), false, &j->arena, &e))
		judge_script(j, text);
}

/* What a substitution prints that stands for a path or a number is no command, unless the path goes
 * on to one. What is behind it: that is all there is where it prints nothing. NULL: there is none.
 */
static const char *behind_place(const char *recipe)
{
	static const char *const prints[] = {"$(pwd)", "$(nproc)", "$(id -u)", "$(id -g)",
		"$(git rev-parse HEAD)", "$(git rev-parse --short HEAD)"};
	for (size_t i = 0; i < ARRAY_LEN(prints); i++) {
		const char *rest = recipe + strlen(prints[i]);
		if (!strncmp(recipe, prints[i], strlen(prints[i])))
			return strpbrk(rest, " \t") && strstr(rest, "..") ? NULL : rest;
	}
	return NULL;
}

/* What a recipe would run where it uses the value, as an argument or as the command: programs that
 * nobody knows are no worse than the recipe's own. */
static void judge_value(struct judge *j, const struct call *c, const char *value)
{
	struct verdict own = {.level = LEVEL_READ_ONLY}, *whole = j->verdict;
	bool begins = strpbrk(value, "`;|&<>\n") || strstr(value, "$$");
	if (!begins && !strpbrk(value, " \t"))
		return;
	j->verdict = &own;
	for (int bare = 0; bare < 2; bare++) {
		struct sh_word argument = {.text = expanded(j, value, bare)};
		const struct sh_word *words[] = {&argument};
		const struct call behind = {.words = words, .count = 1};
		const char *recipe = as_recipe(j, argument.text);
		const char *rest = recipe ? behind_place(recipe) : NULL;
		if (recipe)
			judge_recipe(j, rest ? rest : recipe, begins);
		judge_recipe(j, words_join(j, ":", &behind, 0), begins);
	}
	j->verdict = whole;
	if (own.level <= LEVEL_WRITE)
		return;
	judge_danger(j, c, "an assignment that holds a command");
	judge_adopt(j, &own);
}

/* NAME=VALUE, NAME := VALUE and their like. Recipes get it in their environment, too. */
static void judge_variable(struct judge *j, const struct call *c, const char *word)
{
	const char *equals = strchr(word, '=');
	if (word[0] == '-' || !equals)
		return;
	char *plain = arena_copy(&j->arena, word, strlen(word));
	memmove(plain + strcspn(word, ":+?!= \t"), equals, strlen(equals) + 1);
	if (strncmp(plain, "GREP=", strlen("GREP="))) /* zgrep's, judged as a command below */
		judge_name(j, plain);
	if ((equals > word && equals[-1] == '!') || calls_make(equals))
		judge_danger(j, c, "an assignment that holds a command");
	if (!strncmp(plain, ".SHELLFLAGS=", strlen(".SHELLFLAGS=")))
		judge_danger(j, c, "an assignment that changes what runs");
	judge_value(j, c, equals + 1);
}

unsigned judge_make(struct judge *j, const struct call *c)
{
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		const char *file = arg_given(c, i, 'f', make_values, "--file");
		const char *dir = arg_given(c, i, 'C', make_values, "--directory");
		if (!file)
			file = arg_given(c, i, 'f', make_values, "--makefile");
		if (arg_given(c, i, 'E', make_values, "--eval"))
			judge_danger(j, c, "--eval runs its text");
		judge_variable(j, c, word);
		if (file && (!strcmp(file, "-") || !strcmp(file, "/dev/stdin")))
			return TRAIT_RUNS_INPUT | TRAIT_CODE;
		if (file && path_is_outside(j, file))
			judge_danger(j, c, "-f names a file outside the workspace");
		if (dir && path_is_outside(j, dir))
			judge_danger(j, c, "-C leaves the workspace");
	}
	return 0;
}

unsigned judge_cmake(struct judge *j, const struct call *c)
{
	size_t at = arg_find(c, "-E", NULL);
	const char *verb = call_text(c, at + 1);
	bool runs = at;
	for (size_t i = 1; i < c->count && strcmp(c->words[i]->text, "--"); i++)
		runs = runs || !strncmp(c->words[i]->text, "-P", 2);
	if (runs)
		judge_raise(j, LEVEL_WRITE, "cmake runs a script or a command");
	if (at && word_in(verb, WORDS("remove", "remove_directory")))
		judge_danger(j, c, "-E removes files");
	return at && word_in(verb, WORDS("env", "time", "rm"))
		       ? judge_words(j, c->words + at + 1, c->count - at - 1, NULL)
		       : 0;
}
