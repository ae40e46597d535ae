/*
 * The jail's root: private memory that the layout's trees are mounted on, entered by pivot_root.
 *
 * Attack: any file the policy does not name. The host's root is not hidden or covered but gone:
 * once the old root is detached, no path, link or ".." leads to it.
 */
#include "base/beneath.h"
#include "base/io.h"
#include "jail/jail.h"
#include "jail/root_table.h"
#include <limits.h>
#include <linux/mount.h>
#include <linux/openat2.h>

/* Only held until the pivot; any directory that every host has will do. */
static const char stand[] = "/usr";

/* What the jail makes besides the places. */
enum { OWN_INODES = 64 };

/* Of all the pseudo-terminals that the host's kernel makes, a jail gets so many. */
#define PTS_OPTIONS "newinstance,ptmxmode=0666,mode=0620,max=64"

#define PAIR(path, what) {path, what},
static const char *const files[][2] = {ROOT_FILES(PAIR)};
static const char *const links[][2] = {ROOT_LINKS(PAIR)};

/* Makes it, in the jail's own memory. The working directory is the new root, so that a relative
 * name means a place in it. */
static int make_last(const char *path, const struct place *p)
{
	static char target[PATH_MAX];
	ssize_t len = p->link ? readlink(p->path, target, sizeof(target) - 1) : 0;
	if (len < 0)
		return -1;
	target[len] = '\0';
	return p->link        ? symlink(target, path)
	       : p->directory ? mkdir(path, p->kind == PLACE_TMPFS ? 01777 : 0755)
			      : mknod(path, S_IFREG | 0444, 0);
}

/* With all directories above it. */
static int make(const char *path, const struct place *p, struct err *e)
{
	static char above[PATH_MAX];
	int failed = make_last(path, p);
	if (failed && errno == ENOENT) {
		snprintf(above, sizeof(above), "%s", path);
		for (char *slash = above; (slash = strchr(slash, '/')); *slash++ = '/') {
			*slash = '\0';
			if (mkdir(above, 0755) && errno != EEXIST)
				return err_errno(e, "cannot make /%s in the new root", above);
		}
		failed = make_last(path, p);
	}
	return !failed || errno == EEXIST ? 0
					  : err_errno(e, "cannot make /%s in the new root", path);
}

/* The place exists already where a host tree contains it; else it is made. 1: what was to be
 * covered is not there any more. */
static int attach(const struct place *p, int tree, struct err *e)
{
	bool ours = !p->above || p->above->kind == PLACE_TMPFS, mask = p->kind == PLACE_MASK;
	AUTO_FD int fd = AT_FDCWD;
	struct stat st;
	if (ours && make(p->path + 1, p, e))
		return -1;
	if (!ours)
		fd = beneath_open(AT_FDCWD, p->path + 1, O_PATH | (p->repository ? O_NOFOLLOW : 0),
			0, RESOLVE_NO_SYMLINKS);
	bool known = !ours && fd >= 0 && (mask || p->grant || p->tree_fd >= 0);
	if (known && (fstat(fd, &st) || st.st_dev != p->dev || st.st_ino != p->ino))
		return mask ? 1 : err_set(e, "%s was replaced while the jail was built", p->path);
	if ((ours || fd >= 0) && !syscall(SYS_move_mount, tree, "", fd, ours ? p->path + 1 : "",
					 MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH))
		return 0;
	if (errno == ENOENT && (mask || !p->grant)) /* of the jail's own, only below /proc */
		return mask;
	return err_errno(e, "cannot mount %s", p->path);
}

/* A copy of what is made at `name` in the jail's own memory. */
static int place_copy(
	const struct place *p, const char *name, struct mount_attr attr, struct err *e)
{
	if (make(name, p, e))
		return -1;
	AUTO_FD int tree =
		(int)syscall(SYS_open_tree, AT_FDCWD, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (tree < 0 || syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof(attr)))
		return err_errno(e, "cannot prepare what is mounted on %s", p->path);
	return attach(p, tree, e);
}

/* A kernel whose own /proc is partly covered (a container) refuses a new one: then there is none.
 */
static int place_proc(const struct jail *j, const struct place *p, struct err *e)
{
	if (make(p->path + 1, p, e))
		return -1;
	if (!syscall(SYS_mount, "proc", p->path + 1, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, ""))
		return 0;
	if (errno != EPERM)
		return err_errno(e, "cannot mount %s", p->path);
	j->report->layers.proc = "none";
	return 0;
}

static int place_pts(const struct place *p, struct err *e)
{
	if (make(p->path + 1, p, e))
		return -1;
	return syscall(SYS_mount, "devpts", p->path + 1, "devpts", MS_NOSUID | MS_NOEXEC,
		       PTS_OPTIONS) ||
			       symlink("pts/ptmx", "dev/ptmx")
		       ? err_errno(e, "cannot mount %s", p->path)
		       : 0;
}

static int place_any(const struct jail *j, const struct place *p, struct err *e)
{
	static const struct mount_attr cover = {.attr_set = MOUNT_ATTR_RDONLY};
	struct mount_attr own = {.attr_clr = layout_executes(p) ? MOUNT_ATTR_NOEXEC : 0};
	if (p->kind == PLACE_HIDE || p->kind == PLACE_MASK)
		return place_copy(p, p->directory ? ".empty/directory" : ".empty/file", cover, e);
	if (p->kind == PLACE_TMPFS)
		return place_copy(p, p->path + 1, own, e);
	if (p->kind == PLACE_PROC)
		return place_proc(j, p, e);
	if (p->kind == PLACE_PTS)
		return place_pts(p, e);
	if (p->link)
		return make(p->path + 1, p, e);
	return p->tree_fd < 0 ? 0 : attach(p, p->tree_fd, e);
}

/* What the policy grants of the host's own stays. */
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

int rootfs_build(struct jail *j, struct err *e)
{
	static const struct place etc = {.directory = true};
	char options[64];
	/* One memory for all that is not the host's, /tmp too. Each name in a place's path takes
	 * two bytes at least. */
	long long most_mb = j->policy.memory_mb; /* of which it is a part */
	long long tmp_mb = j->policy.tmp_mb < most_mb ? j->policy.tmp_mb : most_mb,
		  inodes = tmp_mb * 256 + OWN_INODES;
	snprintf(options, sizeof(options), "mode=755,size=%lldm,nr_inodes=%lld", tmp_mb,
		inodes + (long long)j->layout.text_len / 2);
	umask(0);
	if (syscall(SYS_mount, "tmpfs", stand, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		    options) ||
		chdir(stand))
		return err_errno(e, "cannot mount the new root");
	for (struct place *p = j->layout.place; p < j->layout.place + j->layout.count; p++) {
		int rc = place_any(j, p, e);
		if (rc < 0)
			return -1;
		/* Removed, or only moved: it may be back before the command begins. */
		j->layout.scan_cut |= j->report->moved |= rc;
	}
	if (make("etc", &etc, e) || write_files(e))
		return -1;
	unlink(".empty/file");
	rmdir(".empty/directory");
	rmdir(".empty");
	umask(022); /* the command's */
	j->report->layers.protect = true;
	j->report->layers.pinned = layout_count(&j->layout, PLACE_PIN);
	j->report->layers.masked = layout_count(&j->layout, PLACE_MASK);
	return 0;
}

int rootfs_enter(struct jail *j, struct err *e)
{
	(void)j;
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
	if (syscall(SYS_pivot_root, ".", ".") || syscall(SYS_umount2, ".", 2 /* MNT_DETACH */) ||
		chdir("/"))
		return err_errno(e, "cannot enter the new root");
	if (syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &attr, sizeof(attr)))
		return err_errno(e, "cannot make the new root read-only");
	return 0;
}
