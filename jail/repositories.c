/*
 * Repositories that a command made: finds them when it has ended, and moves them out of its reach.
 *
 * Attack: a repository planted in the workspace, whose settings the user's git executes on the host
 * when they, their prompt or their editor enter it. A known place is held or does not exist;
 * anywhere else nothing keeps a command from writing these names, so every one of them is moved.
 * Nothing is deleted: the user may have made it meanwhile.
 */
#include "base/io.h"
#include "base/tree.h"
#include "base/utf8.h"
#include "base/vcs.h"
#include "jail/jail.h"
#include <limits.h>
#include <linux/openat2.h>

enum { ROUNDS_MAX = 1000, NUMBER_MAX = 1000000, LISTED_MAX = 100 };

int repositories_scan(const struct jail *jail, bool services)
{
	services = services && !seccomp_closes_unix(jail);
	return (services ? SCAN_SERVICES : 0) | (LAYER_ON("repositories") ? SCAN_REPOSITORIES : 0);
}

/* Reports whether it was there before the command, or the command could not have made it. */
static bool was_there(const struct layout *before, const struct place *now)
{
	const struct place *p = layout_deepest(before, now->path);
	if (!p || p->kind == PLACE_WRITE || p->kind == PLACE_PIN)
		return false;
	return strcmp(p->path, now->path) != 0 || (p->dev == now->dev && p->ino == now->ino);
}

/* Makes a directory with a free number; `at` receives its path. */
static int make_room(const char *aside, char at[PATH_MAX], struct err *e)
{
	if (mkdir(aside, 0700) && errno != EEXIST)
		return err_errno(e, "cannot make %s", aside);
	for (int number = 1; number < NUMBER_MAX; number++) {
		if (snprintf(at, PATH_MAX, "%s/%d", aside, number) >= PATH_MAX)
			break;
		if (!mkdir(at, 0700))
			return open(at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (errno != EEXIST)
			return err_errno(e, "cannot make %s", at);
	}
	return err_set(e, "there is no room in %s", aside);
}

/* Writes down where the moved entry was, for a run that ends before its journal has that. */
static int write_origin(int room, const char *path, struct err *e)
{
	AUTO_FD int fd = openat(room, "from", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || io_write(fd, path, strlen(path)))
		return err_errno(e, "cannot write down its place");
	return 0;
}

/* Moves the entry at `path` out of a tree that other commands may be changing. Nobody should enter
 * it by accident: it gets another name, and a directory loses its permissions. */
static int move(const char *path, const char *aside, char to[PATH_MAX], struct err *e)
{
	char dir[PATH_MAX];
	struct stat st;
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	snprintf(dir, sizeof(dir), "%s", path);
	char *name = strrchr(dir, '/');
	*name++ = '\0';
	AUTO_FD int from = (int)syscall(SYS_openat2, AT_FDCWD, *dir ? dir : "/", &how, sizeof(how));
	if (from < 0 || fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW))
		return err_errno(e, "cannot open what is above it");
	AUTO_FD int room = make_room(aside, to, e);
	if (room < 0 || write_origin(room, path, e) || tree_move(from, name, room, e))
		return -1;
	snprintf(to + strlen(to), PATH_MAX - strlen(to), "/moved");
	if (renameat(room, name, room, "moved") ||
		(S_ISDIR(st.st_mode) && fchmodat(room, "moved", 0, 0)))
		return err_errno(e, "cannot rename it to %s", to);
	return 0;
}

static void note(struct jail *jail, const char *path, const char *to)
{
	char shown[PATH_MAX];
	if (!jail->planted)
		jail->planted = json_array();
	utf8_copy(shown, sizeof(shown), path);
	if (json_array_size(jail->planted) < LISTED_MAX)
		json_array_append_new(
			jail->planted, json_pack("{s:s, s:s*}", "path", shown, "to", to));
}

/* Names the part to move: of a directory that is a repository by its contents, one that is
 * essential. */
static void name_part(const struct place *place, char path[PATH_MAX])
{
	bool whole = vcs_part(strrchr(place->path, '/') + 1) & VCS_NAME;
	snprintf(path, PATH_MAX, "%s%s", place->path, whole ? "" : "/HEAD");
}

/* Moves those found. Returns how many. */
static size_t settle_found(struct jail *jail, const struct layout *now)
{
	char path[PATH_MAX], to[PATH_MAX];
	size_t moved = 0;
	for (const struct place *p = now->place; p < now->place + now->count; p++) {
		struct err e = ERR_NONE;
		if (!p->repository || was_there(&jail->layout, p))
			continue;
		name_part(p, path);
		bool failed = jail->policy.aside && move(path, jail->policy.aside, to, &e);
		jail->stuck |= failed;
		if (failed)
			err_set(&jail->left, "%s cannot be moved aside: %s", path, e.text);
		else
			note(jail, path, jail->policy.aside ? to : NULL);
		moved += jail->policy.aside && !failed;
	}
	return moved;
}

/* Repeats the search, because one search may not find all of them. */
void repositories_settle(struct jail *jail)
{
	static struct layout now;
	struct policy searched = jail->policy;
	struct err e = ERR_NONE;
	bool failed = false, again = LAYER_ON("repositories");
	/* The search itself recognises repositories at these paths; one that the command has turned
	 * into a link would end it. */
	searched.protect = searched.hide = NULL;
	for (int rounds = 0; again && rounds < ROUNDS_MAX; rounds++) {
		e = ERR_NONE;
		failed = layout_init(&now, &searched, SCAN_REPOSITORIES, &e);
		again = settle_found(jail, &now) && failed;
	}
	if (failed)
		err_set(&jail->left, "%s", e.text);
}
