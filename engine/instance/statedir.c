#include "instance/statedir.h"

#include "base/sha256.h"
#include "config/config.h"

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

int statedir_find(const char *workspace, const char *state_dir, struct statedir *out, struct err *e)
{
	AUTO_FREE char *real = realpath(workspace, NULL);
	if (!real)
		return err_errno(e, "cannot find the workspace %s", workspace);
	AUTO_FREE char *state = config_state_dir(state_dir, real, e);
	AUTO_FREE char *id = state ? statedir_repo_id(real, e) : NULL;
	if (!id)
		return -1;
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
