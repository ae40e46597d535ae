/* Any text as a jail's mountinfo: at most a line for each of its own, and nothing in them that a
 * terminal would act on. */
#include "base/utf8.h"
#include "report/mounts.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static size_t count_lines(const char *text)
{
	size_t lines = 0;
	for (; (text = strchr(text, '\n')); text++)
		lines++;
	return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = strndup((const char *)data, len);
	size_t most = text ? count_lines(text) + 1 : 0;
	AUTO_BUF out;
	buf_init(&out, 64 * 1024 * 1024);
	if (!text || mounts_text(&out, text))
		abort();
	free(text);
	if (!out.len)
		return 0;
	if (count_lines(out.data) > most || utf8_prefix(out.data, out.len) != out.len)
		abort();
	for (const char *c = out.data; *c; c++)
		if ((unsigned char)*c < ' ' && *c != '\n')
			abort();
	return 0;
}
