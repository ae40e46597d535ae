/* base: UTF-8, instants, near names. */
#include "base/clock.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "tests/kit/tap.h"
#include <string.h>

/* RFC 3629, sections 3 and 4. */
static void test_utf8_forms(void)
{
	static const struct {
		const char *bytes;
		uint32_t code;
	} good[] = {{"A", 'A'}, {"\x7f", 0x7f}, {"\xc2\x80", 0x80}, {"\xdf\xbf", 0x7ff},
		{"\xe0\xa0\x80", 0x800}, {"\xed\x9f\xbf", 0xd7ff}, {"\xee\x80\x80", 0xe000},
		{"\xef\xbf\xbf", 0xffff}, {"\xf0\x90\x80\x80", 0x10000},
		{"\xf4\x8f\xbf\xbf", 0x10ffff}};
	static const char *const bad[] = {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf",
		"\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80", "\xfe", "\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc3(",
		"\xe2\x28\xa1", "\xf8\x88\x80\x80"};
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		uint32_t code = 0;
		size_t len = strlen(good[i].bytes);
		is(utf8_step(good[i].bytes, len, &code), len, "U+%04X", good[i].code);
		is(code, good[i].code, "its code point");
		is(len > 1 ? utf8_step(good[i].bytes, len - 1, NULL) : 0, 0, "cut short");
		char back[4];
		is_mem(back, utf8_put(good[i].code, back), good[i].bytes, len, "written back");
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		is(utf8_step(bad[i], strlen(bad[i]), NULL), 0, "malformed %zu", i);
	is(utf8_step("", 0, NULL), 0, "nothing");
}

static void test_utf8_columns(void)
{
	static const struct {
		uint32_t code;
		unsigned columns;
	} rows[] = {{'a', 1}, {0xe9, 1}, {0x2ff, 1}, {0x300, 0}, {0x301, 0}, {0x370, 1}, {0x3b1, 1},
		{0x1100, 2}, {0x1161, 0}, {0x200d, 0}, {0x2014, 1}, {0x2728, 2}, {0x2757, 2},
		{0x3042, 2}, {0x4e16, 2}, {0xac00, 2}, {0xd7a4, 1}, {0xff21, 2}, {0xff71, 1},
		{0x23f3, 2}, {0x26d4, 2}, {0x2795, 2}, {0x1f1e6, 1}, {0x1f600, 2}, {0x1f650, 1},
		{0x1f7e2, 2}, {0x20000, 2}, {0x10ffff, 1}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		is(utf8_columns(rows[i].code), rows[i].columns, "U+%04X", rows[i].code);
	is(utf8_width("a\xe6\x9d\xb1\xe4\xba\xac"
		      "e\xcc\x81",
		   10),
		6, "of a text");
	is(utf8_width("\xff\xe6", 2), 2, "a byte that is no character takes one");
}

static void test_utf8_texts(void)
{
	is(utf8_prefix("aé\xff"
		       "b",
		   5),
		3, "the well-formed prefix");
	is(utf8_prefix("aé", 2), 1, "cut in a character");
	is(utf8_count("aé😀", 7), 3, "code points");
	static const uint32_t controls[] = {
		0, 1, 8, 11, 12, 14, 0x1b, 0x1f, 0x7f, 0x80, 0x85, 0x9f};
	static const uint32_t others[] = {'\t', '\n', '\r', ' ', '~', 0xa0, 0x2028, 0x10ffff};
	for (size_t i = 0; i < ARRAY_LEN(controls); i++)
		ok(utf8_is_control(controls[i]), "U+%04X is a control character", controls[i]);
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		ok(!utf8_is_control(others[i]), "U+%04X is not", others[i]);
}

static void test_utf8_oddness(void)
{
	static const uint32_t false_ones[] = {0x1b, 0x85, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066,
		0x2069, 0xe0000, 0xe0041, 0xe007f};
	static const uint32_t unseen[] = {0xad, 0x61c, 0x1160, 0x180e, 0x200b, 0x200e, 0x200f,
		0x2060, 0x3164, 0xfe00, 0xfeff, 0xffa0, 0xfff9, 0x1d173, 0xe0100, 0xe01ef, 0xe0fff};
	static const uint32_t plain[] = {'\n', ' ', 'a', 0xa0, 0xe9, 0x200c, 0x200d, 0x2010, 0x2027,
		0x202f, 0x2070, 0x3000, 0xfe0e, 0xfe0f, 0xfe10, 0xfffd, 0x1f600, 0x10ffff};
	for (size_t i = 0; i < ARRAY_LEN(false_ones); i++)
		ok(utf8_is_false(false_ones[i]) && utf8_is_odd(false_ones[i]), "U+%04X makes false",
			false_ones[i]);
	for (size_t i = 0; i < ARRAY_LEN(unseen); i++)
		ok(!utf8_is_false(unseen[i]) && utf8_is_odd(unseen[i]), "U+%04X is not seen",
			unseen[i]);
	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		ok(!utf8_is_odd(plain[i]), "U+%04X is shown as it is", plain[i]);
}

static void test_utf8_add(void)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *want;
		bool clean;
	} rows[] = {
		{"", 0, "", true},
		{"gr\xc3\xbc\xc3\x9f", 6, "gr\xc3\xbc\xc3\x9f", true},
		{"a\xff\x62", 3, "a\xef\xbf\xbd\x62", false},
		{"\0a\0", 3, "\xef\xbf\xbd\x61\xef\xbf\xbd", false},
		{"cut\xe2\x82", 5, "cut\xef\xbf\xbd\xef\xbf\xbd", false},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_BUF out;
		buf_init(&out, 100);
		buf_adds(&out, "");
		is(utf8_add(&out, rows[i].bytes, rows[i].len), rows[i].clean, "row %zu", i);
		is_str(out.data, rows[i].want, "row %zu, as text", i);
	}
}

static void test_utf8_show(void)
{
	static const char *const rows[][2] = {{"", ""},
		{"gr\xc3\xbc\xc3\x9f e", "gr\xc3\xbc\xc3\x9f e"},
		{"a\n\033[2J\x7f", "a\\x0a\\x1b[2J\\x7f"}, {"\xc2\x85", "\\xc2\\x85"},
		{"\xe2\x80\xae", "\\xe2\\x80\\xae"}, {"\xe2\x80\x8f", "\\xe2\\x80\\x8f"},
		{"\xe2\x80\xa8", "\\xe2\\x80\\xa8"}, {"\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81"},
		{"cut\xe2\x82", "cut\\xe2\\x82"}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_BUF out;
		buf_init(&out, 100);
		buf_adds(&out, "");
		utf8_show(&out, rows[i][0]);
		is_str(out.data, rows[i][1], "row %zu, shown", i);
	}
}

static void test_utf8_escape(void)
{
	static const char *const rows[][2] = {{"", ""}, {"a\033\xff", "a\\x1b\\xff"},
		{"##vso[a]b", "#\\x23vso[a]b"}, {"a ###[error]", "a ##\\x23[error]"},
		{"##teamCity[x", "#\\x23teamCity[x"},
		{"## a [b] #[c] ##a b[", "## a [b] #[c] ##a b["}, {"::error::x", "\\x3a:error::x"},
		{"a ::add-mask::b", "a \\x3a:add-mask::b"},
		{"std::string a:: ::1 :::", "std::string a:: ::1 :::"}, {"##", "##"}, {"::", "::"}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_BUF out;
		buf_init(&out, 100);
		buf_adds(&out, "");
		utf8_escape(&out, rows[i][0], strlen(rows[i][0]), utf8_is_odd);
		is_str(out.data, rows[i][1], "row %zu, escaped", i);
	}
}

static void test_utf8_cuts(void)
{
	static const struct {
		const char *text;
		size_t at, end, start;
	} cuts[] = {{"", 0, 0, 0}, {"ab", 1, 1, 1}, {"aé", 1, 1, 1}, {"aé", 2, 1, 3},
		{"aé", 3, 3, 3}, {"😀b", 1, 0, 4}, {"😀b", 2, 0, 4}, {"😀b", 3, 0, 4}, {"😀b", 4, 4, 4},
		{"é\xff", 3, 3, 3}, {"\x80\x80\x80\x80\x80", 4, 4, 5},
		{"\x80\x80\x80\x80\x80", 1, 1, 1}, {"\xc3(", 1, 0, 1}, {"\xe2\x82(", 2, 0, 2}};
	for (size_t i = 0; i < ARRAY_LEN(cuts); i++) {
		size_t len = strlen(cuts[i].text);
		is(utf8_cut_end(cuts[i].text, cuts[i].at), cuts[i].end, "cut %zu, its end", i);
		is(utf8_cut_start(cuts[i].text, len, cuts[i].at), cuts[i].start, "cut %zu, a start",
			i);
	}
}

static void test_utf8_copies(void)
{
	static const struct {
		const char *from, *want;
	} copies[] = {{"", ""}, {"short", "short"}, {"eight by", "eight b"},
		{"a\xc3 cut", "a? cut"}, {"six éé", "six é"}, {"cut\xc3", "cut"},
		{"\xe2\x82 b", "? b"}, {"\xff\xfe", ""}, {"\xe2\x82\xf0 \xff.", "? ?."}};
	for (size_t i = 0; i < ARRAY_LEN(copies); i++) {
		char text[8], same[16];
		utf8_copy(text, sizeof(text), copies[i].from);
		is_str(text, copies[i].want, "copy %zu", i);
		snprintf(same, sizeof(same), "%s", copies[i].from);
		utf8_copy(same, sizeof(text), same);
		is_str(same, copies[i].want, "copy %zu in its own place", i);
	}
}

static void test_instants(void)
{
	static const struct {
		const char *text;
		int64_t seconds;
	} good[] = {
		{"1970-01-01T00:00:00Z", 0},
		{"1970-01-01", 0},
		{"1970-01-01 00:00", 0},
		{"2000-02-29T12:00:00Z", 951825600},
		{"2026-11-21T19:05:53Z", 1795287953},
		{"2026-11-21T20:05:53+01:00", 1795287953},
		{"2026-11-21T14:35:53-04:30", 1795287953},
		{"2026-11-21T20:05:53+01", 1795287953},
		{"1969-12-31T23:59:59Z", -1},
		{"9999-12-31T23:59:59Z", 253402300799},
	};
	static const char *const bad[] = {"", "today", "2026", "2026-13-01", "2026-00-01",
		"2026-02-29", "2026-04-31", "2026-01-00", "2026-1-1", "2026-01-01T24:00:00Z",
		"2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T00",
		"2026-01-01T00:00:00X", "2026-01-01T00:00:00Z ", "2026-01-01T00:00:00.Z",
		"2026-01-01T00:00:00+25:00", "20260101T000000Z", "9999-12-31T23:59:59-00:01"};
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		int64_t us = -1;
		ok(!clock_parse(good[i].text, strlen(good[i].text), &us), "%s", good[i].text);
		is(us, good[i].seconds * 1000000, "%s", good[i].text);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		int64_t us;
		is(clock_parse(bad[i], strlen(bad[i]), &us), -1, "refused: `%s`", bad[i]);
	}
	int64_t us = 0;
	ok(!clock_parse("1970-01-01T00:00:00.25Z", 23, &us) && us == 250000, "a fraction");
	char text[CLOCK_TEXT_BYTES];
	clock_text(1795287953000001, text);
	is_str(text, "2026-11-21T19:05:53.000001Z", "as text");
	clock_text(-1, text);
	is_str(text, "1969-12-31T23:59:59.999999Z", "before the epoch");
	ok(clock_realtime_us() > INT64_C(1700000000000000), "the clock is past 2023");
	static const struct {
		const char *text;
		int64_t secs; /* -1: none */
	} lengths[] = {{"5m", 300}, {"5 min", 300}, {"90s", 90}, {"2 Days", 172800},
		{"1h30m", 5400}, {"1h 30 minutes", 5400}, {"0.5 hr", 1800}, {"", -1}, {"5", -1},
		{"h", -1}, {"5x", -1}, {"500ms", -1}, {"0.5s", -1}, {"1..5h", -1}, {"5m and", -1},
		{"99999999999999999999d", -1}};
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		int64_t secs = -1;
		is(clock_length(lengths[i].text, &secs), lengths[i].secs < 0 ? -1 : 0, "%s",
			lengths[i].text);
		is(secs, lengths[i].secs, "%s in seconds", lengths[i].text);
	}
	int64_t before = clock_monotonic_ms();
	ok(clock_monotonic_ms() >= before, "monotonic");
}

static void test_near(void)
{
	static const char *const names[] = {
		"budget", "states", NULL, "timeout_secs", "on", "kind", "ok", "failed"};
	static const struct {
		const char *word, *near;
	} cases[] = {{"budgets", "budget"}, {"state", "states"}, {"tiemout_secs", "timeout_secs"},
		{"timeout", "timeout_secs"}, {"Next", "on"}, {"out_secs", NULL}, {"knd", "kind"},
		{"knid", "kind"}, {"zzz", NULL}, {"", NULL}, {"success", "ok"},
		{"failure", "failed"}, {"Fail", "failed"}, {"string", NULL}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *got = suggest_word(cases[i].word, names, ARRAY_LEN(names));
		is_str(got, cases[i].near, "%s", cases[i].word);
	}
	is_str(suggest_name("success", names, ARRAY_LEN(names)), NULL,
		"what others say, in a name");
	is_str(suggest_name("budgets", names, ARRAY_LEN(names)), "budget", "a name misspelt");
	char longest[100];
	memset(longest, 'a', sizeof(longest));
	longest[99] = '\0';
	is_str(suggest_name(longest, names, ARRAY_LEN(names)), NULL, "a very long word");
}

int main(void)
{
	test_utf8_forms();
	test_utf8_columns();
	test_utf8_texts();
	test_utf8_oddness();
	test_utf8_add();
	test_utf8_show();
	test_utf8_escape();
	test_utf8_cuts();
	test_utf8_copies();
	test_instants();
	test_near();
	return tap_done();
}
