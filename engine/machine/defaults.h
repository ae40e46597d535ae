/*
 * The machine's `defaults`: keys that every state of a kind has that does not say otherwise.
 *
 * They are filled into copies of the states before anything looks at these, so that every check and
 * every report sees the states' effective keys alone. Kinds with TRAIT_DEFAULTS take them. Internal
 * to the reader.
 */
#ifndef MACHINE_DEFAULTS_H
#define MACHINE_DEFAULTS_H
#include "machine/reader.h"

/* Returns a document whose states are filled in, which shares everything else with `doc` and lives
 * in the arena; `doc` itself if there is nothing to fill in. A default that has or will have a
 * finding of its own is filled in as a broken value, so that no state repeats the finding. */
const struct doc *defaults_fill(const struct doc *doc, struct arena *arena);
/* Reports the states that defaults name and that do not exist. */
void defaults_check(struct reader *reader);
#endif
