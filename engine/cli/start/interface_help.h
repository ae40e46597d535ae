/*
 * The part of `machine run BUNDLE --help` about that machine.
 */
#ifndef CLI_START_INTERFACE_HELP_H
#define CLI_START_INTERFACE_HELP_H

/* Prints the machine's name and description, its parameters, the fields of its result and its ends.
 * Says so on stderr if the bundle cannot be read or has errors. */
void interface_help(const char *path);
#endif
