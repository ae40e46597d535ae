/*
 * How the decoy's workspace belongs to a git repository, as its files alone: the jail knows no git.
 */
#ifndef TESTS_SECURITY_ATTACKS_DECOY_LAYOUT_H
#define TESTS_SECURITY_ATTACKS_DECOY_LAYOUT_H
#include <stdbool.h>

struct decoy;

/* Its name; NULL: there is no such layout. Those without a name to come after the last one. */
const char *decoy_layout_name(int layout);
/* The git directory, "" where there is none; heap. */
char *decoy_layout_git(const struct decoy *decoy);
/* Whether it lies outside of the workspace, where an engine grants it for reading. */
bool decoy_layout_is_elsewhere(const struct decoy *decoy);
/* Whether hardened, too, holds what the attempt `id` is made at in this layout. */
bool decoy_layout_hardened_holds(const struct decoy *decoy, const char *id);
void decoy_layout_fill(const struct decoy *decoy);
/* Removes what lies neither in the workspace nor in `outside`. */
void decoy_layout_clear(const struct decoy *decoy);
/* What an attack did to it, NULL: nothing. */
const char *decoy_layout_harm(const struct decoy *decoy);
#endif
