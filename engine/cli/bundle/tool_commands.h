/*
 * Checks a machine's commands against this host: the part of `machine check` that looks outside the
 * bundle.
 */
#ifndef CLI_BUNDLE_TOOL_COMMANDS_H
#define CLI_BUNDLE_TOOL_COMMANDS_H
#include "cli/verb/loaded.h"

/* Adds findings about programs that the jail's PATH does not have here, absolute ones in
 * `workspace`, where an agent could replace them, and scripts whose interpreter is missing; each
 * program at the first state that names it. Then reports the classifier's level of every command
 * that is known before it runs, from destructive up. */
void tool_commands_check(
	const struct loaded *loaded, const char *workspace, struct findings *findings);
#endif
