/*
 * Absolute path names in normal form, compared by whole components. Pure text: no file is touched.
 */
#ifndef JAIL_PATH_H
#define JAIL_PATH_H
#include <stdbool.h>
#include <stddef.h>

/* Begins with "/", is not "/" itself, no empty, "." or ".." component, no trailing "/", shorter
 * than PATH_MAX. */
bool path_is_normal(const char *path);
/* `path` lies strictly below `dir`. */
bool path_is_below(const char *path, const char *dir);
/* The same, or equal. */
bool path_is_within(const char *path, const char *dir);
#endif
