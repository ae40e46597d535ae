#include "cli/verb/verb.h"

#include "base/num.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "report/text.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 128 };

static const struct verb_option *option_find(const struct verb *verb, const char *name, size_t len)
{
	for (const struct verb_option *o = verb->options; o && o->name; o++)
		if (strlen(o->name) == len && !strncmp(o->name, name, len))
			return o;
	return NULL;
}

static int unknown_option(const struct verb *verb, const char *name, size_t len, struct err *e)
{
	char word[80];
	const char *names[NAMES_MAX];
	size_t count = 0;
	if (len >= sizeof(word))
		len = utf8_cut_end(name, sizeof(word) - 1);
	snprintf(word, sizeof(word), "%.*s", (int)len, name);
	for (const struct verb_option *o = verb->options; o && o->name && count < NAMES_MAX; o++)
		names[count++] = o->name;
	const char *near = suggest_word(word, names, count);
	if (near)
		return err_set(e, "'agent6 %s' has no option --%s; did you mean --%s?", verb->path,
			word, near);
	return err_set(e, "'agent6 %s' has no option --%s; `agent6 %s --help` lists them",
		verb->path, word, verb->path);
}

/* Reports whether `value` is one of the "a|b|c" in `choices`. */
static bool is_choice(const char *choices, const char *value)
{
	size_t len = strlen(value);
	for (const char *c = choices;; c++) {
		size_t n = strcspn(c, "|");
		if (n == len && !strncmp(c, value, n))
			return true;
		c += n;
		if (!*c)
			return false;
	}
}

static int give(
	struct call *call, const struct verb_option *option, const char *value, struct err *e)
{
	if (!option->repeats && call_has(call, option->name))
		return err_set(e, "--%s may be given only once", option->name);
	if (call->given_count == CALL_OPTIONS_MAX)
		return err_set(e, "more than %d options%s", CALL_OPTIONS_MAX,
			option_find(call->verb, "params", 6)
				? "; a file for --params holds any number"
				: "");
	if (option->value && strchr(option->value, '|') && !is_choice(option->value, value))
		return err_set(e, "--%s takes %s, not '%s'", option->name, option->value, value);
	if (option->value && !*value && strcmp(option->value, "TEXT") != 0)
		return err_set(e, "--%s %s: the value is empty", option->name, option->value);
	call->given[call->given_count].option = option;
	call->given[call->given_count++].value = value;
	return 0;
}

/* Finds an option. `-o`, for --output, is the only short spelling. */
static const struct verb_option *find_spelled(
	const struct verb *verb, const char *arg, size_t *len, struct err *e)
{
	const struct verb_option *o = NULL;
	*len = strcspn(arg, "=");
	if (!strcmp(arg, "-o"))
		o = option_find(verb, "output", 6);
	if (!o && arg[1] != '-')
		err_set(e, "'%s': options are written with two dashes; `--` ends them", arg);
	else if (!o && !(o = option_find(verb, arg + 2, *len - 2)))
		unknown_option(verb, arg + 2, *len - 2, e);
	return o;
}

/* Parses the option at argv[0]. Returns the number of arguments it took, -1 on error. */
static int parse_option(struct call *call, char **argv, struct err *e)
{
	size_t len;
	const struct verb_option *o = find_spelled(call->verb, argv[0], &len, e);
	if (!o)
		return -1;
	bool inline_value = argv[0][len] == '=';
	if (!o->value && inline_value)
		return err_set(e, "--%s takes no value", o->name);
	if (!o->value || inline_value)
		return give(call, o, inline_value ? argv[0] + len + 1 : "", e) ? -1 : 1;
	if (!argv[1])
		return err_set(e, "--%s needs a value: --%s %s", o->name, o->name, o->value);
	return give(call, o, argv[1], e) ? -1 : 2;
}

static int check_count(const struct call *call, struct err *e)
{
	const struct verb *v = call->verb;
	if (call->argument_count < v->min_arguments)
		return err_set(e, "'agent6 %s' needs %s; see `agent6 %s --help`", v->path,
			v->arguments, v->path);
	if (v->max_arguments >= 0 && call->argument_count > v->max_arguments)
		return err_set(e,
			"'agent6 %s' does not take the argument '%s'; see `agent6 %s --help`",
			v->path, call->arguments[v->max_arguments], v->path);
	return 0;
}

int call_parse(struct call *call, const struct verb *verb, char **argv, struct err *e)
{
	*call = (struct call){.verb = verb, .arguments = argv};
	char **out = argv;
	bool options = true;
	while (*argv) {
		if (options && !strcmp(*argv, "--")) {
			options = false;
			argv++;
		} else if (options && argv[0][0] == '-' && argv[0][1]) {
			int took = parse_option(call, argv, e);
			if (took < 0)
				return -1;
			argv += took;
		} else {
			*out++ = *argv++;
			call->argument_count++;
		}
	}
	*out = NULL;
	return check_count(call, e);
}

const char *call_value(const struct call *call, const char *option)
{
	for (size_t i = call->given_count; i-- > 0;)
		if (!strcmp(call->given[i].option->name, option))
			return call->given[i].value;
	return NULL;
}

bool call_has(const struct call *call, const char *option)
{
	return call_value(call, option) != NULL;
}

const char *call_value_at(const struct call *call, const char *option, size_t at)
{
	for (size_t i = 0; i < call->given_count; i++)
		if (!strcmp(call->given[i].option->name, option) && !at--)
			return call->given[i].value;
	return NULL;
}

int call_int(const struct call *call, const char *option, long range[2], long *value, struct err *e)
{
	const char *text = call_value(call, option);
	int64_t number;
	if (!text)
		return 0;
	if (num_int(text, strlen(text), &number) || number < range[0] || number > range[1])
		return range[1] == LONG_MAX
			       ? err_set(e, "--%s takes an integer of at least %ld, not '%s'",
					 option, range[0], text)
			       : err_set(e, "--%s takes an integer from %ld to %ld, not '%s'",
					 option, range[0], range[1], text);
	*value = (long)number;
	return 0;
}

int verb_fail(enum exit_code code, const struct err *e)
{
	text_complain("%s", e->text);
	return (int)code;
}

int verb_refuse(const char *format, ...)
{
	struct err e = ERR_NONE;
	va_list args;
	va_start(args, format);
	vsnprintf(e.text, sizeof(e.text), format, args);
	va_end(args);
	return verb_fail(EXIT_REFUSED, &e);
}
