#include "jail/path.h"

#include <limits.h>
#include <string.h>

bool path_is_normal(const char *path)
{
	if (path[0] != '/' || !path[1] || strlen(path) >= PATH_MAX)
		return false;
	while (*path == '/') {
		size_t len = strcspn(++path, "/");
		bool dots = (len == 1 && path[0] == '.') ||
			    (len == 2 && path[0] == '.' && path[1] == '.');
		if (!len || dots)
			return false;
		path += len;
	}
	return true;
}

bool path_is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);
	return !strncmp(path, dir, len) && path[len] == '/';
}

bool path_is_within(const char *path, const char *dir)
{
	return path_is_below(path, dir) || !strcmp(path, dir);
}
