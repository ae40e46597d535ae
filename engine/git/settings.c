#include "git/settings.h"

#include "git/call.h"
#include "git/parse.h"
#include <stdio.h>
#include <string.h>

/* Lists settings. Entries of `config --list -z` are "KEY\nVALUE\0", the less important first; a key
 * without a value is "KEY\0". Each is preceded by its scope here; "command" marks our own
 * overrides. */
static int list_repository(const struct git_repo *git_repo, struct buf *out, struct err *e)
{
	struct git_call call = {
		.args = GIT_ARGS("config", "--includes", "--list", "--show-scope", "-z"),
		.lists = true};
	AUTO_BUF list = BUF_INIT(GIT_OUTPUT_MAX);
	if (git_call(git_repo, &call, &list, e))
		return -1;
	return parse_settings(&list, out)
		       ? err_set(e, "git config did not end its list, or it is too long")
		       : 0;
}

/* Lists one file. Git sees no other, so its includes do not count. */
static int list_file(
	const struct git_repo *git_repo, const char *file, struct buf *out, struct err *e)
{
	struct git_call call = {
		.args = GIT_ARGS("config", "--no-includes", "--file", file, "--list", "-z")};
	char top[] = "/usr", path[4096];
	struct git_repo nowhere = {
		.work_tree = top, .borrowed = path, .profile = git_repo->profile};
	snprintf(path, sizeof(path), "%s", file);
	return access(file, R_OK) ? 0 : git_call(&nowhere, &call, out, e);
}

/* Returns the last value of `key`; NULL: it is not there. */
static const char *last_value(const struct buf *list, const char *key)
{
	size_t len = strlen(key);
	const char *value = NULL;
	for (size_t at = 0; at < list->len; at += strlen(list->data + at) + 1) {
		const char *entry = list->data + at;
		if (!strncmp(entry, key, len) && entry[len] == '\n')
			value = entry + len + 1;
	}
	return value;
}

char *git_setting(const struct git_repo *git_repo, const char *key, struct err *e)
{
	AUTO_BUF list = BUF_INIT(GIT_OUTPUT_MAX);
	if (list_repository(git_repo, &list, e))
		return NULL;
	const char *value = last_value(&list, key);
	char *copy = value ? strdup(value) : NULL;
	if (value && !copy)
		err_set(e, "out of memory");
	return copy;
}

/* --- who commits ------------------------------------------------------------------------------ */

static void take_identity(const struct buf *list, struct git_identity *out)
{
	const char *name = last_value(list, "user.name"), *email = last_value(list, "user.email");
	if (!*out->name && name)
		snprintf(out->name, sizeof(out->name), "%s", name);
	if (!*out->email && email)
		snprintf(out->email, sizeof(out->email), "%s", email);
}

int git_identity_find(const struct git_repo *git_repo, const struct git_files *files,
	struct git_identity *out, struct err *e)
{
	AUTO_BUF list = BUF_INIT(GIT_OUTPUT_MAX);
	if (*out->name && *out->email)
		return 0;
	if (list_repository(git_repo, &list, e))
		return -1;
	take_identity(&list, out);
	for (size_t i = 0; i < files->count; i++) {
		buf_clear(&list);
		if (list_file(git_repo, files->paths[i], &list, e))
			return -1;
		take_identity(&list, out);
	}
	return 0;
}

/* --- filters ---------------------------------------------------------------------------------- */

/* Returns the length of NAME in "filter.NAME.clean\nCOMMAND"; 0: this entry is no command of a
 * filter. */
static size_t filter_name(const char *entry)
{
	static const char *const commands[] = {".clean", ".smudge", ".process"};
	size_t key = strcspn(entry, "\n");
	if (strncmp(entry, "filter.", 7) || !entry[key])
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		size_t len = strlen(commands[i]);
		if (key > 7 + len && !strncmp(entry + key - len, commands[i], len))
			return key - 7 - len;
	}
	return 0;
}

/* Takes filters, marked as required, so that a failing one does not let unfiltered bytes through.
 * git-lfs is left out: it would have to fetch content, and would leave the files it stores in the
 * clone. */
static void take_filters(const struct buf *list, struct buf *out)
{
	for (size_t at = 0; at < list->len; at += strlen(list->data + at) + 1) {
		const char *entry = list->data + at;
		size_t name = filter_name(entry);
		if (!name || (name == 3 && !strncmp(entry + 7, "lfs", name)))
			continue;
		buf_add(out, entry, strlen(entry) + 1);
		buf_addf(out, "filter.%.*s.required\ntrue", (int)name, entry + 7);
		buf_addc(out, '\0');
	}
}

int git_filters_allow(const struct git_repo *from, const struct git_files *files,
	struct git_repo *clone, struct err *e)
{
	AUTO_BUF list = BUF_INIT(GIT_OUTPUT_MAX);
	buf_init(&clone->filters, GIT_FILTERS_BYTES_MAX);
	for (size_t i = files->count; i > 0; i--)
		if (list_file(from, files->paths[i - 1], &list, e))
			return -1;
	if (list_repository(from, &list, e))
		return -1;
	take_filters(&list, &clone->filters);
	return clone->filters.failed ? err_set(e, "the configuration defines too many filters") : 0;
}

bool git_filter_runs(const struct git_repo *git_repo, const char *name)
{
	size_t len = strlen(name);
	for (size_t at = 0; at < git_repo->filters.len;
		at += strlen(git_repo->filters.data + at) + 1) {
		const char *entry = git_repo->filters.data + at;
		if (filter_name(entry) == len && !strncmp(entry + 7, name, len))
			return true;
	}
	return false;
}
