/* base: strict numbers and their spelling. */
#include "base/num.h"
#include "tests/kit/tap.h"
#include <float.h>
#include <math.h>
#include <string.h>

static void test_ints(void)
{
	static const struct {
		const char *text;
		int64_t value;
	} good[] = {
		{"0", 0},
		{"-0", 0},
		{"+7", 7},
		{"007", 7},
		{"9223372036854775807", INT64_MAX},
		{"-9223372036854775808", INT64_MIN},
		{"000000000000000000000000000001", 1},
	};
	static const char *const bad[] = {"", "+", "-", "1.0", "1e3", " 1", "1 ", "0x1", "--1",
		"1_0", "9223372036854775808", "-9223372036854775809", "99999999999999999999999"};
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		int64_t got = -1;
		ok(!num_int(good[i].text, strlen(good[i].text), &got), "%s", good[i].text);
		is(got, good[i].value, "%s", good[i].text);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		int64_t got = 42;
		is(num_int(bad[i], strlen(bad[i]), &got), -1, "refused: `%s`", bad[i]);
		is(got, 42, "the result is left alone: `%s`", bad[i]);
	}
	int64_t part = 0;
	ok(!num_int("1234", 2, &part) && part == 12, "only the given bytes count");
}

static const struct {
	const char *text;
	bool negative, fits;
	int64_t value;
} based[] = {
	{"0x10", false, true, 16},
	{"0xfFaA", false, true, 0xffaa},
	{"0o17", true, true, -15},
	{"0x7fffffffffffffff", false, true, INT64_MAX},
	{"0x8000000000000000", true, true, INT64_MIN},
	{"0o777777777777777777777", false, true, INT64_MAX},
	{"0x8000000000000000", false, false, 42},
	{"0x8000000000000001", true, false, 42},
	{"0o8", false, false, 42},
	{"0xg", false, false, 42},
	{"0x", false, false, 42},
	{"0o", false, false, 42},
	{"0X1", false, false, 42},
	{"0b1", false, false, 42},
	{"0x1_0", false, false, 42},
	{"10", false, false, 42},
	{"", false, false, 42},
};

static void test_based_ints(void)
{
	for (size_t i = 0; i < ARRAY_LEN(based); i++) {
		int64_t got = 42;
		is(num_based_int(based[i].text, strlen(based[i].text), based[i].negative, &got),
			based[i].fits ? 0 : -1, "`%s`", based[i].text);
		is(got, based[i].value, "`%s`", based[i].text);
	}
}

static void test_floats(void)
{
	static const struct {
		const char *text;
		double value;
	} good[] = {{"1", 1}, {"1.5", 1.5}, {"-.5", -0.5}, {"1.", 1}, {"1e-3", 0.001},
		{"+2E2", 200}, {"1e-400", 0}};
	static const char *const bad[] = {"", ".", "e1", "1e", "inf", "nan", "-inf", "0x1p3",
		"1e400", "-1e400", "1 ", " 1", "1,5", "1.2.3", "--1"};
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		double got = -99;
		ok(!num_float(good[i].text, strlen(good[i].text), &got) && got == good[i].value,
			"%s", good[i].text);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		double got;
		is(num_float(bad[i], strlen(bad[i]), &got), -1, "refused: `%s`", bad[i]);
	}
	char longest[600];
	memset(longest, '1', sizeof(longest));
	double got;
	is(num_float(longest, sizeof(longest), &got), -1, "600 digits");
}

static void test_spelling(void)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{0, "0.0"},
		{-0.0, "-0.0"},
		{1, "1.0"},
		{0.1, "0.1"},
		{100, "100.0"},
		{1e15, "1000000000000000.0"},
		{1e16, "1e+16"},
		{1.5e-7, "1.5e-07"},
		{0.0001, "0.0001"},
		{0.00001, "1e-05"},
		{1.0 / 3, "0.3333333333333333"},
		{0.1 + 0.2, "0.30000000000000004"},
		{9007199254740993.0, "9007199254740992.0"},
		{-1234.5, "-1234.5"},
		{DBL_MAX, "1.7976931348623157e+308"},
		{5e-324, "5e-324"},
		/* The nearest of 16 digits, ...165e-154, reads back as another double. */
		{0x1p-509, "5.966672584960166e-154"},
		{-0x1p-1017, "-7.120236347223045e-307"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char text[NUM_FLOAT_BYTES];
		size_t n = num_float_text(cases[i].value, text);
		is_str(text, cases[i].text, "%s", cases[i].text);
		is(n, strlen(text), "its length");
	}
}

/* Any double comes back as itself, in at most NUM_FLOAT_BYTES. */
static void test_round_trip(void)
{
	uint64_t bits = 88172645463325252u;
	size_t bad = 0;
	for (int i = 0; i < 20000; i++) {
		bits ^= bits << 13;
		bits ^= bits >> 7;
		bits ^= bits << 17;
		double value, back;
		memcpy(&value, &bits, sizeof(value));
		if (!isfinite(value))
			continue;
		char text[NUM_FLOAT_BYTES];
		size_t n = num_float_text(value, text);
		bad += n >= sizeof(text) || num_float(text, n, &back) || back != value ||
		       !strpbrk(text, ".e");
	}
	is(bad, 0, "20,000 random doubles");
}

static void test_money(void)
{
	static const struct {
		double usd;
		int64_t micro;
	} rows[] = {{0, 0}, {1, 1000000}, {8.3, 8300000}, {4.03, 4030000}, {0.0000015, 2},
		{1e-9, 1}, {9e12, INT64_MAX}, {1e300, INT64_MAX}, {-1e300, 0}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		is(num_microusd(rows[i].usd), rows[i].micro, "%g USD", rows[i].usd);
}

static void test_ports(void)
{
	static const char *const bad[] = {
		"", "0", "65536", "+80", "-1", " 80", "80 ", "000080", "8a"};
	uint16_t port = 7;
	ok(num_port("1", 1, &port) == 0 && port == 1, "the first port");
	ok(num_port("65535/", 5, &port) == 0 && port == 65535, "the last one, of a longer text");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ok(num_port(bad[i], strlen(bad[i]), &port) < 0 && port == 65535,
			"\"%s\" is no port", bad[i]);
}

int main(void)
{
	test_ports();
	test_money();
	test_ints();
	test_based_ints();
	test_floats();
	test_spelling();
	test_round_trip();
	return tap_done();
}
