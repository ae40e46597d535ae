#include "base/secrets.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include <ctype.h>
#include <string.h>

enum { ESCAPE_BYTES_MAX = 12 }; /* \ud83d\ude42 */

static const char base64_digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static int add_needle(struct secrets *secrets, struct buf *text)
{
	size_t at = 0, end = secrets->count;
	while (at < end && text->data) {
		size_t middle = at + (end - at) / 2;
		int order = strcmp(secrets->needles[middle], text->data);
		if (!order) {
			buf_clear(text);
			return 0;
		}
		at = order < 0 ? middle + 1 : at;
		end = order < 0 ? end : middle;
	}
	char **grown = reallocarray(secrets->needles, secrets->count + 1, sizeof(*grown));
	if (!grown || text->failed)
		return -1;
	secrets->needles = grown;
	char *needle = buf_take(text, NULL);
	if (!needle)
		return -1;
	memmove(grown + at + 1, grown + at, (secrets->count - at) * sizeof(*grown));
	grown[at] = needle;
	secrets->count++;
	secrets->begins[(unsigned char)*needle] = true;
	return 0;
}

/* Appends the base64 digits of `secret` that do not depend on the bytes before and after it, if
 * `shift` other bytes precede it in its group of three. */
static void base64_core(
	struct buf *out, const char *secret, size_t len, size_t shift, const char *digits)
{
	size_t first = shift ? shift + 1 : 0;
	for (size_t d = first; d * 6 + 6 <= (shift + len) * 8; d++) {
		unsigned value = 0;
		for (size_t bit = d * 6; bit < d * 6 + 6; bit++) {
			unsigned char byte = (unsigned char)secret[bit / 8 - shift];
			value = value << 1 | ((unsigned)(byte >> (7 - bit % 8)) & 1U);
		}
		buf_addc(out, digits[value]);
	}
}

static int add_base64(struct secrets *secrets, const char *secret, size_t len, struct buf *buf)
{
	for (size_t shift = 0; shift < 3; shift++) {
		base64_core(buf, secret, len, shift, base64_digits);
		if (add_needle(secrets, buf))
			return -1;
		base64_core(buf, secret, len, shift, url_digits);
		if (add_needle(secrets, buf))
			return -1;
	}
	return 0;
}

static int add_hex(struct secrets *secrets, const char *secret, const char *digits, struct buf *buf)
{
	for (const char *c = secret; *c; c++) {
		buf_addc(buf, digits[(unsigned char)*c >> 4]);
		buf_addc(buf, digits[*c & 15]);
	}
	return add_needle(secrets, buf);
}

int secrets_add(struct secrets *secrets, const char *secret)
{
	size_t len = strlen(secret);
	AUTO_BUF b = BUF_INIT(2 * len + 1);
	if (len < SECRETS_BYTES_MIN)
		return 0;
	secrets->longest =
		SECRETS_GROWTH * len > secrets->longest ? SECRETS_GROWTH * len : secrets->longest;
	buf_add(&b, secret, len);
	return add_needle(secrets, &b) || add_hex(secrets, secret, "0123456789abcdef", &b) ||
			       add_hex(secrets, secret, "0123456789ABCDEF", &b) ||
			       add_base64(secrets, secret, len, &b)
		       ? -1
		       : 0;
}

void secrets_done(struct secrets *secrets)
{
	for (size_t i = 0; i < secrets->count; i++) {
		explicit_bzero(secrets->needles[i], strlen(secrets->needles[i]));
		free(secrets->needles[i]);
	}
	free(secrets->needles);
	*secrets = (struct secrets){0};
}

/* Returns the length of a line's number and tab, as read_file writes them. */
static size_t number_len(const char *text, size_t len)
{
	size_t n = 0;
	while (n < len && isdigit((unsigned char)text[n]))
		n++;
	return n && n < len && text[n] == '\t' ? n + 1 : 0;
}

/* Returns the length of a line end with the number of the next line. */
static size_t break_len(const char *text, size_t len)
{
	size_t n = len > 1 && !memcmp(text, "\r\n", 2) ? 2 : len && *text == '\n';
	return n ? n + number_len(text + n, len - n) : 0;
}

/* Returns how many bytes of `text` spell `needle`, possibly wrapped into lines, with or without
 * numbers; 0: they do not. */
static size_t plain_len(const char *needle, const char *text, size_t len)
{
	size_t whole = strlen(needle), at = 0;
	if (whole <= len && !memcmp(text, needle, whole))
		return whole;
	for (; *needle; needle++) {
		if (at && *needle != '\n')
			at += break_len(text + at, len - at);
		if (at == len || text[at] != *needle)
			return 0;
		at++;
		if (*needle == '\n')
			at += number_len(text + at, len - at);
	}
	return at;
}

/* Returns the value of `digits` hexadecimal digits; -1: there are fewer. */
static long take_hex(const char *text, size_t len, size_t digits)
{
	long value = 0;
	if (len < digits)
		return -1;
	for (size_t i = 0; i < digits; i++) {
		int c = tolower((unsigned char)text[i]);
		if (!isxdigit(c))
			return -1;
		value = value * 16 + (isdigit(c) ? c - '0' : c - 'a' + 10);
	}
	return value;
}

/* Reads \uXXXX, or two of them for one character. */
static size_t unicode_len(const char *text, size_t len, char out[4], size_t *bytes)
{
	long code = take_hex(text + 2, len - 2, 4), low = -1;
	size_t used = 6;
	if (code >= 0xd800 && code < 0xdc00 && len > 8 && text[6] == '\\' && text[7] == 'u')
		low = take_hex(text + 8, len - 8, 4);
	if (low >= 0xdc00 && low < 0xe000) {
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
		used = 12;
	}
	if (code <= 0 || (code >= 0xd800 && code < 0xe000))
		return 0;
	*bytes = utf8_put((uint32_t)code, out);
	return used;
}

/* Returns how many bytes of `text` are an escape of JSON or of a URL; 0: they are none. */
static size_t escape_len(const char *text, size_t len, char out[4], size_t *bytes)
{
	static const char letters[] = "ntrbf\"\\/", controls[] = "\n\t\r\b\f\"\\/";
	long code = *text == '%' ? take_hex(text + 1, len - 1, 2) : -1;
	*bytes = 1;
	if (code > 0) {
		out[0] = (char)code;
		return 3;
	}
	if (*text != '\\' || len < 2)
		return 0;
	if (text[1] == 'u')
		return unicode_len(text, len, out, bytes);
	const char *letter = text[1] ? strchr(letters, text[1]) : NULL;
	if (letter)
		out[0] = controls[letter - letters];
	return letter ? 2 : 0;
}

/* The marks that begin an escape, and the number of times it is applied: JSON in JSON, or in a URL,
 * is twice. */
struct coding {
	const char *marks;
	int times;
};

/* Returns how many bytes of `text` are its first character after resolving escapes that often. */
static size_t first_len(struct coding c, const char *text, size_t len, char out[4], size_t *bytes)
{
	char ahead[ESCAPE_BYTES_MAX] = "", next[4];
	size_t ends[ESCAPE_BYTES_MAX], count = 0, at = 0, width = 1, most = ESCAPE_BYTES_MAX;
	out[0] = *text;
	*bytes = 1;
	if (!c.times || !*text || !strchr(c.marks, *text))
		return 1;
	c.times--;
	size_t first = first_len(c, text, len, out, bytes);
	if (*bytes > 1 || !out[0] || !strchr(c.marks, out[0]))
		return first;
	while (width == 1 && count < most && at < len) {
		at += first_len(c, text + at, len - at, next, &width);
		ends[count] = at;
		ahead[count] = next[0];
		count += width == 1;
		most = ahead[0] == '%' ? 3 : ahead[1] && ahead[1] != 'u' ? 2 : most;
	}
	size_t used = escape_len(ahead, count, out, bytes);
	return used ? ends[used - 1] : first;
}

/* Returns the length of a match in which any letter may be escaped. */
static size_t escaped_len(const char *needle, const char *text, size_t len, struct coding c)
{
	size_t at = 0;
	while (*needle && at < len) {
		char out[4];
		size_t bytes, used = first_len(c, text + at, len - at, out, &bytes);
		if (used && !strncmp(needle, out, bytes)) {
			needle += bytes;
			at += used;
		} else if (text[at] == *needle) {
			needle++;
			at++;
		} else if (at && used && bytes == 1 && (out[0] == '\n' || out[0] == '\r')) {
			at += used;
		} else {
			return 0;
		}
	}
	return *needle ? 0 : at;
}

/* Returns the length of a match in any coding. A mark may belong to the secret itself, such as %25
 * in one that is JSON-escaped. */
static size_t needle_len(const char *needle, const char *text, size_t len)
{
	static const struct coding codings[] = {
		{"\\%", 1}, {"\\", 1}, {"%", 1}, {"\\%", 2}, {"\\", 2}, {"%", 2}};
	size_t found = plain_len(needle, text, len);
	for (size_t i = 0; !found && i < ARRAY_LEN(codings); i++)
		found = escaped_len(needle, text, len, codings[i]);
	return found;
}

/* Narrows needles[*from, *to), which are equal before `at`, to those with the character `c`
 * there. */
static void narrow(
	const struct secrets *secrets, size_t *from, size_t *to, size_t at, unsigned char c)
{
	for (unsigned which = 0; which < 2; which++) {
		size_t low = *from, high = *to;
		while (low < high) {
			size_t middle = low + (high - low) / 2;
			bool below = (unsigned char)secrets->needles[middle][at] < c + which;
			low = below ? middle + 1 : low;
			high = below ? high : middle;
		}
		*(which ? to : from) = low;
	}
}

/* Reports whether a secret may continue at `at` in more than one spelling: an escape begins, a line
 * ends, or the next line has a number. */
static bool is_ambiguous(const char *text, size_t at)
{
	return text[at] == '\\' || text[at] == '%' || (at && strchr("\r\n", text[at])) ||
	       (at && text[at - 1] == '\n' && isdigit((unsigned char)text[at]));
}

static size_t longest_of(
	const struct secrets *secrets, size_t from, size_t to, const char *text, size_t len)
{
	size_t longest = 0, bytes;
	char first[2][4];
	for (int i = 0; i < 2; i++)
		first_len((struct coding){"\\%", i + 1}, text, len, first[i], &bytes);
	bool begins = secrets->begins[(unsigned char)*text] ||
		      secrets->begins[(unsigned char)first[0][0]] ||
		      secrets->begins[(unsigned char)first[1][0]];
	for (size_t i = from; begins && i < to; i++) {
		const char *needle = secrets->needles[i];
		if (*needle != *text && *needle != first[0][0] && *needle != first[1][0])
			continue;
		size_t found = needle_len(needle, text, len);
		longest = found > longest ? found : longest;
	}
	return longest;
}

size_t secrets_match(const struct secrets *secrets, const char *text, size_t len)
{
	size_t longest = 0, from = 0, to = secrets->count;
	for (size_t at = 0; at < len && text[at] && from < to; at++) {
		if (is_ambiguous(text, at)) {
			size_t found = longest_of(secrets, from, to, text, len);
			return found > longest ? found : longest;
		}
		if (!at && !secrets->begins[(unsigned char)*text])
			return 0;
		narrow(secrets, &from, &to, at, (unsigned char)text[at]);
		if (from < to && !secrets->needles[from][at + 1])
			longest = at + 1;
	}
	return longest;
}

size_t secrets_end(
	const struct secrets *secrets, const char *text, size_t len, size_t from, size_t to)
{
	for (size_t at = from; at < to; at++) {
		size_t found = secrets_match(secrets, text + at, len - at);
		to = at + found > to ? at + found : to;
	}
	return to;
}
