#include "base/utf8.h"

#include <string.h>

size_t utf8_step(const char *text, size_t len, uint32_t *code)
{
	const unsigned char *s = (const unsigned char *)text;
	if (!len)
		return 0;
	size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
	if (!n || n > len || s[0] > 0xf4)
		return 0;
	static const unsigned char lead_mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t c = s[0] & lead_mask[n];
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3fu);
	}
	if (c < lowest[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	if (code)
		*code = c;
	return n;
}

size_t utf8_prefix(const char *text, size_t len)
{
	size_t at = 0, n;
	while (at < len && (n = utf8_step(text + at, len - at, NULL)))
		at += n;
	return at;
}

void utf8_copy(char *to, size_t size, const char *from)
{
	size_t len = strnlen(from, size - 1), used = 0, at = 0;
	while (at < len) {
		size_t n = utf8_prefix(from + at, len - at);
		memmove(to + used, from + at, n);
		used += n;
		at += n;
		while (at < len && !utf8_step(from + at, len - at, NULL))
			at++;
		if (at < len)
			to[used++] = '?';
	}
	to[used] = '\0';
}

size_t utf8_count(const char *text, size_t len)
{
	size_t count = 0;
	for (size_t i = 0; i < len; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

size_t utf8_put(uint32_t code, char out[4])
{
	size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
	for (size_t i = n; i-- > 1; code >>= 6)
		out[i] = (char)(0x80 | (code & 0x3f));
	out[0] = (char)(lead[n] | code);
	return n;
}

bool utf8_is_control(uint32_t code)
{
	return (code < 0x20 && code != '\t' && code != '\n' && code != '\r') ||
	       (code >= 0x7f && code < 0xa0);
}

bool utf8_is_bidi(uint32_t code)
{
	return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}
