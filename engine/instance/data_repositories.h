/*
 * Repositories in an instance's data directory. States may make them there, and a person's git
 * executes what their settings say as soon as it works in one.
 */
#ifndef INSTANCE_DATA_REPOSITORIES_H
#define INSTANCE_DATA_REPOSITORIES_H
#include "instance/instance.h"

#include <jansson.h>

/* Looks for directories that git, Mercurial or Jujutsu take for a repository. Returns {paths, cut}:
 * their absolute paths, the first of many, and whether there may be more than the search has come
 * to. Follows no link. NULL: there is none, and all was looked at. New
 * reference. */
json_t *data_repositories(const struct instance *instance);
#endif
