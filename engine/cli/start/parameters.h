/*
 * Operator parameters at start: `--params FILE`, then each `--set NAME=VALUE`.
 */
#ifndef CLI_START_PARAMETERS_H
#define CLI_START_PARAMETERS_H
#include "cli/verb/verb.h"
#include "machine/machine.h"

/* Returns an object NAME: value, every value checked against the machine. NULL with the reason. */
json_t *parameters_read(const struct call *call, const struct machine *machine, struct err *e);
#endif
