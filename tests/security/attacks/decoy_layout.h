/*
 * The git layout of the decoy's workspace, made of files alone, because the jail does not know git.
 */
#ifndef TESTS_SECURITY_ATTACKS_DECOY_LAYOUT_H
#define TESTS_SECURITY_ATTACKS_DECOY_LAYOUT_H
#include <stdbool.h>

struct decoy;

/* Returns the layout's name; NULL: there is no such layout. Layouts without a name come after the
 * last one. */
const char *decoy_layout_name(int layout);
/* Returns the git directory, "" if there is none; heap. */
char *decoy_layout_git(const struct decoy *decoy);
/* Reports whether the git directory lies outside of the workspace, where an engine grants it for
 * reading. */
bool decoy_layout_is_elsewhere(const struct decoy *decoy);
/* Reports whether hardened, too, protects the target of the attempt `id` in this layout. */
bool decoy_layout_hardened_holds(const struct decoy *decoy, const char *id);
void decoy_layout_fill(const struct decoy *decoy);
/* Removes the layout's files that lie neither in the workspace nor in `outside`. */
void decoy_layout_clear(const struct decoy *decoy);
/* Returns the harm that an attack did to the layout; NULL: none. */
const char *decoy_layout_harm(const struct decoy *decoy);
#endif
