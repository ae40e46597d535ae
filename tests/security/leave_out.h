/*
 * Which layers of the jail the environment leaves out: JAIL_LEAVE_OUT="landlock,pin". Only the
 * build of `make teeth` includes this, so that the attack corpus can be seen to notice.
 */
#ifndef TESTS_LEAVE_OUT_H
#define TESTS_LEAVE_OUT_H
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool leave_out_names(const char *layer)
{
	const char *list = getenv("JAIL_LEAVE_OUT");
	for (size_t len = strlen(layer); list && *list; list += *list == ',') {
		size_t item = strcspn(list, ",");
		if (item == len && !strncmp(list, layer, len))
			return true;
		list += item;
	}
	return false;
}
#define LAYER_ON(name) (!leave_out_names(name))
#endif
