/*
 * What `machine new` writes: small bundles that check and rehearse as they are.
 */
#ifndef CLI_SKELETONS_H
#define CLI_SKELETONS_H
#include <stddef.h>

struct skeleton_file {
	const char *path; /* NULL ends the list */
	const char *text; /* %NAME% stands for the machine's name */
	unsigned mode;
};

struct skeleton {
	const char *name, *summary;
	const struct skeleton_file *files;
};

extern const struct skeleton skeletons[];
extern const size_t skeleton_count;
#endif
