/*
 * A list of paths, which owns them: what a policy grants, protects or hides. It may be empty and
 * still be given, as a list that is left out is not. Where memory runs out the process ends.
 */
#ifndef CONTRACT_PATH_LIST_H
#define CONTRACT_PATH_LIST_H
#include "base/err.h"
#include <jansson.h>
#include <stddef.h>

/* All zero: a list that is not given. */
struct path_list {
	char **items; /* NULL: not given */
	size_t count, room;
};

#define AUTO_PATH_LIST __attribute__((cleanup(path_list_done))) struct path_list

/* Makes the list given, though nothing is in it. */
void path_list_give(struct path_list *list);
/* Add a copy of a path, of several, or of all in another list. */
void path_list_add(struct path_list *list, const char *path);
PRINTF(2, 3)
void path_list_addf(struct path_list *list, const char *format, ...);
void path_list_add_each(struct path_list *list, const char *const *items, size_t count);
void path_list_add_all(struct path_list *list, const struct path_list *from);
/* Takes all paths out; the list stays given. */
void path_list_clear(struct path_list *list);
void path_list_done(struct path_list *list);

/* Returns the list for JSON, a new reference. NULL: it is not given, or a path is not UTF-8. */
json_t *path_list_encode(const struct path_list *list);
/* Makes a list of the texts of a JSON list. */
struct path_list path_list_decode(const json_t *texts);
#endif
