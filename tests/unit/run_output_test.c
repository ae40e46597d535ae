/* Captured output: bounded memory, edges, replacement characters, redaction. */
#include "base/json.h"
#include "run/output_json.h"
#include "tests/kit/tap.h"

#include <string.h>

static void fill(struct output *output, size_t cap, const char *text)
{
	output_init(output, cap);
	for (const char *at = text; *at; at++) /* byte by byte: the worst case */
		output_take(output, at, 1);
	output_close(output);
}

static void test_capture(void)
{
	struct output o;
	fill(&o, 8, "12345678");
	is_mem(o.bytes, o.len, "12345678", 8, "up to the cap all of it is kept");
	is(o.dropped, 0, "and nothing dropped");
	output_done(&o);
	fill(&o, 8, "abcdefghijklmnopqrstuvwxyz");
	is_mem(o.bytes, o.len, "abcdwxyz", 8, "beyond it the head and the tail are");
	is(o.dropped, 18, "with the number of bytes between them");
	is(o.total, 26, "and of all");
	output_done(&o);
	output_init(&o, 1000);
	AUTO_FREE char *big = malloc(1 << 20);
	memset(big, 'x', 1 << 20);
	for (int i = 0; i < 64; i++)
		output_take(&o, big, 1 << 20);
	ok(o.len <= 2000, "64 MiB are drained within twice the cap");
	output_done(&o);
}

static void text_is(const char *bytes, size_t len, const char *want, bool clean)
{
	bool said;
	json_auto_t *text = output_json_text(bytes, len, &said);
	is_str(json_string_value(text), want, "%s", want);
	is(said, clean, "it was %s", clean ? "clean" : "not clean");
}

static void test_text(void)
{
	text_is("plain", 5, "plain", true);
	text_is("gr\xc3\xbc\xc3\x9f", 6, "gr\xc3\xbc\xc3\x9f", true);
	text_is("a\xff\x62", 3, "a\xef\xbf\xbd\x62", false);
	text_is("a\0b", 3, "a\xef\xbf\xbd\x62", false);
	text_is("cut\xc3", 4, "cut\xef\xbf\xbd", false);
	text_is("\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", false); /* a surrogate */
	text_is("", 0, "", true);
	struct output o;
	fill(&o, 64, "0123\xc3\xbc\x34\x35");
	json_auto_t *tail = output_json_tail(&o, 3);
	is_str(json_string_value(tail), "45", "a tail begins with a whole character");
	output_done(&o);
}

/* The tail of a stream whose middle was dropped holds nothing from before the gap. */
static void test_cut_tail(void)
{
	struct output o;
	fill(&o, 8, "abcdefghijklmnopqrstuv\xc3\xbcxy");
	json_auto_t *tail = output_json_tail(&o, 6);
	is_str(json_string_value(tail), "\xc3\xbcxy", "the end alone");
	struct sha256 hash;
	sha256_init(&hash);
	AUTO_FACT fact = {.kind = FACT_TOOL};
	output_json_fact(&o, &hash, &fact);
	ok(fact.tool.output_tail_bytes.known, "its length is known");
	is_str(fact.tool.output + strlen(fact.tool.output) - fact.tool.output_tail_bytes.value,
		"\xc3\xbcxy", "and leads to it");
	output_done(&o);
}

/* A command may print what is no text at all. */
static bool no_text(void)
{
	enum { BYTES = 1 << 20 };
	AUTO_FREE char *bytes = malloc(BYTES);
	bool clean;
	memset(bytes, 0xff, BYTES);
	json_auto_t *text = output_json_text(bytes, BYTES, &clean);
	return !clean && json_string_length(text) == 3 * (size_t)BYTES;
}

/* Whole characters at both edges: what is UTF-8 stays it. */
static void test_fact_edges(void)
{
	char smiles[4000];
	for (size_t i = 0; i < sizeof(smiles); i += 4)
		memcpy(smiles + i, "\xf0\x9f\x99\x82", 4);
	for (size_t shift = 0; shift < 4; shift++) {
		struct output o;
		output_init(&o, 128 * 1024);
		output_take(&o, "xyz", shift);
		for (int i = 0; i < 100; i++)
			output_take(&o, smiles, sizeof(smiles));
		output_take(&o, "12", 3 - shift > 2 ? 2 : 3 - shift);
		output_close(&o);
		AUTO_FACT fact = {.kind = FACT_TOOL};
		struct sha256 whole;
		sha256_init(&whole);
		output_json_fact(&o, &whole, &fact);
		const char *text = fact.tool.output;
		ok(!fact.tool.not_utf8 && !strstr(text, "\xef\xbf\xbd"), "no character is cut, %zu",
			shift);
		int64_t left_out = fact.tool.output_dropped;
		const char *mark = strstr(text, "\n[");
		size_t shown = (size_t)(mark - text) + strlen(strchr(mark + 1, '\n') + 1);
		is(left_out + (int64_t)shown, (int64_t)o.total, "and the count is right");
		output_done(&o);
	}
}

static void hide(struct output *output, const char *const *texts)
{
	struct secrets secrets = {0};
	for (; *texts; texts++)
		if (secrets_add(&secrets, *texts))
			bail("no memory");
	output_redact(output, &secrets);
	secrets_done(&secrets);
}

static void redacted(const char *text, const char *want)
{
	struct output o;
	fill(&o, 1000, text);
	hide(&o, (const char *const[]){"sesame42", NULL});
	is_mem(o.bytes ? o.bytes : "", o.len, want, strlen(want), "%s", want);
	output_done(&o);
}

static void test_redaction(void)
{
	redacted("", "");
	redacted("nothing", "nothing");
	redacted("sesame42", "[REDACTED:key]");
	redacted(
		"a sesame42, sesame42sesame42.", "a [REDACTED:key], [REDACTED:key][REDACTED:key].");
	redacted("sesame4 sesame42", "sesame4 [REDACTED:key]");
	redacted("sesame4\\u0032 c2VzYW1lNDI= sesame%342", "[REDACTED:key] [REDACTED:key]I= "
							   "[REDACTED:key]");
	struct output o;
	for (size_t at = 0; at < 48; at++) {
		char text[64];
		memset(text, 'x', sizeof(text));
		memcpy(text + at, "48z7w9u6", 8);
		text[sizeof(text) - 1] = '\0';
		fill(&o, 40, text);
		hide(&o, (const char *const[]){"48z7w9u6", NULL});
		int left = 0;
		for (size_t i = 0; i < o.len; i++)
			left += strchr("48z7w9u6", o.bytes[i]) != NULL;
		is(left, 0, "no part of it is left, at %zu", at);
		ok(o.head <= 20 && o.len <= 40, "and the cap is kept, at %zu", at);
		output_done(&o);
	}
	enum { LETTERS = 6 }; /* of one that is escaped */
	AUTO_FREE char *much = calloc(1, 1001);
	memset(much, 'x', 1000);
	fill(&o, 400, much);
	hide(&o, (const char *const[]){"sesame42", NULL});
	is(o.len, 400 - 2 * (LETTERS * 8 - 1), "no more is left out than one takes at most");
	output_done(&o);
	fill(&o, 16, "sesame42sesame42");
	hide(&o, (const char *const[]){"sesame42", NULL});
	is_mem(o.bytes, o.len, "[REDACTETED:key]", 16, "marks longer than the cap are cut to it");
	ok(o.dropped > 0 && o.head == 8, "which is said");
	output_done(&o);
	fill(&o, 12, "sesame42ab");
	hide(&o, (const char *const[]){"sesame42", NULL});
	struct sha256 whole;
	sha256_init(&whole);
	AUTO_FACT fact = {.kind = FACT_TOOL};
	output_json_fact(&o, &whole, &fact);
	is(fact.tool.output_dropped, 4, "as what is left out, where more is left than came");
	output_done(&o);
}

/* In whichever order they are known: of one that begins like another, or in it, nothing is left. */
static void test_several(void)
{
	static const char *const sets[][3] = {{"sesame42", "sesame42-and-more"},
		{"sesame42-and-more", "sesame42"}, {"sesame42", "me42-and-more"},
		{"me42-and-more", "sesame42"}};
	for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
		struct output o;
		fill(&o, 1000, "a sesame42-and-more b sesame42 c");
		hide(&o, sets[i]);
		o.bytes = realloc(o.bytes, o.len + 1);
		o.bytes[o.len] = '\0';
		is_str(o.bytes, "a [REDACTED:key] b [REDACTED:key] c", "%s, %s", sets[i][0],
			sets[i][1]);
		output_done(&o);
	}
	struct output o;
	fill(&o, 1000, "sesame42");
	output_redact(&o, NULL);
	is(o.len, 0, "where they are not known nothing is kept");
	is(o.dropped, 8, "which is said");
	output_done(&o);
}

int main(void)
{
	test_capture();
	test_text();
	test_cut_tail();
	ends(no_text, "a mebibyte of bytes that are no characters is replaced one by one");
	test_fact_edges();
	test_redaction();
	test_several();
	return tap_done();
}
