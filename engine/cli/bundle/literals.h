/*
 * Finds keys in a bundle, where everybody can read them who has the bundle, its history or a packed
 * copy.
 */
#ifndef CLI_BUNDLE_LITERALS_H
#define CLI_BUNDLE_LITERALS_H
#include "cli/verb/loaded.h"

/* Adds a finding for each text of the machine file, and each line of the other text members, that
 * holds a token in a vendor's shape or a private key. None shows it. */
void literals_check(const struct loaded *loaded, struct findings *findings);
#endif
