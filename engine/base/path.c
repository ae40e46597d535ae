#include "base/path.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

bool path_is_normal(const char *path)
{
	char ended[PATH_MAX];
	return path[0] == '/' && path[1] &&
	       snprintf(ended, sizeof(ended), "%s/", path) < PATH_MAX && !strstr(ended, "//") &&
	       !strstr(ended, "/./") && !strstr(ended, "/../");
}

bool path_is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);
	if (!strcmp(dir, "/"))
		return path[0] == '/' && path[1];
	return !strncmp(path, dir, len) && path[len] == '/';
}

bool path_is_within(const char *path, const char *dir)
{
	return path_is_below(path, dir) || !strcmp(path, dir);
}
