#include "run/owner.h"

#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { TREE_FDS = 16 };

static struct {
	uid_t uid;
	gid_t gid;
} user;

static int number_from(const char *name, unsigned *out)
{
	const char *text = getenv(name);
	char *end;
	unsigned long n = text ? strtoul(text, &end, 10) : 0;
	*out = (unsigned)n;
	return text && !*end && n > 0 && n < UINT_MAX ? 0 : -1;
}

/* Links themselves, never what they point to: jailed commands write below here. */
static int give_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)type;
	(void)at;
	return st->st_uid == 0 ? lchown(path, user.uid, user.gid) : 0;
}

/* True when `path` lies below a directory of the user's, whose ours in between are then given. */
static bool give_above(char *path)
{
	struct stat st;
	char *slash = strrchr(path, '/');
	if (!slash || slash == path)
		return false;
	*slash = '\0';
	bool below = !lstat(path, &st) && S_ISDIR(st.st_mode) &&
		     (st.st_uid == user.uid || (st.st_uid == 0 && give_above(path)));
	if (below && st.st_uid == 0)
		below = lchown(path, user.uid, user.gid) == 0;
	*slash = '/';
	return below;
}

int owner_give_back(const char *path, struct err *e)
{
	char above[PATH_MAX];
	if (geteuid() != 0 || number_from("SUDO_UID", &user.uid) ||
		number_from("SUDO_GID", &user.gid))
		return 0;
	if (nftw(path, give_entry, TREE_FDS, FTW_PHYS | FTW_MOUNT))
		return err_errno(e, "cannot give %s back to user %u", path, user.uid);
	snprintf(above, sizeof(above), "%s", path);
	give_above(above);
	return 0;
}
