#include "schema/yaml_complaint.h"

#include "base/cleanup.h"
#include <string.h>

/* libyaml's problems, and the words for a person: what is wrong and the most likely cause. */
static const struct {
	const char *problem;
	struct yaml_complaint told;
} complaints[] = {{"mapping values are not allowed in this context",
			  {"a `: ` stands where no key can end",
				  "a text that holds `: ` needs quotes; else look at the "
				  "indentation, and for a "
				  "colon above that is missing, or the blank after it",
				  false}},
	{"found character that cannot start any token",
		{"a text cannot begin with this character", "put the whole text in quotes", false}},
	{"did not find expected alphabetic or numeric character",
		{"a text cannot begin with `*` or `&`", "put the whole text in quotes", false}},
	{"could not find expected ':'",
		{"here a key is expected, with `: ` after it",
			"write `key: value`, with a blank after the colon", true}},
	{"found unexpected end of stream", {"this quote is never closed", NULL, true}},
	{"did not find expected ',' or '}'", {"a `,` or `}` is missing before this", NULL, false}},
	{"did not find expected ',' or ']'", {"a `,` or `]` is missing before this", NULL, false}},
	{"did not find expected '-' indicator",
		{"this is no item of the list above: `- ` is missing", NULL, false}},
	{"did not find expected node content", {"a value is missing before this", NULL, false}},
	{"block sequence entries are not allowed in this context",
		{"no item of a list can stand here",
			"begin the list on the line below its key, indented deeper", false}},
	{"found unknown escape character",
		{"a double-quoted text knows no such escape",
			"write \\\\ for a backslash, or put the text in single quotes", false}},
	{"found invalid Unicode character escape code",
		{"this escape names no character",
			"write the character itself: YAML knows no pairs of \\u escapes, as JSON "
			"does",
			false}},
	{"found unexpected ':'", {"a blank is missing after this `:`",
					 "write `key: value`; a key without a value still needs "
					 "the blank, and a text that "
					 "holds a colon here needs quotes",
					 false}},
	{"found a tab character where an indentation space is expected",
		{"the first line of this block begins with a tab",
			"say how deep the block is indented: `|2` is two blanks deeper than its "
			"key, and a "
			"tab after them is its text",
			false}},
	{"found a tab character that violates indentation",
		{"a tab stands where only blanks may", "indent with blanks", false}},
	{"found an indentation indicator equal to 0",
		{"a block cannot be indented by 0 blanks", "write a number from 1 to 9, or none",
			false}},
	{"mapping keys are not allowed in this context",
		{"no key can begin with `? ` here",
			"write `key: value`; a text that begins with `? ` needs quotes", false}},
	{"did not find expected comment or line break",
		{"nothing else can stand on this line",
			"begin the text of a block on the line below its `|` or `>`", false}},
	{"did not find expected hexdecimal number",
		{"this escape needs more hexadecimal digits: \\xHH, \\uHHHH or \\UHHHHHHHH", NULL,
			false}},
	{"found unexpected document indicator",
		{"this quote is not closed before `---` or `...`", NULL, true}},
	{"did not find expected <document start>",
		{"more text follows the end of the document",
			"begin at the left edge with a key, and keep one document per file",
			false}},
	{"found undefined tag handle",
		{"tags with a name of their own are refused",
			"remove it; a text that begins with ! needs quotes", false}},
	{"found incompatible YAML document",
		{"this version of YAML is not known", "remove the line that begins with %YAML",
			false}},
	{"found unknown directive name",
		{"this directive is not known",
			"remove the line; a text that begins with % needs quotes", false}}};

static const struct yaml_complaint *known_of(const yaml_parser_t *parser)
{
	for (size_t i = 0; parser->problem && i < ARRAY_LEN(complaints); i++)
		if (!strcmp(parser->problem, complaints[i].problem))
			return &complaints[i].told;
	return NULL;
}

/* Returns advice on a text that goes on after its first character began something else; `before`
 * bytes of the line precede the fault. NULL: it is no such text. */
static const char *begun_otherwise(const char *line, size_t before)
{
	while (before && line[before - 1] == ' ')
		before--;
	char last = before ? line[before - 1] : ' ';
	return strchr("'\"", last) ? "a text that begins with a quote ends with it: quote all of it"
	       : strchr("]}", last) ? "a text that begins with [ or { needs quotes around all of it"
				    : NULL;
}

/* Returns libyaml's other problems in its own words; most are about tags and directives. */
static struct yaml_complaint other_complaint(const yaml_parser_t *parser)
{
	const char *context = parser->context ? parser->context : "";
	bool tag = strstr(context, "tag") || strstr(context, "TAG");
	bool directive = strstr(context, "directive");
	return (struct yaml_complaint){.message = directive ? "this directive is not well formed"
						  : tag     ? "this tag is not well formed"
							    : "this is no YAML",
		.help = directive ? "remove the line; a text that begins with % needs quotes"
			: tag     ? "a text that begins with ! needs quotes"
				  : NULL};
}

enum { KEY_BYTES_MAX = 1024 }; /* of what libyaml takes for a key */

/* Reports whether a key that has to be one, where it stands, is too long. */
static bool is_long_key(const yaml_parser_t *parser)
{
	return parser->problem && !strcmp(parser->problem, "could not find expected ':'") &&
	       parser->problem_mark.line == parser->context_mark.line &&
	       parser->problem_mark.index - parser->context_mark.index > KEY_BYTES_MAX;
}

/* Reports whether any other key is: libyaml says that there is none, once its colon comes. */
static bool ends_long_key(const yaml_parser_t *parser, const char *line, size_t before)
{
	bool flow = parser->flow_level > 0;
	size_t start = strspn(line, " -");
	for (size_t i = start; flow && i < before; i++)
		start = strchr("{[,", line[i]) ? i + 1 : start;
	return line[before] == ':' && before > start && before - start > KEY_BYTES_MAX &&
	       !memmem(line + start, before - start, ": ", 2);
}

/* Reports whether a block begins here, whose indentation is the blanks before its first line's
 * tab. */
static bool begins_block(const yaml_parser_t *parser)
{
	return parser->context && !strcmp(parser->context, "while scanning a block scalar");
}

/* Adds what only the line itself shows. */
struct yaml_complaint yaml_complaint_of(
	const yaml_parser_t *parser, const char *line, size_t len, size_t before)
{
	const struct yaml_complaint *known = known_of(parser);
	struct yaml_complaint c = known ? *known : other_complaint(parser);
	bool first = strspn(line, " ") >= before;
	bool long_key = is_long_key(parser);
	if (long_key || (before < len && ends_long_key(parser, line, before))) {
		c = (struct yaml_complaint){
			.message = "a key is longer than 1,024 bytes, or than its line",
			.help = "shorten it; a text that is no key needs quotes around all of it",
			.from_context = long_key};
	} else if (before < len && line[before] == '\t' && !begins_block(parser)) {
		c.message = "a tab stands where only blanks may";
		c.help = "indent with blanks";
	} else if (parser->problem && !strcmp(parser->problem, "did not find expected key")) {
		c.message = first ? "this is indented like nothing that it could belong to"
				  : "here a new line and a key are expected";
		c.help = first ? NULL : begun_otherwise(line, before);
	} else if (!c.help && parser->context_mark.line == parser->problem_mark.line) {
		bool braces = memmem(line, before + 2 < len ? before + 2 : len, "{{", 2);
		char at = before < len ? line[before] : '\n';
		const char *begun = begun_otherwise(line, before);
		c.help = braces                ? "put a text that holds {{ in quotes"
			 : at == ':'           ? "put a text that holds `: ` in quotes"
			 : at == '[' && !begun ? "between braces or brackets, a text that holds [ "
						 "needs quotes: \"list[str]\", \"n in [1, 2]\""
			 : strchr("[{'\"", at) ? NULL
					       : begun;
	}
	return c;
}
