/* JSON by RFC 8259, with our own reader: jansson keeps no positions. */
#include "base/num.h"
#include "schema/build.h"
#include "schema/cursor.h"
#include "schema/read.h"
#include <string.h>

struct json_reader {
	struct cursor cursor;
	struct doc_build build;
};

/* Returns the last byte before the cursor that is no blank; NUL: there is none. */
static char before(const struct json_reader *reader)
{
	const char *at = reader->cursor.at, *start = reader->build.doc->text;
	while (at > start && strchr(" \t\r\n", at[-1]))
		at--;
	return at > start ? at[-1] : '\0';
}

static int syntax(struct json_reader *reader, const char *wanted)
{
	struct cursor *c = &reader->cursor;
	struct doc_pos pos = cursor_pos(c);
	size_t n = utf8_step(c->at, (size_t)(c->end - c->at), NULL);
	struct finding *it = NULL;
	if (c->at == c->end)
		finding_at(reader->build.findings, RULE_JSON_SYNTAX, reader->build.doc, pos,
			"expected %s, but the text ends", wanted);
	else
		it = finding_at(reader->build.findings, RULE_JSON_SYNTAX, reader->build.doc, pos,
			"expected %s, found `%.*s`", wanted, (int)n, c->at);
	if (it && (*c->at == '}' || *c->at == ']') && before(reader) == ',')
		finding_help(reader->build.findings, it, "no comma may follow the last item");
	else if (it && *c->at == '/')
		finding_help(reader->build.findings, it, "JSON has no comments");
	return -1;
}

static void skip_space(struct cursor *cursor)
{
	for (;; cursor->at++) {
		while (*cursor->at == '\n' || *cursor->at == '\r')
			cursor_newline(cursor);
		if (*cursor->at != ' ' && *cursor->at != '\t')
			return;
	}
}

static int read_surrogates(struct json_reader *reader, uint32_t *code, bool *lone)
{
	struct cursor *c = &reader->cursor;
	uint32_t low;
	bool high = *code >= 0xd800 && *code < 0xdc00;
	if (high && c->at[0] == '\\' && c->at[1] == 'u') {
		const char *back = c->at;
		c->at += 2;
		if (cursor_hex(c, 4, &low))
			return syntax(reader, "four hexadecimal digits");
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

/* Reads the escape after a backslash, as UTF-8 at *out. */
static int read_escape(struct json_reader *reader, char **out, bool *lone)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	struct cursor *c = &reader->cursor;
	const char *known = *c->at ? strchr(letters, *c->at) : NULL;
	if (known) {
		*(*out)++ = meant[known - letters];
		c->at++;
		return 0;
	}
	if (*c->at != 'u')
		return syntax(
			reader, "one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
	c->at++;
	uint32_t code;
	if (cursor_hex(c, 4, &code))
		return syntax(reader, "four hexadecimal digits");
	if (read_surrogates(reader, &code, lone))
		return -1;
	*out += utf8_put(code, *out);
	return 0;
}

static const char *string_end(const struct cursor *cursor)
{
	const char *p = cursor->at;
	while (p < cursor->end && *p != '"' && *p != '\n' && *p != '\r')
		p += *p == '\\' && p + 1 < cursor->end ? 2 : 1;
	return p < cursor->end ? p : cursor->end;
}

/* Reads the characters after the opening quote. No escape is shorter than its meaning, so the
 * source's length is room enough. */
static int read_characters(struct json_reader *reader, char *out, size_t *len, bool *lone)
{
	struct cursor *c = &reader->cursor;
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
			return syntax(reader, "the closing quote of this string");
		c->at++;
		if (read_escape(reader, &out, lone))
			return -1;
	}
	c->at++;
	*len = (size_t)(out - start);
	return 0;
}

static int read_string(struct json_reader *reader)
{
	struct cursor *c = &reader->cursor;
	struct doc_node node = {.kind = DOC_STR, .pos = cursor_pos(c)};
	c->at++;
	char *text = arena_alloc(&reader->build.doc->arena, (size_t)(string_end(c) - c->at) + 1);
	size_t len = 0;
	bool lone = false;
	if (read_characters(reader, text, &len, &lone))
		return -1;
	text[len] = '\0';
	cursor_end(c, &node.pos);
	node.text = text;
	node.count = (uint32_t)len;
	doc_check_string(&node, lone, reader->build.doc, reader->build.findings);
	return doc_build_add(&reader->build, node);
}

static size_t skip_digits(struct cursor *cursor)
{
	size_t n = strspn(cursor->at, "0123456789");
	cursor->at += n;
	return n;
}

static int skip_number(struct json_reader *reader, bool *whole)
{
	struct cursor *c = &reader->cursor;
	c->at += *c->at == '-';
	if (*c->at == '0')
		c->at++;
	else if (!skip_digits(c))
		return syntax(reader, "a digit");
	*whole = *c->at != '.' && *c->at != 'e' && *c->at != 'E';
	if (*c->at == '.') {
		c->at++;
		if (!skip_digits(c))
			return syntax(reader, "a digit after the point");
	}
	if (*c->at == 'e' || *c->at == 'E') {
		c->at++;
		c->at += *c->at == '-' || *c->at == '+';
		if (!skip_digits(c))
			return syntax(reader, "a digit of the exponent");
	}
	return 0;
}

static int read_number(struct json_reader *reader)
{
	struct cursor *c = &reader->cursor;
	const char *text = c->at;
	struct doc_node node = {.pos = cursor_pos(c)};
	bool whole = false;
	if (skip_number(reader, &whole))
		return -1;
	size_t len = (size_t)(c->at - text);
	cursor_end(c, &node.pos);
	node.kind = whole ? DOC_INT : DOC_FLOAT;
	if (whole ? num_int(text, len, &node.integer) : num_float(text, len, &node.number)) {
		finding_at(reader->build.findings, whole ? RULE_INTEGER_RANGE : RULE_NOT_FINITE,
			reader->build.doc, node.pos,
			whole ? "the integer does not fit into 64 bits"
			      : "this is not a finite number");
		node.kind = DOC_BROKEN;
	}
	return doc_build_add(&reader->build, node);
}

static int read_word(struct json_reader *reader)
{
	static const struct {
		const char *text;
		struct doc_node node;
	} words[] = {
		{"true", {.kind = DOC_BOOL, .boolean = true}},
		{"false", {.kind = DOC_BOOL}},
		{"null", {.kind = DOC_NULL, .boolean = true}},
	};
	struct cursor *c = &reader->cursor;
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
		return doc_build_add(&reader->build, node);
	}
	return syntax(reader, "a value");
}

static int read_value(struct json_reader *reader);

static int read_member(struct json_reader *reader)
{
	struct cursor *c = &reader->cursor;
	if (*c->at != '"')
		return syntax(reader, "a key in double quotes");
	if (read_string(reader))
		return -1;
	skip_space(c);
	if (*c->at != ':')
		return syntax(reader, "`:`");
	c->at++;
	skip_space(c);
	return read_value(reader);
}

static int read_collection(struct json_reader *reader, enum doc_kind kind, char closing)
{
	struct cursor *c = &reader->cursor;
	if (doc_build_open(&reader->build, kind, cursor_pos(c)))
		return -1;
	c->at++;
	skip_space(c);
	for (bool first = true; *c->at != closing; first = false) {
		if (!first) {
			if (*c->at != ',')
				return syntax(reader, closing == ']' ? "`,` or `]`" : "`,` or `}`");
			c->at++;
			skip_space(c);
		}
		if (kind == DOC_MAP ? read_member(reader) : read_value(reader))
			return -1;
		skip_space(c);
	}
	c->at++;
	struct doc_pos end = cursor_pos(c);
	return doc_build_close(&reader->build, end.line, end.column);
}

static int read_value(struct json_reader *reader)
{
	char c = *reader->cursor.at;
	if (c == '{')
		return read_collection(reader, DOC_MAP, '}');
	if (c == '[')
		return read_collection(reader, DOC_LIST, ']');
	if (c == '"')
		return read_string(reader);
	if (c == '-' || (c >= '0' && c <= '9'))
		return read_number(reader);
	return read_word(reader);
}

static int read_text(struct json_reader *reader)
{
	skip_space(&reader->cursor);
	if (reader->cursor.at == reader->cursor.end) {
		finding_add(reader->build.findings, RULE_EMPTY_DOCUMENT, reader->build.doc, NULL,
			"the file holds no value");
		return -1;
	}
	if (read_value(reader))
		return -1;
	skip_space(&reader->cursor);
	return reader->cursor.at == reader->cursor.end ? 0 : syntax(reader, "the end of the text");
}

int doc_read_json(
	struct doc *doc, const char *file, const char *text, size_t len, struct findings *findings)
{
	if (doc_scan(doc, file, text, len, findings))
		return -1;
	struct json_reader r;
	cursor_init(&r.cursor, doc);
	doc_build_init(&r.build, doc, findings);
	if (!read_text(&r))
		doc_build_root(&r.build);
	doc_build_done(&r.build);
	return doc->root ? 0 : -1;
}
