/*
 * The jail's root: private memory that the layout's trees are mounted on, entered by pivot_root.
 *
 * Attack: any file the policy does not name. The host's root is not hidden or covered but gone:
 * once the old root is detached, no path, link or ".." leads to it.
 */
#include "base/beneath.h"
#include "base/io.h"
#include "jail/etc.h"
#include "jail/jail.h"
#include "jail/kernel.h"
#include "jail/leave_out.h"
#include "jail/path.h"
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* Only held until the pivot; any directory that every host has will do. */
static const char stand[] = "/usr";
static const char empty_dir[] = ".empty/directory", empty_file[] = ".empty/file";

static int make_parents(int root, const char *path, struct err *e)
{
	char parent[PATH_MAX];
	for (size_t at = 1; path[at]; at++) {
		if (path[at] != '/')
			continue;
		memcpy(parent, path, at);
		parent[at] = '\0';
		if (mkdirat(root, parent + 1, 0755) && errno != EEXIST)
			return err_errno(e, "cannot make %s in the new root", parent);
	}
	return 0;
}

/* The place exists already where a host tree contains it; else it is made in the jail's memory. */
static int open_target(const struct jail *j, const struct place *p, struct err *e)
{
	const struct place *above = layout_above(&j->layout, p->path);
	bool ours = !above || above->kind == PLACE_TMPFS;
	if (ours) {
		if (make_parents(j->root_fd, p->path, e))
			return -1;
		int failed = p->directory ? mkdirat(j->root_fd, p->path + 1, 0755)
					  : mknodat(j->root_fd, p->path + 1, S_IFREG | 0444, 0);
		if (failed && errno != EEXIST)
			return err_errno(e, "cannot make %s in the new root", p->path);
	}
	AUTO_FD int fd = beneath_open(j->root_fd, p->path + 1, O_PATH, 0, RESOLVE_NO_SYMLINKS);
	struct stat st;
	if (fd < 0 || fstat(fd, &st))
		return err_errno(e, "cannot open %s in the new root", p->path);
	bool from_host = p->tree_fd >= 0 && !ours;
	if (from_host && (st.st_dev != p->dev || st.st_ino != p->ino))
		return err_set(e, "%s was replaced while the jail was built", p->path);
	return TAKE_FD(fd);
}

static int place_tree(const struct jail *j, const struct place *p, int tree, struct err *e)
{
	AUTO_FD int target = open_target(j, p, e);
	if (target < 0)
		return -1;
	return kernel_move_mount(tree, target) ? err_errno(e, "cannot mount %s", p->path) : 0;
}

static int place_empty(const struct jail *j, const struct place *p, struct err *e)
{
	AUTO_FD int tree = kernel_open_tree(j->root_fd, p->directory ? empty_dir : empty_file,
		KERNEL_OPEN_TREE_CLONE | O_CLOEXEC);
	struct kernel_mount_attr attr = {.attr_set = KERNEL_ATTR_RDONLY};
	if (tree < 0 || kernel_mount_setattr(tree, AT_EMPTY_PATH, &attr))
		return err_errno(e, "cannot prepare a cover for %s", p->path);
	return place_tree(j, p, tree, e);
}

static int place_link(const struct jail *j, const struct place *p, struct err *e)
{
	if (make_parents(j->root_fd, p->path, e))
		return -1;
	return symlinkat(p->link, j->root_fd, p->path + 1)
		       ? err_errno(e, "cannot make the link %s", p->path)
		       : 0;
}

/* The working directory is the new root, so that a relative name means a place in it. */
static int place_memory(const struct jail *j, const struct place *p, struct err *e)
{
	char options[64];
	AUTO_FD int target = open_target(j, p, e);
	if (target < 0)
		return -1;
	snprintf(options, sizeof(options), "mode=1777,size=%lldm,nr_inodes=%lld",
		(long long)j->policy.limits.tmp_mb, (long long)j->policy.limits.tmp_mb * 256);
	unsigned long flags = MS_NOSUID | MS_NODEV | (p->exec ? 0 : MS_NOEXEC);
	return mount("tmpfs", p->path + 1, "tmpfs", flags, options)
		       ? err_errno(e, "cannot mount memory at %s", p->path)
		       : 0;
}

/* A kernel whose own /proc is partly covered (a container) refuses a new one: then there is none.
 */
static int place_proc(const struct jail *j, const struct place *p, struct err *e)
{
	AUTO_FD int target = open_target(j, p, e);
	if (target < 0)
		return -1;
	unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
	flags |= LAYER_ON("read_only_proc") ? MS_RDONLY : 0;
	bool mounted = !mount("proc", p->path + 1, "proc", flags, NULL);
	if (!mounted && errno != EPERM)
		return err_errno(e, "cannot mount /proc");
	j->report->layers.proc = mounted ? "read-only" : "none";
	return 0;
}

static int build_place(const struct jail *j, const struct place *p, struct err *e)
{
	switch (p->kind) {
	case PLACE_HIDE:
	case PLACE_MASK: return place_empty(j, p, e);
	case PLACE_TMPFS: return place_memory(j, p, e);
	case PLACE_PROC: return place_proc(j, p, e);
	case PLACE_READ:
	case PLACE_PIN:
	case PLACE_WRITE:
	case PLACE_DEVICE:
		if (p->link)
			return place_link(j, p, e);
		return p->tree_fd < 0 ? 0 : place_tree(j, p, p->tree_fd, e);
	}
	return err_set(e, "%s has no kind", p->path);
}

static int start_root(struct jail *j, struct err *e)
{
	/* Slave, not private: what the host unmounts later goes away here too. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL))
		return err_errno(e, "cannot separate the mounts from the host's");
	if (mount("tmpfs", stand, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		    "mode=755,size=4m,nr_inodes=16384"))
		return err_errno(e, "cannot mount the new root");
	j->root_fd = open(stand, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (j->root_fd < 0 || fchdir(j->root_fd))
		return err_errno(e, "cannot open the new root");
	if (mkdirat(j->root_fd, ".empty", 0755) || mkdirat(j->root_fd, empty_dir, 0555) ||
		mknodat(j->root_fd, empty_file, S_IFREG | 0444, 0))
		return err_errno(e, "cannot write in the new root");
	return 0;
}

int rootfs_build(struct jail *j, struct err *e)
{
	umask(022);
	if (start_root(j, e))
		return -1;
	for (size_t i = 0; i < j->layout.count; i++) {
		if (build_place(j, &j->layout.place[i], e))
			return -1;
		own_close(&j->layout.place[i].tree_fd);
	}
	if (etc_write(j->root_fd, e))
		return -1;
	if (mkdirat(j->root_fd, "tmp/home", 0700))
		return err_errno(e, "cannot make the home directory");
	unlinkat(j->root_fd, empty_file, 0);
	unlinkat(j->root_fd, empty_dir, AT_REMOVEDIR);
	unlinkat(j->root_fd, ".empty", AT_REMOVEDIR);
	j->report->layers.protect = true;
	j->report->layers.pinned = (int)layout_count(&j->layout, PLACE_PIN);
	j->report->layers.masked = (int)layout_count(&j->layout, PLACE_MASK);
	return 0;
}

int rootfs_enter(struct jail *j, struct err *e)
{
	struct kernel_mount_attr attr = {.attr_set = KERNEL_ATTR_RDONLY};
	if (syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/"))
		return err_errno(e, "cannot enter the new root");
	if (kernel_mount_setattr(j->root_fd, AT_EMPTY_PATH, &attr))
		return err_errno(e, "cannot make the new root read-only");
	own_close(&j->root_fd);
	return 0;
}
