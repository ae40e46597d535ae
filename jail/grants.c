/*
 * Opens every host tree of the layout as a detached, locked-down copy.
 *
 * Attack: a writable, set-id or device-bearing corner of a tree that was meant to be read-only, and
 * a link or rename between looking and mounting. A path is resolved once, without following any
 * link; the copy is made from that descriptor, and its flags are set on all of it, submounts
 * included, before it becomes visible anywhere.
 */
#include "jail/jail.h"
#include <linux/mount.h>
#include <linux/openat2.h>

/* What is the same for all trees. Two grants seldom have two owners: the last namespace is kept. */
struct opening {
	int userns_fd;
	uid_t uid;
	gid_t gid;
	bool map;     /* the ids of grants */
	bool refused; /* by the file system of the last tree */
};

static int lock_down(const struct place *p, int userns_fd, struct err *e)
{
	unsigned set = LAYER_ON("nosuid") ? MOUNT_ATTR_NOSUID : 0;
	set |= p->kind == PLACE_DEVICE ? 0 : MOUNT_ATTR_NODEV;
	set |= layout_executes(p) ? 0 : MOUNT_ATTR_NOEXEC;
	set |= p->kind == PLACE_READ && LAYER_ON("read_only") ? MOUNT_ATTR_RDONLY : 0;
	set |= userns_fd < 0 ? 0 : MOUNT_ATTR_IDMAP;
	struct mount_attr attr = {.attr_set = set,
		.propagation = 1 << 18, /* MS_PRIVATE */
		.userns_fd = userns_fd < 0 ? 0 : (unsigned)userns_fd};
	if (!syscall(SYS_mount_setattr, p->tree_fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr,
		    sizeof(attr)))
		return 0;
	/* Where the file system cannot map ids, what is only read may stay as others see it; what
	 * is written must not. */
	if (userns_fd >= 0 && p->kind == PLACE_READ && errno == EINVAL)
		return lock_down(p, -1, e);
	return err_errno(e, "cannot set the mount flags of %s", p->path);
}

/* -1 without an error: one of the jail's own that is absent, or a link, which is made again: /bin
 * and friends are links on a merged-/usr host, /etc/localtime is one on most. */
static int open_path(struct place *p, struct err *e)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS};
	how.flags |= p->repository ? O_NOFOLLOW : 0; /* a link is held as one */
	/* The target of this one is not visible inside, so it is bound itself. */
	how.resolve |= strcmp(p->path, "/etc/resolv.conf") ? RESOLVE_NO_SYMLINKS : 0;
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, p->path, &how, sizeof(how));
	p->link = fd < 0 && errno == ELOOP && !p->grant;
	if (fd >= 0 || p->link || (errno == ENOENT && !p->grant))
		return fd;
	return errno == ELOOP
		       ? err_errno(e, "%s is or passes through a symbolic link; give its real path",
				 p->path)
		       : err_errno(e, "cannot open %s", p->path);
}

int grants_open_place(struct place *p, struct stat *st, struct err *e)
{
	AUTO_FD int fd = open_path(p, e);
	if (fd < 0)
		return -1;
	if (fstat(fd, st))
		return err_errno(e, "cannot examine %s", p->path);
	if (p->grant && (p->dev != st->st_dev || p->ino != st->st_ino))
		return err_set(e, "%s was replaced while the jail was built", p->path);
	return TAKE_FD(fd);
}

static int owner_namespace(struct opening *o, const struct stat *st, struct err *e)
{
	if (o->userns_fd >= 0 && o->uid == st->st_uid && o->gid == st->st_gid)
		return 0;
	own_close(&o->userns_fd);
	o->userns_fd = idmap_open(o->uid = st->st_uid, o->gid = st->st_gid, e);
	return o->userns_fd < 0 ? -1 : 0;
}

static int open_place(struct opening *o, struct place *p, struct err *e)
{
	struct stat st;
	AUTO_FD int fd = grants_open_place(p, &st, e);
	if (fd < 0)
		return e->text[0] ? -1 : 0;
	p->directory = S_ISDIR(st.st_mode);
	p->dev = st.st_dev;
	p->ino = st.st_ino;
	p->tree_fd = (int)syscall(SYS_open_tree, fd, "",
		OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
	if (p->tree_fd < 0)
		return err_errno(e, "cannot copy the mount of %s", p->path);
	bool map = o->map && p->grant;
	if (map && owner_namespace(o, &st, e))
		return -1;
	int failed = lock_down(p, map ? o->userns_fd : -1, e);
	o->refused = map && failed;
	return failed;
}

static int open_all(struct layout *l, struct opening *o, struct err *e)
{
	int failed = 0;
	o->userns_fd = -1;
	for (struct place *p = l->place; !failed && p < l->place + l->count; p++)
		if (p->kind >= PLACE_READ && p->kind <= PLACE_DEVICE)
			failed = open_place(o, p, e);
	if (failed)
		layout_done(l);
	own_close(&o->userns_fd);
	return failed;
}

/* Root can open what the command's own user cannot, so it opens before the user is changed. */
int grants_open_as_root(struct jail *j, struct err *e)
{
	struct opening o = {.map = true};
	if (j->root != ROOT_HOST)
		return 0;
	int failed = open_all(&j->layout, &o, e);
	j->report->layers.idmap = !failed;
	if (!failed || !o.refused)
		return failed;
	if (!j->policy.allow_root_jail)
		return err_wrap(e, "this file system cannot map ids (tmpfs can from Linux 6.3), so "
				   "root's command would run as root; " NOT_AS_ROOT);
	*e = ERR_NONE;
	o.map = false;
	j->report->layers.uid = "root";
	j->host_uid = j->host_gid = 0;
	return open_all(&j->layout, &o, e);
}

/* An ordinary user may copy mounts only inside the namespaces it has made. */
int grants_open(struct jail *j, struct err *e)
{
	struct opening o = {.map = false};
	return j->root == ROOT_HOST ? 0 : open_all(&j->layout, &o, e);
}
