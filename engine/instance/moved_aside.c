#include "instance/moved_aside.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/utf8.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

/* LISTED_MAX also bounds the numbers in a row that may be free: a person has moved those back. */
enum { LISTED_MAX = 100 };

/* Reads one entry; NULL: nothing lies there. */
static json_t *entry(const struct instance *instance, int number)
{
	char name[64], to[PATH_MAX], path[PATH_MAX];
	AUTO_FREE char *from = NULL;
	size_t len;
	struct stat st;
	struct err e = ERR_NONE;
	snprintf(name, sizeof(name), "aside/%d/moved", number);
	if (fstatat(instance->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) ||
		snprintf(to, sizeof(to), "%s/%s", instance->path, name) >= PATH_MAX)
		return NULL;
	snprintf(name, sizeof(name), "aside/%d/from", number);
	if (io_read_plain(instance->dir_fd, name, PATH_MAX, &from, &len, &e))
		return NULL;
	utf8_copy(path, sizeof(path), from);
	return json_pack("{s:s, s:s}", "path", path, "to", to);
}

json_t *moved_aside_list(const struct instance *instance)
{
	json_t *list = NULL;
	for (int number = 1, last = 0; number <= last + LISTED_MAX; number++) {
		json_t *one = entry(instance, number);
		if (!one)
			continue;
		last = number;
		list = list ? list : json_array();
		json_array_append_new(list, one);
		if (json_array_size(list) == LISTED_MAX)
			break;
	}
	return list;
}
