/*
 * Landlock: enforces the layout a second time, in a part of the kernel that is independent of
 * mounts.
 */
#include "base/landlock.h"
#include "base/path.h"
#include "jail/jail.h"
#include "jail/root_table.h"

enum { ABI_KNOWN = 9, ABI_STRICT = 2, ABI_HARDENED = 3 };

#define RIGHTS_READ   (LL_FS_READ_FILE | LL_FS_READ_DIR)
#define RIGHTS_DEVICE (LL_FS_READ_FILE | LL_FS_WRITE_FILE)
#define RIGHTS_ALL    (LL_FS_ALL | LL_FS_RESOLVE_UNIX)
#define RIGHTS_WRITE  (RIGHTS_ALL & ~(uint64_t)RIGHTS_NEVER)
#define RIGHTS_NEVER  (LL_FS_MAKE_CHAR | LL_FS_MAKE_BLOCK | LL_FS_IOCTL_DEV)

int landlock_ask(struct jail *jail, struct err *e)
{
	int abi = ll_abi();
	jail->landlock_abi = abi < 0 ? 0 : abi > ABI_KNOWN ? ABI_KNOWN : abi;
	if (!jail->strict && jail->landlock_abi < ABI_HARDENED)
		return err_set(e,
			"the hardened profile needs Landlock ABI %d (Linux 6.2), and this kernel "
			"has %d",
			ABI_HARDENED, jail->landlock_abi);
	if (jail->landlock_abi < ABI_STRICT || !LAYER_ON("landlock"))
		return 0; /* ABI 1 would forbid every rename between directories */
	struct ll_ruleset want = {
		.handled_fs = RIGHTS_ALL, .scoped = LL_SCOPE_ABSTRACT_UNIX | LL_SCOPE_SIGNAL};
	if (!jail->strict && jail->policy.network != NETWORK_HOST)
		want.handled_net = LL_NET_BIND_TCP | LL_NET_CONNECT_TCP;
	jail->ruleset_fd = ll_create(jail->landlock_abi, want);
	return jail->ruleset_fd < 0 ? err_errno(e, "cannot make a Landlock ruleset") : 0;
}

static bool is_terminal(const struct place *place)
{
	return !strcmp(place->path, ROOT_OWN_TERMINAL);
}

static uint64_t rights_of(const struct place *place)
{
	switch (place->kind) {
	case PLACE_READ: return RIGHTS_READ | LL_FS_EXECUTE;
	case PLACE_WRITE:
	case PLACE_TMPFS:
		return RIGHTS_WRITE & ~(uint64_t)(layout_executes(place) ? 0 : LL_FS_EXECUTE);
	case PLACE_PROC: return RIGHTS_READ;
	case PLACE_DEVICE: return RIGHTS_DEVICE | (is_terminal(place) ? LL_FS_IOCTL_DEV : 0);
	case PLACE_PTS: return RIGHTS_DEVICE | LL_FS_READ_DIR | LL_FS_IOCTL_DEV;
	case PLACE_HIDE:
	case PLACE_MASK: return LL_FS_READ_FILE;
	case PLACE_PIN: return 0; /* covered by the grant around it */
	}
	return 0;
}

/* Reports whether a place needs no rule: in a root of its own the jail's /etc and /dev contain only
 * files that may be used as they are. */
static bool is_covered(const struct place *place)
{
	return (place->kind == PLACE_DEVICE && !is_terminal(place)) ||
	       (place->kind == PLACE_READ && path_is_below(place->path, "/etc"));
}

/* Adds a rule without rights that the kernel does not know: it would refuse the rule. */
static int allow(const struct jail *jail, const char *path, uint64_t rights, struct err *e)
{
	return ll_allow(jail->ruleset_fd, path, rights & ll_fs_known(jail->landlock_abi), e);
}

/* Allows a place: in strict what was mounted there; else the file that was granted, and not a link
 * that a command has put in its place, nor its target. */
static int allow_place(const struct jail *jail, struct place *place, struct err *e)
{
	struct stat st;
	uint64_t rights = rights_of(place) & ll_fs_known(jail->landlock_abi);
	if (place->tree_fd >= 0)
		return ll_allow_fd(jail->ruleset_fd, place->tree_fd, place->path, rights, e);
	if (jail->strict || !place->grant)
		return allow(jail, place->path, rights, e);
	AUTO_FD int fd = grants_open_place(place, &st, e);
	return fd < 0 ? -1 : ll_allow_fd(jail->ruleset_fd, fd, place->path, rights, e);
}

/* Allows all places, once paths are as the command will see them: in strict, in the new root while
 * the network is made. */
int landlock_allow(struct jail *jail, struct err *e)
{
	if (jail->ruleset_fd < 0)
		return 0;
	if (jail->strict && (allow(jail, "/", LL_FS_READ_DIR, e) ||
				    allow(jail, "/etc", RIGHTS_READ | LL_FS_EXECUTE, e) ||
				    allow(jail, "/dev", RIGHTS_DEVICE | LL_FS_READ_DIR, e)))
		return -1;
	for (size_t i = 0; i < jail->layout.count; i++) {
		struct place *p = &jail->layout.place[i];
		/* On the hardened profile nothing is mounted: what the host has there covers
		 * nothing. */
		bool real = jail->strict ? !is_covered(p)
					 : p->kind >= PLACE_READ && p->kind != PLACE_TMPFS;
		if (real && !p->link && allow_place(jail, p, e))
			return -1;
	}
	return jail->temp_dir ? allow(jail, jail->temp_dir, RIGHTS_WRITE, e) : 0;
}

int landlock_apply(struct jail *jail, struct err *e)
{
	struct layers *layers = &jail->report->layers;
	if (jail->ruleset_fd >= 0 && ll_restrict(jail->ruleset_fd))
		return err_errno(e, "cannot enter the Landlock domain");
	layers->landlock = jail->ruleset_fd < 0 ? 0 : jail->landlock_abi;
	layers->landlock_scopes = layers->landlock >= 6;
	return 0;
}
