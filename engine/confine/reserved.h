/*
 * What no jail may write or see wherever it lies, because every later confinement rests on it: the
 * operator's configuration, the keys beside it, this program and those it starts on the host.
 */
#ifndef CONFINE_RESERVED_H
#define CONFINE_RESERVED_H
#include "base/arena.h"
#include "config/config.h"
#include "confine/confine.h"

struct reserved {
	/* The caller's, borrowed. Commands may write in the workspace, which is the working
	 * directory, unless all of them only read it, in what `config` grants, and in `writes`. */
	struct arena *arena;
	const struct config *config;
	const char *workspace;
	bool only_read;
	struct config_list writes;
	/* Made by reserved_init, in the arena. */
	struct reserved_path *paths;           /* for struct confine */
	struct config_list grants[3], protect; /* all by their real paths */
};

/* `paths`: where `config` comes from; NULL: from nobody's files. An error where a command could
 * turn a link on the way to one of these, or make one that is yet to come: the next run would take
 * what it then finds. */
int reserved_init(
	struct reserved *reserved, const struct config_paths *paths, struct err *e) MUST_CHECK;
/* Adds what lies at `path`, if something does and was not added before. */
void reserved_add(struct reserved *reserved, enum reserved_as as, const char *path);
#endif
