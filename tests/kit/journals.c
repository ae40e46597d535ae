#include "tests/kit/journals.h"

#include "tests/kit/tap.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t each_line(
	const char *path, const char *name, void (*each)(const char *name, json_t *line))
{
	size_t count = 0;
	json_t *line;
	FILE *file = fopen(path, "r");
	for (; file && (line = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL)); count++) {
		each(name, line);
		json_decref(line);
	}
	if (file)
		fclose(file);
	return count;
}

size_t journals_each(void (*each)(const char *name, json_t *line))
{
	char pattern[4096];
	glob_t found;
	size_t count = 0;
	snprintf(pattern, sizeof(pattern), "%s/tests/golden/journals/*/journal.jsonl",
		getenv("AGENT6_SRC"));
	size_t skip = (size_t)(strchr(pattern, '*') - pattern);
	if (glob(pattern, 0, NULL, &found))
		bail("no recorded journal");
	for (size_t i = 0; i < found.gl_pathc; i++)
		count += each_line(found.gl_pathv[i], found.gl_pathv[i] + skip, each);
	globfree(&found);
	return count;
}
