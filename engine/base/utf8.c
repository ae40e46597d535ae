#include "base/utf8.h"

#include <string.h>

/* Returns how many bytes a character has that begins with this one; 0: none does. */
static size_t bytes_of(unsigned char lead)
{
	if (lead > 0xf4)
		return 0;
	return lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
}

static bool continues(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

size_t utf8_step(const char *text, size_t len, uint32_t *code)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = len ? bytes_of(s[0]) : 0;
	if (!n || n > len)
		return 0;
	static const unsigned char lead_mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t c = s[0] & lead_mask[n];
	for (size_t i = 1; i < n; i++) {
		if (!continues(text[i]))
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

size_t utf8_cut_end(const char *text, size_t len)
{
	size_t back = 1;
	while (back < 4 && back < len && continues(text[len - back]))
		back++;
	return len && bytes_of((unsigned char)text[len - back]) > back ? len - back : len;
}

size_t utf8_cut_start(const char *text, size_t len, size_t at)
{
	size_t from = at;
	while (at < len && at < from + 4 && continues(text[at]))
		at++;
	return at < from + 4 ? at : from; /* no character is that long */
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

bool utf8_add(struct buf *out, const char *bytes, size_t len)
{
	bool clean = true;
	size_t from = 0;
	for (size_t at = 0, n; at < len; at += n ? n : 1) {
		n = bytes[at] ? utf8_step(bytes + at, len - at, NULL) : 0;
		if (n)
			continue;
		buf_add(out, bytes + from, at - from);
		buf_adds(out, "\xef\xbf\xbd");
		from = at + 1;
		clean = false;
	}
	buf_add(out, bytes + from, len - from);
	return clean;
}

/* Sources: docs.github.com, "Workflow commands"; learn.microsoft.com, "Logging commands". The
 * runners accept them after blanks, and "##" anywhere in a line. */
bool utf8_is_order(const char *text, size_t len, size_t at)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-";
	size_t word = at + 1, end;
	if (text[at] == ':' && (!at || strchr(" \t\r\n", text[at - 1])))
		return len - at > 2 && text[word] == ':' && strchr(letters, text[word + 1]);
	if (text[at] != '#' || !at || text[at - 1] != '#')
		return false;
	for (end = word; end < len && strchr(letters, text[end]);)
		end++;
	return end < len && text[end] == '[';
}

void utf8_escape(struct buf *out, const char *text, size_t len, bool (*odd)(uint32_t code))
{
	size_t from = 0;
	for (size_t at = 0, n; at < len; at += n ? n : 1) {
		uint32_t code = 0;
		n = utf8_step(text + at, len - at, &code);
		if (n && !odd(code) && !utf8_is_order(text, len, at))
			continue;
		buf_add(out, text + from, at - from);
		from = at + (n ? n : 1);
		if (n && code >= 0x80)
			buf_addf(out, "\\u{%x}", code);
		else
			buf_addf(out, "\\x%02x", (unsigned char)text[at]);
	}
	buf_add(out, text + from, len - from);
}

void utf8_show(struct buf *out, const char *name)
{
	for (size_t len = strlen(name), step; len; name += step, len -= step) {
		uint32_t code = 0;
		step = utf8_step(name, len, &code);
		if (step && code >= 0x20 && !utf8_is_odd(code)) {
			buf_add(out, name, step);
			continue;
		}
		step = step ? step : 1;
		for (size_t i = 0; i < step; i++)
			buf_addf(out, "\\x%02x", (unsigned char)name[i]);
	}
}

size_t utf8_count(const char *text, size_t len)
{
	size_t count = 0;
	for (size_t i = 0; i < len; i++)
		count += !continues(text[i]);
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

bool utf8_is_false(uint32_t code)
{
	return utf8_is_control(code) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069) || (code >= 0xe0000 && code <= 0xe007f);
}

/* Source: Default_Ignorable_Code_Point of Unicode 15, the fillers among it, and the interlinear
 * annotations. */
bool utf8_is_odd(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} unseen[] = {{0xad, 0xad}, {0x34f, 0x34f}, {0x61c, 0x61c}, {0x115f, 0x1160},
		{0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x200b, 0x200b}, {0x200e, 0x200f},
		{0x2060, 0x206f}, {0x3164, 0x3164}, {0xfe00, 0xfe0d}, {0xfeff, 0xfeff},
		{0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
		{0xe0000, 0xe0fff}};
	for (size_t i = 0; i < sizeof(unseen) / sizeof(*unseen) && code >= unseen[i].first; i++)
		if (code <= unseen[i].last)
			return true;
	return utf8_is_false(code);
}

/* Source: EastAsianWidth.txt (W and F) and the general categories Mn, Me and Cf of Unicode 15, by
 * whole blocks where what is left out is unassigned or rare. */
unsigned utf8_columns(uint32_t code)
{
	static const struct {
		uint32_t first, last;
		unsigned columns;
	} ranges[] = {{0x300, 0x36f, 0}, {0x483, 0x489, 0}, {0x591, 0x5bd, 0}, {0x610, 0x61a, 0},
		{0x64b, 0x65f, 0}, {0x6d6, 0x6dc, 0}, {0x900, 0x902, 0}, {0x941, 0x948, 0},
		{0x94d, 0x94d, 0}, {0xe31, 0xe31, 0}, {0xe34, 0xe3a, 0}, {0xe47, 0xe4e, 0},
		{0x1100, 0x115f, 2}, {0x1160, 0x11ff, 0}, {0x1ab0, 0x1aff, 0}, {0x1dc0, 0x1dff, 0},
		{0x200b, 0x200f, 0}, {0x2060, 0x2064, 0}, {0x20d0, 0x20f0, 0}, {0x231a, 0x231b, 2},
		{0x2329, 0x232a, 2}, {0x23e9, 0x23ec, 2}, {0x23f0, 0x23f0, 2}, {0x23f3, 0x23f3, 2},
		{0x25fd, 0x25fe, 2}, {0x2614, 0x2615, 2}, {0x2648, 0x2653, 2}, {0x267f, 0x267f, 2},
		{0x2693, 0x2693, 2}, {0x26a1, 0x26a1, 2}, {0x26aa, 0x26ab, 2}, {0x26bd, 0x26be, 2},
		{0x26c4, 0x26c5, 2}, {0x26ce, 0x26ce, 2}, {0x26d4, 0x26d4, 2}, {0x26ea, 0x26ea, 2},
		{0x26f2, 0x26f3, 2}, {0x26f5, 0x26f5, 2}, {0x26fa, 0x26fa, 2}, {0x26fd, 0x26fd, 2},
		{0x2705, 0x2705, 2}, {0x270a, 0x270b, 2}, {0x2728, 0x2728, 2}, {0x274c, 0x274c, 2},
		{0x274e, 0x274e, 2}, {0x2753, 0x2755, 2}, {0x2757, 0x2757, 2}, {0x2795, 0x2797, 2},
		{0x27b0, 0x27b0, 2}, {0x27bf, 0x27bf, 2}, {0x2b1b, 0x2b1c, 2}, {0x2b50, 0x2b50, 2},
		{0x2b55, 0x2b55, 2}, {0x2e80, 0x3029, 2}, {0x302a, 0x302d, 0}, {0x302e, 0x303e, 2},
		{0x3041, 0x3098, 2}, {0x3099, 0x309a, 0}, {0x309b, 0x4dbf, 2}, {0x4e00, 0xa4cf, 2},
		{0xa960, 0xa97f, 2}, {0xac00, 0xd7a3, 2}, {0xf900, 0xfaff, 2}, {0xfe00, 0xfe0f, 0},
		{0xfe10, 0xfe19, 2}, {0xfe20, 0xfe2f, 0}, {0xfe30, 0xfe6f, 2}, {0xfeff, 0xfeff, 0},
		{0xff01, 0xff60, 2}, {0xffe0, 0xffe6, 2}, {0x16fe0, 0x18d08, 2},
		{0x1aff0, 0x1b2fb, 2}, {0x1f004, 0x1f004, 2}, {0x1f0cf, 0x1f0cf, 2},
		{0x1f18e, 0x1f18e, 2}, {0x1f191, 0x1f19a, 2}, {0x1f200, 0x1f265, 2},
		{0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2}, {0x1f7e0, 0x1f7f0, 2},
		{0x1f900, 0x1f9ff, 2}, {0x1fa70, 0x1faff, 2}, {0x20000, 0x3fffd, 2},
		{0xe0100, 0xe01ef, 0}};
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges) && code >= ranges[i].first; i++)
		if (code <= ranges[i].last)
			return ranges[i].columns;
	return 1;
}

size_t utf8_width(const char *text, size_t len)
{
	size_t columns = 0;
	for (size_t at = 0, n; at < len; at += n ? n : 1) {
		uint32_t code = 0;
		n = utf8_step(text + at, len - at, &code);
		columns += n ? utf8_columns(code) : 1;
	}
	return columns;
}
