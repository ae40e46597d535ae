#include "base/utf8.h"
#include "machine/predicate_node.h"
#include <stdarg.h>
#include <string.h>

struct finding *predicate_fail(struct predicate_lexer *lexer, enum rule rule, size_t at, size_t len,
	const char *format, ...)
{
	if (lexer->failed)
		return NULL;
	lexer->failed = true;
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return site_report_at(lexer->site, rule, at, len, "%s", text);
}

static int hex_digits(const char *text, size_t count, uint32_t *out)
{
	*out = 0;
	for (size_t i = 0; i < count; i++) {
		char c = text[i];
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
			    : c >= 'A' && c <= 'F' ? c - 'A' + 10
						   : -1;
		if (digit < 0)
			return -1;
		*out = *out << 4 | (uint32_t)digit;
	}
	return 0;
}

/* Reads one escape at text[at] == '\\'. Returns its length; 0: an error was reported. */
static size_t read_escape(struct predicate_lexer *lexer, size_t at, char **out)
{
	static const char plain[] = "\\'\"ntr", means[] = "\\'\"\n\t\r";
	char c = at + 1 < lexer->len ? lexer->text[at + 1] : 0;
	const char *known = c ? strchr(plain, c) : NULL;
	if (known) {
		*(*out)++ = means[known - plain];
		return 2;
	}
	size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : 0;
	uint32_t code;
	if (!digits || at + 2 + digits > lexer->len ||
		hex_digits(lexer->text + at + 2, digits, &code)) {
		struct finding *f = predicate_fail(
			lexer, RULE_PREDICATE_SYNTAX, at, 2, "this escape is not known");
		site_help(
			lexer->site, f, "the escapes are \\\\ \\' \\\" \\n \\t \\r \\xHH \\uHHHH");
		return 0;
	}
	if (!code || (code >= 0xd800 && code <= 0xdfff)) {
		predicate_fail(lexer, RULE_PREDICATE_SYNTAX, at, 2 + digits,
			code ? "half a surrogate pair is not a character; write the character "
			       "itself"
			     : "a string cannot hold the character NUL");
		return 0;
	}
	*out += utf8_put(code, *out);
	return 2 + digits;
}

static struct predicate_token read_string(struct predicate_lexer *lexer)
{
	size_t start = lexer->next, i = start + 1;
	char quote = lexer->text[start];
	/* An escape is never shorter than the character it means. */
	char *text = arena_alloc(lexer->scope->arena, lexer->len - start + 1), *out = text;
	while (i < lexer->len && lexer->text[i] != quote) {
		size_t step = 1;
		if (lexer->text[i] == '\\')
			step = read_escape(lexer, i, &out);
		else
			*out++ = lexer->text[i];
		if (!step)
			return (struct predicate_token){.kind = TOKEN_BAD};
		i += step;
	}
	if (i >= lexer->len) {
		struct finding *f = predicate_fail(
			lexer, RULE_PREDICATE_SYNTAX, start, 1, "this string is never closed");
		if (site_ends_at_comment(lexer->site))
			site_help(lexer->site, f,
				"in YAML a comment begins at \" #\": put the whole condition in "
				"quotes");
		return (struct predicate_token){.kind = TOKEN_BAD};
	}
	lexer->next = i + 1;
	struct predicate_token t = {.kind = TOKEN_STRING, .at = start, .len = lexer->next - start};
	t.value.kind = VALUE_STR;
	t.value.len = (size_t)(out - text);
	t.value.text = text;
	return t;
}

static size_t digits_from(const struct predicate_lexer *lexer, size_t i)
{
	while (i < lexer->len && lexer->text[i] >= '0' && lexer->text[i] <= '9')
		i++;
	return i;
}

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.';
}

/* Returns the end of 0x or 0o with its digits; `start`: no such number begins there. */
static size_t based_end(const struct predicate_lexer *lexer, size_t start)
{
	const char *text = lexer->text;
	bool based = start + 2 < lexer->len && text[start] == '0' &&
		     (text[start + 1] == 'x' || text[start + 1] == 'o');
	size_t end = start + 2;
	uint32_t digit;
	while (based && end < lexer->len && !hex_digits(text + end, 1, &digit) &&
		(text[start + 1] == 'x' || digit < 8))
		end++;
	return based && end > start + 2 ? end : start;
}

static struct predicate_token not_a_number(struct predicate_lexer *lexer, size_t start, size_t end)
{
	const char *text = lexer->text + start;
	while (end < lexer->len && name_char(lexer->text[end]))
		end++;
	size_t len = end - start, shown = len > 40 ? 40 : len;
	struct finding *f = predicate_fail(lexer, RULE_PREDICATE_SYNTAX, start, len,
		"\"%.*s\" is not a number", (int)shown, text);
	if (*text == '.' && digits_from(lexer, start + 1) == end)
		site_help(lexer->site, f, "write 0%.*s", (int)shown, text);
	else if (memchr(text, '_', len))
		site_help(lexer->site, f, "write the number without `_`");
	else if (*text == '0' && len > 1 && !memchr(text, '.', len))
		site_help(lexer->site, f, "an integer is written as 16, 0x10 or 0o20");
	return (struct predicate_token){.kind = TOKEN_BAD};
}

/* Reads digits [. digits] [e [sign] digits], 0x digits or 0o digits. The parser computes the value,
 * since it knows the sign. */
static struct predicate_token read_number(struct predicate_lexer *lexer)
{
	size_t start = lexer->next, i = digits_from(lexer, start), end = i;
	size_t based = based_end(lexer, start);
	if (i < lexer->len && lexer->text[i] == '.')
		i = digits_from(lexer, end + 1) > end + 1 ? digits_from(lexer, end + 1) : end;
	end = i;
	if (i < lexer->len && (lexer->text[i] == 'e' || lexer->text[i] == 'E')) {
		size_t sign = i + 1 < lexer->len && strchr("+-", lexer->text[i + 1]) ? 1 : 0;
		size_t last = digits_from(lexer, i + 1 + sign);
		end = last > i + 1 + sign ? last : i;
	}
	if (based > start)
		end = based;
	if (end < lexer->len && name_char(lexer->text[end]))
		return not_a_number(lexer, start, end);
	lexer->next = end;
	return (struct predicate_token){.kind = TOKEN_NUMBER, .at = start, .len = end - start};
}

static struct predicate_token read_sign(struct predicate_lexer *lexer)
{
	/* Longest first. Signs without a meaning here are read too, so that the parser can say what
	 * to write instead. */
	static const char *const signs[] = {"===", "!==", "**", "//", "<<", ">>", ":=", "&&", "||",
		"=~", "==", "!=", "<=", ">=", "=>", "=<", "<>", "{{", "}}", "<", ">", "=", "+", "-",
		"*", "/", "%", "&", "|", "^", "~", "!", "?", ":", ";", "(", ")", "[", "]", "{", "}",
		",", ".", "@", "$"};
	size_t left = lexer->len - lexer->next;
	for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
		size_t len = strlen(signs[i]);
		if (len > left || memcmp(lexer->text + lexer->next, signs[i], len) != 0)
			continue;
		struct predicate_token t = {.kind = TOKEN_SIGN, .at = lexer->next, .len = len};
		lexer->next += len;
		return t;
	}
	size_t len = utf8_step(lexer->text + lexer->next, left, NULL);
	if (lexer->text[lexer->next] == '\r') {
		struct finding *f = predicate_fail(lexer, RULE_PREDICATE_SYNTAX, lexer->next, 1,
			"a carriage return is no blank space in a condition");
		site_help(lexer->site, f, "write a space, a tab or a newline");
		return (struct predicate_token){.kind = TOKEN_BAD};
	}
	predicate_fail(lexer, RULE_PREDICATE_SYNTAX, lexer->next, len,
		"\"%.*s\" means nothing here", (int)len, lexer->text + lexer->next);
	return (struct predicate_token){.kind = TOKEN_BAD};
}

struct predicate_token predicate_token(struct predicate_lexer *lexer)
{
	while (lexer->next < lexer->len && lexer->text[lexer->next] &&
		strchr(" \t\n", lexer->text[lexer->next]))
		lexer->next++;
	if (lexer->next >= lexer->len)
		return (struct predicate_token){.kind = TOKEN_END, .at = lexer->len};
	char c = lexer->text[lexer->next];
	if (c == '"' || c == '\'')
		return read_string(lexer);
	if (c >= '0' && c <= '9')
		return read_number(lexer);
	if (c == '.' && digits_from(lexer, lexer->next + 1) > lexer->next + 1)
		return not_a_number(lexer, lexer->next, lexer->next + 1);
	size_t span = ref_span(lexer->text, lexer->next, lexer->len);
	if (!span)
		return read_sign(lexer);
	struct predicate_token t = {.kind = TOKEN_NAME, .at = lexer->next, .len = span};
	lexer->next += span;
	return t;
}
