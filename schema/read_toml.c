/* TOML 1.0 (toml.io/en/v1.0.0), with our own reader: Debian has no C library for it. */
#include "schema/cursor.h"
#include "schema/read.h"
#include "schema/toml_scalar.h"
#include "schema/toml_tree.h"
#include <string.h>

struct toml_reader {
	struct cursor cursor;
	struct toml_tree tree;
	int depth; /* nesting of brackets */
};

static int syntax(struct toml_reader *reader, const char *wanted)
{
	struct cursor *c = &reader->cursor;
	struct doc_pos pos = cursor_pos(c);
	size_t n = utf8_step(c->at, (size_t)(c->end - c->at), NULL);
	if (c->at == c->end)
		finding_at(reader->tree.findings, RULE_TOML_SYNTAX, reader->tree.doc, pos,
			"expected %s, but the text ends", wanted);
	else if (*c->at == '\n' || *c->at == '\r')
		finding_at(reader->tree.findings, RULE_TOML_SYNTAX, reader->tree.doc, pos,
			"expected %s, but the line ends", wanted);
	else
		finding_at(reader->tree.findings, RULE_TOML_SYNTAX, reader->tree.doc, pos,
			"expected %s, found `%.*s`", wanted, (int)n, c->at);
	return -1;
}

/* Does the same. If a comma stands before `fraction`, and digits around it, they may be a decimal
 * number, 1,5. Three of them may be thousands. */
static int syntax_at_comma(struct toml_reader *reader, const char *wanted, const char *fraction)
{
	const char *start = reader->tree.doc->text, *whole = fraction;
	struct findings *findings = reader->tree.findings;
	size_t kept = findings->count;
	syntax(reader, wanted);
	if (findings->count == kept || fraction == start || *--whole != ',')
		return -1;
	while (whole > start && whole[-1] >= '0' && whole[-1] <= '9')
		whole--;
	struct finding *it = &findings->items[kept];
	int before = (int)(fraction - 1 - whole), after = (int)strspn(fraction, "0123456789");
	if (before && after == 3)
		finding_help(findings, it,
			"a number has no comma: write `%.*s%.3s`, or `%.*s.%.3s` with a point",
			before, whole, fraction, before, whole, fraction);
	else if (before && after)
		finding_help(findings, it, "a decimal number has a point: write `%.*s.%.*s`",
			before, whole, after, fraction);
	return -1;
}

static void skip_blanks(struct cursor *cursor)
{
	cursor->at += strspn(cursor->at, " \t");
}

/* Reports whether a newline is here: \n or \r\n; a lone \r is none in TOML. */
static bool at_newline(const struct cursor *cursor)
{
	return cursor->at[0] == '\n' || (cursor->at[0] == '\r' && cursor->at[1] == '\n');
}

static void skip_comment(struct cursor *cursor)
{
	if (*cursor->at == '#')
		cursor->at += strcspn(cursor->at, "\r\n");
}

static void skip_lines(struct cursor *cursor)
{
	for (;;) {
		skip_blanks(cursor);
		skip_comment(cursor);
		if (!at_newline(cursor))
			return;
		cursor_newline(cursor);
	}
}

/* --- strings ---------------------------------------------------------------------------------- */

struct string {
	char *text, *out;
	struct doc_pos pos;
	bool lone; /* an escape named a surrogate */
};

/* Reads the escape after a backslash. */
static int read_escape(struct toml_reader *reader, struct string *string)
{
	static const char letters[] = "\"\\bfnrt", meant[] = "\"\\\b\f\n\r\t";
	struct cursor *c = &reader->cursor;
	const char *known = *c->at ? strchr(letters, *c->at) : NULL;
	if (known) {
		*string->out++ = meant[known - letters];
		c->at++;
		return 0;
	}
	uint32_t code;
	if (*c->at != 'u' && *c->at != 'U')
		return syntax(reader,
			"one of the escapes \\\" \\\\ \\b \\f \\n \\r \\t \\uXXXX \\UXXXXXXXX");
	int count = *c->at++ == 'u' ? 4 : 8;
	if (cursor_hex(c, count, &code))
		return syntax(reader, "a hexadecimal digit");
	if (code > 0x10ffff)
		return syntax(reader, "a code point up to 10FFFF before this");
	string->lone |= code >= 0xd800 && code < 0xe000;
	string->out += utf8_put(code >= 0xd800 && code < 0xe000 ? 0xfffd : code, string->out);
	return 0;
}

/* Skips all white space after a backslash at a line's end, up to the next character. */
static bool skip_folded(struct cursor *cursor)
{
	const char *p = cursor->at + strspn(cursor->at, " \t");
	if (*p != '\n' && !(*p == '\r' && p[1] == '\n'))
		return false;
	cursor->at = p;
	for (;;) {
		skip_blanks(cursor);
		if (!at_newline(cursor))
			return true;
		cursor_newline(cursor);
	}
}

static int read_line(struct toml_reader *reader, struct string *string, char quote)
{
	struct cursor *c = &reader->cursor;
	while (*c->at != quote) {
		if (c->at == c->end || *c->at == '\n' || *c->at == '\r')
			return syntax(reader, "the closing quote of this string");
		if (*c->at == '\\' && quote == '"') {
			c->at++;
			if (read_escape(reader, string))
				return -1;
		} else {
			*string->out++ = *c->at++;
		}
	}
	c->at++;
	return 0;
}

/* Reports whether the string closes here. Up to two quotes may stand right before the three that
 * close. */
static bool closes(struct string *string, struct cursor *cursor, char quote)
{
	size_t n = 0;
	while (n < 5 && cursor->at[n] == quote)
		n++;
	size_t content = n < 3 ? n : n - 3;
	for (size_t i = 0; i < content; i++)
		*string->out++ = quote;
	cursor->at += n;
	return n >= 3;
}

static int read_lines(struct toml_reader *reader, struct string *string, char quote)
{
	struct cursor *c = &reader->cursor;
	if (at_newline(c))
		cursor_newline(c);
	for (;;) {
		if (*c->at == quote) {
			if (closes(string, c, quote))
				return 0;
		} else if (at_newline(c)) {
			const char *from = c->at;
			cursor_newline(c);
			while (from < c->at)
				*string->out++ = *from++;
		} else if (c->at == c->end || *c->at == '\r') {
			return syntax(reader, "the closing quotes of this string");
		} else if (*c->at == '\\' && quote == '"') {
			c->at++;
			if (!skip_folded(c) && read_escape(reader, string))
				return -1;
		} else {
			*string->out++ = *c->at++;
		}
	}
}

/* Returns the most bytes this string can have: up to its closing quotes, escapes as written. */
static size_t string_room(const char *p, char quote, bool lines)
{
	const char *start = p;
	char closing[] = {quote, quote, quote, '\0'};
	while (*p && (lines ? strncmp(p, closing, 3) != 0 : *p != quote && *p != '\n'))
		p += *p == '\\' && quote == '"' && p[1] ? 2 : 1;
	return (size_t)(p - start) + 3;
}

/* Reads a string at its quote. `node` is broken if the content is refused, which has been
 * reported. */
static int read_string(struct toml_reader *reader, struct doc_node *node, bool allow_lines)
{
	struct cursor *c = &reader->cursor;
	char quote = *c->at;
	struct string s = {.pos = cursor_pos(c)};
	bool lines = allow_lines && c->at[1] == quote && c->at[2] == quote;
	c->at += lines ? 3 : 1;
	s.text = s.out = arena_alloc(&reader->tree.doc->arena, string_room(c->at, quote, lines));
	if (lines ? read_lines(reader, &s, quote) : read_line(reader, &s, quote))
		return -1;
	size_t len = (size_t)(s.out - s.text);
	cursor_end(c, &s.pos);
	*node = (struct doc_node){.kind = DOC_STR, .count = (uint32_t)len, .pos = s.pos};
	node->text = s.text;
	doc_check_string(node, s.lone, reader->tree.doc, reader->tree.findings);
	return 0;
}

/* --- keys ------------------------------------------------------------------------------------- */

static int read_key_part(struct toml_reader *reader, struct doc_node *key)
{
	static const char bare[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	struct cursor *c = &reader->cursor;
	if (*c->at == '"' || *c->at == '\'')
		return read_string(reader, key, false);
	size_t len = strspn(c->at, bare);
	if (!len)
		return syntax(reader, "a key");
	struct doc_pos pos = cursor_pos(c);
	const char *text = c->at;
	c->at += len;
	cursor_end(c, &pos);
	*key = (struct doc_node){.kind = DOC_STR, .count = (uint32_t)len, .pos = pos};
	key->text = arena_copy(&reader->tree.doc->arena, text, len);
	return 0;
}

static int read_path(struct toml_reader *reader, struct toml_path *path)
{
	struct cursor *c = &reader->cursor;
	for (path->count = 0;; c->at++) {
		skip_blanks(c);
		if (path->count == DOC_DEPTH_MAX) {
			finding_at(reader->tree.findings, RULE_TOO_DEEP, reader->tree.doc,
				cursor_pos(c), "the key has more than %d parts", DOC_DEPTH_MAX);
			return -1;
		}
		if (read_key_part(reader, &path->parts[path->count++]))
			return -1;
		skip_blanks(c);
		if (*c->at != '.')
			return 0;
	}
}

/* --- values ----------------------------------------------------------------------------------- */

static struct toml *read_value(struct toml_reader *reader);

static struct toml *read_scalar(struct toml_reader *reader)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.:";
	struct cursor *c = &reader->cursor;
	size_t len = strspn(c->at, letters);
	if (toml_is_date(c->at, len) && c->at[len] == ' ' && c->at[len + 1] >= '0' &&
		c->at[len + 1] <= '9')
		len += 1 + strspn(c->at + len + 1, letters);
	struct doc_pos pos = cursor_pos(c);
	struct toml *n = toml_new(&reader->tree, TOML_VALUE, pos);
	enum rule refused = RULE_TOML_SYNTAX;
	if (!n)
		return NULL;
	if (!len || toml_scalar(c->at, len, &n->node, &refused)) {
		if (len && *c->at >= 'A')
			syntax(reader, "a value (a text needs quotes)");
		else
			syntax(reader, "a value");
		return NULL;
	}
	c->at += len;
	cursor_end(c, &n->node.pos);
	if (n->node.kind == DOC_BROKEN) {
		const char *why = refused == RULE_TOML_DATE ? "dates are refused: put it in quotes"
				  : refused == RULE_NOT_FINITE
					  ? "this is not a finite number"
					  : "the integer does not fit into 64 bits";
		finding_at(
			reader->tree.findings, refused, reader->tree.doc, n->node.pos, "%s", why);
	}
	return n;
}

static struct toml *read_list(struct toml_reader *reader)
{
	struct cursor *c = &reader->cursor;
	struct toml *list = toml_new(&reader->tree, TOML_LIST, cursor_pos(c));
	if (!list)
		return NULL;
	c->at++;
	for (skip_lines(c); *c->at != ']'; skip_lines(c)) {
		struct toml *item = read_value(reader);
		if (!item)
			return NULL;
		toml_append(list, item);
		skip_lines(c);
		if (*c->at == ',') {
			c->at++;
		} else if (*c->at != ']') {
			syntax(reader, "`,` or `]`");
			return NULL;
		}
	}
	c->at++;
	cursor_end(c, &list->node.pos);
	return list;
}

static int read_pair(struct toml_reader *reader, struct toml *table);

static struct toml *read_inline(struct toml_reader *reader)
{
	struct cursor *c = &reader->cursor;
	struct toml *table = toml_new(&reader->tree, TOML_TABLE, cursor_pos(c));
	if (!table)
		return NULL;
	table->origin = TOML_INLINE;
	c->at++;
	skip_blanks(c);
	for (bool first = true; *c->at != '}' || !first; first = false) {
		if (at_newline(c)) {
			syntax(reader, "the next key on the same line");
			return NULL;
		}
		if (read_pair(reader, table))
			return NULL;
		skip_blanks(c);
		if (*c->at == '}')
			break;
		if (*c->at != ',') {
			syntax(reader, "`,` or `}` on the same line");
			return NULL;
		}
		c->at++;
		skip_blanks(c);
	}
	c->at++;
	cursor_end(c, &table->node.pos);
	return table;
}

static struct toml *read_quoted(struct toml_reader *reader)
{
	struct toml *n = toml_new(&reader->tree, TOML_VALUE, cursor_pos(&reader->cursor));
	return n && !read_string(reader, &n->node, true) ? n : NULL;
}

static struct toml *read_value(struct toml_reader *reader)
{
	char c = *reader->cursor.at;
	if (c == '"' || c == '\'')
		return read_quoted(reader);
	if (c != '[' && c != '{')
		return read_scalar(reader);
	if (reader->depth == DOC_DEPTH_MAX) {
		finding_at(reader->tree.findings, RULE_TOO_DEEP, reader->tree.doc,
			cursor_pos(&reader->cursor), "lists and maps nest deeper than %d levels",
			DOC_DEPTH_MAX);
		return NULL;
	}
	reader->depth++;
	struct toml *n = c == '[' ? read_list(reader) : read_inline(reader);
	reader->depth--;
	return n;
}

/* --- lines ------------------------------------------------------------------------------------ */

static int read_pair(struct toml_reader *reader, struct toml *table)
{
	struct cursor *c = &reader->cursor;
	struct toml_path path;
	const char *begin = c->at;
	if (read_path(reader, &path))
		return -1;
	if (*c->at != '=')
		return syntax_at_comma(reader, "`=`", begin);
	c->at++;
	skip_blanks(c);
	struct toml *value = read_value(reader);
	return value ? toml_set(&reader->tree, table, &path, value) : -1;
}

static struct toml *read_header(struct toml_reader *reader)
{
	struct cursor *c = &reader->cursor;
	struct toml_path path;
	bool list = c->at[1] == '[';
	c->at += list ? 2 : 1;
	if (read_path(reader, &path))
		return NULL;
	if (*c->at != ']' || (list && c->at[1] != ']')) {
		syntax(reader, list ? "`]]`" : "`]`");
		return NULL;
	}
	c->at += list ? 2 : 1;
	return toml_open_header(&reader->tree, &path, list);
}

static int read_text(struct toml_reader *reader)
{
	struct cursor *c = &reader->cursor;
	struct toml *table = &reader->tree.top;
	for (skip_lines(c); c->at < c->end; skip_lines(c)) {
		if (*c->at == '[') {
			table = read_header(reader);
			if (!table)
				return -1;
		} else if (read_pair(reader, table)) {
			return -1;
		}
		skip_blanks(c);
		skip_comment(c);
		if (c->at < c->end && !at_newline(c))
			return syntax_at_comma(reader, "the end of the line", c->at + 1);
	}
	return 0;
}

int doc_read_toml(
	struct doc *doc, const char *file, const char *text, size_t len, struct findings *findings)
{
	if (doc_scan(doc, file, text, len, findings))
		return -1;
	struct toml_reader r = {.depth = 0};
	struct doc_build build;
	cursor_init(&r.cursor, doc);
	toml_tree_init(&r.tree, doc, findings);
	doc_build_init(&build, doc, findings);
	if (!read_text(&r) && !toml_build(&build, &r.tree.top))
		doc_build_root(&build);
	doc_build_done(&build);
	toml_tree_done(&r.tree);
	return doc->root ? 0 : -1;
}
