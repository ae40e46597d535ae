/*
 * Opens every host tree of the layout as a detached, locked-down copy.
 *
 * Attack: a writable, set-id or device-bearing corner of a tree that was meant to be read-only; and
 * a link or rename between the check and the mount. A path is resolved once, without following any
 * link; the copy is made from that descriptor, and its flags are set on all of it, including
 * submounts, before it becomes visible anywhere.
 */
#include "jail/jail.h"
#include <linux/mount.h>
#include <linux/openat2.h>

/* The common data for all trees. Two grants seldom have different owners, so the last namespace is
 * kept. */
struct opening {
	int userns_fd;
	uid_t uid;
	gid_t gid;
	bool map;     /* the ids of grants */
	bool refused; /* the file system of the last tree refused */
};

static int lock_down(const struct place *place, int userns_fd, struct err *e)
{
	unsigned set = LAYER_ON("nosuid") ? MOUNT_ATTR_NOSUID : 0;
	set |= place->kind == PLACE_DEVICE ? 0 : MOUNT_ATTR_NODEV;
	set |= layout_executes(place) ? 0 : MOUNT_ATTR_NOEXEC;
	set |= place->kind == PLACE_READ && LAYER_ON("read_only") ? MOUNT_ATTR_RDONLY : 0;
	set |= userns_fd < 0 ? 0 : MOUNT_ATTR_IDMAP;
	struct mount_attr attr = {.attr_set = set,
		.propagation = 1 << 18, /* MS_PRIVATE */
		.userns_fd = userns_fd < 0 ? 0 : (unsigned)userns_fd};
	if (!syscall(SYS_mount_setattr, place->tree_fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr,
		    sizeof(attr)))
		return 0;
	/* If the file system cannot map ids, a read-only tree may keep its ids; a writable one must
	 * not. */
	if (userns_fd >= 0 && place->kind == PLACE_READ && errno == EINVAL)
		return lock_down(place, -1, e);
	return err_errno(e, "cannot set the mount flags of %s", place->path);
}

/* Opens a place's path. Returns -1 without an error for an absent place of the jail's own; and for
 * a link, which is made again: /bin and others are links on a merged-/usr host, /etc/localtime is
 * one on most. */
static int open_path(struct place *place, struct err *e)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS};
	how.flags |= place->repository ? O_NOFOLLOW : 0; /* a link is held as a link */
	/* The target of this link is not visible inside, so it is mounted itself. */
	how.resolve |= strcmp(place->path, "/etc/resolv.conf") ? RESOLVE_NO_SYMLINKS : 0;
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, place->path, &how, sizeof(how));
	place->link = fd < 0 && errno == ELOOP && !place->grant;
	bool absent = errno == ENOENT || (errno == EACCES && place->shared);
	if (fd >= 0 || place->link || (absent && !place->grant))
		return fd;
	return errno == ELOOP
		       ? err_errno(e, "%s is or passes through a symbolic link; give its real path",
				 place->path)
		       : err_errno(e, "cannot open %s", place->path);
}

int grants_open_place(struct place *place, struct stat *st, struct err *e)
{
	AUTO_FD int fd = open_path(place, e);
	if (fd < 0)
		return -1;
	if (fstat(fd, st))
		return err_errno(e, "cannot examine %s", place->path);
	if (place->grant && (place->dev != st->st_dev || place->ino != st->st_ino))
		return err_set(e, "%s was replaced while the jail was built", place->path);
	return TAKE_FD(fd);
}

static int owner_namespace(struct opening *opening, const struct stat *st, struct err *e)
{
	if (opening->userns_fd >= 0 && opening->uid == st->st_uid && opening->gid == st->st_gid)
		return 0;
	own_close(&opening->userns_fd);
	opening->userns_fd = idmap_open(opening->uid = st->st_uid, opening->gid = st->st_gid, e);
	return opening->userns_fd < 0 ? -1 : 0;
}

static int open_place(struct opening *opening, struct place *place, struct err *e)
{
	struct stat st;
	AUTO_FD int fd = grants_open_place(place, &st, e);
	if (fd < 0)
		return e->text[0] ? -1 : 0;
	place->directory = S_ISDIR(st.st_mode);
	place->dev = st.st_dev;
	place->ino = st.st_ino;
	place->tree_fd = (int)syscall(SYS_open_tree, fd, "",
		OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
	if (place->tree_fd < 0)
		return err_errno(e, "cannot copy the mount of %s", place->path);
	bool map = opening->map && place->grant;
	if (map && owner_namespace(opening, &st, e))
		return -1;
	int failed = lock_down(place, map ? opening->userns_fd : -1, e);
	opening->refused = map && failed;
	return failed;
}

int grants_open_shared(struct place *place, struct err *e)
{
	struct opening o = {.userns_fd = -1};
	return open_place(&o, place, e);
}

static int open_all(struct layout *layout, struct opening *opening, struct err *e)
{
	int failed = 0;
	opening->userns_fd = -1;
	for (struct place *p = layout->place; !failed && p < layout->place + layout->count; p++)
		if (p->kind >= PLACE_READ && p->kind <= PLACE_DEVICE && !p->shared)
			failed = open_place(opening, p, e);
	if (failed)
		layout_done(layout);
	own_close(&opening->userns_fd);
	return failed;
}

/* Opens the trees while still root, who can open files that the command's own user cannot. */
int grants_open_as_root(struct jail *jail, struct err *e)
{
	struct opening o = {.map = true};
	if (jail->root != ROOT_HOST)
		return 0;
	int failed = open_all(&jail->layout, &o, e);
	jail->report->layers.idmap = !failed;
	if (!failed || !o.refused)
		return failed;
	if (!jail->policy.allow_root_jail)
		return err_wrap(e, "this file system cannot map ids (tmpfs can from Linux 6.3), so "
				   "root's command would run as root; " NOT_AS_ROOT);
	*e = ERR_NONE;
	o.map = false;
	jail->report->layers.uid = "root";
	jail->host_uid = jail->host_gid = 0;
	return open_all(&jail->layout, &o, e);
}

/* Opens the trees inside the new namespaces: only there may an ordinary user copy mounts. */
int grants_open(struct jail *jail, struct err *e)
{
	struct opening o = {.map = false};
	return jail->root == ROOT_HOST ? 0 : open_all(&jail->layout, &o, e);
}
