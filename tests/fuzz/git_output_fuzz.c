/*
 * Fuzzes git's output, with names and settings chosen by anybody: no crash, nothing made up, and
 * every filter and hook in the configuration is switched off whatever its name is.
 */
#include "git/environment.h"
#include "git/parse.h"
#include "git/settings.h"
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_paths(const struct buf *list)
{
	size_t at = 0;
	const char *filter = NULL, *path;
	struct changes found;
	buf_init(&found.there, 1 << 20);
	buf_init(&found.gone, 1 << 20);
	parse_changes(list, &found);
	if (found.there.len + found.gone.len > list->len || found.left_out > list->len)
		abort();
	while ((path = parse_filter(list, &at, &filter)))
		if (path < list->data || filter >= list->data + list->len)
			abort();
	buf_done(&found.there);
	buf_done(&found.gone);
}

static void check_names(const struct buf *list)
{
	char oid[GIT_OID_BYTES];
	const char *where = parse_checkout(list, "refs/heads/m");
	if (!parse_oid(list->data, oid) && strlen(oid) != 40 && strlen(oid) != 64)
		abort();
	parse_ref(list, "refs/heads/m", oid);
	if (where && *where && (where < list->data || where > list->data + list->len))
		abort();
}

/* The value that counts for `key` in an environment: the last one. */
static const char *value_of(const json_t *env, const char *key)
{
	char name[40];
	const char *value = NULL;
	for (int i = 0;; i++) {
		snprintf(name, sizeof(name), "GIT_CONFIG_KEY_%d", i);
		const char *at = json_string_value(json_object_get(env, name));
		if (!at)
			return value;
		snprintf(name, sizeof(name), "GIT_CONFIG_VALUE_%d", i);
		if (!strcmp(at, key))
			value = json_string_value(json_object_get(env, name));
	}
}

static void check_environment(const struct buf *list)
{
	struct buf none, settings;
	struct git_repo r = {0};
	struct err e = ERR_NONE;
	buf_init(&none, 1);
	buf_init(&settings, 1 << 20);
	json_auto_t *env = environment_new(list, &none, NULL, &e);
	for (size_t at = 0; env && at < list->len; at += strlen(list->data + at) + 1) {
		const char *key = list->data + at;
		size_t n = strlen(key);
		if (n > 13 && !strncmp(key, "filter.", 7) && !strcmp(key + n - 6, ".clean") &&
			(!value_of(env, key) || *value_of(env, key)))
			abort();
	}
	if (env && strcmp(value_of(env, "core.hooksPath"), "/dev/null") != 0)
		abort();
	parse_settings(list, &settings);
	r.filters = settings;
	git_filter_runs(&r, "x");
	git_repo_done(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct buf list;
	buf_init(&list, 1 << 20);
	if (!buf_add(&list, data, len)) {
		check_paths(&list);
		check_names(&list);
		check_environment(&list);
	}
	buf_done(&list);
	return 0;
}
