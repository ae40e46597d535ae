/* Server-sent events: lines, marks and fields, whole and split at every two places. */
#include "base/buf.h"
#include "provider/sse.h"
#include "tests/kit/tap.h"
#include <string.h>

enum { CAP_BYTES = 64 };

static int collect(void *ctx, const char *data, size_t len, struct err *e)
{
	struct buf *out = ctx;
	(void)e;
	buf_addc(out, '<');
	buf_add(out, data, len);
	return buf_addc(out, '>');
}

/* The events of `text`, fed in three pieces; "refused" behind them where it stopped. */
static void feed(const char *text, size_t len, size_t first, size_t second, struct buf *out)
{
	const size_t ends[] = {first, second, len};
	size_t at = 0;
	struct sse s;
	struct err e = ERR_NONE;
	sse_init(&s, CAP_BYTES, collect, out);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		/* A copy of exactly these bytes, so that a read beyond them is seen. */
		size_t n = ends[i] - at;
		char *copy = malloc(n ? n : 1);
		memcpy(copy, text + at, n);
		int rc = sse_feed(&s, copy, n, &e);
		free(copy);
		if (rc) {
			buf_adds(out, "refused");
			break;
		}
		at = ends[i];
	}
	sse_done(&s);
}

static void events(const char *text, size_t len, const char *want)
{
	size_t wrong = 0;
	for (size_t first = 0; first <= len; first++)
		for (size_t second = first; second <= len; second++) {
			AUTO_BUF out;
			buf_init(&out, 4096);
			feed(text, len, first, second, &out);
			if (strcmp(out.data, want) && !wrong++)
				is_str(out.data, want, "split at %zu and %zu", first, second);
		}
	ok(!wrong, "%s in every split", want);
}

#define MARK "\xef\xbb\xbf"
/* Sixty bytes. */
#define LONG "012345678901234567890123456789012345678901234567890123456789"

int main(void)
{
	static const char *const rows[][2] = {
		{"data: a\n\n", "<a>"},
		{"data:a\n\n", "<a>"},
		{"data:  a \n\n", "< a >"},
		{"data: a\n\ndata: b\n\n", "<a><b>"},
		{"\n\ndata: a\n\n\n\n", "<a>"},
		/* Several lines of data are one event, whatever ends a line. */
		{"data: a\ndata: b\n\n", "<a\nb>"},
		{"data: a\r\ndata: b\r\n\r\n", "<a\nb>"},
		{"data: a\rdata: b\r\r", "<a\nb>"},
		{"data: a\rdata: b\n\r\n", "<a\nb>"},
		{"data: a\n\rdata: b\n\n", "<a><b>"},
		{"data: a\n: no line\ndata: b\n\n", "<a\nb>"},
		/* A field without a colon is there, and empty. */
		{"data\n\n", "<>"},
		{"data:\n\n", "<>"},
		{"data: \n\n", "<>"},
		{"data\ndata\n\n", "<\n>"},
		/* Other fields, and what only looks like data. */
		{"event: e\nid: 1\nretry: 5\ndata: a\n\n", "<a>"},
		{"event: e\n\n", ""},
		{"datax: a\n\n", ""},
		{"dat: a\n\n", ""},
		{" data: a\n\n", ""},
		{"Data: a\n\n", ""},
		{":\n:data: a\n\n", ""},
		/* Without the blank line it is no event. */
		{"data: a", ""},
		{"data: a\n", ""},
		{"data: a\r", ""},
		/* One mark in front is none of the text. */
		{MARK "data: a\n\n", "<a>"},
		{MARK "\ndata: a\n\n", "<a>"},
		{MARK MARK "data: a\n\n", ""},
		{"\xef\xbb"
		 "data: a\n\n",
			""},
		{"\xef\xbb\ndata: a\n\n", "<a>"},
		{"data: " MARK "\n\n", "<" MARK ">"},
		{"data: \xf0\x9f\x98\x80\n\n", "<\xf0\x9f\x98\x80>"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		events(rows[i][0], strlen(rows[i][0]), rows[i][1]);
	events("data: a\0\n\n", 10, "refused");
	events("data\0: a\n\n", 10, "");
	events(": \0\nx: \0\ndata: a\n\n", 18, "<a>");
	/* The limit is that of a line, and of an event's lines together. */
	events("data" LONG "\n\ndata: a\n\n", 75, "<a>");
	events("data: x" LONG "\n\n", 69, "refused");
	events("data:" LONG "\n\n", 67, "refused");
	events(":" LONG LONG "\ndata: a\n\n", 131, "<a>");
	AUTO_BUF lines;
	buf_init(&lines, 200);
	buf_addf(&lines, "data:%s\ndata:%s\n\n", &LONG[28], &LONG[29]);
	events(lines.data, lines.len,
		"<"
		"89012345678901234567890123456789\n9012345678901234567890123456789>");
	buf_clear(&lines);
	buf_addf(&lines, "data:%s\ndata:%s\n\n", &LONG[28], &LONG[28]);
	events(lines.data, lines.len, "refused");
	return tap_done();
}
