/*
 * What people read about the repositories that a run made: those that were moved aside
 * (launch/planted.h), and those in its data directory (instance/data_repositories.h).
 */
#ifndef REPORT_REPOSITORIES_TEXT_H
#define REPORT_REPOSITORIES_TEXT_H
#include "base/buf.h"
#include <jansson.h>

/* Adds a journal line's to `lines`, which repositories_html takes; other lines add nothing. */
void repositories_collect(json_t *lines, const json_t *fields);
/* Writes a part of a page; `data` as of data_repositories. */
void repositories_html(const json_t *lines, const json_t *data, struct buf *out);
#endif
