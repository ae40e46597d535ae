/* What becomes of a word that is read: brace lists make several, and so does $IFS. */
#include "agent/policy/shell_lex.h"

#include <string.h>

enum { BRACE_WORDS_MAX = 64 };

/* Where a list begins that is not written out, as {a..z}; `len`: nowhere. */
static size_t find_sequence(const char *text, const char *mask, size_t len)
{
	const char *open = memchr(text, '{', len);
	for (; open; open = memchr(open + 1, '{', len - (size_t)(open + 1 - text))) {
		size_t left = len - (size_t)(open - text);
		const char *dots = memmem(open, left, "..", 2), *end = memchr(open, '}', left);
		if (mask[open - text] == 'u' && dots && end && dots < end)
			return (size_t)(open - text);
	}
	return len;
}

static struct sh_word *make_word(
	struct sh_reader *r, const char *text, const char *mask, size_t len, const struct draft *d)
{
	struct sh_word *w = arena_alloc(r->arena, sizeof(*w));
	char *marks = arena_copy(r->arena, mask, len);
	size_t sequence = find_sequence(text, mask, len);
	w->text = arena_copy(r->arena, text, len);
	w->marks = marks;
	if (sequence < len)
		marks[sequence] = 'x';
	w->dynamic = d->dynamic || sequence < len;
	w->splits = d->splits;
	w->globbed = d->globbed && w->text[strspn(w->text, "[")];
	w->assigns = d->assigns;
	return w;
}

/* {a,b}: the first unquoted list of a word, expanded; what follows is expanded in turn. */
static bool find_brace(const char *text, const char *mask, size_t len, size_t *open, size_t *close)
{
	for (*open = 0; *open < len; ++*open) {
		bool comma = false;
		int depth = 0;
		if (text[*open] != '{' || mask[*open] != 'u')
			continue;
		for (*close = *open; *close < len; ++*close) {
			char c = mask[*close] == 'u' ? text[*close] : 'x';
			depth += (c == '{') - (c == '}');
			comma = comma || (c == ',' && depth == 1);
			if (depth == 0)
				break;
		}
		if (*close < len && comma)
			return true;
	}
	return false;
}

struct expansion {
	struct sh_reader *reader;
	const struct draft *draft;
	struct sh_word **tail;
	size_t made;
};

static void make_next(struct expansion *x, const char *text, const char *mask, size_t len)
{
	*x->tail = make_word(x->reader, text, mask, len, x->draft);
	x->tail = &(*x->tail)->next;
	x->made++;
}

/* An unquoted $IFS between letters is a blank in disguise. */
static void split_fields(struct expansion *x, const char *text, const char *mask, size_t len)
{
	size_t begun = 0;
	struct sh_word **first = x->tail;
	bool longer = false; /* what braces make of $IFS{a,b} is the name of another */
	for (size_t i = 0; i <= len; i++) {
		size_t n = len - i >= 6 && !strncmp(text + i, "${IFS}", 6) ? 6
			   : len - i >= 4 && !strncmp(text + i, "$IFS", 4) ? 4
									   : 0;
		longer = longer || (n == 4 && (shell_in_name(text[i + 4]) || text[i + 4] == '{'));
		if (!n && i < len)
			continue;
		if (i > begun)
			make_next(x, text + begun, mask + begun, i - begun);
		begun = i + n;
		i += n ? n - 1 : 0;
	}
	for (struct sh_word *w = *first; longer && w; w = w->next)
		w->dynamic = true;
}

static int expand(struct expansion *x, const char *text, const char *mask, size_t len, int depth)
{
	size_t open, close;
	if (x->made >= BRACE_WORDS_MAX || depth > 8)
		return sh_fail(x->reader, "a brace list too large");
	if (!find_brace(text, mask, len, &open, &close)) {
		if (x->draft->split)
			split_fields(x, text, mask, len);
		else if (len) /* nothing of a list is no word */
			make_next(x, text, mask, len);
		return 0;
	}
	int nested = 0;
	for (size_t from = open + 1, i = from; i <= close; i++) {
		char c = mask[i] == 'u' ? text[i] : 'x';
		if (!((c == ',' && nested == 0) || i == close)) {
			nested += (c == '{') - (c == '}');
			continue;
		}
		size_t item = i - from, rest = len - close - 1, all = open + item + rest;
		char *joined = arena_alloc(x->reader->arena, all + 1);
		char *joined_mask = arena_alloc(x->reader->arena, all + 1);
		const char *source[] = {text, mask};
		char *target[] = {joined, joined_mask};
		for (int k = 0; k < 2; k++) {
			memcpy(target[k], source[k], open);
			memcpy(target[k] + open, source[k] + from, item);
			memcpy(target[k] + open + item, source[k] + close + 1, rest);
		}
		if (expand(x, joined, joined_mask, all, depth + 1))
			return -1;
		from = i + 1;
	}
	return 0;
}

int sh_expand(struct sh_reader *r, const struct draft *d, struct sh_word **out)
{
	struct expansion x = {.reader = r, .draft = d, .tail = out};
	if (d->text.len)
		return expand(&x, d->text.data, d->mask.data, d->text.len, 0);
	*out = make_word(r, "", "", 0, d);
	return 0;
}
