/*
 * Checks the cassettes of a bundle, which nothing but a rehearsal reads.
 */
#ifndef CLI_BUNDLE_CASSETTES_H
#define CLI_BUNDLE_CASSETTES_H
#include "cli/verb/loaded.h"

/* Adds a finding for each line that a rehearsal would refuse, or that is for a state which the
 * machine does not have. */
void cassettes_check(const struct loaded *loaded, struct findings *findings);
#endif
