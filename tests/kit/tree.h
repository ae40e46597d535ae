/*
 * Small file trees for tests: written below a directory, every failure ends the test program.
 */
#ifndef TESTS_KIT_TREE_H
#define TESTS_KIT_TREE_H
#include <sys/types.h>

/* Writes DIR/PATH with the directories above it; `mode` as chmod(2). */
void tree_file(const char *dir, const char *path, const char *text, mode_t mode);
void tree_dir(const char *dir, const char *path);
void tree_link(const char *dir, const char *path, const char *target);
/* "DIR/PATH", valid until the 16th next call. */
const char *tree_path(const char *dir, const char *path);
#endif
