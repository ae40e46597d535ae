/*
 * The layers of a confinement in words, as the program that applied them reported them: the jail
 * (jail/report.h), or the agent in its `confined` event.
 */
#ifndef REPORT_LAYERS_H
#define REPORT_LAYERS_H
#include "base/buf.h"
#include <jansson.h>

/* One of them: "no capabilities", "Landlock ABI 7"; nothing for one that only says that there was
 * nothing to do. */
void layers_word(struct buf *out, const char *name, const json_t *value);
/* All of them on one line, wrapped at 80 columns and indented below. */
void layers_text(struct buf *out, const json_t *layers, size_t indent);
#endif
