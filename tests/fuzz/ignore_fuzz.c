/*
 * A .gitignore and a path, a NUL between them: no crash, and a double star stands for what it does
 * when every number of components is tried in its place.
 */
#include "agent/tools/ignore.h"
#include "base/cleanup.h"
#include <fnmatch.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { TEXT_BYTES = 64, STARS_MAX = 4 };

static bool one_fits(const char *pattern, size_t pattern_len, const char *name, size_t name_len)
{
	char p[TEXT_BYTES + 1] = "", n[TEXT_BYTES + 1] = "";
	memcpy(p, pattern, pattern_len);
	memcpy(n, name, name_len);
	return !fnmatch(p, n, 0);
}

/* Matches as the manual describes it, which is slow. */
static bool fits(const char *pattern, const char *path)
{
	size_t len = strcspn(pattern, "/"), name = strcspn(path, "/");
	if (len > 1 && strspn(pattern, "*") == len) {
		if (!pattern[len] || fits(pattern + len + 1, path))
			return true;
		return path[name] && fits(pattern, path + name + 1);
	}
	if (!one_fits(pattern, len, path, name))
		return false;
	if (!pattern[len] || !path[name])
		return !pattern[len] && !path[name];
	return fits(pattern + len + 1, path + name + 1);
}

static size_t stars(const char *pattern)
{
	size_t n = 0;
	for (; (pattern = strstr(pattern, "**")); pattern += 2)
		n++;
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	AUTO_FREE char *text = malloc(len + 1);
	if (!text)
		return 0;
	memcpy(text, data, len);
	text[len] = '\0';
	const char *path = text + strlen(text) + (strlen(text) < len);
	struct ignore above, list;
	ignore_init(&above, NULL, 0, path);
	ignore_init(&list, &above, 0, text);
	bool file = ignore_match(&list, path, false), directory = ignore_match(&list, path, true);
	if (!list.count && !above.count && (file || directory))
		abort();
	ignore_done(&list);
	ignore_done(&above);
	if (strlen(text) <= TEXT_BYTES && strlen(path) <= TEXT_BYTES && stars(text) <= STARS_MAX &&
		ignore_glob(text, path) != fits(text, path))
		abort();
	return 0;
}
