/*
 * Texts for people about the repositories that a run made: those that were moved aside
 * (launch/planted.h, instance/moved_aside.h), and those in its data directory
 * (instance/data_repositories.h).
 */
#ifndef REPORT_REPOSITORIES_TEXT_H
#define REPORT_REPOSITORIES_TEXT_H
#include "base/buf.h"
#include "contract/line.h"

/* Adds the repositories of a journal line to `lines`, which repositories_html takes. Other lines
 * add nothing. */
void repositories_collect(json_t *lines, const struct line *line);
/* Writes the part of the page about repositories. `aside`: the result of moved_aside_list, `data`:
 * of data_repositories. */
void repositories_html(
	const json_t *lines, const json_t *aside, const json_t *data, struct buf *out);
/* Appends the lines of a status about `aside`, which is an array or null. */
void moved_aside_text(const json_t *aside, struct buf *out);
#endif
