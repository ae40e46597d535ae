/*
 * The operator's own YAML files, config.yaml and secrets.yaml: one value set at a time, everything
 * else, comments too, left as it is.
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
	int lock_fd;         /* of operator_file_config: the directory, locked; owned */
	char real[PATH_MAX]; /* of operator_file_config: where the link leads */
};

/* Reads `dir`/`name`; one that is not there is empty. */
int operator_file_open(
	struct operator_file *file, const char *dir, const char *name, struct err *e);
/* The same of the global configuration: where config.yaml is a link, what it stands for is changed;
 * where the configuration has another syntax, that is an error. Nobody else changes it this way
 * until operator_file_done. */
int operator_file_config(struct operator_file *file, const char *dir, struct err *e);
void operator_file_done(struct operator_file *file);
/* Sets `key` ("sandbox.profile") to `value`, YAML on one line. What cannot be done without
 * rewriting more than that value is an error that says so. */
int operator_file_set(
	struct operator_file *file, const char *key, const char *value, struct err *e);
/* Whether all of `value`, which was set, is the value: a comment or a comma in it is an error that
 * says so. What is no YAML is left to operator_file_try. */
int operator_file_whole(
	const struct operator_file *file, const char *key, const char *value, struct err *e);
/* Whether the configuration would be valid with this text as the global file; the error says why
 * not. `findings`: all there is to say about it. */
int operator_file_try(const struct operator_file *file, const struct config_paths *paths,
	struct findings *findings, struct err *e);
/* Makes a directory of the operator's own, and all above it. */
int operator_file_dir(const char *dir, struct err *e);
/* Writes it: the directory is made 0700, the file 0600, in one step. */
int operator_file_save(const struct operator_file *file, struct err *e);
#endif
