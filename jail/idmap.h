/*
 * User namespaces that exist only to map the ids of a mount.
 *
 * Attack: a jail that root started being root on the host. uid 0 owns /proc/sys and every root file
 * whatever its capabilities, and RLIMIT_NPROC does not count it. The command runs as an unused uid
 * instead, and its writable trees are mounted so that their owner on disk is that uid.
 */
#ifndef JAIL_IDMAP_H
#define JAIL_IDMAP_H
#include "base/err.h"
#include <sys/types.h>

/* A descriptor of a user namespace in which the disk's `uid`:`gid` is HOST_ID and every other id
 * below DISK_IDS is an unused one of its own. */
int idmap_open(uid_t uid, gid_t gid, struct err *e);
/* How far this process's uid 0 reaches. In a user namespace (a rootless container) root is somebody
 * else outside: an ordinary user to the host, unless the namespace maps 0 to 0. */
enum root_kind { ROOT_NOT, ROOT_HOST, ROOT_CONFINED };
enum root_kind idmap_root(void);
/* Writes a whole map file of /proc/PID (uid_map, gid_map, setgroups). */
int idmap_write(pid_t pid, const char *file, const char *text, struct err *e);
#endif
