/*
 * Texts for people about the repositories that a run made: those that were moved aside
 * (launch/planted.h), and those in its data directory (instance/data_repositories.h).
 */
#ifndef REPORT_REPOSITORIES_TEXT_H
#define REPORT_REPOSITORIES_TEXT_H
#include "base/buf.h"
#include "contract/line.h"

/* Adds the repositories of a journal line to `lines`, which repositories_html takes. Other lines
 * add nothing. */
void repositories_collect(json_t *lines, const struct line *line);
/* Writes the part of the page about repositories. `data`: the result of data_repositories. */
void repositories_html(const json_t *lines, const json_t *data, struct buf *out);
#endif
