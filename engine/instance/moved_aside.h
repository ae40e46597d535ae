/*
 * Repositories that commands made and that were moved into an instance's `aside/`. The journal
 * names those of finished steps; of a command that was cut, only the directory knows.
 */
#ifndef INSTANCE_MOVED_ASIDE_H
#define INSTANCE_MOVED_ASIDE_H
#include "instance/instance.h"

#include <jansson.h>

/* Returns [{path, to}] of those that still lie there, a new reference: the place that each had, and
 * its present one. Lists the first 100, in the order in which they were moved. NULL: there is none.
 */
json_t *moved_aside_list(const struct instance *instance);
#endif
