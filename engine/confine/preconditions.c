/* Refuses a path that no jail could protect, because a command could make it or redirect it. */
#include "confine/confine.h"

#include "base/path.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Reports whether a command could make `path`, which does not exist: with links followed, its first
 * missing part lies where commands may write. */
static bool can_be_made(const char *path, const char *workspace, const struct config_list *grants)
{
	char missing[PATH_MAX] = "";
	if (realpath(path, missing) || !*missing) /* glibc: the first part not found */
		return false;
	*strrchr(missing, '/') = '\0';
	return (workspace && path_is_within(missing, workspace)) ||
	       confine_granted(missing, grants);
}

static int check_protected(const struct confine *confine, const struct state *state, struct err *e)
{
	const struct config_list *paths = &confine->config->sandbox.protect;
	const char *workspace = confine_writes(state) ? confine->workspace : NULL;
	AUTO_ARENA arena;
	arena_init(&arena);
	const struct config_list grants = confine_real(
		&arena, &(struct config_list){state->tool.writes, state->tool.write_count});
	for (size_t i = 0; i < paths->count; i++) {
		struct stat st;
		const char *path = paths->items[i];
		if (!stat(path, &st))
			continue;
		const char *why = strerror(errno);
		if (can_be_made(path, workspace, &grants))
			return err_set(e,
				"sandbox.protect: %s: %s; a command could make it: make it first, "
				"or take it out of sandbox.protect",
				path, why);
	}
	return 0;
}

/* Refuses links: the jail does not accept a link as the name of something in the workspace. */
static int check_links(const char *setting, const struct config_list *paths,
	const struct confine *confine, struct err *e)
{
	char real[PATH_MAX];
	for (size_t i = 0; i < paths->count; i++) {
		struct stat st;
		const char *path = paths->items[i];
		if (!path_is_within(path, confine->workspace))
			continue;
		if (paths == &confine->config->sandbox.hide && !strcmp(path, confine->workspace))
			return err_set(e, "%s: %s is the whole workspace; name what lies in it",
				setting, path);
		const char *led = realpath(path, real);
		if (led && strcmp(led, path) != 0)
			return err_set(e, "%s: %s leads through a link; name %s itself", setting,
				path, led);
		if (!led && (errno == ELOOP || (!lstat(path, &st) && S_ISLNK(st.st_mode))))
			return err_set(e,
				"%s: %s is a link that leads nowhere; remove it, or take it out "
				"of %s",
				setting, path, setting);
	}
	return 0;
}

int confine_check_found(const struct confine *confine, const struct state *state, struct err *e)
{
	const struct config_sandbox *sandbox = &confine->config->sandbox;
	bool seen = state->tool.workspace != WORKSPACE_NONE;
	return check_protected(confine, state, e) ||
			       (confine_writes(state) && check_links("sandbox.protect",
								 &sandbox->protect, confine, e)) ||
			       (seen && check_links("sandbox.hide", &sandbox->hide, confine, e))
		       ? -1
		       : 0;
}
