#include "git/parse.h"

#include <stdio.h>
#include <string.h>

/* Returns the part after the next NUL; NULL: there is none. */
static const char *next_part(const struct buf *list, size_t *at)
{
	if (*at >= list->len)
		return NULL;
	const char *part = list->data + *at;
	*at += strlen(part) + 1;
	return part;
}

int parse_oid(const char *text, char oid[GIT_OID_BYTES])
{
	size_t len = text ? strspn(text, "0123456789abcdef") : 0;
	if (len != 40 && len != 64)
		return -1;
	snprintf(oid, GIT_OID_BYTES, "%.*s", (int)len, text);
	return 0;
}

int parse_ref(const struct buf *list, const char *ref, char oid[GIT_OID_BYTES])
{
	size_t len = strlen(ref);
	*oid = '\0';
	/* The pattern also matches refs below the name. */
	for (const char *line = list->data; *line;) {
		if (!strncmp(line, ref, len) && line[len] == ' ')
			return parse_oid(line + len + 1, oid);
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return 0;
}

/* Finds the work tree. The first attribute of each is its path. */
const char *parse_checkout(const struct buf *list, const char *ref)
{
	const char *where = "", *part;
	for (size_t at = 0; (part = next_part(list, &at));) {
		if (!strncmp(part, "worktree ", 9))
			where = part + 9;
		if (!strncmp(part, "branch ", 7) && !strcmp(part + 7, ref))
			return where;
	}
	return NULL;
}

/* Parses entries "XY PATH", where Y compares the work tree with the index. A path that ends in a
 * slash is a repository of its own. */
int parse_changes(const struct buf *list, struct changes *out)
{
	const char *entry;
	out->left_out = 0;
	for (size_t at = 0; (entry = next_part(list, &at));) {
		size_t len = strlen(entry);
		if (len < 4 || entry[1] == ' ')
			continue;
		if (entry[len - 1] == '/')
			out->left_out++;
		else
			buf_add(entry[1] == 'D' ? &out->gone : &out->there, entry + 3, len - 2);
	}
	return out->there.failed || out->gone.failed ? -1 : 0;
}

/* Parses PATH, "filter", VALUE, each ended by NUL. */
const char *parse_filter(const struct buf *list, size_t *at, const char **filter)
{
	const char *path;
	while ((path = next_part(list, at))) {
		const char *name = next_part(list, at), *value = next_part(list, at);
		if (!name || !value)
			return NULL;
		if (!strcmp(value, "unspecified") || !strcmp(value, "unset"))
			continue;
		*filter = value;
		return path;
	}
	return NULL;
}

int parse_settings(const struct buf *list, struct buf *out)
{
	const char *scope;
	for (size_t at = 0; (scope = next_part(list, &at));) {
		const char *entry = next_part(list, &at);
		if (!entry)
			return -1;
		if (strcmp(scope, "command") != 0)
			buf_add(out, entry, strlen(entry) + 1);
	}
	return out->failed ? -1 : 0;
}
