/* Any text as a shell script: judged within the limits, never harmless when it cannot be parsed,
 * and judged the same twice. */
#include "agent/policy/classify.h"
#include "agent/policy/shell.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct classify_world world = {.workspace = "/srv/repo", .home = "/home/u"};
	char *text = malloc(len + 1);
	if (!text || memchr(data, 0, len)) {
		free(text);
		return 0;
	}
	memcpy(text, data, len);
	text[len] = '\0';
	const char *argv[] = {"sh", "-c", "--", text};
	struct verdict once, twice;
	classify_argv(&world, argv, 4, &once);
	classify_argv(&world, argv, 4, &twice);
	struct arena arena;
	arena_init(&arena);
	bool parsed = shell_parse(text, len, &arena, NULL);
	arena_done(&arena);
	if (once.level != twice.level || (!parsed && once.level < LEVEL_DESTRUCTIVE))
		abort();
	free(text);
	return 0;
}
