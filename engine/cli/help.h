/*
 * The text of --help, from the verb table.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H
#include "cli/verbs.h"
#include <stdio.h>

/* Writes every verb, or those of one group ("machine"). */
void help_overview(FILE *out, const char *group);
void help_verb(FILE *out, const struct verb *verb);
#endif
