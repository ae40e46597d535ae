/*
 * LAYER_ON("name"): true in every shipped program. Only the build of `make teeth` defines
 * JAIL_LEAVE_OUT, and there the environment names layers to leave out ("landlock,pin"), so that the
 * attack corpus can be seen to notice.
 */
#ifndef JAIL_LEAVE_OUT_H
#define JAIL_LEAVE_OUT_H
#ifdef JAIL_LEAVE_OUT
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
#else
#define LAYER_ON(name) 1
#endif
#endif
