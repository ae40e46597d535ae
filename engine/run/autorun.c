#include "run/autorun.h"

#include "base/cleanup.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define AUTORUN(when, name, who) {name, who, AUTORUN_##when},
const struct autorun autorun_table[] = {
#include "run/autorun.def"
};
#undef AUTORUN
const size_t autorun_count = ARRAY_LEN(autorun_table);

/* Families of names that are known by their ends. */
const struct autorun autorun_endings[] = {{".code-workspace", "VS Code", AUTORUN_OPEN},
	{".config.cjs", "JavaScript tools", AUTORUN_OPEN},
	{".config.js", "JavaScript tools", AUTORUN_OPEN},
	{".config.mjs", "JavaScript tools", AUTORUN_OPEN},
	{".config.mts", "JavaScript tools", AUTORUN_OPEN},
	{".config.ts", "JavaScript tools", AUTORUN_OPEN},
	{".sublime-project", "Sublime Text", AUTORUN_OPEN}};
const size_t autorun_ending_count = ARRAY_LEN(autorun_endings);

enum { NAME_LONGEST = 40 };

static const struct {
	const char *word, *text;
} whens[] = {
#define X(name, word, text) {word, text},
	AUTORUN_WHENS(X)
#undef X
};

const char *autorun_when_word(enum autorun_when when)
{
	return when < AUTORUN_WHEN_COUNT ? whens[when].word : "";
}

const char *autorun_when_text(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(whens); i++)
		if (!strcmp(word, whens[i].word))
			return whens[i].text;
	return "";
}

static int by_name(const void *name, const void *row)
{
	return strcmp(name, ((const struct autorun *)row)->name);
}

static const struct autorun *by_ending(const char *name, size_t len)
{
	for (size_t i = 0; i < autorun_ending_count; i++) {
		size_t end = strlen(autorun_endings[i].name);
		if (len > end && !strcasecmp(name + len - end, autorun_endings[i].name))
			return &autorun_endings[i];
	}
	return NULL;
}

static const struct autorun *find(const char *name, size_t len, bool directory)
{
	char plain[NAME_LONGEST + 2];
	const struct autorun *row = NULL;
	if (len <= NAME_LONGEST) {
		for (size_t i = 0; i < len; i++)
			plain[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a'
									   : name[i]);
		plain[len] = directory ? '/' : '\0';
		plain[len + 1] = '\0';
		row = bsearch(plain, autorun_table, autorun_count, sizeof(*row), by_name);
	}
	return row || directory ? row : by_ending(name, len);
}

const struct autorun *autorun_name(const char *name, bool directory)
{
	const struct autorun *row = find(name, strlen(name), directory);
	/* A link in a directory's place leads to a directory, wherever that lies. */
	return row || directory ? row : find(name, strlen(name), true);
}

const struct autorun *autorun_path(const char *path)
{
	for (size_t len; *(path + (len = strcspn(path, "/"))); path += len + 1) {
		const struct autorun *row = find(path, len, true);
		if (row)
			return row;
	}
	return autorun_name(path, false);
}
