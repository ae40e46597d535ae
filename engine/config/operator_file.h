/*
 * The operator's own YAML files, config.yaml and secrets.yaml: sets one value at a time and leaves
 * everything else, including comments, as it is.
 */
#ifndef CONFIG_OPERATOR_FILE_H
#define CONFIG_OPERATOR_FILE_H
#include "base/buf.h"
#include "base/err.h"
#include "config/config.h"
#include <limits.h>

struct operator_file {
	const char *dir, *name; /* borrowed */
	struct buf text;
	int lock_fd;         /* for operator_file_config: the directory, locked; owned */
	char real[PATH_MAX]; /* for operator_file_config: the target of the link */
};

/* Reads `dir`/`name`; a missing file counts as empty. */
int operator_file_open(
	struct operator_file *file, const char *dir, const char *name, struct err *e);
/* Reads the global configuration. If config.yaml is a link, its target is changed; if the
 * configuration has another syntax, that is an error. Locks it until operator_file_done. */
int operator_file_config(struct operator_file *file, const char *dir, struct err *e);
void operator_file_done(struct operator_file *file);
/* Sets `key` ("sandbox.profile") to `value`, YAML on one line. A change that would rewrite more
 * than that value is an error that says so. */
int operator_file_set(
	struct operator_file *file, const char *key, const char *value, struct err *e);
/* Checks that all of `value` became the value: a comment or a comma in it is an error that says so.
 * Text that is not YAML is left to operator_file_try. */
int operator_file_whole(
	const struct operator_file *file, const char *key, const char *value, struct err *e);
/* Checks that the configuration is valid with this text as the global file; the error tells why
 * not. `findings` receives all findings about it. */
int operator_file_try(const struct operator_file *file, const struct config_paths *paths,
	struct findings *findings, struct err *e);
/* Makes a directory of the operator's own, and those above it. */
int operator_file_dir(const char *dir, struct err *e);
/* Writes the file: makes the directory 0700 and the file 0600, in one step. */
int operator_file_save(const struct operator_file *file, struct err *e);
#endif
