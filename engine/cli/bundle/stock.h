/*
 * The stock bundles (machines/), compiled in: what `machine new --from NAME` copies.
 */
#ifndef CLI_BUNDLE_STOCK_H
#define CLI_BUNDLE_STOCK_H
#include <stddef.h>
#include <sys/types.h>

struct stock_file {
	const char *path;
	mode_t mode; /* before the umask */
	const char *bytes;
	size_t len;
};

struct stock {
	const char *name, *summary;
	const struct stock_file *files;
	size_t count;
};

/* NULL: there is none of that name. */
const struct stock *stock_find(const char *name);
/* A command that prints their names, a line each. */
extern const char stock_lister[];
/* For --help: each one's name and summary, a line each. */
extern const char stock_details[];
#endif
