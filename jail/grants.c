/*
 * Opens every host tree of the layout as a detached, locked-down copy.
 *
 * Attack: a writable, set-id or device-bearing corner of a tree that was meant to be read-only, and
 * a link or rename between looking and mounting. A path is resolved once, without following any
 * link; the copy is made from that descriptor, and its flags are set on all of it, submounts
 * included, before it becomes visible anywhere.
 */
#include "base/beneath.h"
#include "jail/idmap.h"
#include "jail/jail.h"
#include "jail/kernel.h"
#include "jail/leave_out.h"
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* Two grants seldom have two owners: the last namespace is kept. */
struct owner {
	uid_t uid;
	gid_t gid;
	int userns_fd;
	bool refused; /* by the file system of a tree that is to be written */
};

static uint64_t attributes(const struct place *p)
{
	uint64_t set = LAYER_ON("nosuid") ? KERNEL_ATTR_NOSUID : 0;
	if (p->kind != PLACE_DEVICE)
		set |= KERNEL_ATTR_NODEV;
	if (!p->exec)
		set |= KERNEL_ATTR_NOEXEC;
	if (p->kind == PLACE_READ && LAYER_ON("read_only"))
		set |= KERNEL_ATTR_RDONLY;
	return set;
}

static int lock_down(const struct place *p, int userns_fd, struct err *e)
{
	struct kernel_mount_attr attr = {.attr_set = attributes(p), .propagation = MS_PRIVATE};
	if (userns_fd >= 0) {
		attr.attr_set |= KERNEL_ATTR_IDMAP;
		attr.userns_fd = (uint64_t)userns_fd;
	}
	if (!kernel_mount_setattr(p->tree_fd, AT_EMPTY_PATH | KERNEL_AT_RECURSIVE, &attr))
		return 0;
	return err_errno(e, "cannot set the mount flags of %s", p->path);
}

/* /bin and friends are links on a merged-/usr host; /etc/resolv.conf and localtime often are. */
static int remember_link(struct place *p, struct err *e)
{
	char text[PATH_MAX];
	ssize_t len = readlink(p->path, text, sizeof(text) - 1);
	if (len < 0)
		return err_errno(e, "cannot read the link %s", p->path);
	text[len] = '\0';
	p->link = strdup(text);
	return p->link ? 0 : err_set(e, "out of memory");
}

static int open_path(struct place *p, struct err *e)
{
	uint64_t resolve = RESOLVE_NO_SYMLINKS;
	if (!strcmp(p->path, "/etc/resolv.conf"))
		resolve = 0; /* its target is not visible inside, so it is bound itself */
	AUTO_FD int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = root < 0 ? -1 : beneath_open(root, p->path + 1, O_PATH, 0, resolve);
	if (fd >= 0)
		return fd;
	if (p->optional && errno == ELOOP)
		return remember_link(p, e);
	if (p->optional && errno == ENOENT)
		return 0;
	if (errno == ELOOP)
		return err_errno(
			e, "%s is or passes through a symbolic link; give its real path", p->path);
	return err_errno(e, "cannot open %s", p->path);
}

static int same_owner(struct owner *owner, const struct stat *st, struct err *e)
{
	if (owner->userns_fd >= 0 && owner->uid == st->st_uid && owner->gid == st->st_gid)
		return owner->userns_fd;
	own_close(&owner->userns_fd);
	owner->userns_fd = idmap_open(st->st_uid, st->st_gid, e);
	owner->uid = st->st_uid;
	owner->gid = st->st_gid;
	return owner->userns_fd;
}

static int open_place(struct place *p, struct owner *owner, struct err *e)
{
	AUTO_FD int fd = -1;
	struct stat st;
	fd = open_path(p, e);
	if (fd <= 0) {
		int failed = fd;
		fd = -1; /* 0: an optional path that is a link or absent */
		return failed;
	}
	if (fstat(fd, &st))
		return err_errno(e, "cannot examine %s", p->path);
	if (p->grant && (p->dev != st.st_dev || p->ino != st.st_ino))
		return err_set(e, "%s was replaced while the jail was built", p->path);
	p->directory = S_ISDIR(st.st_mode);
	p->dev = st.st_dev;
	p->ino = st.st_ino;
	p->tree_fd = kernel_open_tree(
		fd, "", KERNEL_OPEN_TREE_CLONE | O_CLOEXEC | AT_EMPTY_PATH | KERNEL_AT_RECURSIVE);
	if (p->tree_fd < 0)
		return err_errno(e, "cannot copy the mount of %s", p->path);
	int userns_fd = owner && p->grant ? same_owner(owner, &st, e) : -1;
	if (owner && p->grant && userns_fd < 0)
		return -1;
	struct err why = ERR_NONE;
	if (!lock_down(p, userns_fd, &why))
		return 0;
	/* What is only read may stay as others see it; what is written must not. */
	if (userns_fd >= 0 && p->kind == PLACE_READ && !lock_down(p, -1, e))
		return 0;
	*e = why;
	if (owner)
		owner->refused = userns_fd >= 0;
	return -1;
}

static bool comes_from_host(const struct place *p)
{
	return p->kind == PLACE_READ || p->kind == PLACE_PIN || p->kind == PLACE_WRITE ||
	       p->kind == PLACE_DEVICE;
}

static int open_all(struct layout *l, struct owner *owner, struct err *e)
{
	int failed = 0;
	for (size_t i = 0; !failed && i < l->count; i++)
		if (comes_from_host(&l->place[i]))
			failed = open_place(&l->place[i], owner, e);
	for (size_t i = 0; failed && i < l->count; i++)
		own_close(&l->place[i].tree_fd);
	return failed;
}

/* Root can open what the command's own user cannot, so it opens before the user is changed. */
int grants_open_as_root(struct jail *j, struct err *e)
{
	if (!j->as_root && idmap_root() != ROOT_NOT) {
		j->report->layers.uid = "root";
		if (!j->policy.allow_root_jail)
			return err_set(e,
				"this is root in a namespace that cannot give its command another "
				"id; run as an ordinary user or set \"allow_root_jail\"");
	}
	if (!j->as_root)
		return 0;
	struct owner owner = {.userns_fd = -1};
	int failed = open_all(&j->layout, &owner, e);
	own_close(&owner.userns_fd);
	j->report->layers.idmap = !failed;
	if (!failed || !owner.refused)
		return failed;
	if (!j->policy.allow_root_jail)
		return err_wrap(e, "this file system cannot map ids, so root's command would run "
				   "as root; run as an ordinary user or set \"allow_root_jail\"");
	*e = ERR_NONE;
	j->report->layers.uid = "root";
	j->host_uid = 0;
	j->host_gid = 0;
	return open_all(&j->layout, NULL, e);
}

/* An ordinary user may copy mounts only inside the namespaces it has made. */
int grants_open(struct jail *j, struct err *e)
{
	return j->as_root ? 0 : open_all(&j->layout, NULL, e);
}
