/*
 * The stock bundles (machines/), compiled in: `machine new --from NAME` copies them.
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

/* Returns the bundle of that name; NULL: there is none. */
const struct stock *stock_find(const char *name);
/* A command that prints their names, one per line. */
extern const char stock_lister[];
/* The name and summary of each, one per line, for --help. */
extern const char stock_details[];
#endif
