/*
 * Keys that stand in a bundle, for everybody who reads it, its history or a packed copy.
 */
#ifndef CLI_BUNDLE_LITERALS_H
#define CLI_BUNDLE_LITERALS_H
#include "cli/verb/loaded.h"

/* A finding for each text of the machine file, and each line of the other members that are text,
 * that holds a token in a vendor's shape or a private key. None shows it. */
void literals_check(const struct loaded *loaded, struct findings *findings);
#endif
