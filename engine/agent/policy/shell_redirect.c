/* Redirections, and the here-documents that follow the line which announces them. */
#include "agent/policy/shell_lex.h"

#include <ctype.h>
#include <string.h>

static bool is_delimiter(const char *line, size_t len, const char *delimiter, bool strip)
{
	while (strip && len && *line == '\t')
		line++, len--;
	return strlen(delimiter) == len && !memcmp(line, delimiter, len);
}

/* At a line's beginning: the bodies that the line before has announced. */
static int read_bodies(struct sh_reader *r)
{
	for (struct sh_redirect *h = r->waiting; h; h = h->waiting) {
		size_t begun = r->at;
		bool strip = h->target->text[0] == '-';
		for (;;) {
			if (r->at >= r->len)
				return sh_fail(r, "a here-document without its end");
			const char *line = r->text + r->at;
			const char *end = memchr(line, '\n', r->len - r->at);
			size_t len = end ? (size_t)(end - line) : r->len - r->at;
			if (!h->target->globbed &&
				sh_hides_delimiter(r, line, len, h->target->text + 1))
				return sh_fail(r, "a line's end before a delimiter");
			bool last = is_delimiter(line, len, h->target->text + 1, strip);
			size_t body = r->at - begun;
			r->at += len + (end != NULL);
			if (!last)
				continue;
			h->body = arena_copy(r->arena, r->text + begun, body);
			break;
		}
		/* A quoted delimiter makes the body plain data. */
		if (!h->target->globbed && sh_read_inside(r, h->body, strlen(h->body)))
			return -1;
	}
	r->waiting = NULL;
	return 0;
}

int sh_skip_newlines(struct sh_reader *r)
{
	for (;;) {
		sh_skip_blank(r);
		if (r->at >= r->len || r->text[r->at] != '\n')
			return 0;
		r->at++;
		if (r->waiting && read_bodies(r))
			return -1;
	}
}

/* Digits or {name} directly before < or >. */
static size_t redirect_prefix(const struct sh_reader *r)
{
	size_t begun = sh_joined(r, r->at), i = begun;
	while (i < r->len && isdigit((unsigned char)r->text[i]))
		i = sh_joined(r, i + 1);
	if (i == begun && i < r->len && r->text[i] == '{') {
		i = sh_joined(r, i + 1);
		while (i < r->len && shell_in_name(r->text[i]))
			i = sh_joined(r, i + 1);
		i = i < r->len && r->text[i] == '}' ? sh_joined(r, i + 1) : begun;
	}
	return i < r->len && (r->text[i] == '<' || r->text[i] == '>') ? i - r->at : 0;
}

bool sh_at_redirect(const struct sh_reader *r)
{
	if (sh_looking_at(r, "<(") || sh_looking_at(r, ">("))
		return false;
	return redirect_prefix(r) || sh_looking_at(r, "<") || sh_looking_at(r, ">") ||
	       sh_looking_at(r, "&>");
}

static enum sh_redirect_kind take_operator(struct sh_reader *r, bool *strip)
{
	static const struct {
		const char *token;
		enum sh_redirect_kind kind;
	} operators[] = {{"<<<", SH_HERE_STRING}, {"<<-", SH_HERE_DOC}, {"<<", SH_HERE_DOC},
		{"<&", SH_DUP}, {"<>", SH_WRITE}, {"<", SH_READ}, {"&>>", SH_APPEND},
		{"&>", SH_WRITE}, {">>", SH_APPEND}, {">&", SH_DUP}, {">|", SH_WRITE},
		{">", SH_WRITE}};
	*strip = sh_looking_at(r, "<<-");
	for (size_t i = 0; i < ARRAY_LEN(operators); i++)
		if (sh_take(r, operators[i].token))
			return operators[i].kind;
	return SH_READ;
}

/* The delimiter keeps one mark in front of it: whether tabs are stripped; and `globbed` says that
 * it was quoted. */
static void mark_delimiter(struct sh_reader *r, struct sh_word *w, bool strip, size_t begun)
{
	size_t len = strlen(w->text);
	char *marked = arena_alloc(r->arena, len + 2);
	marked[0] = strip ? '-' : '=';
	memcpy(marked + 1, w->text, len);
	w->globbed = false;
	for (size_t i = sh_joined(r, begun); i < r->at; i = sh_joined(r, i + 1))
		w->globbed = w->globbed || strchr("'\"\\", r->text[i]);
	w->text = marked;
}

static void add_redirect(struct sh_node *n, struct sh_redirect *d)
{
	struct sh_redirect **tail = &n->redirects;
	while (*tail)
		tail = &(*tail)->next;
	*tail = d;
}

void sh_add_errors(struct sh_reader *r, struct sh_node *n)
{
	struct sh_word *target = arena_alloc(r->arena, sizeof(*target));
	struct sh_redirect *d = arena_alloc(r->arena, sizeof(*d));
	target->text = "1";
	d->kind = SH_DUP;
	d->target = target;
	add_redirect(n, d);
}

int sh_read_redirect(struct sh_reader *r, struct sh_node *n)
{
	struct sh_redirect *d = arena_alloc(r->arena, sizeof(*d));
	struct sh_word *target;
	bool strip;
	size_t prefix = redirect_prefix(r);
	if (prefix > 2 && r->text[r->at] == '{')
		sh_add_assign(r, r->text + r->at + 1, prefix - 2, "$#");
	r->at += prefix;
	d->kind = take_operator(r, &strip);
	sh_skip_blank(r);
	size_t begun = r->at;
	if (sh_read_word(r, &target))
		return -1;
	d->target = target;
	/* >&file redirects both streams; >&2, >&2- and >&- duplicate. */
	const char *behind = target->text + strspn(target->text, "0123456789");
	if (d->kind == SH_DUP && *behind && strcmp(behind, "-"))
		d->kind = SH_WRITE;
	if (d->kind == SH_HERE_DOC) {
		mark_delimiter(r, target, strip, begun);
		struct sh_redirect **last = &r->waiting;
		while (*last)
			last = &(*last)->waiting;
		*last = d;
	}
	add_redirect(n, d);
	return 0;
}
