/* JSON as RFC 8259 has it, by hand: jansson keeps no positions. */
#include "base/num.h"
#include "schema/build.h"
#include "schema/cursor.h"
#include "schema/read.h"
#include <string.h>

struct reader {
	struct cursor cursor;
	struct doc_build build;
};

/* The last byte in front of the cursor that is no blank; NUL: there is none. */
static char before(const struct reader *r)
{
	const char *at = r->cursor.at, *start = r->build.doc->text;
	while (at > start && strchr(" \t\r\n", at[-1]))
		at--;
	return at > start ? at[-1] : '\0';
}

static int syntax(struct reader *r, const char *wanted)
{
	struct cursor *c = &r->cursor;
	struct doc_pos pos = cursor_pos(c);
	size_t n = utf8_step(c->at, (size_t)(c->end - c->at), NULL);
	struct finding *it = NULL;
	if (c->at == c->end)
		finding_at(r->build.findings, RULE_JSON_SYNTAX, r->build.doc, pos,
			"expected %s, but the text ends", wanted);
	else
		it = finding_at(r->build.findings, RULE_JSON_SYNTAX, r->build.doc, pos,
			"expected %s, found `%.*s`", wanted, (int)n, c->at);
	if (it && (*c->at == '}' || *c->at == ']') && before(r) == ',')
		finding_help(r->build.findings, it, "no comma stands behind the last item");
	else if (it && *c->at == '/')
		finding_help(r->build.findings, it, "JSON has no comments");
	return -1;
}

static void skip_space(struct cursor *c)
{
	for (;; c->at++) {
		while (*c->at == '\n' || *c->at == '\r')
			cursor_newline(c);
		if (*c->at != ' ' && *c->at != '\t')
			return;
	}
}

static int read_surrogates(struct reader *r, uint32_t *code, bool *lone)
{
	struct cursor *c = &r->cursor;
	uint32_t low;
	bool high = *code >= 0xd800 && *code < 0xdc00;
	if (high && c->at[0] == '\\' && c->at[1] == 'u') {
		const char *back = c->at;
		c->at += 2;
		if (cursor_hex(c, 4, &low))
			return syntax(r, "four hexadecimal digits");
		if (low >= 0xdc00 && low < 0xe000) {
			*code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
			return 0;
		}
		c->at = back;
	}
	if (*code >= 0xd800 && *code < 0xe000) {
		*lone = true;
		*code = 0xfffd;
	}
	return 0;
}

/* The escape behind a backslash, as UTF-8 at *out. */
static int read_escape(struct reader *r, char **out, bool *lone)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	struct cursor *c = &r->cursor;
	const char *known = *c->at ? strchr(letters, *c->at) : NULL;
	if (known) {
		*(*out)++ = meant[known - letters];
		c->at++;
		return 0;
	}
	if (*c->at != 'u')
		return syntax(r, "one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
	c->at++;
	uint32_t code;
	if (cursor_hex(c, 4, &code))
		return syntax(r, "four hexadecimal digits");
	if (read_surrogates(r, &code, lone))
		return -1;
	*out += utf8_put(code, *out);
	return 0;
}

static const char *string_end(const struct cursor *c)
{
	const char *p = c->at;
	while (p < c->end && *p != '"' && *p != '\n' && *p != '\r')
		p += *p == '\\' && p + 1 < c->end ? 2 : 1;
	return p < c->end ? p : c->end;
}

/* Behind the opening quote. No escape is longer than its meaning, so the source's length is room
 * enough. */
static int read_characters(struct reader *r, char *out, size_t *len, bool *lone)
{
	struct cursor *c = &r->cursor;
	char *start = out;
	for (;;) {
		const char *run = c->at;
		while (*c->at != '"' && *c->at != '\\' && (unsigned char)*c->at >= 0x20)
			c->at++;
		memcpy(out, run, (size_t)(c->at - run));
		out += c->at - run;
		if (*c->at == '"')
			break;
		if (*c->at != '\\')
			return syntax(r, "the closing quote of this string");
		c->at++;
		if (read_escape(r, &out, lone))
			return -1;
	}
	c->at++;
	*len = (size_t)(out - start);
	return 0;
}

static int read_string(struct reader *r)
{
	struct cursor *c = &r->cursor;
	struct doc_node node = {.kind = DOC_STR, .pos = cursor_pos(c)};
	c->at++;
	char *text = arena_alloc(&r->build.doc->arena, (size_t)(string_end(c) - c->at) + 1);
	size_t len = 0;
	bool lone = false;
	if (read_characters(r, text, &len, &lone))
		return -1;
	text[len] = '\0';
	cursor_end(c, &node.pos);
	node.text = text;
	node.count = (uint32_t)len;
	doc_check_string(&node, lone, r->build.doc, r->build.findings);
	return doc_build_add(&r->build, node);
}

static size_t skip_digits(struct cursor *c)
{
	size_t n = strspn(c->at, "0123456789");
	c->at += n;
	return n;
}

static int skip_number(struct reader *r, bool *whole)
{
	struct cursor *c = &r->cursor;
	c->at += *c->at == '-';
	if (*c->at == '0')
		c->at++;
	else if (!skip_digits(c))
		return syntax(r, "a digit");
	*whole = *c->at != '.' && *c->at != 'e' && *c->at != 'E';
	if (*c->at == '.') {
		c->at++;
		if (!skip_digits(c))
			return syntax(r, "a digit behind the point");
	}
	if (*c->at == 'e' || *c->at == 'E') {
		c->at++;
		c->at += *c->at == '-' || *c->at == '+';
		if (!skip_digits(c))
			return syntax(r, "a digit of the exponent");
	}
	return 0;
}

static int read_number(struct reader *r)
{
	struct cursor *c = &r->cursor;
	const char *text = c->at;
	struct doc_node node = {.pos = cursor_pos(c)};
	bool whole = false;
	if (skip_number(r, &whole))
		return -1;
	size_t len = (size_t)(c->at - text);
	cursor_end(c, &node.pos);
	node.kind = whole ? DOC_INT : DOC_FLOAT;
	if (whole ? num_int(text, len, &node.integer) : num_float(text, len, &node.number)) {
		finding_at(r->build.findings, whole ? RULE_INTEGER_RANGE : RULE_NOT_FINITE,
			r->build.doc, node.pos,
			whole ? "the integer does not fit into 64 bits"
			      : "this is not a finite number");
		node.kind = DOC_BROKEN;
	}
	return doc_build_add(&r->build, node);
}

static int read_word(struct reader *r)
{
	static const struct {
		const char *text;
		struct doc_node node;
	} words[] = {
		{"true", {.kind = DOC_BOOL, .boolean = true}},
		{"false", {.kind = DOC_BOOL}},
		{"null", {.kind = DOC_NULL, .boolean = true}},
	};
	struct cursor *c = &r->cursor;
	size_t len = 0;
	while ((c->at[len] | 0x20) >= 'a' && (c->at[len] | 0x20) <= 'z')
		len++;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (len != strlen(words[i].text) || memcmp(c->at, words[i].text, len))
			continue;
		struct doc_node node = words[i].node;
		node.pos = cursor_pos(c);
		c->at += len;
		cursor_end(c, &node.pos);
		return doc_build_add(&r->build, node);
	}
	return syntax(r, "a value");
}

static int read_value(struct reader *r);

static int read_member(struct reader *r)
{
	struct cursor *c = &r->cursor;
	if (*c->at != '"')
		return syntax(r, "a key in double quotes");
	if (read_string(r))
		return -1;
	skip_space(c);
	if (*c->at != ':')
		return syntax(r, "`:`");
	c->at++;
	skip_space(c);
	return read_value(r);
}

static int read_collection(struct reader *r, enum doc_kind kind, char closing)
{
	struct cursor *c = &r->cursor;
	if (doc_build_open(&r->build, kind, cursor_pos(c)))
		return -1;
	c->at++;
	skip_space(c);
	for (bool first = true; *c->at != closing; first = false) {
		if (!first) {
			if (*c->at != ',')
				return syntax(r, closing == ']' ? "`,` or `]`" : "`,` or `}`");
			c->at++;
			skip_space(c);
		}
		if (kind == DOC_MAP ? read_member(r) : read_value(r))
			return -1;
		skip_space(c);
	}
	c->at++;
	struct doc_pos end = cursor_pos(c);
	return doc_build_close(&r->build, end.line, end.column);
}

static int read_value(struct reader *r)
{
	char c = *r->cursor.at;
	if (c == '{')
		return read_collection(r, DOC_MAP, '}');
	if (c == '[')
		return read_collection(r, DOC_LIST, ']');
	if (c == '"')
		return read_string(r);
	if (c == '-' || (c >= '0' && c <= '9'))
		return read_number(r);
	return read_word(r);
}

static int read_text(struct reader *r)
{
	skip_space(&r->cursor);
	if (r->cursor.at == r->cursor.end) {
		finding_add(r->build.findings, RULE_EMPTY_DOCUMENT, r->build.doc, NULL,
			"the file holds no value");
		return -1;
	}
	if (read_value(r))
		return -1;
	skip_space(&r->cursor);
	return r->cursor.at == r->cursor.end ? 0 : syntax(r, "the end of the text");
}

int doc_read_json(struct doc *d, const char *file, const char *text, size_t len, struct findings *f)
{
	if (doc_scan(d, file, text, len, f))
		return -1;
	struct reader r;
	cursor_init(&r.cursor, d);
	doc_build_init(&r.build, d, f);
	if (!read_text(&r))
		doc_build_root(&r.build);
	doc_build_done(&r.build);
	return d->root ? 0 : -1;
}
