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

int doc_read(struct doc *d, const char *file, const char *text, size_t len, struct findings *f)
{
	for (size_t i = 0; i < ARRAY_LEN(readers); i++)
		if (has_suffix(file, readers[i].suffix))
			return readers[i].read(d, file, text, len, f);
	*d = (struct doc){0};
	d->file = arena_copy(&d->arena, file, strlen(file));
	d->text = "";
	finding_add(f, RULE_FILE_FORMAT, d, NULL,
		"the name says no syntax: it must end in .yaml, .yml, .json or .toml");
	return -1;
}
