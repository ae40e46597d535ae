/* agent: a command's output as the model reads it, its first and last bytes kept. */
#include "agent/tools/jailed.h"
#include "tests/kit/tap.h"
#include <string.h>

enum { HEAD = JAILED_STREAM_BYTES / 2, TAIL = JAILED_STREAM_BYTES - HEAD };

/* `total` digits in chunks, so that the middle is dropped at another place than they end. */
static void check_total(size_t total, size_t chunk)
{
	AUTO_FREE char *bytes = malloc(total + 1);
	for (size_t i = 0; i < total; i++)
		bytes[i] = (char)('0' + (i * 7 + i / 4099) % 10);
	struct output c;
	AUTO_BUF text, want;
	buf_init(&text, 1 << 20);
	buf_init(&want, 1 << 20);
	output_init(&c, JAILED_STREAM_BYTES);
	for (size_t at = 0; at < total; at += chunk)
		output_take(&c, bytes + at, chunk < total - at ? chunk : total - at);
	output_close(&c);
	jailed_text(&c, &text);
	output_done(&c);
	buf_add(&want, bytes, total < HEAD ? total : HEAD);
	if (total > HEAD + TAIL)
		buf_addf(&want, "\n[... %zu bytes dropped here ...]\n", total - HEAD - TAIL);
	if (total > HEAD + TAIL)
		buf_add(&want, bytes + total - TAIL, TAIL);
	else if (total > HEAD)
		buf_add(&want, bytes + HEAD, total - HEAD);
	is_mem(text.data, text.len, want.data, want.len, "%zu bytes", total);
	ok(!text.failed, "whole");
}

static void test_clean(void)
{
	static const char said[] = "a\tb\r\n\x1b[31mred\xff\0\xc3\xa9\n";
	struct output c;
	AUTO_BUF text;
	buf_init(&text, 1000);
	output_init(&c, JAILED_STREAM_BYTES);
	output_take(&c, said, sizeof(said) - 1);
	output_close(&c);
	jailed_text(&c, &text);
	output_done(&c);
	is_str(text.data, "a\tb\n\xef\xbf\xbd[31mred\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9\n",
		"control characters and broken ones are replaced, returns dropped");
}

/* A character where the head ends is one as long as nothing is dropped behind it. */
static void test_seam(void)
{
	static char said[HEAD + 4];
	memset(said, 'x', HEAD - 1);
	memcpy(said + HEAD - 1, "\xe2\x82\xac!\n", 5);
	struct output c;
	AUTO_BUF text;
	buf_init(&text, 1 << 20);
	output_init(&c, JAILED_STREAM_BYTES);
	output_take(&c, said, sizeof(said));
	output_close(&c);
	jailed_text(&c, &text);
	output_done(&c);
	is_mem(text.data, text.len, said, sizeof(said), "a character across the seam");
}

int main(void)
{
	test_seam();
	check_total(0, 1);
	check_total(1, 1);
	check_total(HEAD, 1000);
	check_total(HEAD + 1, 1000);
	check_total(HEAD + TAIL, 8191);
	check_total(HEAD + TAIL + 1, 8191);
	check_total(HEAD + 3 * TAIL, TAIL);
	check_total(HEAD + 3 * TAIL + 17, 9973);
	test_clean();
	return tap_done();
}
