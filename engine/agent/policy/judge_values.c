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

static void add(struct judge *j, const char *name, const char *text)
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

void value_add(struct judge *j, const char *name, const char *text)
{
	/* What the shell sets by itself holds that at another time. */
	static const char *const own[] = {"_", "PWD", "OLDPWD", "REPLY", "OPTARG", "MAPFILE",
		"BASH_COMMAND", "BASH_ARGV", "BASH_REMATCH", "FUNCNAME", "DIRSTACK", "LINENO",
		"RANDOM", "SRANDOM", "SECONDS", "EPOCHSECONDS", "EPOCHREALTIME", "BASHPID",
		"PIPESTATUS", "OPTIND", "HISTCMD", "COLUMNS", "LINES", NULL};
	add(j, name, text);
	if (word_in(name, own))
		add(j, name, "$()");
}

void value_read(struct judge *j, const char *word)
{
	size_t len = 0;
	while (shell_in_name(word[len]))
		len++;
	if (len && (!word[len] || strchr("=+[", word[len])))
		add(j, arena_copy(&j->arena, word, len), "$()");
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
 * script, and `()` for every substitution; 0: it is none. */
static size_t reference(const char *at, const char **name, size_t *len)
{
	if (!strncmp(at, "$()", 3)) {
		*name = at + 1;
		*len = 2;
		return 3;
	}
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

/* Which of its values each variable has in one reading. */
struct choice {
	const struct choice *next;
	const struct known_value *value;
};

/* The chosen value, else the last one. */
static const struct known_value *value_of(
	const struct judge *j, const struct choice *chosen, const char *name, size_t len)
{
	for (; chosen; chosen = chosen->next)
		if (!strncmp(chosen->value->name, name, len) && !chosen->value->name[len])
			return chosen->value;
	return value_find(j, name, len);
}

/* $? and its like, ${#x}: the bytes of what can only be a number. 0: it is none. */
static size_t number(const char *at)
{
	if (at[0] == '$' && at[1] && strchr("#?$", at[1]))
		return 2;
	if (strncmp(at, "${#", 3))
		return 0;
	size_t len = 3 + strcspn(at + 3, "}");
	for (const char *c = at + 3; c < at + len; c++)
		if (!shell_in_name(*c) && !strchr("[]@*", *c))
			return 0;
	return at[len] ? len + 1 : 0;
}

/* Nothing is done to the value on the way, and it is one. */
static bool is_plain(const char *at, size_t bytes, const char *name, size_t len)
{
	bool braced = at[1] == '{', all = strchr("@*(", at[1 + braced]);
	return !all && bytes == 1 + 2 * (size_t)braced + (*name == '@' ? 1 : len);
}

/* The word with the values of its variables in it. *unknown: not all of it is known. */
static const char *fill(
	struct judge *j, const struct sh_word *w, const struct choice *chosen, bool *unknown)
{
	AUTO_BUF out = BUF_INIT(SHELL_CAP_BYTES);
	*unknown = false;
	for (const char *text = w->text; *text;) {
		const char *name;
		bool literal = *text != '$' || (w->marks && w->marks[text - w->text] != 'x');
		size_t len, bytes = literal ? 0 : number(text);
		bool counts = bytes;
		bytes = literal || counts ? bytes : reference(text, &name, &len);
		const struct known_value *v =
			bytes && !counts ? value_of(j, chosen, name, len) : NULL;
		counts = counts || (v && !strcmp(v->text, "$#"));
		*unknown = *unknown || *text == '`' ||
			   (!literal && !counts &&
				   (!v || strpbrk(v->text, "$`") ||
					   !is_plain(text, bytes, name, len)));
		bytes += !bytes;
		if (counts)
			buf_addc(&out, '0');
		else if (v)
			buf_adds(&out, v->text);
		else
			buf_add(&out, text, bytes);
		text += bytes;
	}
	judge_afford(j, out.len);
	*unknown = *unknown || out.failed;
	return out.failed ? "$" : arena_copy(&j->arena, out.data, out.len);
}

/* Adds the filled word, or, where it is `split`, what it falls apart into. */
static size_t add_words(
	struct judge *j, const struct sh_word **words, const char *text, bool unknown, bool split)
{
	size_t count = 0;
	while (*text) {
		size_t len = split ? strcspn(text, " \t\n") : strlen(text);
		struct sh_word *w = arena_alloc(&j->arena, sizeof(*w));
		w->text = arena_copy(&j->arena, text, len);
		w->dynamic = unknown;
		if (len)
			words[count++] = w;
		text += len + (text[len] != '\0');
	}
	return count;
}

static unsigned judge_filled(struct judge *j, const struct call *c, const struct choice *chosen)
{
	size_t most = 1;
	unsigned traits = 0;
	bool blanks = false;
	const char **texts = arena_array(&j->arena, c->count, sizeof(*texts));
	bool *unknown = arena_array(&j->arena, c->count, sizeof(*unknown));
	for (size_t i = 0; i < c->count; i++) {
		texts[i] = c->words[i]->dynamic ? fill(j, c->words[i], chosen, &unknown[i]) : NULL;
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
				count += add_words(j, words + count, texts[i], unknown[i], split);
			else
				words[count++] = c->words[i];
		traits |= judge_words(j, words, count, c->node);
	}
	return traits;
}

/* Every value of every variable that the command names, with every value of the others. */
static unsigned judge_choices(struct judge *j, const struct call *c, const struct known_value *v,
	const struct choice *chosen)
{
	unsigned traits = 0;
	for (bool named = false; v; v = v->next) {
		for (size_t i = 0; i < c->count && !named; i++)
			named = c->words[i]->dynamic && is_named(c->words[i]->text, v->name);
		for (const struct choice *k = chosen; k && named; k = k->next)
			named = strcmp(k->value->name, v->name) != 0;
		if (named)
			break;
	}
	if (!v)
		return chosen ? judge_filled(j, c, chosen) : 0;
	for (const struct known_value *u = v; u && judge_afford(j, 1); u = u->next) {
		const struct choice own = {chosen, u};
		if (!strcmp(u->name, v->name))
			traits |= judge_choices(j, c, v->next, &own);
	}
	return traits;
}

/* The word where every expansion is empty. NULL: of what is not quoted no word is left then; the
 * word itself where it becomes no option: of a path, what is left is another one. */
static const struct sh_word *emptied(struct judge *j, const struct sh_word *w)
{
	char *text = arena_copy(&j->arena, w->text, strlen(w->text)), *to = text;
	const char *name;
	for (const char *at = w->text; *at;) {
		bool expands = !w->marks || w->marks[at - w->text] == 'x';
		bool counts = w->splits && !strncmp(at, "$#", 2);
		size_t len, bytes = expands ? reference(at, &name, &len) : 0;
		at += counts ? 2 : bytes;
		if (!counts && !bytes)
			*to++ = *at++;
	}
	*to = '\0';
	if (!*text && w->splits)
		return NULL;
	struct sh_word *left = arena_alloc(&j->arena, sizeof(*left));
	*left = (struct sh_word){.text = text, .globbed = w->globbed};
	return *text == '-' ? left : w;
}

/* What reads its input then may mean to read a file. */
static unsigned judge_vanished(struct judge *j, const struct call *c)
{
	const struct sh_word **words = arena_array(&j->arena, c->count, sizeof(*words));
	size_t count = 0;
	bool same = true;
	for (size_t i = 0; i < c->count; i++) {
		const struct sh_word *w = c->words[i];
		const struct sh_word *left = w->dynamic ? emptied(j, w) : w;
		same = same && left == w;
		if (left)
			words[count++] = left;
	}
	unsigned traits = same ? 0 : judge_words(j, words, count, c->node);
	return traits & TRAIT_RUNS_INPUT ? TRAIT_MAY_RUN_INPUT : traits;
}

/* ${x:-TEXT} and its like: what the variable may stand for is in the word. */
static void add_defaults(struct judge *j, const struct sh_word *w)
{
	for (const char *at = w->text; (at = strstr(at, "${")); at += 2) {
		const char *name, *rest;
		size_t len, bytes = reference(at, &name, &len);
		if (!bytes)
			continue;
		rest = at + 2 + (*name == '@' ? strspn(at + 2, "0123456789@*") : len);
		rest += *rest == '[' ? strcspn(rest, "]") + 1 : 0;
		rest += *rest == ':';
		if (rest >= at + bytes || !strchr("-=+", *rest))
			continue;
		char *text = arena_copy(&j->arena, rest + 1, (size_t)(at + bytes - rest - 1)),
		     *to = text;
		for (const char *from = text; *from; from++)
			if (!strchr("'\"\\", *from))
				*to++ = *from;
		to -= to > text && to[-1] == '}';
		*to = '\0';
		value_add(j, arena_copy(&j->arena, name, len), text);
	}
}

unsigned judge_values(struct judge *j, const struct call *c)
{
	if (j->filled == FILLED_MAX)
		return 0;
	j->filled++;
	for (size_t i = 0; i < c->count; i++)
		if (c->words[i]->dynamic)
			add_defaults(j, c->words[i]);
	unsigned traits = judge_choices(j, c, j->values, NULL) | judge_vanished(j, c);
	j->filled--;
	return traits;
}

void judge_computed(struct judge *j, const struct call *c, size_t at, const char *what)
{
	bool unknown = false;
	if (at < c->count && c->words[at]->dynamic)
		fill(j, c->words[at], NULL, &unknown);
	if (unknown)
		judge_danger(j, c, what);
}

/* --- programs in arguments ----------------------------------------------------------------- */

struct reading {
	struct judge *j;
	const struct call *c;
	code_fn *judge;
	bool splits, unknown;
};

static const char *joined(
	const struct reading *r, const char *first, const char *second, size_t len)
{
	size_t before = strlen(first);
	char *text = arena_alloc(&r->j->arena, before + len + 1);
	memcpy(text, first, before);
	memcpy(text + before, second, len);
	text[before + len] = '\0';
	return text;
}

static void judge_readings(
	struct reading *r, const char *done, const char *text, const char *marks);

static void judge_numbers(struct reading *r, const char *done, const char *text, const char *marks)
{
	static const char *const numbers[] = {"0", "", "0\n0", "-0"};
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		judge_readings(r, joined(r, done, numbers[i], strlen(numbers[i])), text, marks);
}

/* `done` stands for what was before `text`. A variable may have any of its values, or none where
 * what gives it one did not happen. */
static void judge_readings(struct reading *r, const char *done, const char *text, const char *marks)
{
	size_t plain = strcspn(marks, "x"), len;
	const char *name;
	if (!judge_afford(r->j, strlen(done) + strlen(text)))
		return;
	done = joined(r, done, text, plain);
	text += plain;
	marks += plain;
	if (!*text) {
		r->judge(r->j, r->c, done);
		return;
	}
	size_t bytes = number(text);
	if (bytes) {
		judge_numbers(r, done, text + bytes, marks + bytes);
		return;
	}
	bytes = reference(text, &name, &len);
	bool known = false, any = bytes && is_plain(text, bytes, name, len);
	bytes += !bytes;
	for (const struct known_value *v = r->j->values; v && any; v = v->next) {
		if (strncmp(v->name, name, len) != 0 || v->name[len])
			continue;
		known = true;
		if (!strcmp(v->text, "$#"))
			judge_numbers(r, done, text + bytes, marks + bytes);
		else if (strpbrk(v->text, "$`") || (r->splits && strpbrk(v->text, "*?[")))
			r->unknown = true;
		else
			judge_readings(r, joined(r, done, v->text, strlen(v->text)), text + bytes,
				marks + bytes);
	}
	r->unknown = r->unknown || !known;
	judge_readings(r, done, text + bytes, marks + bytes);
}

void judge_code(struct judge *j, const struct call *c, size_t at, const char *code, code_fn *judge)
{
	static const struct sh_word none;
	const struct sh_word *w = at < c->count ? c->words[at] : &none;
	struct reading r = {j, c, judge, w->splits, w->globbed};
	if (w->dynamic && w->marks)
		judge_readings(&r, "", code, w->marks + (code - w->text));
	else
		judge(j, c, code);
	if (r.unknown || (w->dynamic && !w->marks && strpbrk(code, "$`")))
		judge_danger(j, c,
			"the program is computed: `awk -v n=\"$n\"`, head and tail take a value "
			"that is none of it");
}
