#include "schema/toml_scalar.h"

#include "base/num.h"
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(text, word, len);
}

/* --- dates: RFC 3339, with the parts that TOML lets be left out ------------------------------- */

/* Reads `count` digits as a number. Returns -1 if there are fewer. */
static int number(const char **p, const char *end, int count)
{
	int value = 0;
	for (int i = 0; i < count; i++, (*p)++) {
		if (*p == end || !is_digit(**p))
			return -1;
		value = value * 10 + (**p - '0');
	}
	return value;
}

static bool expect(const char **p, const char *end, char c)
{
	if (*p == end || **p != c)
		return false;
	(*p)++;
	return true;
}

static int days_in(int year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return days[month - 1] + (month == 2 && leap);
}

static bool full_date(const char **p, const char *end)
{
	int year = number(p, end, 4);
	if (year < 0 || !expect(p, end, '-'))
		return false;
	int month = number(p, end, 2);
	if (month < 1 || month > 12 || !expect(p, end, '-'))
		return false;
	int day = number(p, end, 2);
	return day >= 1 && day <= days_in(year, month);
}

static bool two(const char **p, const char *end, int most)
{
	int value = number(p, end, 2);
	return value >= 0 && value <= most;
}

static bool partial_time(const char **p, const char *end)
{
	if (!two(p, end, 23) || !expect(p, end, ':') || !two(p, end, 59) || !expect(p, end, ':') ||
		!two(p, end, 60))
		return false;
	if (*p == end || **p != '.')
		return true;
	const char *fraction = ++*p;
	while (*p < end && is_digit(**p))
		(*p)++;
	return *p > fraction;
}

static bool offset(const char **p, const char *end)
{
	if (expect(p, end, 'Z') || expect(p, end, 'z'))
		return true;
	if (!expect(p, end, '+') && !expect(p, end, '-'))
		return false;
	return two(p, end, 23) && expect(p, end, ':') && two(p, end, 59);
}

static bool is_time_or_date(const char *text, size_t len)
{
	const char *p = text, *end = text + len;
	if (partial_time(&p, end) && p == end)
		return true;
	p = text;
	if (!full_date(&p, end))
		return false;
	if (p == end)
		return true;
	if (*p != 'T' && *p != 't' && *p != ' ')
		return false;
	p++;
	return partial_time(&p, end) && (p == end || (offset(&p, end) && p == end));
}

bool toml_is_date(const char *text, size_t len)
{
	static const char form[] = "0000-00-00";
	for (size_t i = 0; i < sizeof(form) - 1; i++)
		if (i >= len || (form[i] == '-' ? text[i] != '-' : !is_digit(text[i])))
			return false;
	return len == sizeof(form) - 1;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static int digit_value(char c)
{
	if (is_digit(c))
		return c - '0';
	char lower = (char)(c | 0x20);
	return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

/* Drops underscores, each of which must be between two digits of `base`. Returns -1 if one is not,
 * or `text` is too long for a number. */
static int drop_underscores(const char *text, size_t len, int base, char out[512])
{
	size_t n = 0;
	for (size_t i = 0; i < len; i++) {
		if (n == 511)
			return -1;
		if (text[i] != '_') {
			out[n++] = text[i];
			continue;
		}
		if (!i || i + 1 == len || digit_value(text[i - 1]) >= base ||
			digit_value(text[i + 1]) >= base)
			return -1;
	}
	out[n] = '\0';
	return (int)n;
}

static int based_int(const char *text, size_t len, struct doc_node *node, enum rule *refused)
{
	int base = text[1] == 'x' ? 16 : text[1] == 'o' ? 8 : 2;
	char digits[512];
	int n = drop_underscores(text + 2, len - 2, base, digits);
	uint64_t value = 0;
	bool over = false;
	if (n <= 0)
		return -1;
	for (int i = 0; i < n; i++) {
		int digit = digit_value(digits[i]);
		if (digit >= base)
			return -1;
		over |= __builtin_mul_overflow(value, (uint64_t)base, &value) ||
			__builtin_add_overflow(value, (uint64_t)digit, &value);
	}
	node->kind = over || value > INT64_MAX ? DOC_BROKEN : DOC_INT;
	node->integer = (int64_t)value;
	*refused = RULE_INTEGER_RANGE;
	return 0;
}

/* Counts the digits from `p`; if `whole`, a leading zero must be alone. */
static size_t digits(const char *p, bool whole)
{
	size_t n = strspn(p, "0123456789");
	return whole && n > 1 && *p == '0' ? 0 : n;
}

/* Recognises [+-] digits [. digits] [e [+-] digits], the first without leading zeros. Returns 0: no
 * number, 1: an integer, 2: a float. */
static int number_form(const char *p)
{
	int form = 1;
	p += *p == '+' || *p == '-';
	size_t n = digits(p, true);
	if (!n)
		return 0;
	p += n;
	if (*p == '.') {
		form = 2;
		n = digits(++p, false);
		if (!n)
			return 0;
		p += n;
	}
	if (*p == 'e' || *p == 'E') {
		form = 2;
		p++;
		p += *p == '+' || *p == '-';
		n = digits(p, false);
		if (!n)
			return 0;
		p += n;
	}
	return *p ? 0 : form;
}

static int decimal(const char *text, size_t len, struct doc_node *node, enum rule *refused)
{
	char plain[512];
	int n = drop_underscores(text, len, 10, plain);
	int form = n > 0 ? number_form(plain) : 0;
	if (!form)
		return -1;
	bool bad = form == 1 ? num_int(plain, (size_t)n, &node->integer)
			     : num_float(plain, (size_t)n, &node->number);
	node->kind = bad ? DOC_BROKEN : form == 1 ? DOC_INT : DOC_FLOAT;
	*refused = form == 1 ? RULE_INTEGER_RANGE : RULE_NOT_FINITE;
	return 0;
}

int toml_scalar(const char *text, size_t len, struct doc_node *node, enum rule *refused)
{
	bool sign = len && (*text == '+' || *text == '-');
	if (is(text, len, "true") || is(text, len, "false")) {
		node->kind = DOC_BOOL;
		node->boolean = *text == 't';
		return 0;
	}
	if (is(text + sign, len - sign, "inf") || is(text + sign, len - sign, "nan")) {
		node->kind = DOC_BROKEN;
		*refused = RULE_NOT_FINITE;
		return 0;
	}
	if (is_time_or_date(text, len)) {
		node->kind = DOC_BROKEN;
		*refused = RULE_TOML_DATE;
		return 0;
	}
	if (len > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'o' || text[1] == 'b'))
		return based_int(text, len, node, refused);
	return decimal(text, len, node, refused);
}
