#include "agent/policy/shell_lex.h"

#include <string.h>

static struct sh_node *read_command(struct sh_reader *r);

static struct sh_node *make(struct sh_reader *r, enum sh_kind kind)
{
	struct sh_node *n = arena_alloc(r->arena, sizeof(*n));
	n->kind = kind;
	return n;
}

/* --- simple commands ----------------------------------------------------------------------- */

/* NAME=(...): the parentheses hold words. */
static int read_array(struct sh_reader *r, const char *name)
{
	r->at++;
	for (;;) {
		struct sh_word *w;
		if (sh_skip_newlines(r))
			return -1;
		if (sh_take(r, ")"))
			return 0;
		if (sh_read_word(r, &w))
			return -1;
		for (; w; w = w->next)
			sh_add_assign(r, name, strcspn(name, "=+["), sh_value(w));
	}
}

static int add_word(struct sh_reader *r, struct sh_node *n)
{
	struct sh_word *w;
	if (sh_read_word(r, &w))
		return -1;
	bool assigns = !n->words && w->assigns;
	struct sh_word **tail = assigns ? &n->assigns : &n->words;
	while (*tail)
		tail = &(*tail)->next;
	*tail = w;
	size_t len = strlen(w->text);
	if (!w->assigns || w->text[len - 1] != '=' || !sh_looking_at(r, "("))
		return 0;
	if (read_array(r, w->text))
		return -1;
	/* What touches it belongs to it; what follows that is the command. */
	bool ends = r->at == r->len || sh_is_meta(r->text[r->at]);
	return ends ? 0 : sh_read_word(r, &w);
}

static bool ends_command(const struct sh_reader *r)
{
	return r->at >= r->len || (strchr("\n;|)", r->text[r->at]) && r->text[r->at]) ||
	       (r->text[r->at] == '&' && !sh_looking_at(r, "&>"));
}

static int read_tail(struct sh_reader *r, struct sh_node *n)
{
	for (sh_skip_blank(r); !ends_command(r); sh_skip_blank(r)) {
		if (sh_at_redirect(r)) {
			if (sh_read_redirect(r, n))
				return -1;
		} else if (r->text[r->at] == '(') {
			return sh_fail(r, "an unexpected bracket");
		} else if (add_word(r, n)) {
			return -1;
		}
	}
	return 0;
}

/* --- compound commands --------------------------------------------------------------------- */

/* The bare word ahead, for reserved words; "" when there is none. Returns its bytes. */
static size_t peek(const struct sh_reader *r, char out[16])
{
	size_t n = 0, at = sh_joined(r, r->at);
	while (at < r->len && n < 15 && !sh_is_meta(r->text[at]) &&
		!strchr("'\"\\$`", r->text[at])) {
		out[n++] = r->text[at];
		at = sh_joined(r, at + 1);
	}
	/* One that goes on behind a quote is no reserved word. */
	n = at < r->len && !sh_is_meta(r->text[at]) ? 0 : n;
	out[n] = '\0';
	return at - r->at;
}

/* The bytes of `word`, if it is ahead. */
static size_t next_is(struct sh_reader *r, const char *word)
{
	char ahead[16];
	sh_skip_blank(r);
	size_t bytes = peek(r, ahead);
	return strcmp(ahead, word) ? 0 : bytes;
}

static bool take_word(struct sh_reader *r, const char *word)
{
	size_t bytes = next_is(r, word);
	r->at += bytes;
	return bytes;
}

static void adopt(struct sh_node *parent, struct sh_node *child)
{
	struct sh_node **tail = &parent->children;
	while (*tail)
		tail = &(*tail)->next;
	*tail = child;
}

static bool is_terminator(struct sh_reader *r)
{
	static const char *const words[] = {
		"then", "do", "done", "fi", "elif", "else", "esac", "}"};
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (next_is(r, words[i]))
			return true;
	return r->at >= r->len || r->text[r->at] == ')' || sh_looking_at(r, ";;") ||
	       sh_looking_at(r, ";&");
}

static struct sh_node *read_pipeline(struct sh_reader *r)
{
	struct sh_node *pipeline = make(r, SH_PIPELINE);
	while (take_word(r, "!") || take_word(r, "time"))
		while (take_word(r, "-p") || take_word(r, "--"))
			;
	for (;;) {
		struct sh_node *stage = read_command(r);
		if (!stage)
			return NULL;
		adopt(pipeline, stage);
		sh_skip_blank(r);
		if (sh_looking_at(r, "||") || !sh_looking_at(r, "|"))
			return pipeline;
		if (sh_take(r, "|&"))
			sh_add_errors(r, stage);
		else
			r->at++;
		if (sh_skip_newlines(r))
			return NULL;
	}
}

/* Pipelines up to a reserved word, a closing bracket or the end. */
static struct sh_node *read_items(struct sh_reader *r)
{
	struct sh_node *list = make(r, SH_LIST);
	for (;;) {
		if (sh_skip_newlines(r))
			return NULL;
		if (is_terminator(r))
			return list;
		struct sh_node *item = read_pipeline(r);
		if (!item)
			return NULL;
		adopt(list, item);
		sh_skip_blank(r);
		if (sh_take(r, "&&") || sh_take(r, "||"))
			continue;
		if (sh_looking_at(r, ";;") || sh_looking_at(r, ";&"))
			continue;
		if (sh_take(r, "&"))
			item->background = true;
		else if (!sh_take(r, ";") && r->at < r->len && r->text[r->at] != '\n' &&
			 !is_terminator(r)) {
			sh_fail(r, "an unexpected character");
			return NULL;
		}
	}
}

static int expect(struct sh_reader *r, const char *word)
{
	return sh_skip_newlines(r) || !take_word(r, word) ? sh_fail(r, "a reserved word is missing")
							  : 0;
}

static int read_body(struct sh_reader *r, struct sh_node *n)
{
	struct sh_node *body = read_items(r);
	if (!body)
		return -1;
	adopt(n, body);
	return 0;
}

static int read_if(struct sh_reader *r, struct sh_node *n)
{
	do {
		if (read_body(r, n) || expect(r, "then") || read_body(r, n))
			return -1;
	} while (take_word(r, "elif"));
	if (take_word(r, "else") && read_body(r, n))
		return -1;
	return expect(r, "fi");
}

static int read_loop(struct sh_reader *r, struct sh_node *n)
{
	return read_body(r, n) || expect(r, "do") || read_body(r, n) ? -1 : expect(r, "done");
}

bool shell_holds_code(const char *text)
{
	for (const char *at = strchr(text, '$'); at; at = strchr(at + 1, '$'))
		if (at[1] == '(' && at[2] != ')')
			return true;
	return strchr(text, '`');
}

static int read_arithmetic(struct sh_reader *r)
{
	size_t len;
	if (!sh_is_arithmetic(r, &len))
		return sh_fail(r, "an unclosed ((");
	const char *text = r->text + r->at;
	r->at += len + 2;
	sh_add_names(r, text, len);
	return sh_read_inside(r, text, len);
}

static int read_do(struct sh_reader *r, struct sh_node *n)
{
	sh_skip_blank(r);
	sh_take(r, ";");
	return expect(r, "do") || read_body(r, n) ? -1 : expect(r, "done");
}

/* for ((...)); for NAME in WORDS; select likewise */
static int read_for(struct sh_reader *r, struct sh_node *n)
{
	struct sh_word *w;
	sh_skip_blank(r);
	if (sh_take(r, "((")) {
		if (read_arithmetic(r))
			return -1;
		return read_do(r, n);
	}
	if (sh_read_word(r, &w) || sh_skip_newlines(r))
		return -1;
	const char *name = w->text;
	bool listed = take_word(r, "in");
	sh_add_assign(r, name, strlen(name), listed ? "" : "$@");
	if (!listed)
		return read_do(r, n);
	for (sh_skip_blank(r); r->at < r->len && !strchr(";\n", r->text[r->at]); sh_skip_blank(r)) {
		if (sh_read_word(r, &w))
			return -1;
		for (; w; w = w->next)
			sh_add_assign(r, name, strlen(name), sh_value(w));
	}
	return read_do(r, n);
}

static int read_case(struct sh_reader *r, struct sh_node *n)
{
	struct sh_word *w;
	sh_skip_blank(r);
	if (sh_read_word(r, &w) || expect(r, "in"))
		return -1;
	for (;;) {
		if (sh_skip_newlines(r))
			return -1;
		if (take_word(r, "esac"))
			return 0;
		sh_take(r, "(");
		do {
			sh_skip_blank(r);
			if (sh_read_word(r, &w))
				return -1;
			sh_skip_blank(r);
		} while (sh_take(r, "|"));
		if (!sh_take(r, ")"))
			return sh_fail(r, "a case pattern without its bracket");
		if (read_body(r, n))
			return -1;
		if (!sh_take(r, ";;&") && !sh_take(r, ";;") && !sh_take(r, ";&") &&
			!next_is(r, "esac"))
			return sh_fail(r, "a case without its end");
	}
}

/* [[ ... ]]: words and operators without pipes. */
static int read_test(struct sh_reader *r)
{
	struct sh_word *w;
	for (;;) {
		if (sh_skip_newlines(r))
			return -1;
		if (take_word(r, "]]"))
			return 0;
		if (r->at >= r->len)
			return sh_fail(r, "an unclosed [[");
		if (strchr("<>()&|;", r->text[r->at]) && !sh_looking_at(r, "<(") &&
			!sh_looking_at(r, ">("))
			r->at++;
		else if (sh_read_word(r, &w) || (shell_holds_code(w->text) && sh_add_eval(r)))
			return -1;
		else
			sh_add_names(r, w->text, strlen(w->text));
	}
}

static int read_group(struct sh_reader *r, struct sh_node *n, const char *close)
{
	if (read_body(r, n))
		return -1;
	sh_skip_blank(r);
	bool closed = *close == '}' ? take_word(r, "}") : sh_take(r, close);
	return closed ? 0 : sh_fail(r, "an unclosed group");
}

/* 1: `n` is a compound command now; 0: it is none. */
static int read_compound(struct sh_reader *r, struct sh_node *n)
{
	n->kind = SH_LIST;
	if (!r->posix && sh_take(r, "((")) {
		size_t len;
		if (sh_is_arithmetic(r, &len))
			return read_arithmetic(r) ? -1 : 1;
		r->at -= 2;
	}
	if (sh_take(r, "("))
		return read_group(r, n, ")") ? -1 : 1;
	if (take_word(r, "{"))
		return read_group(r, n, "}") ? -1 : 1;
	if (!r->posix && take_word(r, "[["))
		return read_test(r) ? -1 : 1;
	if (take_word(r, "if"))
		return read_if(r, n) ? -1 : 1;
	if (take_word(r, "while") || take_word(r, "until"))
		return read_loop(r, n) ? -1 : 1;
	if (take_word(r, "for") || take_word(r, "select"))
		return read_for(r, n) ? -1 : 1;
	if (take_word(r, "case"))
		return read_case(r, n) ? -1 : 1;
	n->kind = SH_SIMPLE;
	return 0;
}

/* NAME () and function NAME; the name is read already. */
static struct sh_node *read_function(struct sh_reader *r, const char *name)
{
	struct sh_node *f = make(r, SH_FUNCTION);
	f->name = name;
	if (sh_skip_newlines(r))
		return NULL;
	struct sh_node *body = read_command(r);
	if (!body)
		return NULL;
	adopt(f, body);
	return f;
}

static bool take_parentheses(struct sh_reader *r)
{
	size_t before = r->at;
	sh_skip_blank(r);
	if (sh_take(r, "(")) {
		sh_skip_blank(r);
		if (sh_take(r, ")"))
			return true;
	}
	r->at = before;
	return false;
}

static struct sh_node *read_simple(struct sh_reader *r, struct sh_node *n)
{
	if (take_word(r, "function")) {
		struct sh_word *w;
		sh_skip_blank(r);
		if (sh_read_word(r, &w))
			return NULL;
		take_parentheses(r);
		return read_function(r, w->text);
	}
	if (take_word(r, "coproc"))
		return read_command(r);
	size_t begun = r->at;
	if (!sh_at_redirect(r) && !ends_command(r)) {
		if (add_word(r, n))
			return NULL;
		if (n->words && !n->words->next && take_parentheses(r))
			return read_function(r, n->words->text);
	}
	if (read_tail(r, n))
		return NULL;
	if (r->at == begun) {
		sh_fail(r, "a command is missing");
		return NULL;
	}
	return n;
}

static struct sh_node *read_command(struct sh_reader *r)
{
	struct sh_node *n = make(r, SH_SIMPLE), *result = n;
	struct sh_node *outer = r->subs;
	r->subs = NULL;
	if (++r->depth > SHELL_DEPTH_MAX) {
		sh_fail(r, "nesting too deep");
		return NULL;
	}
	sh_skip_blank(r);
	int compound = read_compound(r, n);
	if (compound < 0)
		return NULL;
	if (compound ? read_tail(r, n) : !(result = read_simple(r, n)))
		return NULL;
	if (compound && n->words) {
		sh_fail(r, "words behind a compound command");
		return NULL;
	}
	r->depth--;
	struct sh_node **tail = &result->subs;
	while (*tail)
		tail = &(*tail)->next;
	*tail = r->subs;
	r->subs = outer;
	return result;
}

struct sh_node *sh_read_list(struct sh_reader *r)
{
	struct sh_node *list = read_items(r);
	if (!list)
		return NULL;
	if (r->at < r->len) {
		sh_fail(r, "an unexpected word");
		return NULL;
	}
	if (r->waiting) {
		sh_fail(r, "a here-document without its end");
		return NULL;
	}
	/* What here-documents ran after the last command they belong to. */
	list->subs = r->subs;
	return list;
}

struct sh_node *shell_parse(
	const char *text, size_t len, bool posix, struct arena *arena, struct err *e)
{
	struct sh_reader r = {.text = text, .len = len, .posix = posix, .arena = arena, .e = e};
	if (len > SHELL_CAP_BYTES || memchr(text, 0, len)) {
		err_set(e, "shell text: over %d bytes, or with a NUL", SHELL_CAP_BYTES);
		return NULL;
	}
	return sh_read_list(&r);
}
