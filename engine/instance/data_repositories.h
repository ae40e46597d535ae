/*
 * Repositories in an instance's data directory. States may make them there, and a person's git
 * executes what their settings say as soon as it works in one.
 */
#ifndef INSTANCE_DATA_REPOSITORIES_H
#define INSTANCE_DATA_REPOSITORIES_H
#include "instance/instance.h"

#include <jansson.h>

/* Looks for directories that git, Mercurial or Jujutsu take for a repository, and follows no link.
 * Returns {paths, cut}, a new reference: the absolute paths of the first ones, and whether there
 * may be more than the search reached. NULL: there is none, and the search was complete. */
json_t *data_repositories(const struct instance *instance);
#endif
