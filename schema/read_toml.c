/* TOML 1.0 (toml.io/en/v1.0.0), by hand: Debian packages no C library for it. */
#include "schema/cursor.h"
#include "schema/read.h"
#include "schema/toml_scalar.h"
#include "schema/toml_tree.h"
#include <string.h>

struct reader {
	struct cursor cursor;
	struct toml_tree tree;
	int depth; /* of brackets */
};

static int syntax(struct reader *r, const char *wanted)
{
	struct cursor *c = &r->cursor;
	struct doc_pos pos = cursor_pos(c);
	size_t n = utf8_step(c->at, (size_t)(c->end - c->at), NULL);
	if (c->at == c->end)
		finding_at(r->tree.findings, RULE_TOML_SYNTAX, r->tree.doc, pos,
			"expected %s, but the text ends", wanted);
	else if (*c->at == '\n' || *c->at == '\r')
		finding_at(r->tree.findings, RULE_TOML_SYNTAX, r->tree.doc, pos,
			"expected %s, but the line ends", wanted);
	else
		finding_at(r->tree.findings, RULE_TOML_SYNTAX, r->tree.doc, pos,
			"expected %s, found `%.*s`", wanted, (int)n, c->at);
	return -1;
}

static void skip_blanks(struct cursor *c)
{
	c->at += strspn(c->at, " \t");
}

/* \n or \r\n; a lone \r is no newline in TOML. */
static bool at_newline(const struct cursor *c)
{
	return c->at[0] == '\n' || (c->at[0] == '\r' && c->at[1] == '\n');
}

static void skip_comment(struct cursor *c)
{
	if (*c->at == '#')
		c->at += strcspn(c->at, "\r\n");
}

static void skip_lines(struct cursor *c)
{
	for (;;) {
		skip_blanks(c);
		skip_comment(c);
		if (!at_newline(c))
			return;
		cursor_newline(c);
	}
}

/* --- strings ---------------------------------------------------------------------------------- */

struct string {
	char *text, *out;
	struct doc_pos pos;
	bool lone; /* an escape named a surrogate */
};

/* Behind the backslash. */
static int read_escape(struct reader *r, struct string *s)
{
	static const char letters[] = "\"\\bfnrt", meant[] = "\"\\\b\f\n\r\t";
	struct cursor *c = &r->cursor;
	const char *known = *c->at ? strchr(letters, *c->at) : NULL;
	if (known) {
		*s->out++ = meant[known - letters];
		c->at++;
		return 0;
	}
	uint32_t code;
	if (*c->at != 'u' && *c->at != 'U')
		return syntax(
			r, "one of the escapes \\\" \\\\ \\b \\f \\n \\r \\t \\uXXXX \\UXXXXXXXX");
	int count = *c->at++ == 'u' ? 4 : 8;
	if (cursor_hex(c, count, &code))
		return syntax(r, "a hexadecimal digit");
	if (code > 0x10ffff)
		return syntax(r, "a code point up to 10FFFF before this");
	s->lone |= code >= 0xd800 && code < 0xe000;
	s->out += utf8_put(code >= 0xd800 && code < 0xe000 ? 0xfffd : code, s->out);
	return 0;
}

/* A backslash at a line's end takes all white space up to the next character with it. */
static bool skip_folded(struct cursor *c)
{
	const char *p = c->at + strspn(c->at, " \t");
	if (*p != '\n' && !(*p == '\r' && p[1] == '\n'))
		return false;
	c->at = p;
	for (;;) {
		skip_blanks(c);
		if (!at_newline(c))
			return true;
		cursor_newline(c);
	}
}

static int read_line(struct reader *r, struct string *s, char quote)
{
	struct cursor *c = &r->cursor;
	while (*c->at != quote) {
		if (c->at == c->end || *c->at == '\n' || *c->at == '\r')
			return syntax(r, "the closing quote of this string");
		if (*c->at == '\\' && quote == '"') {
			c->at++;
			if (read_escape(r, s))
				return -1;
		} else {
			*s->out++ = *c->at++;
		}
	}
	c->at++;
	return 0;
}

/* Up to two quotes may stand right before the three that close. */
static bool closes(struct string *s, struct cursor *c, char quote)
{
	size_t n = 0;
	while (n < 5 && c->at[n] == quote)
		n++;
	size_t content = n < 3 ? n : n - 3;
	for (size_t i = 0; i < content; i++)
		*s->out++ = quote;
	c->at += n;
	return n >= 3;
}

static int read_lines(struct reader *r, struct string *s, char quote)
{
	struct cursor *c = &r->cursor;
	if (at_newline(c))
		cursor_newline(c);
	for (;;) {
		if (*c->at == quote) {
			if (closes(s, c, quote))
				return 0;
		} else if (at_newline(c)) {
			const char *from = c->at;
			cursor_newline(c);
			while (from < c->at)
				*s->out++ = *from++;
		} else if (c->at == c->end || *c->at == '\r') {
			return syntax(r, "the closing quotes of this string");
		} else if (*c->at == '\\' && quote == '"') {
			c->at++;
			if (!skip_folded(c) && read_escape(r, s))
				return -1;
		} else {
			*s->out++ = *c->at++;
		}
	}
}

/* The longest this string can be: up to its closing quotes, escapes counted as written. */
static size_t string_room(const char *p, char quote, bool lines)
{
	const char *start = p;
	char closing[] = {quote, quote, quote, '\0'};
	while (*p && (lines ? strncmp(p, closing, 3) != 0 : *p != quote && *p != '\n'))
		p += *p == '\\' && quote == '"' && p[1] ? 2 : 1;
	return (size_t)(p - start) + 3;
}

/* At a quote. `node` is broken when the content is refused, which has been reported. */
static int read_string(struct reader *r, struct doc_node *node, bool allow_lines)
{
	struct cursor *c = &r->cursor;
	char quote = *c->at;
	struct string s = {.pos = cursor_pos(c)};
	bool lines = allow_lines && c->at[1] == quote && c->at[2] == quote;
	c->at += lines ? 3 : 1;
	s.text = s.out = arena_alloc(&r->tree.doc->arena, string_room(c->at, quote, lines));
	if (lines ? read_lines(r, &s, quote) : read_line(r, &s, quote))
		return -1;
	size_t len = (size_t)(s.out - s.text);
	cursor_end(c, &s.pos);
	*node = (struct doc_node){.kind = DOC_STR, .count = (uint32_t)len, .pos = s.pos};
	node->text = s.text;
	doc_check_string(node, s.lone, r->tree.doc, r->tree.findings);
	return 0;
}

/* --- keys ------------------------------------------------------------------------------------- */

static int read_key_part(struct reader *r, struct doc_node *key)
{
	static const char bare[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	struct cursor *c = &r->cursor;
	if (*c->at == '"' || *c->at == '\'')
		return read_string(r, key, false);
	size_t len = strspn(c->at, bare);
	if (!len)
		return syntax(r, "a key");
	struct doc_pos pos = cursor_pos(c);
	const char *text = c->at;
	c->at += len;
	cursor_end(c, &pos);
	*key = (struct doc_node){.kind = DOC_STR, .count = (uint32_t)len, .pos = pos};
	key->text = arena_copy(&r->tree.doc->arena, text, len);
	return 0;
}

static int read_path(struct reader *r, struct toml_path *path)
{
	struct cursor *c = &r->cursor;
	for (path->count = 0;; c->at++) {
		skip_blanks(c);
		if (path->count == DOC_DEPTH_MAX) {
			finding_at(r->tree.findings, RULE_TOO_DEEP, r->tree.doc, cursor_pos(c),
				"the key has more than %d parts", DOC_DEPTH_MAX);
			return -1;
		}
		if (read_key_part(r, &path->parts[path->count++]))
			return -1;
		skip_blanks(c);
		if (*c->at != '.')
			return 0;
	}
}

/* --- values ----------------------------------------------------------------------------------- */

static struct toml *read_value(struct reader *r);

static struct toml *read_scalar(struct reader *r)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.:";
	struct cursor *c = &r->cursor;
	size_t len = strspn(c->at, letters);
	if (toml_is_date(c->at, len) && c->at[len] == ' ' && c->at[len + 1] >= '0' &&
		c->at[len + 1] <= '9')
		len += 1 + strspn(c->at + len + 1, letters);
	struct doc_pos pos = cursor_pos(c);
	struct toml *n = toml_new(&r->tree, TOML_VALUE, pos);
	enum rule refused = RULE_TOML_SYNTAX;
	if (!n)
		return NULL;
	if (!len || toml_scalar(c->at, len, &n->node, &refused)) {
		if (len && *c->at >= 'A')
			syntax(r, "a value (a text needs quotes)");
		else
			syntax(r, "a value");
		return NULL;
	}
	c->at += len;
	cursor_end(c, &n->node.pos);
	if (n->node.kind == DOC_BROKEN) {
		const char *why = refused == RULE_TOML_DATE ? "dates are refused: put it in quotes"
				  : refused == RULE_NOT_FINITE
					  ? "this is not a finite number"
					  : "the integer does not fit into 64 bits";
		finding_at(r->tree.findings, refused, r->tree.doc, n->node.pos, "%s", why);
	}
	return n;
}

static struct toml *read_list(struct reader *r)
{
	struct cursor *c = &r->cursor;
	struct toml *list = toml_new(&r->tree, TOML_LIST, cursor_pos(c));
	if (!list)
		return NULL;
	c->at++;
	for (skip_lines(c); *c->at != ']'; skip_lines(c)) {
		struct toml *item = read_value(r);
		if (!item)
			return NULL;
		toml_append(list, item);
		skip_lines(c);
		if (*c->at == ',') {
			c->at++;
		} else if (*c->at != ']') {
			syntax(r, "`,` or `]`");
			return NULL;
		}
	}
	c->at++;
	cursor_end(c, &list->node.pos);
	return list;
}

static int read_pair(struct reader *r, struct toml *table);

static struct toml *read_inline(struct reader *r)
{
	struct cursor *c = &r->cursor;
	struct toml *table = toml_new(&r->tree, TOML_TABLE, cursor_pos(c));
	if (!table)
		return NULL;
	table->origin = TOML_INLINE;
	c->at++;
	skip_blanks(c);
	for (bool first = true; *c->at != '}' || !first; first = false) {
		if (at_newline(c)) {
			syntax(r, "the next key on the same line");
			return NULL;
		}
		if (read_pair(r, table))
			return NULL;
		skip_blanks(c);
		if (*c->at == '}')
			break;
		if (*c->at != ',') {
			syntax(r, "`,` or `}` on the same line");
			return NULL;
		}
		c->at++;
		skip_blanks(c);
	}
	c->at++;
	cursor_end(c, &table->node.pos);
	return table;
}

static struct toml *read_quoted(struct reader *r)
{
	struct toml *n = toml_new(&r->tree, TOML_VALUE, cursor_pos(&r->cursor));
	return n && !read_string(r, &n->node, true) ? n : NULL;
}

static struct toml *read_value(struct reader *r)
{
	char c = *r->cursor.at;
	if (c == '"' || c == '\'')
		return read_quoted(r);
	if (c != '[' && c != '{')
		return read_scalar(r);
	if (r->depth == DOC_DEPTH_MAX) {
		finding_at(r->tree.findings, RULE_TOO_DEEP, r->tree.doc, cursor_pos(&r->cursor),
			"lists and maps nest deeper than %d levels", DOC_DEPTH_MAX);
		return NULL;
	}
	r->depth++;
	struct toml *n = c == '[' ? read_list(r) : read_inline(r);
	r->depth--;
	return n;
}

/* --- lines ------------------------------------------------------------------------------------ */

static int read_pair(struct reader *r, struct toml *table)
{
	struct cursor *c = &r->cursor;
	struct toml_path path;
	if (read_path(r, &path))
		return -1;
	if (*c->at != '=')
		return syntax(r, "`=`");
	c->at++;
	skip_blanks(c);
	struct toml *value = read_value(r);
	return value ? toml_set(&r->tree, table, &path, value) : -1;
}

static struct toml *read_header(struct reader *r)
{
	struct cursor *c = &r->cursor;
	struct toml_path path;
	bool list = c->at[1] == '[';
	c->at += list ? 2 : 1;
	if (read_path(r, &path))
		return NULL;
	if (*c->at != ']' || (list && c->at[1] != ']')) {
		syntax(r, list ? "`]]`" : "`]`");
		return NULL;
	}
	c->at += list ? 2 : 1;
	return toml_open_header(&r->tree, &path, list);
}

static int read_text(struct reader *r)
{
	struct cursor *c = &r->cursor;
	struct toml *table = &r->tree.top;
	for (skip_lines(c); c->at < c->end; skip_lines(c)) {
		if (*c->at == '[') {
			table = read_header(r);
			if (!table)
				return -1;
		} else if (read_pair(r, table)) {
			return -1;
		}
		skip_blanks(c);
		skip_comment(c);
		if (c->at < c->end && !at_newline(c))
			return syntax(r, "the end of the line");
	}
	return 0;
}

int doc_read_toml(struct doc *d, const char *file, const char *text, size_t len, struct findings *f)
{
	if (doc_scan(d, file, text, len, f))
		return -1;
	struct reader r = {.depth = 0};
	struct doc_build build;
	cursor_init(&r.cursor, d);
	toml_tree_init(&r.tree, d, f);
	doc_build_init(&build, d, f);
	if (!read_text(&r) && !toml_build(&build, &r.tree.top))
		doc_build_root(&build);
	doc_build_done(&build);
	toml_tree_done(&r.tree);
	return d->root ? 0 : -1;
}
