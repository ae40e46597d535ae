/* Small texts for people: numbers, where lines break, and what refused connections are called. */
#include "report/text.h"
#include "tests/kit/tap.h"

static void wraps(const char *begun, const char *text, const char *expected, const char *name)
{
	AUTO_BUF out;
	buf_init(&out, 1 << 10);
	buf_adds(&out, begun);
	wrap_text(&out, text, 2, 10);
	is_str(out.data, expected, "%s", name);
}

static void test_wrap(void)
{
	wraps("", "short", "short", "what fits stays");
	wraps("", "one two three", "one two\n  three", "a line ends at a blank");
	wraps("", "1234567890 x", "1234567890\n  x", "the last column is used");
	wraps("label: ", "one two", "label: one\n  two", "what the line begins with counts");
	wraps("label ok: ", "word", "label ok: word", "the first word is never moved");
	wraps("", "abc verylongwordindeed b", "abc\n  verylongwordindeed\n  b", "nor broken");
	wraps("", "a\nb c", "a\nb c", "a line break is one, without indent");
	wraps("", "  a   b", "  a   b", "blanks within a line stay");
	wraps("\033[32mok\033[0m", ": one two", "\033[32mok\033[0m: one\n  two",
		"colours take no room");
	wraps("", "\xc3\xa4\xc3\xa4\xc3\xa4 \xc3\xb6\xc3\xb6\xc3\xb6 \xc3\xbc",
		"\xc3\xa4\xc3\xa4\xc3\xa4 \xc3\xb6\xc3\xb6\xc3\xb6 \xc3\xbc",
		"characters count, not bytes");
	wraps("", "\xe6\x9d\xb1\xe4\xba\xac \xe5\xa4\xa7\xe9\x98\xaa x",
		"\xe6\x9d\xb1\xe4\xba\xac \xe5\xa4\xa7\xe9\x98\xaa\n  x", "wide ones count two");
}

static void cleans(const char *text, size_t columns, const char *expected, const char *name)
{
	AUTO_BUF out;
	buf_init(&out, 1 << 10);
	text_clean(&out, text, columns);
	is_str(out.data, expected, "%s", name);
}

static void test_columns(void)
{
	AUTO_BUF out;
	cleans("\xe6\x9d\xb1\xe4\xba\xac!", 5, "\xe6\x9d\xb1\xe4\xba\xac!", "wide ones fit");
	cleans("\xe6\x9d\xb1\xe4\xba\xac!", 3, "\xe6\x9d\xb1...", "one that does not is left out");
	cleans("e\xcc\x81"
	       "e\xcc\x81",
		2,
		"e\xcc\x81"
		"e\xcc\x81",
		"a mark takes no room");
	buf_init(&out, 1 << 10);
	buf_adds(&out, "\xe6\x9d\xb1");
	text_pad(&out, 0, 4);
	is_str(out.data, "\xe6\x9d\xb1  ", "what is padded counts them, too");
}

/* Each word looks back to where its line began: that must not be done in a line without an end. */
static void test_unwrapped(void)
{
	enum { WORDS = 200000 };
	AUTO_BUF text, out;
	buf_init(&text, 1 << 20);
	buf_init(&out, 1 << 20);
	for (int i = 0; i < WORDS; i++)
		buf_adds(&text, "ab ");
	buf_adds(&out, "agent6: ");
	wrap_text(&out, text.data, 8, WRAP_NEVER);
	is(out.len, text.len + 8, "what is not wrapped is as it was");
	is_str(out.data + 8, text.data, "to its end");
}

static void refusal(const char *why, int64_t count, const char *expected)
{
	AUTO_BUF out;
	buf_init(&out, 1 << 10);
	text_refusal(&out, "h:443", why, count);
	is_str(out.data, expected, "%s", why);
}

static void test_refusal(void)
{
	refusal("dial", 1, "not reached: h:443, no such name, or nothing answers there");
	refusal("sni", 3, "egress refused: h:443, another name in TLS, 3 times");
	refusal("new\nword", 1, "egress refused: h:443, new word");
}

static void number(void write(struct buf *out, int64_t n), int64_t n, const char *expected)
{
	AUTO_BUF out;
	buf_init(&out, 100);
	write(&out, n);
	is_str(out.data, expected, "%s", expected);
}

static void test_numbers(void)
{
	static const struct {
		int64_t ms;
		const char *expected;
	} durations[] = {{INT64_MIN, "0 ms"}, {999, "999 ms"}, {1000, "1.0 s"}, {59999, "59.9 s"},
		{60000, "1 min 0 s"}, {3599999, "59 min 59 s"}, {3600000, "1 h 0 min"},
		{86399999, "23 h 59 min"}, {187200000, "2 d 4 h"}};
	for (size_t i = 0; i < ARRAY_LEN(durations); i++)
		number(text_duration, durations[i].ms, durations[i].expected);
	number(text_count, 999, "999");
	number(text_count, -1234567, "-1,234,567");
	number(text_count, INT64_MIN, "-9,223,372,036,854,775,808");
	number(text_bytes, 1023, "1023 B");
	number(text_bytes, 12595, "12.3 KiB");
	number(text_bytes, INT64_MAX, "8388608.0 TiB");
	number(text_money, 1200, "$0.0012");
	number(text_money, 3400000, "$3.40");
}

int main(void)
{
	test_numbers();
	test_wrap();
	test_columns();
	test_unwrapped();
	test_refusal();
	return tap_done();
}
