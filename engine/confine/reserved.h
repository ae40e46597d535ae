/*
 * The paths that no jail may write or see wherever they lie, because every later confinement rests
 * on them: the operator's configuration, the keys beside it, this program and those that it starts
 * on the host.
 */
#ifndef CONFINE_RESERVED_H
#define CONFINE_RESERVED_H
#include "base/arena.h"
#include "config/config.h"
#include "confine/confine.h"

struct reserved {
	/* The caller's, borrowed. Commands may write in the workspace, which is the working
	 * directory, unless all of them only read it (`only_read`); in the grants of `config`; and
	 * in `writes`. */
	struct arena *arena;
	const struct config *config;
	const char *workspace;
	bool only_read;
	struct config_list writes;
	/* Made by reserved_init, in the arena. */
	struct reserved_path *paths;           /* for struct confine */
	struct config_list grants[3], protect; /* all by their real paths */
};

/* Fills `paths`, `grants` and `protect`. `paths`: the files of `config`; NULL: it has none. Fails
 * if a command could redirect a link on the way to one of these files, or make one that does not
 * exist yet: the next run would then read the command's file. */
int reserved_init(
	struct reserved *reserved, const struct config_paths *paths, struct err *e) MUST_CHECK;
/* Adds the path, if it exists and was not added before. */
void reserved_add(struct reserved *reserved, enum reserved_as as, const char *path);
#endif
