/*
 * Paths as text: one spelling, and which lies below which. Nothing is looked up.
 */
#ifndef BASE_PATH_H
#define BASE_PATH_H
#include <stdbool.h>
#include <stddef.h>

/* Paths as a list that ends in NULL. */
#define PATH_LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Begins with "/", is not "/" itself, no empty, "." or ".." component, no trailing "/", shorter
 * than PATH_MAX. */
bool path_is_normal(const char *path);
/* Of two normal paths, where `dir` may be "/": the first lies strictly below the second, by whole
 * components; the same, or they are equal. */
bool path_is_below(const char *path, const char *dir);
bool path_is_within(const char *path, const char *dir);

/* The host's own directories, which every jailed command may read. */
#define PATH_SYSTEM_DIRS "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"
/* Of the host's /etc, what is written for a jail with a root of its own, and must be the host's
 * without one. The rest of it: etc_table.h. */
#define PATH_HARDENED_FILES                                                                        \
	"/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf"
#endif
