/*
 * Paths as text: one spelling, and comparisons. Looks nothing up.
 */
#ifndef BASE_PATH_H
#define BASE_PATH_H
#include <stdbool.h>
#include <stddef.h>

/* Paths as a list that ends in NULL. */
#define PATH_LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Reports whether a path begins with "/", is not "/" itself, has no empty, "." or ".." component
 * and no trailing "/", and is shorter than PATH_MAX. */
bool path_is_normal(const char *path);
/* Report for two normal paths (`dir` may be "/") whether `path` lies strictly below `dir`, by whole
 * components; and whether it lies below or is equal. */
bool path_is_below(const char *path, const char *dir);
bool path_is_within(const char *path, const char *dir);

/* The host's own directories, which every jailed command may read. */
#define PATH_SYSTEM_DIRS "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"
/* Files in the host's /etc that the jail writes itself if it has a root of its own, and that must
 * be the host's otherwise. For the other files see etc_table.h. */
#define PATH_HARDENED_FILES                                                                        \
	"/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf"
#endif
