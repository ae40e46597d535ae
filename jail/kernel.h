/*
 * Kernel calls and constants newer than the C library's headers on the oldest system supported
 * (Linux 5.13 and later; glibc 2.36 knows neither Landlock nor the later mount attributes).
 * Sources: include/uapi/linux/{mount,landlock,sched}.h.
 */
#ifndef JAIL_KERNEL_H
#define JAIL_KERNEL_H
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- mounts ------------------------------------------------------------------------------------
 */
#define KERNEL_ATTR_RDONLY 0x00000001u
#define KERNEL_ATTR_NOSUID 0x00000002u
#define KERNEL_ATTR_NODEV  0x00000004u
#define KERNEL_ATTR_NOEXEC 0x00000008u
#define KERNEL_ATTR_IDMAP  0x00100000u

#define KERNEL_OPEN_TREE_CLONE 1u
#define KERNEL_AT_RECURSIVE    0x8000u
#define KERNEL_MOVE_F_EMPTY    0x04u
#define KERNEL_MOVE_T_EMPTY    0x40u

struct kernel_mount_attr {
	uint64_t attr_set, attr_clr, propagation, userns_fd;
};

static inline int kernel_open_tree(int dir_fd, const char *path, unsigned flags)
{
	return (int)syscall(SYS_open_tree, dir_fd, path, flags);
}

static inline int kernel_move_mount(int from, int to)
{
	return (int)syscall(
		SYS_move_mount, from, "", to, "", KERNEL_MOVE_F_EMPTY | KERNEL_MOVE_T_EMPTY);
}

static inline int kernel_mount_setattr(int fd, unsigned flags, const struct kernel_mount_attr *attr)
{
	return (int)syscall(SYS_mount_setattr, fd, "", flags, attr, sizeof(*attr));
}

/* --- Landlock, up to ABI 9 ---------------------------------------------------------------------
 */
struct kernel_landlock_ruleset {
	uint64_t fs, net, scoped;
};

struct kernel_landlock_beneath {
	uint64_t allowed;
	int32_t parent_fd;
} __attribute__((packed));

#define LL_EXECUTE      (1ull << 0)
#define LL_WRITE_FILE   (1ull << 1)
#define LL_READ_FILE    (1ull << 2)
#define LL_READ_DIR     (1ull << 3)
#define LL_MAKE_CHAR    (1ull << 6)
#define LL_MAKE_BLOCK   (1ull << 11)
#define LL_ABI1_ALL     ((1ull << 13) - 1)
#define LL_REFER        (1ull << 13) /* ABI 2 */
#define LL_TRUNCATE     (1ull << 14) /* ABI 3 */
#define LL_IOCTL_DEV    (1ull << 15) /* ABI 5 */
#define LL_RESOLVE_UNIX (1ull << 16) /* ABI 9 */
#define LL_BIND_TCP     (1ull << 0)  /* ABI 4 */
#define LL_CONNECT_TCP  (1ull << 1)
#define LL_SCOPE_UNIX   (1ull << 0) /* ABI 6 */
#define LL_SCOPE_SIGNAL (1ull << 1)

#define LL_RULE_BENEATH   1u
#define LL_CREATE_VERSION 1u

static inline int kernel_landlock_create(
	const struct kernel_landlock_ruleset *set, size_t size, unsigned flags)
{
	return (int)syscall(SYS_landlock_create_ruleset, set, size, flags);
}

static inline int kernel_landlock_add(int ruleset, const struct kernel_landlock_beneath *rule)
{
	return (int)syscall(SYS_landlock_add_rule, ruleset, LL_RULE_BENEATH, rule, 0);
}

static inline int kernel_landlock_restrict(int ruleset)
{
	return (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
}
#endif
