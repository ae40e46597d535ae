#include "instance/repository.h"

#include "base/sha256.h"
#include "config/config.h"
#include "git/git.h"
#include "instance/instance.h"
#include "instance/recover.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { SLUG_BYTES = 32, HASH_DIGITS = 12 };

/* --- names ------------------------------------------------------------------------------------ */

static void slug_of(const char *path, char slug[SLUG_BYTES + 1])
{
	const char *name = strrchr(path, '/') + 1;
	size_t n = 0;
	for (; *name && n < SLUG_BYTES; name++) {
		char c = *name;
		bool upper = c >= 'A' && c <= 'Z';
		bool plain = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
		slug[n++] = upper ? (char)(c - 'A' + 'a') : plain ? c : '-';
	}
	slug[n] = '\0';
	if (!n)
		snprintf(slug, SLUG_BYTES + 1, "root");
}

/* Returns the name of the repository at `top`, a real path: a readable slug and a hash. Heap; NULL:
 * out of memory. */
static char *id_of(const char *top, struct err *e)
{
	char slug[SLUG_BYTES + 1], hex[SHA256_HEX + 1];
	slug_of(top, slug);
	sha256_hex(top, strlen(top), hex);
	char *id = NULL;
	if (asprintf(&id, "%s-%.*s", slug, HASH_DIGITS, hex) < 0) {
		err_set(e, "out of memory");
		return NULL;
	}
	return id;
}

/* --- directories around one another ----------------------------------------------------------- */

static bool holds_git(const char *directory)
{
	char git[PATH_MAX + 8];
	snprintf(git, sizeof(git), "%s/.git", strcmp(directory, "/") != 0 ? directory : "");
	return git_marks(git);
}

/* Cuts `path` back to its parent; returns false at the root. */
static bool to_parent(char *path)
{
	char *slash = strrchr(path, '/');
	if (!slash || !path[1])
		return false;
	slash[slash == path] = '\0';
	return true;
}

/* Sets `top` to the directory of the nearest `.git`; without one it stays the workspace. */
static void find_nearest(const char *workspace, char top[PATH_MAX])
{
	char at[PATH_MAX];
	snprintf(at, sizeof(at), "%s", workspace);
	snprintf(top, PATH_MAX, "%s", workspace);
	do {
		if (!holds_git(at))
			continue;
		snprintf(top, PATH_MAX, "%s", at);
		return;
	} while (to_parent(at));
}

/* Writes the directory of the repository at `top` in the state directory; returns false if it is
 * too long. */
static bool place_of(const char *state_dir, const char *top, char place[PATH_MAX])
{
	struct err none = ERR_NONE;
	AUTO_FREE char *id = id_of(top, &none);
	return id && snprintf(place, PATH_MAX, "%s/%s", state_dir, id) < PATH_MAX;
}

/* --- what keeps a workspace where it is ------------------------------------------------------- */

struct workspace_search {
	const struct statedir *statedir;
	const char *workspace;
	char *found; /* the id of an instance; heap */
};

/* Looks for an instance that could go on. One that cannot be read does not count: opening it will
 * report the error. */
static int look_at(void *ctx, const char *id)
{
	struct workspace_search *search = ctx;
	struct instance instance = INSTANCE_NONE;
	struct err none = ERR_NONE;
	struct begun begun;
	if (instance_open(search->statedir, id, &instance, &none))
		return 0;
	bool holds = !recover_begun(&instance, &begun, &none) && begun.begun &&
		     !strcmp(begun.workspace, search->workspace) && !instance_ended(&instance);
	instance_done(&instance);
	if (holds)
		search->found = strdup(id);
	return holds;
}

/* Returns the unfinished instance of `workspace` that began while it belonged to `top`; NULL:
 * none. */
static char *find_holder(const char *workspace, const char *state_dir, const char *top)
{
	char place[PATH_MAX];
	struct err none = ERR_NONE;
	if (!place_of(state_dir, top, place))
		return NULL;
	struct statedir statedir = {.repo = place};
	struct workspace_search search = {.statedir = &statedir, .workspace = workspace};
	instance_list(&statedir, look_at, &search, &none);
	return search.found;
}

/* Looks for such an instance in each directory from the workspace upward: any may once have been
 * its repository. */
static int keep_place(const char *workspace, const char *state_dir, char top[PATH_MAX],
	struct repository *out, struct err *e)
{
	char at[PATH_MAX];
	snprintf(at, sizeof(at), "%s", workspace);
	do {
		if (!strcmp(at, top) || !(out->holder = find_holder(workspace, state_dir, at)))
			continue;
		out->passed = strdup(top);
		snprintf(top, PATH_MAX, "%s", at);
		return out->passed ? 0 : err_set(e, "out of memory");
	} while (to_parent(at));
	return 0;
}

/* --- settings of another repository ----------------------------------------------------------- */

/* Returns the configuration file of the repository at `top`. Heap; NULL: it has none. */
static char *find_settings(const char *state_dir, const char *top)
{
	char place[PATH_MAX], *path;
	struct stat st;
	if (!place_of(state_dir, top, place))
		return NULL;
	for (size_t i = 0; i < CONFIG_SUFFIXES; i++) {
		if (asprintf(&path, "%s/config.%s", place, config_suffixes[i]) < 0)
			return NULL;
		if (!lstat(path, &st))
			return path;
		free(path);
	}
	return NULL;
}

static int find_around(
	const char *top, const char *state_dir, struct repository *out, struct err *e)
{
	char at[PATH_MAX];
	AUTO_FREE char *own = find_settings(state_dir, top);
	snprintf(at, sizeof(at), "%s", top);
	while (!own && !out->settings && to_parent(at))
		if (holds_git(at))
			out->settings = find_settings(state_dir, at);
	if (!out->settings)
		return 0;
	out->around = strdup(at);
	return out->around ? 0 : err_set(e, "out of memory");
}

int repository_find(
	const char *workspace, const char *state_dir, struct repository *out, struct err *e)
{
	char real[PATH_MAX], top[PATH_MAX];
	struct repository found = {0};
	*out = found;
	if (!realpath(workspace, real))
		return err_errno(e, "cannot find the workspace %s", workspace);
	find_nearest(real, top);
	int failed = state_dir && (keep_place(real, state_dir, top, &found, e) ||
					  find_around(top, state_dir, &found, e));
	if (!failed && !(found.top = strdup(top)))
		failed = err_set(e, "out of memory");
	if (failed || !(found.id = id_of(top, e))) {
		repository_done(&found);
		return -1;
	}
	*out = found;
	return 0;
}

void repository_done(struct repository *repository)
{
	char *const own[] = {repository->id, repository->top, repository->holder,
		repository->passed, repository->around, repository->settings};
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		free(own[i]);
	*repository = (struct repository){0};
}
