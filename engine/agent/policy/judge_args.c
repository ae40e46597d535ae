#include "agent/policy/judge.h"

#include <stdio.h>
#include <string.h>

enum { PREFIX_MIN = 3 };

bool word_in(const char *word, const char *const *list)
{
	while (*list && strcmp(*list, word) != 0)
		list++;
	return *list;
}

const char *words_join(struct judge *j, const char *first, const struct call *c, size_t from)
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

/* GNU programs and git accept any unambiguous prefix. Which ones are unambiguous depends on the
 * other options; every prefix counts, which errs on the careful side. */
bool arg_is_long(const char *word, const char *option, const char **value)
{
	size_t len = strcspn(word, "=");
	if (value)
		*value = word[len] ? word + len + 1 : NULL;
	if (len == strlen(option) && !strncmp(word, option, len))
		return true;
	return len >= PREFIX_MIN && !strncmp(word, "--", 2) && len < strlen(option) &&
	       !strncmp(word, option, len);
}

bool arg_has_flag(const char *word, char flag, const char *with_value, const char **value)
{
	if (word[0] != '-' || word[1] == '-' || !word[1])
		return false;
	for (const char *at = word + 1; *at; at++) {
		if (*at == flag) {
			if (value)
				*value = at + 1;
			return true;
		}
		if (strchr(with_value, *at))
			return false;
	}
	return false;
}

const char *arg_given(
	const struct call *c, size_t at, char flag, const char *with_value, const char *option)
{
	const char *word = call_text(c, at), *value = NULL;
	if (!(option && arg_is_long(word, option, &value)) &&
		!arg_has_flag(word, flag, with_value, &value))
		return NULL;
	return value && *value ? value : call_text(c, at + 1);
}

const char *arg_take(
	const struct call *c, size_t *at, char flag, const char *with_value, const char *option)
{
	const char *given = arg_given(c, *at, flag, with_value, option);
	*at += given && given == call_text(c, *at + 1);
	return given;
}

/* Whether the last flag of a cluster takes the next word as its value. */
static bool wants_next(const char *word, const char *with_value)
{
	for (const char *at = word + 1; *at; at++)
		if (strchr(with_value, *at))
			return !at[1];
	return false;
}

size_t arg_skip_options(const struct call *c, size_t from, const char *with_value,
	const char *const *long_with_value)
{
	size_t i = from;
	for (; i < c->count; i++) {
		const char *word = c->words[i]->text, *value;
		if (word[0] != '-' || !word[1])
			return i;
		if (!strcmp(word, "--"))
			return i + 1;
		if (word[1] != '-') {
			i += wants_next(word, with_value);
			continue;
		}
		for (const char *const *l = long_with_value; l && *l; l++)
			if (arg_is_long(word, *l, &value) && !value) {
				i++;
				break;
			}
	}
	return i < c->count ? i : c->count;
}

enum taking { TAKES_NONE, TAKES_NEXT, TAKES_UNKNOWN };

static bool is_any(const char *word, const char *const *list)
{
	while (list && *list && !arg_is_long(word, *list, NULL))
		list++;
	return list && *list;
}

static enum taking long_takes(const char *word, const struct arg_options *o)
{
	bool attached = strchr(word, '=');
	if (is_any(word, o->long_with_value))
		return attached ? TAKES_NONE : TAKES_NEXT;
	return is_any(word, o->long_plain) ? TAKES_NONE : TAKES_UNKNOWN;
}

static enum taking cluster_takes(const char *word, const struct arg_options *o)
{
	for (const char *at = word + 1; *at; at++) {
		if (strchr(o->with_value, *at))
			return at[1] ? TAKES_NONE : TAKES_NEXT;
		if (!strchr(o->plain, *at))
			return TAKES_UNKNOWN;
	}
	return TAKES_NONE;
}

struct places arg_places(
	struct judge *j, const struct call *c, size_t from, const struct arg_options *o)
{
	struct places p = {.last = c->count};
	/* Whether an option or the operands may stand here, at the next word, and at the one
	 * behind it. */
	bool here = true, next = false, after = false;
	for (size_t i = from; i <= c->count && (here || next);
		i++, here = next, next = after, after = false) {
		const char *word = call_text(c, i);
		bool ends = !strcmp(word, "--");
		if (!here)
			continue;
		if (ends || word[0] != '-' || !word[1]) {
			if (p.count < ARG_PLACES_MAX)
				p.last = p.at[p.count++] = i + ends;
			else
				judge_raise(j, LEVEL_DESTRUCTIVE,
					"%s: too many options are not known", c->name);
			continue;
		}
		enum taking takes = word[1] == '-' ? long_takes(word, o) : cluster_takes(word, o);
		next = next || takes != TAKES_NEXT;
		after = takes == TAKES_NEXT || (takes == TAKES_UNKNOWN && !strchr(word, '='));
		if (takes == TAKES_UNKNOWN && !p.unknown)
			p.unknown = word;
	}
	return p;
}

size_t arg_find(const struct call *c, const char *short_option, const char *long_option)
{
	for (size_t i = 1; i < c->count; i++) {
		const char *word = c->words[i]->text;
		if (!strcmp(word, "--"))
			return 0;
		if (short_option && !strcmp(word, short_option))
			return i;
		if (long_option && arg_is_long(word, long_option, NULL))
			return i;
	}
	return 0;
}
