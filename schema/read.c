#include "schema/read.h"

#include <string.h>

static const struct {
	const char *suffix;
	int (*read)(
		struct doc *d, const char *file, const char *text, size_t len, struct findings *f);
} readers[] = {
	{".yaml", doc_read_yaml},
	{".yml", doc_read_yaml},
	{".json", doc_read_json},
	{".toml", doc_read_toml},
};

static bool has_suffix(const char *text, const char *suffix)
{
	size_t n = strlen(text), m = strlen(suffix);
	return n >= m && !strcmp(text + n - m, suffix);
}

int doc_read(
	struct doc *doc, const char *file, const char *text, size_t len, struct findings *findings)
{
	for (size_t i = 0; i < ARRAY_LEN(readers); i++)
		if (has_suffix(file, readers[i].suffix))
			return readers[i].read(doc, file, text, len, findings);
	*doc = (struct doc){0};
	doc->file = arena_copy(&doc->arena, file, strlen(file));
	doc->text = "";
	finding_add(findings, RULE_FILE_FORMAT, doc, NULL,
		"the name says no syntax: it must end in .yaml, .yml, .json or .toml");
	return -1;
}
