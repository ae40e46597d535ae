/*
 * Which layers of the jail the environment leaves out: JAIL_LEAVE_OUT="landlock,pin". Only the
 * build of `make teeth` includes this, so that the attack corpus can be seen to notice.
 */
#ifndef TESTS_LEAVE_OUT_H
#define TESTS_LEAVE_OUT_H
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Read at the start: later the launcher shares its environment with the command's process. */
static const char *leave_out_list;

static __attribute__((constructor)) void leave_out_read(void)
{
	leave_out_list = getenv("JAIL_LEAVE_OUT");
}

static inline bool leave_out_names(const char *layer)
{
	const char *list = leave_out_list;
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
