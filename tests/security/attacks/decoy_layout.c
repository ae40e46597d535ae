#include "tests/security/attacks/decoy_layout.h"

#include "base/cleanup.h"
#include "base/tree.h"
#include "tests/kit/tap.h"
#include "tests/kit/tree.h"
#include "tests/security/attacks/decoy.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 4 };

/* `git`, and the files, each with the text TEXT, are below the decoy's root. `held`: attempts that
 * hardened lets through where the repository is a directory of the workspace, and does not here. */
#define TEXT "original\n"
static const struct {
	const char *name, *git, *files[FILES_MAX + 1], *held;
} layouts[] = {
	{"plain", "ws/.git", {"ws/.git/config"}, ""},
	{"none", "", {NULL}, " git_make "},
	{"part", ".git", {".git/config"}, " git_make git_real "},
	{"linked", "o/main/.git",
		{"ws/.git", "o/main/.git/config", "o/main/.git/worktrees/ws/HEAD"}, " git_real "},
	{"submodule", "o/super/.git/modules/ws",
		{"ws/.git", "o/super/.git/config", "o/super/.git/modules/ws/config"}, " git_real "},
	{"bare", "ws", {"ws/config", "ws/HEAD", "ws/objects/one", "ws/refs/one"},
		" git_make git_real "},
};

const char *decoy_layout_name(int layout)
{
	return layout >= 0 && (size_t)layout < ARRAY_LEN(layouts) ? layouts[layout].name : NULL;
}

static char *below_root(const struct decoy *decoy, const char *name)
{
	char *path = NULL;
	if (asprintf(&path, "%s/%s", decoy->root, name) < 0)
		bail("out of memory");
	return path;
}

char *decoy_layout_git(const struct decoy *decoy)
{
	const char *git = layouts[decoy->layout].git;
	return *git ? below_root(decoy, git) : strdup("");
}

bool decoy_layout_is_elsewhere(const struct decoy *decoy)
{
	const char *git = layouts[decoy->layout].git;
	return *git && strncmp(git, "ws", 2) != 0;
}

bool decoy_layout_hardened_holds(const struct decoy *decoy, const char *id)
{
	char word[64];
	snprintf(word, sizeof(word), " %s ", id);
	return strstr(layouts[decoy->layout].held, word);
}

void decoy_layout_fill(const struct decoy *decoy)
{
	for (const char *const *file = layouts[decoy->layout].files; *file; file++)
		tree_file(decoy->root, *file, TEXT, 0644);
}

void decoy_layout_clear(const struct decoy *decoy)
{
	AUTO_FREE char *around = below_root(decoy, ".git");
	tree_remove(AT_FDCWD, around, NULL);
}

static bool is_original(const struct decoy *decoy, const char *name)
{
	char text[sizeof(TEXT)] = "";
	AUTO_FREE char *path = below_root(decoy, name);
	AUTO_FD int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return read(fd, text, sizeof(text)) == sizeof(TEXT) - 1 && !strcmp(text, TEXT);
}

static bool is_there(const struct decoy *decoy, const char *name)
{
	struct stat st;
	AUTO_FREE char *path = below_root(decoy, name);
	return !lstat(path, &st);
}

/* A file of the layout makes the name its own. */
static bool has_own(const struct decoy *decoy, const char *name)
{
	const char *const *file = layouts[decoy->layout].files;
	while (*file && strncmp(*file, name, strlen(name)) != 0)
		file++;
	return *file;
}

const char *decoy_layout_harm(const struct decoy *decoy)
{
	static const char *const made[] = {"ws/.git", "ws/HEAD", "ws/commondir"};
	for (const char *const *file = layouts[decoy->layout].files; *file; file++)
		if (!is_original(decoy, *file))
			return "the repository has changed";
	for (size_t i = 0; i < ARRAY_LEN(made); i++)
		if (!has_own(decoy, made[i]) && is_there(decoy, made[i]))
			return "the workspace was made a repository";
	return NULL;
}
