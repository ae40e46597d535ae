/*
 * What no jail may write or see wherever it lies, because every later confinement rests on it: the
 * operator's configuration, the keys beside it, this program and those it starts on the host.
 */
#ifndef CLI_HELD_H
#define CLI_HELD_H
#include "base/arena.h"
#include "config/config.h"
#include <stddef.h>

enum { HELD_MAX = 24 };

/* For struct confine: real paths, in the arena. */
struct held {
	struct arena *arena; /* borrowed */
	const char *protect[HELD_MAX], *hide[HELD_MAX];
	size_t protect_count, program_count, hide_count;
};

/* `paths`: where `config` comes from; NULL: from nobody's files. The workspace is the working
 * directory. */
void held_init(struct held *h, struct arena *arena, const struct config *config,
	const struct config_paths *paths, const char *workspace);
/* Names by its real path what machine.notify.on_event reaches through a place where commands may
 * write: they could turn a link there. An error where its program is yet to come. The list is
 * then `arena`'s: it goes back before that does. */
int held_settle(struct arena *arena, struct config *config, const char *workspace,
	struct err *e) MUST_CHECK;
/* Adds what lies at `path`, if something does. */
void held_protect(struct held *h, const char *path);
#endif
