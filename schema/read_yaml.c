/* YAML by libyaml's events, with scalars resolved by the YAML 1.2 core schema (yaml.org/spec/1.2.2,
 * 10.3). */
#include "base/num.h"
#include "base/utf8.h"
#include "schema/build.h"
#include "schema/read.h"
#include "schema/yaml_complaint.h"
#include <math.h>
#include <string.h>
#include <yaml.h>

struct yaml_reader {
	yaml_parser_t parser;
	struct doc_build build;
	char quote; /* of the last scalar; 0: it had none */
	struct doc_pos quoted;
};

/* Sets a place. libyaml puts the end of a text without a last newline on a line of its own. */
static void set_place(
	const struct doc *doc, const yaml_mark_t *mark, uint32_t *line, uint32_t *column)
{
	*line = (uint32_t)mark->line + 1;
	*column = (uint32_t)mark->column + 1;
	if (*line > doc->line_count) {
		size_t len;
		const char *text = doc_line(doc, doc->line_count, &len);
		*line = doc->line_count;
		*column = (uint32_t)utf8_count(text, len) + 1;
	}
}

static struct doc_pos pos_of(const struct yaml_reader *reader, const yaml_event_t *event)
{
	struct doc_pos pos;
	set_place(reader->build.doc, &event->start_mark, &pos.line, &pos.column);
	set_place(reader->build.doc, &event->end_mark, &pos.end_line, &pos.end_column);
	return pos;
}

static bool one_of(const char *text, const char *lower, const char *title, const char *upper)
{
	return !strcmp(text, lower) || !strcmp(text, title) || !strcmp(text, upper);
}

static size_t digits(const char *text)
{
	return strspn(text, "0123456789");
}

static bool is_decimal_int(const char *text)
{
	text += *text == '-' || *text == '+';
	return *text && !text[digits(text)];
}

static bool is_float(const char *text)
{
	text += *text == '-' || *text == '+';
	size_t whole = digits(text);
	text += whole;
	if (*text == '.') {
		size_t fraction = digits(++text);
		if (!whole && !fraction)
			return false;
		text += fraction;
	} else if (!whole) {
		return false;
	}
	if (*text == 'e' || *text == 'E') {
		text++;
		text += *text == '-' || *text == '+';
		size_t exponent = digits(text);
		if (!exponent)
			return false;
		text += exponent;
	}
	return !*text;
}

static bool is_infinite_or_nan(const char *text)
{
	if (one_of(text, ".nan", ".NaN", ".NAN"))
		return true;
	text += *text == '-' || *text == '+';
	return one_of(text, ".inf", ".Inf", ".INF");
}

/* Reports whether this is an integer such as 0o17 or 0x1F. */
static bool is_based_int(const char *text)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	if (text[0] != '0' || (text[1] != 'o' && text[1] != 'x') || !text[2])
		return false;
	return !text[2 + strspn(text + 2, text[1] == 'x' ? hex : "01234567")];
}

static void set_int(struct yaml_reader *reader, struct doc_node *node, const char *text, size_t len)
{
	bool based = is_based_int(text);
	if (based ? num_based_int(text, len, false, &node->integer)
		  : num_int(text, len, &node->integer)) {
		finding_at(reader->build.findings, RULE_INTEGER_RANGE, reader->build.doc, node->pos,
			"the integer does not fit into 64 bits");
		node->kind = DOC_BROKEN;
		return;
	}
	node->kind = DOC_INT;
}

static void set_float(
	struct yaml_reader *reader, struct doc_node *node, const char *text, size_t len)
{
	if (is_infinite_or_nan(text) || num_float(text, len, &node->number)) {
		finding_at(reader->build.findings, RULE_NOT_FINITE, reader->build.doc, node->pos,
			"this is not a finite number");
		node->kind = DOC_BROKEN;
		return;
	}
	node->kind = DOC_FLOAT;
}

/* Resolves null, true and false in their three spellings. Returns false for another word. */
static bool resolve_word(struct doc_node *node, const char *text, size_t len)
{
	static const struct {
		const char *text;
		enum doc_kind kind;
		bool boolean;
	} words[] = {{"null", DOC_NULL, true}, {"Null", DOC_NULL, true}, {"NULL", DOC_NULL, true},
		{"true", DOC_BOOL, true}, {"True", DOC_BOOL, true}, {"TRUE", DOC_BOOL, true},
		{"false", DOC_BOOL, false}, {"False", DOC_BOOL, false}, {"FALSE", DOC_BOOL, false}};
	char first = (char)(*text | 0x20);
	if ((len != 4 && len != 5) || (first != 'n' && first != 't' && first != 'f'))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!strcmp(text, words[i].text)) {
			node->kind = words[i].kind;
			node->boolean = words[i].boolean;
			return true;
		}
	return false;
}

/* Resolves a plain scalar. Returns true if it is no string; `node` then holds the value. */
static bool resolve(struct yaml_reader *reader, struct doc_node *node, const char *text, size_t len)
{
	if (!len || (len == 1 && *text == '~')) {
		node->kind = DOC_NULL;
		node->boolean = len;
		return true;
	}
	if ((unsigned char)*text > '9')
		return resolve_word(node, text, len);
	if (is_decimal_int(text) || is_based_int(text))
		set_int(reader, node, text, len);
	else if (is_float(text) || is_infinite_or_nan(text))
		set_float(reader, node, text, len);
	else
		return false;
	return true;
}

/* libyaml gives `!!str` in this form. */
static const char standard_tag[] = "tag:yaml.org,2002:";

/* Returns the core schema's name of a tag: "str", "int", "map"; "" for `!`, which leaves a scalar a
 * string; NULL: another tag. */
static const char *core_tag(const yaml_char_t *tag)
{
	static const char *const names[] = {"str", "int", "float", "bool", "null", "map", "seq"};
	const char *name = (const char *)tag;
	if (!strcmp(name, "!"))
		return "";
	if (strncmp(name, standard_tag, sizeof(standard_tag) - 1) != 0)
		return NULL;
	name += sizeof(standard_tag) - 1;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(name, names[i]))
			return name;
	return NULL;
}

static void report_tag(struct yaml_reader *reader, struct doc_pos pos, const char *tag)
{
	bool known = !strncmp(tag, standard_tag, sizeof(standard_tag) - 1);
	finding_help(reader->build.findings,
		finding_at(reader->build.findings, RULE_YAML_TAG, reader->build.doc, pos,
			"the tag `%s%s` is refused", known ? "!!" : "",
			tag + (known ? sizeof(standard_tag) - 1 : 0)),
		"remove it; a quoted value is a string, and a text that begins with ! needs "
		"quotes");
}

/* Reports anchors, tags outside the core schema, and tags that do not suit this kind of value; they
 * are otherwise ignored. `kind`: "map", "seq"; NULL: a scalar, whose tag its reader obeys. Returns
 * true if the value's type is now unknown. */
static bool refuse_properties(struct yaml_reader *reader, const yaml_event_t *event,
	const yaml_char_t *anchor, const yaml_char_t *tag, const char *kind)
{
	struct doc_pos pos = pos_of(reader, event);
	pos.end_line = pos.line;
	pos.end_column = pos.column + 1;
	if (anchor) {
		struct finding *it =
			finding_at(reader->build.findings, RULE_YAML_ANCHOR, reader->build.doc, pos,
				"the anchor `&%s` is refused", (const char *)anchor);
		finding_help(reader->build.findings, it,
			"write the value out where it is used; put quotes around a text that "
			"begins with &");
	}
	if (!tag)
		return false;
	const char *name = core_tag(tag);
	bool collection = name && (!strcmp(name, "map") || !strcmp(name, "seq"));
	if (name && (kind ? !*name || !strcmp(name, kind) : !collection))
		return false;
	report_tag(reader, pos, (const char *)tag);
	return true;
}

/* Reads a scalar as its core tag demands. Returns false if it is not of that kind. */
static bool resolve_as(struct yaml_reader *reader, struct doc_node *node, const char *tag,
	const char *text, size_t len)
{
	if (!*tag || !strcmp(tag, "str")) {
		*node = doc_build_string(&reader->build, text, len, node->pos);
		return true;
	}
	if (!resolve(reader, node, text, len))
		return false;
	if (node->kind == DOC_INT && !strcmp(tag, "float")) {
		node->kind = DOC_FLOAT;
		node->number = (double)node->integer;
	}
	static const struct {
		const char *tag;
		enum doc_kind kind;
	} kinds[] = {
		{"int", DOC_INT}, {"float", DOC_FLOAT}, {"bool", DOC_BOOL}, {"null", DOC_NULL}};
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (!strcmp(tag, kinds[i].tag) && node->kind == kinds[i].kind)
			return true;
	return node->kind == DOC_BROKEN; /* it has been reported */
}

static int add_tagged(struct yaml_reader *reader, struct doc_node node, const char *tag,
	const char *text, size_t len)
{
	if (resolve_as(reader, &node, tag, text, len))
		return doc_build_add(&reader->build, node);
	finding_help(reader->build.findings,
		finding_at(reader->build.findings, RULE_YAML_TAG, reader->build.doc, node.pos,
			"this is no value for the tag `!!%s`", tag),
		"remove the tag, or write a value of its kind");
	node.kind = DOC_BROKEN;
	return doc_build_add(&reader->build, node);
}

static int on_scalar(struct yaml_reader *reader, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	size_t len = event->data.scalar.length;
	struct doc_node node = {.kind = DOC_BROKEN, .pos = pos_of(reader, event)};
	bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	const yaml_char_t *tag = event->data.scalar.tag;
	/* A value with a refused property and no text may be anything. */
	if ((event->data.scalar.anchor || tag) &&
		(refuse_properties(reader, event, event->data.scalar.anchor, tag, NULL) ||
			(plain && !len && !tag)))
		return doc_build_add(&reader->build, node);
	if (tag)
		return add_tagged(reader, node, core_tag(tag), text, len);
	if (plain && len == 2 && !memcmp(text, "<<", 2) && doc_build_at_key(&reader->build)) {
		finding_at(reader->build.findings, RULE_YAML_MERGE_KEY, reader->build.doc, node.pos,
			"the merge key `<<` is refused: write the keys out");
		return doc_build_add(&reader->build, node);
	}
	if (!plain || !resolve(reader, &node, text, len))
		node = doc_build_string(&reader->build, text, len, node.pos);
	if (event->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE)
		doc_check_string(&node, false, reader->build.doc, reader->build.findings);
	return doc_build_add(&reader->build, node);
}

static int on_alias(struct yaml_reader *reader, const yaml_event_t *event)
{
	struct doc_node node = {.kind = DOC_BROKEN, .pos = pos_of(reader, event)};
	struct finding *it = finding_at(reader->build.findings, RULE_YAML_ANCHOR, reader->build.doc,
		node.pos, "the alias `*%s` is refused", (const char *)event->data.alias.anchor);
	finding_help(reader->build.findings, it,
		"write the value out; put quotes around a text that begins with *");
	return doc_build_add(&reader->build, node);
}

static int on_document(struct yaml_reader *reader, const yaml_event_t *event)
{
	if (reader->build.count) {
		struct finding *it = finding_at(reader->build.findings,
			RULE_YAML_MULTIPLE_DOCUMENTS, reader->build.doc, pos_of(reader, event),
			"a second document begins here");
		finding_help(reader->build.findings, it, "keep one document per file");
		return -1;
	}
	const yaml_tag_directive_t *tags = event->data.document_start.tag_directives.start;
	if (tags != event->data.document_start.tag_directives.end)
		finding_at(reader->build.findings, RULE_YAML_TAG, reader->build.doc,
			pos_of(reader, event), "the directive %%TAG is refused");
	return 0;
}

static void note_quote(struct yaml_reader *reader, const yaml_event_t *event)
{
	yaml_scalar_style_t style =
		event->type == YAML_SCALAR_EVENT ? event->data.scalar.style : YAML_ANY_SCALAR_STYLE;
	reader->quote = style == YAML_DOUBLE_QUOTED_SCALAR_STYLE   ? '"'
			: style == YAML_SINGLE_QUOTED_SCALAR_STYLE ? '\''
								   : '\0';
	if (reader->quote)
		reader->quoted = pos_of(reader, event);
}

static int on_event(struct yaml_reader *reader, const yaml_event_t *event)
{
	note_quote(reader, event);
	switch (event->type) {
	case YAML_SCALAR_EVENT: return on_scalar(reader, event);
	case YAML_ALIAS_EVENT: return on_alias(reader, event);
	case YAML_SEQUENCE_START_EVENT:
		refuse_properties(reader, event, event->data.sequence_start.anchor,
			event->data.sequence_start.tag, "seq");
		return doc_build_open(&reader->build, DOC_LIST, pos_of(reader, event));
	case YAML_MAPPING_START_EVENT:
		refuse_properties(reader, event, event->data.mapping_start.anchor,
			event->data.mapping_start.tag, "map");
		return doc_build_open(&reader->build, DOC_MAP, pos_of(reader, event));
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT: {
		struct doc_pos pos = pos_of(reader, event);
		return doc_build_close(&reader->build, pos.end_line, pos.end_column);
	}
	case YAML_DOCUMENT_START_EVENT: return on_document(reader, event);
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_END_EVENT: return 0;
	}
	return 0;
}

/* Reports an unclosed quote, which ends at the next one, lines below, where nothing is wrong. */
static bool report_open_quote(struct yaml_reader *reader, uint32_t line)
{
	if (!reader->quote || reader->quoted.line == line || reader->quoted.end_line != line)
		return false;
	struct doc_pos pos = reader->quoted;
	pos.end_line = pos.line;
	pos.end_column = pos.column + 1;
	struct finding *it = finding_at(reader->build.findings, RULE_YAML_SYNTAX, reader->build.doc,
		pos,
		"the text that begins here ends at the quote on line %u, and more text follows it",
		line);
	finding_help(reader->build.findings, it, "close it where it ends; inside it, write %s",
		reader->quote == '"' ? "\\\" for a \"" : "'' for a '");
	return true;
}

/* Reports a no-break space, as copied from pages and chats: it looks like a blank and makes one
 * word of its neighbours, which causes errors on this line or the next. */
static bool report_no_break(struct yaml_reader *reader, uint32_t line)
{
	static const char no_break[] = "\u00a0";
	const struct doc *d = reader->build.doc;
	for (uint32_t at = line; at && at + 1 >= line; at--) {
		size_t len;
		const char *text = doc_line(d, at, &len);
		const char *found = memmem(text, len, no_break, strlen(no_break));
		if (!found || (found > text && !strchr(" :-", found[-1])))
			continue;
		uint32_t column = (uint32_t)utf8_count(text, (size_t)(found - text)) + 1;
		struct doc_pos pos = {at, column, at, column + 1};
		struct finding *it = finding_at(reader->build.findings, RULE_YAML_SYNTAX, d, pos,
			"a no-break space (U+00A0) stands where a blank belongs");
		finding_help(reader->build.findings, it, "write a blank");
		return true;
	}
	return false;
}

/* Returns advice on a quote inside a quoted text: the text ended within a word, and a further quote
 * begins nothing. */
static const char *inner_quote(
	const struct yaml_reader *reader, const struct doc_pos *pos, const char *rest, size_t len)
{
	if (!reader->quote || reader->quoted.end_line != pos->line ||
		reader->quoted.end_column != pos->column)
		return NULL;
	const char *next = memchr(rest, reader->quote, len);
	if (!next || next == rest || strchr(" [{,:", next[-1]))
		return NULL;
	return reader->quote == '"'
		       ? "inside \"...\", write \\\" for a \""
		       : "inside '...', write '' for a ', or put \"...\" around the text";
}

static void report_syntax(struct yaml_reader *reader)
{
	const yaml_parser_t *p = &reader->parser;
	const struct doc *d = reader->build.doc;
	struct doc_pos pos;
	size_t len;
	set_place(d, &p->problem_mark, &pos.line, &pos.column);
	if (pos.line == reader->build.bare_line)
		return;
	const char *line = doc_line(d, pos.line, &len);
	size_t before = doc_bytes(line, len, pos.column - 1);
	struct yaml_complaint c = yaml_complaint_of(p, line, len, before);
	if (c.from_context && p->context)
		set_place(d, &p->context_mark, &pos.line, &pos.column);
	if (report_open_quote(reader, pos.line) || report_no_break(reader, pos.line))
		return;
	const char *inner = inner_quote(reader, &pos, line + before, len - before);
	if (inner)
		c.help = inner;
	pos.end_line = pos.line;
	pos.end_column = pos.column + 1;
	struct finding *it = finding_at(reader->build.findings, RULE_YAML_SYNTAX, d, pos, "%s",
		c.message ? c.message : "the text cannot be read");
	if (c.help)
		finding_help(reader->build.findings, it, "%s", c.help);
	else if (p->context && !c.from_context && p->context_mark.line != p->problem_mark.line)
		finding_help(reader->build.findings, it,
			"what cannot be finished here began on line %zu", p->context_mark.line + 1);
}

/* Reads all events. Returns -1 if reading has to stop early, which has been reported. */
static int read_events(struct yaml_reader *reader)
{
	for (bool more = true; more;) {
		yaml_event_t event;
		if (!yaml_parser_parse(&reader->parser, &event)) {
			report_syntax(reader);
			return -1;
		}
		int rc = on_event(reader, &event);
		more = event.type != YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
		if (rc)
			return -1;
	}
	return 0;
}

int doc_read_yaml(
	struct doc *doc, const char *file, const char *text, size_t len, struct findings *findings)
{
	if (doc_scan(doc, file, text, len, findings))
		return -1;
	struct yaml_reader r;
	if (!yaml_parser_initialize(&r.parser)) {
		fputs("agent6: out of memory\n", stderr);
		abort();
	}
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)doc->text, doc->len);
	doc_build_init(&r.build, doc, findings);
	if (!read_events(&r)) {
		doc_build_root(&r.build);
		if (!doc->root)
			finding_add(findings, RULE_EMPTY_DOCUMENT, doc, NULL,
				"the file holds no value");
	}
	doc_build_done(&r.build);
	yaml_parser_delete(&r.parser);
	return doc->root ? 0 : -1;
}
