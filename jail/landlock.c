/*
 * Landlock: the layout once more, enforced by a part of the kernel that knows nothing of mounts.
 *
 * Attack: a mount that came out wrong, a descriptor or /proc link that leads around the mounts,
 * tracing or signalling a process outside, abstract sockets of a shared network. On the hardened
 * profile this is the only wall around files.
 */
#include "jail/jail.h"
#include "jail/kernel.h"
#include "jail/leave_out.h"
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { ABI_KNOWN = 9, ABI_STRICT = 2, ABI_HARDENED = 3 };

#define RIGHTS_READ (LL_READ_FILE | LL_READ_DIR)
#define RIGHTS_FILE (LL_EXECUTE | LL_WRITE_FILE | LL_READ_FILE | LL_TRUNCATE | LL_IOCTL_DEV)

int landlock_ask(struct jail *j, struct err *e)
{
	int abi = kernel_landlock_create(NULL, 0, LL_CREATE_VERSION);
	j->landlock_abi = abi < 0 ? 0 : abi > ABI_KNOWN ? ABI_KNOWN : abi;
	if (j->policy.profile == PROFILE_HARDENED && j->landlock_abi < ABI_HARDENED)
		return err_set(e,
			"the hardened profile needs Landlock ABI %d (Linux 6.2), and this kernel "
			"has %d",
			ABI_HARDENED, j->landlock_abi);
	return 0;
}

static uint64_t rights_known(int abi)
{
	uint64_t rights = LL_ABI1_ALL;
	rights |= abi >= 2 ? LL_REFER : 0;
	rights |= abi >= 3 ? LL_TRUNCATE : 0;
	rights |= abi >= 5 ? LL_IOCTL_DEV : 0;
	rights |= abi >= 9 ? LL_RESOLVE_UNIX : 0;
	return rights;
}

static uint64_t rights_of(const struct place *p)
{
	switch (p->kind) {
	case PLACE_READ: return RIGHTS_READ | (p->exec ? LL_EXECUTE : 0);
	case PLACE_WRITE:
	case PLACE_TMPFS:
		return ~(LL_MAKE_CHAR | LL_MAKE_BLOCK | LL_IOCTL_DEV | (p->exec ? 0 : LL_EXECUTE));
	case PLACE_PROC: return RIGHTS_READ;
	case PLACE_DEVICE: return LL_READ_FILE | LL_WRITE_FILE | LL_TRUNCATE;
	case PLACE_HIDE:
	case PLACE_MASK: return LL_READ_FILE;
	case PLACE_PIN: return 0; /* covered by the grant it stands in */
	}
	return 0;
}

static int allow(int ruleset, const char *path, uint64_t rights, struct err *e)
{
	AUTO_FD int fd = open(path, O_PATH | O_CLOEXEC);
	struct stat st;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st))
		return err_errno(e, "cannot open %s for Landlock", path);
	if (!S_ISDIR(st.st_mode))
		rights &= RIGHTS_FILE;
	struct kernel_landlock_beneath rule = {.allowed = rights, .parent_fd = fd};
	if (rights && kernel_landlock_add(ruleset, &rule))
		return err_errno(e, "cannot allow %s in Landlock", path);
	return 0;
}

static int allow_layout(const struct jail *j, int ruleset, uint64_t known, struct err *e)
{
	bool strict = j->policy.profile == PROFILE_STRICT;
	if (strict &&
		(allow(ruleset, "/", LL_READ_DIR, e) || allow(ruleset, "/etc", RIGHTS_READ, e)))
		return -1;
	for (size_t i = 0; i < j->layout.count; i++) {
		const struct place *p = &j->layout.place[i];
		bool real = strict || p->kind == PLACE_READ || p->kind == PLACE_WRITE ||
			    p->kind == PLACE_PROC || p->kind == PLACE_DEVICE;
		if (real && !p->link && allow(ruleset, p->path, rights_of(p) & known, e))
			return -1;
	}
	return 0;
}

int landlock_apply(struct jail *j, struct err *e)
{
	struct layers *layers = &j->report->layers;
	int abi = j->landlock_abi;
	if (abi < ABI_STRICT || !LAYER_ON("landlock"))
		return 0; /* ABI 1 would forbid every rename between directories */
	struct kernel_landlock_ruleset set = {.fs = rights_known(abi)};
	size_t size = abi >= 6 ? sizeof(set) : abi >= 4 ? sizeof(set) - 8 : sizeof(set) - 16;
	set.scoped = abi >= 6 ? LL_SCOPE_UNIX | LL_SCOPE_SIGNAL : 0;
	if (abi >= 4 && j->policy.profile == PROFILE_HARDENED && j->policy.network == NETWORK_NONE)
		set.net = LL_BIND_TCP | LL_CONNECT_TCP;
	AUTO_FD int ruleset = kernel_landlock_create(&set, size, 0);
	if (ruleset < 0)
		return err_errno(e, "cannot make a Landlock ruleset");
	if (allow_layout(j, ruleset, set.fs, e))
		return -1;
	if (kernel_landlock_restrict(ruleset))
		return err_errno(e, "cannot enter the Landlock domain");
	layers->landlock = abi;
	layers->landlock_scopes = abi >= 6;
	return 0;
}
