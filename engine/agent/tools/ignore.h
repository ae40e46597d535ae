/*
 * .gitignore files as git reads them (gitignore(5)), one list per directory on the way down.
 */
#ifndef TOOLS_IGNORE_H
#define TOOLS_IGNORE_H
#include <stdbool.h>
#include <stddef.h>

struct ignore_rule {
	char *pattern;
	size_t pattern_len;
	bool negated, directories_only, anchored; /* anchored: matched against the whole path */
};

/* The rules of one directory; `parent` is the enclosing directory's, NULL at the root. */
struct ignore {
	const struct ignore *parent;
	/* Length of this directory's path in the paths asked about, with its slash. */
	size_t prefix_len;
	struct ignore_rule *rules;
	size_t count;
	bool cut; /* there were more rules */
};

enum { IGNORE_RULES_MAX = 4096 };

/* Parses a file's text. Rules beyond IGNORE_RULES_MAX are left out. */
void ignore_init(
	struct ignore *ignore, const struct ignore *parent, size_t prefix_len, const char *text);
void ignore_done(struct ignore *ignore);
/* Reports whether `path` (relative to the root) is ignored, if its directory is not. */
bool ignore_match(const struct ignore *ignore, const char *path, bool is_directory);
/* Reports whether `path` matches `pattern` component by component; ** stands for any number of
 * them. */
bool ignore_glob(const char *pattern, const char *path);
#endif
