/*
 * Coverage: the states, edges, clauses and outcomes of a machine that its rehearsals reached.
 *
 * An edge is a state's outcome, or a clause of a branch, `else` included. A clause counts twice,
 * once true and once false; `else` does not. An outcome is an edge of a state that is no branch.
 */
#ifndef CLI_REHEARSE_COVERAGE_H
#define CLI_REHEARSE_COVERAGE_H
#include "base/buf.h"
#include "contract/line.h"
#include "machine/machine.h"

/* Notes in the object `visits` what a journal line reached. */
void coverage_visit(json_t *visits, const struct line *line);

struct coverage {
	const struct machine *machine;
	bool *entered; /* by state */
	bool **taken;  /* by state and edge (state_edge) */
};

/* Returns -1 if out of memory. Release it in any case. */
int coverage_init(struct coverage *coverage, const struct machine *machine);
void coverage_done(struct coverage *coverage);
/* Adds the visits of one rehearsal. */
void coverage_add(struct coverage *coverage, const json_t *visits);
/* Returns {"states", "edges", "clauses", "outcomes"}, each {"covered", "total", "missing"}
 * (schema/coverage.schema.json). New reference. */
json_t *coverage_json(const struct coverage *coverage);
/* Returns the percentage of edges that were taken, rounded down; of no edges, 100. */
int coverage_percent(const struct coverage *coverage);
void coverage_text(const struct coverage *coverage, struct buf *out);
/* Appends it as Cobertura's XML; `file` is the machine file's name. */
void coverage_cobertura(const struct coverage *coverage, const char *file, struct buf *out);
#endif
