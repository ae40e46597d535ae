/*
 * The layers of a confinement in words, from the report of the program that applied them: the jail
 * (jail/jail_report.h), or the agent in its `confined` event.
 */
#ifndef REPORT_LAYERS_H
#define REPORT_LAYERS_H
#include "base/buf.h"
#include <jansson.h>

/* Appends one layer: "no capabilities", "Landlock ABI 7"; nothing for a layer that had nothing to
 * do. */
void layers_word(struct buf *out, const char *name, const json_t *value);
/* Appends all of them on one line, wrapped at 80 columns and indented below. */
void layers_text(struct buf *out, const json_t *layers, size_t indent);
#endif
