/*
 * The mount calls of Linux 5.2 to 5.12, which the C libraries of the oldest systems supported do
 * not all wrap. Source: include/uapi/linux/mount.h.
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
#endif
