#include "run/statedir.h"

#include "base/path.h"
#include "base/sha256.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { SLUG_BYTES = 32, HASH_DIGITS = 12 };

/* Cuts `path` back to the nearest directory that holds a .git; false: none does. */
static bool cut_to_repository(char *path)
{
	for (;;) {
		char git[PATH_MAX + 8];
		struct stat st;
		snprintf(git, sizeof(git), "%s/.git", strcmp(path, "/") != 0 ? path : "");
		if (!lstat(git, &st))
			return true;
		char *slash = strrchr(path, '/');
		if (!slash || !path[1])
			return false;
		slash[slash == path] = '\0';
	}
}

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

char *statedir_repo_id(const char *workspace, struct err *e)
{
	char path[PATH_MAX], slug[SLUG_BYTES + 1], hex[SHA256_HEX + 1];
	if (!realpath(workspace, path)) {
		err_errno(e, "cannot find the workspace %s", workspace);
		return NULL;
	}
	char top[PATH_MAX];
	memcpy(top, path, sizeof(top));
	const char *of = cut_to_repository(top) ? top : path;
	slug_of(of, slug);
	sha256_hex(of, strlen(of), hex);
	char *id = NULL;
	if (asprintf(&id, "%s-%.*s", slug, HASH_DIGITS, hex) < 0)
		err_set(e, "out of memory");
	return id;
}

/* Cuts `head` back to what exists, and follows that. -1 with errno. */
static int follow_existing(char head[PATH_MAX], char real[PATH_MAX])
{
	size_t cut = strlen(head);
	while (!realpath(head, real)) {
		if (errno != ENOENT || cut <= 1)
			return -1;
		while (cut > 1 && head[cut - 1] != '/')
			cut--;
		while (cut > 1 && head[cut - 1] == '/')
			cut--;
		head[cut] = '\0';
	}
	return 0;
}

/* The real path of `path`, whose last components may not exist yet. */
static char *real_or_future(const char *path, struct err *e)
{
	char head[PATH_MAX], real[PATH_MAX], *out = NULL;
	if (path[0] != '/' || strlen(path) >= sizeof(head)) {
		err_set(e,
			"the state directory %s is not an absolute path; set agent6.state_dir or "
			"AGENT6_STATE_HOME to one",
			path);
		return NULL;
	}
	snprintf(head, sizeof(head), "%s", path);
	if (follow_existing(head, real)) {
		err_errno(e, "cannot follow the state directory %s", path);
		return NULL;
	}
	/* Of "/" nothing but the slash is there. */
	const char *rest = path + (head[1] ? strlen(head) : 0);
	if (!strstr(rest, "/..") &&
		asprintf(&out, "%s%s", strcmp(real, "/") ? real : "", rest) >= 0)
		return out;
	err_set(e, "the state directory %s goes through \"..\" of what does not exist", path);
	return NULL;
}

int statedir_find(const char *workspace, const char *state_dir, struct statedir *out, struct err *e)
{
	AUTO_FREE char *real = realpath(workspace, NULL);
	if (!real)
		return err_errno(e, "cannot find the workspace %s", workspace);
	AUTO_FREE char *state = real_or_future(state_dir, e);
	AUTO_FREE char *id = state ? statedir_repo_id(real, e) : NULL;
	if (!id)
		return -1;
	if (path_is_within(state, real))
		return err_set(e,
			"the state directory %s lies inside the workspace %s, where jailed "
			"commands could write it; set agent6.state_dir or AGENT6_STATE_HOME to a "
			"directory outside, or start from a directory below",
			state, real);
	/* It would hold other instances, and the configuration of some repository. */
	if (path_is_within(real, state))
		return err_set(e,
			"the workspace %s lies inside the state directory %s, which jailed "
			"commands must not write; start from a directory outside",
			real, state);
	char *repo = NULL;
	if (asprintf(&repo, "%s/%s", state, id) < 0)
		return err_set(e, "out of memory");
	*out = (struct statedir){TAKE_PTR(state), repo, TAKE_PTR(real)};
	return 0;
}

void statedir_done(struct statedir *s)
{
	free(s->root);
	free(s->repo);
	free(s->workspace);
	*s = (struct statedir){0};
}
