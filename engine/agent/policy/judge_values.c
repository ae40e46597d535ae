/* What variables may hold: a command that names one is judged with each text it is given, too. */
#include "agent/policy/judge.h"

#include "base/buf.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { VALUES_MAX = 1024, FILLED_MAX = 2 };

static const struct known_value *value_find(const struct judge *j, const char *name, size_t len)
{
	const struct known_value *v = j->values;
	while (v && (strncmp(v->name, name, len) != 0 || v->name[len]))
		v = v->next;
	return v;
}

void value_add(struct judge *j, const char *name, const char *text)
{
	for (const struct known_value *v = j->values; v; v = v->next)
		if (!strcmp(v->name, name) && !strcmp(v->text, text))
			return;
	if (!judge_afford(j, j->value_count) || !*text)
		return;
	if (++j->value_count > VALUES_MAX) {
		judge_raise(j, LEVEL_DESTRUCTIVE, "it sets too many variables");
		return;
	}
	struct known_value *v = arena_alloc(&j->arena, sizeof(*v));
	*v = (struct known_value){j->values, name, text};
	j->values = v;
}

void value_assign(struct judge *j, const char *word)
{
	size_t len = strcspn(word, "=+[");
	const char *equals = strchr(word + len, '=');
	if (!equals || !len)
		return;
	const struct known_value *before = equals[-1] == '+' ? value_find(j, word, len) : NULL;
	size_t all = (before ? strlen(before->text) : 0) + strlen(equals);
	char *text = arena_alloc(&j->arena, all);
	snprintf(text, all, "%s%s", before ? before->text : "", equals + 1);
	value_add(j, arena_copy(&j->arena, word, len), text);
}

/* The bytes of `$x` or `${x...}` at `at`, and the name in it, which is `@` for every argument of a
 * script; 0: it is none. */
static size_t reference(const char *at, const char **name, size_t *len)
{
	bool braced = at[0] == '$' && at[1] == '{';
	*name = at + 1 + braced;
	for (*len = 0; at[0] == '$' && shell_in_name((*name)[*len]);)
		++*len;
	size_t used = 1 + *len;
	if (at[0] == '$' && !*len && **name && strchr("@*", **name)) {
		*len = 1;
		used = 2;
	}
	if (*len && (isdigit((unsigned char)**name) || **name == '*')) {
		used = braced || **name == '*' ? used : 2;
		*name = "@";
		*len = 1;
	}
	if (braced)
		used = strcspn(at, "}") + (strchr(at, '}') != NULL);
	return *len ? used : 0;
}

static bool is_named(const char *text, const char *value)
{
	const char *name;
	size_t len;
	for (; (text = strchr(text, '$')); text++)
		if (reference(text, &name, &len) && !strncmp(value, name, len) && !value[len])
			return true;
	return false;
}

/* The text with `chosen` (NULL: none) and the last value of every other variable in it. */
static const char *fill(struct judge *j, const char *text, const struct known_value *chosen)
{
	AUTO_BUF out;
	buf_init(&out, SHELL_CAP_BYTES);
	buf_adds(&out, "");
	while (*text) {
		const char *name;
		size_t len, bytes = reference(text, &name, &len);
		const struct known_value *v = bytes ? value_find(j, name, len) : NULL;
		if (v && chosen && !strcmp(v->name, chosen->name))
			v = chosen;
		bytes += !bytes;
		if (v)
			buf_adds(&out, v->text);
		else
			buf_add(&out, text, bytes);
		text += bytes;
	}
	judge_afford(j, out.len);
	return out.failed ? "$" : arena_copy(&j->arena, out.data, out.len);
}

/* Adds the filled word, or, where it is `split`, what it falls apart into. */
static size_t add_words(struct judge *j, const struct sh_word **words, const char *text, bool split)
{
	size_t count = 0;
	while (*text) {
		size_t len = split ? strcspn(text, " \t\n") : strlen(text);
		struct sh_word *w = arena_alloc(&j->arena, sizeof(*w));
		w->text = arena_copy(&j->arena, text, len);
		w->dynamic = strpbrk(w->text, "$`");
		if (len)
			words[count++] = w;
		text += len + (text[len] != '\0');
	}
	return count;
}

static unsigned judge_filled(struct judge *j, const struct call *c, const struct known_value *v)
{
	size_t most = 1;
	unsigned traits = 0;
	bool blanks = false;
	const char **texts = arena_array(&j->arena, c->count, sizeof(*texts));
	for (size_t i = 0; i < c->count; i++) {
		texts[i] = c->words[i]->dynamic ? fill(j, c->words[i]->text, v) : NULL;
		most += 1 + (texts[i] ? strlen(texts[i]) : 0);
		blanks = blanks || (texts[i] && strpbrk(texts[i], " \t\n"));
	}
	if (!judge_afford(j, most))
		return 0;
	const struct sh_word **words = arena_array(&j->arena, most, sizeof(*words));
	for (int split = 0; split <= blanks; split++) {
		size_t count = 0;
		for (size_t i = 0; i < c->count; i++)
			if (texts[i])
				count += add_words(j, words + count, texts[i], split);
			else
				words[count++] = c->words[i];
		traits |= judge_words(j, words, count, c->node);
	}
	return traits;
}

void judge_computed(struct judge *j, const struct call *c, size_t at, const char *what)
{
	if (at < c->count && c->words[at]->dynamic &&
		strpbrk(fill(j, c->words[at]->text, NULL), "$`"))
		judge_danger(j, c, what);
}

unsigned judge_values(struct judge *j, const struct call *c)
{
	unsigned traits = 0;
	if (j->filled == FILLED_MAX)
		return 0;
	j->filled++;
	for (const struct known_value *v = j->values; v && judge_afford(j, 1); v = v->next) {
		bool named = false;
		for (size_t i = 0; i < c->count && !named; i++)
			named = c->words[i]->dynamic && is_named(c->words[i]->text, v->name);
		traits |= named ? judge_filled(j, c, v) : 0;
	}
	j->filled--;
	return traits;
}
