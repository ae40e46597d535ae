#include "contract/jail_status.h"

#include "contract/row.h"

#include <stddef.h>

#define ROW(type, name, member)                                                                    \
	{                                                                                          \
		ROW_##type, ROW_ELSE, name, offsetof(struct jail_status, member)                   \
	}
static const struct row rows[] = {ROW(NUMBER, "exit", exit), ROW(NUMBER, "signal", signal),
	ROW(NUMBER, "wall_ms", wall_ms), ROW(NUMBER, "max_rss_kib", max_rss_kib),
	ROW(FLAG, "timed_out", timed_out), ROW(TEXT, "stage", stage), ROW(TEXT, "error", error),
	ROW(NUMBER, "errno", error_number), ROW(OBJECT, "limit", limit),
	ROW(OBJECT, "layers", layers), ROW(LIST, "planted", planted), ROW(TEXT, "left", left),
	ROW(FLAG, "stuck", stuck), {.name = NULL}};

struct jail_status jail_status_of(json_t *line)
{
	struct jail_status status = {.given = line, .held = line};
	for (const struct row *row = rows; row->name; row++)
		row_read(row, json_object_get(line, row->name), &status);
	return status;
}

struct jail_status jail_status_copy(const struct jail_status *status)
{
	json_incref(status->held);
	return *status;
}

void jail_status_done(struct jail_status *status)
{
	json_decref(status->held);
	*status = (struct jail_status){.given = false};
}
