/* The parts of two texts around the place from which they differ. */
#include "rehearse/excerpt.h"
#include "tests/kit/tap.h"
#include <string.h>

static void longest(const char *wanted, const char *got, size_t len, size_t end)
{
	size_t at;
	size_t found = excerpt_longest(wanted, got, &at);
	ok(found == len && at == end, "\"%s\" in \"%s\": %zu up to %zu", wanted, got, found, at);
}

/* Compares with a search at every place. */
static void against_naive(void)
{
	unsigned state = 7;
	bool same = true;
	for (int round = 0; round < 2000; round++) {
		char wanted[12] = "", got[40] = "";
		for (size_t i = 0; i < 1 + state % 10; i++)
			wanted[i] =
				(char)('a' + (state = state * 1103515245u + 12345u) / 65536 % 2);
		for (size_t i = 0; i < 39; i++)
			got[i] = (char)('a' + (state = state * 1103515245u + 12345u) / 65536 % 2);
		size_t best = 0, end;
		for (size_t at = 0; got[at]; at++) {
			size_t len = 0;
			while (wanted[len] && wanted[len] == got[at + len])
				len++;
			best = len > best ? len : best;
		}
		same &= excerpt_longest(wanted, got, &end) == best && end >= best &&
			!strncmp(got + end - best, wanted, best);
	}
	ok(same, "2,000 random texts give the same as a search at every place");
}

static void shows(const char *text, size_t at, bool quoted, const char *expected)
{
	char out[EXCERPT_BYTES];
	excerpt_show(text, at, quoted, out);
	is_str(out, expected, "%.20s at %zu", text, at);
}

static void long_texts(void)
{
	char text[2001], out[EXCERPT_BYTES];
	memset(text, 'x', 2000);
	text[2000] = '\0';
	text[1000] = '!';
	excerpt_show(text, 1000, true, out);
	ok(!strncmp(out, "...\"x", 5) && strchr(out, '!') &&
			!strcmp(out + strlen(out) - 5, "x\"..."),
		"a long text is cut on both sides");
	excerpt_show(text, 0, true, out);
	ok(out[0] == '"' && !strchr(out, '!'), "at its head only at its end");
	excerpt_show(text, 1999, false, out);
	ok(!strncmp(out, "...x", 4) && strlen(out) == 403, "at its end only at its head");
	memset(text, '\1', 2000);
	excerpt_show(text, 1000, true, out);
	ok(out[strlen(out) - 4] == '"', "control characters have room");
	for (size_t i = 0; i + 3 < sizeof(text); i += 3)
		memcpy(text + i, "\u20ac", 3);
	text[1998] = '\0';
	excerpt_show(text, 1000, false, out);
	ok(!strncmp(out, "...\u20ac", 6), "characters stay whole");
}

int main(void)
{
	longest("", "abc", 0, 0);
	longest("abc", "", 0, 0);
	longest("abc", "xxabcyy", 3, 5);
	longest("abcd", "ab abc abx", 3, 6);
	longest("aab", "aaab", 3, 4);
	longest("xyz", "abc", 0, 0);
	against_naive();
	ok(excerpt_common("same here", "same there") == 5, "the common beginning");
	ok(excerpt_common("a", "a") == 1, "of equal texts it is all");
	shows("short", 2, true, "\"short\"");
	shows("short", 2, false, "short");
	shows("a \"b\"\n", 0, true, "\"a \\\"b\\\"\\n\"");
	long_texts();
	return tap_done();
}
