/*
 * The jail's root: private memory on which the layout's trees are mounted, entered by pivot_root.
 *
 * Attack: any file that the policy does not name. The host's root is not hidden or covered but
 * gone: once the old root is detached, no path, link or ".." leads to it.
 */
#include "base/beneath.h"
#include "base/io.h"
#include "jail/jail.h"
#include "jail/root_table.h"
#include <limits.h>
#include <linux/mount.h>
#include <linux/openat2.h>

/* Used only until the pivot; any directory that every host has will do. */
static const char stand[] = "/usr";

/* Inodes for the files that the jail makes besides the places. */
enum { OWN_INODES = 64 };

/* A jail gets this many of all the pseudo-terminals that the host's kernel allows. */
#define PTS_OPTIONS "newinstance,ptmxmode=0666,mode=0620,max=64"

#define PAIR(path, what) {path, what},
static const char *const files[][2] = {ROOT_FILES(PAIR)};
static const char *const links[][2] = {ROOT_LINKS(PAIR)};

/* Makes the last component in the jail's own memory. The working directory is the new root, so a
 * relative name is a place in it. */
static int make_last(const char *path, const struct place *place)
{
	static char target[PATH_MAX];
	ssize_t len = place->link ? readlink(place->path, target, sizeof(target) - 1) : 0;
	if (len < 0)
		return -1;
	target[len] = '\0';
	return place->link        ? symlink(target, path)
	       : place->directory ? mkdir(path, place->kind == PLACE_TMPFS ? 01777 : 0755)
				  : mknod(path, S_IFREG | 0444, 0);
}

/* Makes a place, with all directories above it. */
static int make(const char *path, const struct place *place, struct err *e)
{
	static char above[PATH_MAX];
	int failed = make_last(path, place);
	if (failed && errno == ENOENT) {
		snprintf(above, sizeof(above), "%s", path);
		for (char *slash = above; (slash = strchr(slash, '/')); *slash++ = '/') {
			*slash = '\0';
			if (mkdir(above, 0755) && errno != EEXIST)
				return err_errno(e, "cannot make /%s in the new root", above);
		}
		failed = make_last(path, place);
	}
	return !failed || errno == EEXIST ? 0
					  : err_errno(e, "cannot make /%s in the new root", path);
}

/* Attaches a tree. The place exists already if a host tree contains it; else it is made. Returns 1
 * if the file to cover has gone. */
static int attach(const struct place *place, int tree, struct err *e)
{
	bool ours = !place->above || place->above->kind == PLACE_TMPFS,
	     mask = place->kind == PLACE_MASK;
	AUTO_FD int fd = AT_FDCWD;
	struct stat st;
	if (ours && make(place->path + 1, place, e))
		return -1;
	if (!ours)
		fd = beneath_open(AT_FDCWD, place->path + 1,
			O_PATH | (place->repository ? O_NOFOLLOW : 0), 0, RESOLVE_NO_SYMLINKS);
	bool known = !ours && fd >= 0 && (mask || place->grant || place->tree_fd >= 0);
	if (known && (fstat(fd, &st) || st.st_dev != place->dev || st.st_ino != place->ino))
		return mask ? 1
			    : err_set(e, "%s was replaced while the jail was built", place->path);
	if ((ours || fd >= 0) && !syscall(SYS_move_mount, tree, "", fd, ours ? place->path + 1 : "",
					 MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH))
		return 0;
	/* An absent place of the jail's own is below /proc. */
	if (errno == ENOENT && (mask || !place->grant))
		return mask;
	return err_errno(e, "cannot mount %s", place->path);
}

/* Mounts a copy of a file made at `name` in the jail's own memory. */
static int place_copy(
	const struct place *place, const char *name, struct mount_attr attr, struct err *e)
{
	if (make(name, place, e))
		return -1;
	AUTO_FD int tree =
		(int)syscall(SYS_open_tree, AT_FDCWD, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (tree < 0 || syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof(attr)))
		return err_errno(e, "cannot prepare what is mounted on %s", place->path);
	return attach(place, tree, e);
}

/* Mounts /proc. A kernel whose own /proc is partly covered (a container) refuses a new one: then
 * there is none. */
static int place_proc(const struct jail *jail, const struct place *place, struct err *e)
{
	if (make(place->path + 1, place, e))
		return -1;
	if (!syscall(SYS_mount, "proc", place->path + 1, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		    ""))
		return 0;
	if (errno != EPERM)
		return err_errno(e, "cannot mount %s", place->path);
	jail->report->layers.proc = "none";
	return 0;
}

static int place_pts(const struct place *place, struct err *e)
{
	if (make(place->path + 1, place, e))
		return -1;
	return syscall(SYS_mount, "devpts", place->path + 1, "devpts", MS_NOSUID | MS_NOEXEC,
		       PTS_OPTIONS) ||
			       symlink("pts/ptmx", "dev/ptmx")
		       ? err_errno(e, "cannot mount %s", place->path)
		       : 0;
}

static int place_tree(const struct place *place, struct err *e)
{
	if (place->link)
		return make(place->path + 1, place, e);
	return place->tree_fd < 0 ? 0 : attach(place, place->tree_fd, e);
}

/* Holds one descriptor at a time: a host may have dozens of these places. */
static int place_shared(struct place *place, struct err *e)
{
	int failed = grants_open_shared(place, e) || place_tree(place, e);
	own_close(&place->tree_fd);
	return failed ? -1 : 0;
}

static int place_any(const struct jail *jail, struct place *place, struct err *e)
{
	static const struct mount_attr cover = {.attr_set = MOUNT_ATTR_RDONLY};
	struct mount_attr own = {.attr_clr = layout_executes(place) ? MOUNT_ATTR_NOEXEC : 0};
	if (place->kind == PLACE_HIDE || place->kind == PLACE_MASK)
		return place_copy(
			place, place->directory ? ".empty/directory" : ".empty/file", cover, e);
	if (place->kind == PLACE_TMPFS)
		return place_copy(place, place->path + 1, own, e);
	if (place->kind == PLACE_PROC)
		return place_proc(jail, place, e);
	if (place->kind == PLACE_PTS)
		return place_pts(place, e);
	return place->shared ? place_shared(place, e) : place_tree(place, e);
}

/* Writes the files of the new root, except where the policy grants the host's own. */
static int write_files(struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		AUTO_FD int fd = open(
			files[i][0], O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
		if (fd < 0 ? errno != EEXIST : io_write(fd, files[i][1], strlen(files[i][1])))
			return err_errno(e, "cannot write /%s", files[i][0]);
	}
	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		if (symlink(links[i][1], links[i][0]))
			return err_errno(e, "cannot make /%s", links[i][0]);
	return mkdir("tmp/home", 0700) ? err_errno(e, "cannot make the home directory") : 0;
}

int rootfs_build(struct jail *jail, struct err *e)
{
	static const struct place etc = {.directory = true};
	char options[64];
	/* One memory for everything that is not the host's, including /tmp. Each name in a place's
	 * path takes at least two bytes. */
	long long most_mb = jail->policy.memory_mb; /* it is a part of this */
	long long tmp_mb = jail->policy.tmp_mb < most_mb ? jail->policy.tmp_mb : most_mb,
		  inodes = tmp_mb * 256 + OWN_INODES;
	snprintf(options, sizeof(options), "mode=755,size=%lldm,nr_inodes=%lld", tmp_mb,
		inodes + (long long)jail->layout.text_len / 2);
	umask(0);
	if (syscall(SYS_mount, "tmpfs", stand, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		    options) ||
		chdir(stand))
		return err_errno(e, "cannot mount the new root");
	for (struct place *p = jail->layout.place; p < jail->layout.place + jail->layout.count;
		p++) {
		int rc = place_any(jail, p, e);
		if (rc < 0)
			return -1;
		/* It was removed, or only moved: it may be back before the command begins. */
		jail->layout.scan_cut |= jail->report->moved |= rc;
	}
	if (make("etc", &etc, e) || write_files(e))
		return -1;
	unlink(".empty/file");
	rmdir(".empty/directory");
	rmdir(".empty");
	umask(022); /* the command's */
	jail->report->layers.protect = true;
	jail->report->layers.pinned = layout_count(&jail->layout, PLACE_PIN);
	jail->report->layers.masked = layout_count(&jail->layout, PLACE_MASK);
	return 0;
}

int rootfs_enter(struct jail *jail, struct err *e)
{
	(void)jail;
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
	if (syscall(SYS_pivot_root, ".", ".") || syscall(SYS_umount2, ".", 2 /* MNT_DETACH */) ||
		chdir("/"))
		return err_errno(e, "cannot enter the new root");
	if (syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &attr, sizeof(attr)))
		return err_errno(e, "cannot make the new root read-only");
	return 0;
}
