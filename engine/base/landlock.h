/*
 * Landlock's kernel interface up to ABI 9: Debian 12's own header stops at ABI 2 and glibc wraps
 * none of it. The running ABI is asked at run time; a caller masks what the kernel does not know.
 * Source: landlock(7), Documentation/userspace-api/landlock.rst.
 */
#ifndef BASE_LANDLOCK_H
#define BASE_LANDLOCK_H
#include "base/err.h"
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	LL_FS_EXECUTE = 1 << 0,
	LL_FS_WRITE_FILE = 1 << 1,
	LL_FS_READ_FILE = 1 << 2,
	LL_FS_READ_DIR = 1 << 3,
	LL_FS_REMOVE_DIR = 1 << 4,
	LL_FS_REMOVE_FILE = 1 << 5,
	LL_FS_MAKE_CHAR = 1 << 6,
	LL_FS_MAKE_DIR = 1 << 7,
	LL_FS_MAKE_REG = 1 << 8,
	LL_FS_MAKE_SOCK = 1 << 9,
	LL_FS_MAKE_FIFO = 1 << 10,
	LL_FS_MAKE_BLOCK = 1 << 11,
	LL_FS_MAKE_SYM = 1 << 12,
	LL_FS_REFER = 1 << 13,     /* ABI 2 */
	LL_FS_TRUNCATE = 1 << 14,  /* ABI 3 */
	LL_FS_IOCTL_DEV = 1 << 15, /* ABI 5 */
	LL_FS_ALL = (1 << 16) - 1,
	LL_FS_RESOLVE_UNIX = 1 << 16, /* ABI 9: connecting to named sockets; not in ALL */
};
enum { LL_NET_BIND_TCP = 1 << 0, LL_NET_CONNECT_TCP = 1 << 1 };     /* ABI 4 */
enum { LL_SCOPE_ABSTRACT_UNIX = 1 << 0, LL_SCOPE_SIGNAL = 1 << 1 }; /* ABI 6 */
enum { LL_RULE_PATH_BENEATH = 1, LL_RULE_NET_PORT = 2 };

struct ll_ruleset {
	uint64_t handled_fs, handled_net, scoped;
};
struct ll_path {
	uint64_t allowed;
	int32_t parent_fd;
} __attribute__((packed));

/* Returns the highest ABI of the running kernel; -1: none (errno ENOSYS or EOPNOTSUPP). */
static inline int ll_abi(void)
{
	return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
}

/* Returns the file rights that `abi` knows; a rule may name no other. */
static inline uint64_t ll_fs_known(int abi)
{
	static const uint64_t known[] = {
		0, (1 << 13) - 1, (1 << 14) - 1, (1 << 15) - 1, (1 << 15) - 1, LL_FS_ALL};
	return known[abi > 5 ? 5 : abi < 0 ? 0 : abi] | (abi >= 9 ? LL_FS_RESOLVE_UNIX : 0);
}

/* Makes a ruleset with the part of `want` that `abi` knows. Returns a descriptor; -1 with errno. */
static inline int ll_create(int abi, struct ll_ruleset want)
{
	want.handled_fs &= ll_fs_known(abi);
	want.handled_net = abi >= 4 ? want.handled_net : 0;
	want.scoped = abi >= 6 ? want.scoped : 0;
	size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
	return (int)syscall(SYS_landlock_create_ruleset, &want, size, 0);
}

/* Adds a rule (struct ll_path for LL_RULE_PATH_BENEATH). */
static inline int ll_add(int ruleset_fd, int rule, const void *attributes)
{
	return (int)syscall(SYS_landlock_add_rule, ruleset_fd, rule, attributes, 0);
}

/* Allows `rights` at `path` and below; if it is a file, only those that a file can have. A missing
 * path needs no rule. */
int ll_allow(int ruleset_fd, const char *path, uint64_t rights, struct err *e);
/* Does the same for the open `fd`, whatever `path`, used in messages, leads to. */
int ll_allow_fd(int ruleset_fd, int fd, const char *path, uint64_t rights, struct err *e);

/* Restricts the calling thread, and everything it starts from now on, for ever. Needs
 * no_new_privs. */
static inline int ll_restrict(int ruleset_fd)
{
	return (int)syscall(SYS_landlock_restrict_self, ruleset_fd, 0);
}
#endif
