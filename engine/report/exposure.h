/*
 * The exposure of a machine: what each state may touch once the operator's configuration is
 * applied, as data that is printed, and compared with another version of the bundle.
 *
 * A state: {"state", "kind", "does" (its command or prompt source), "ranks": {"workspace", "mode"},
 * "sets": {"reads", "writes", "egress", "env", "secrets"}, "limits": {NAME: number|null}}. In
 * limits null means unlimited. An agent of mode `run` has "verify" and "commands" as well: texts.
 * Ranks are ordered words.
 */
#ifndef REPORT_EXPOSURE_H
#define REPORT_EXPOSURE_H
#include "config/config.h"
#include "machine/machine.h"

/* Whatever a bundle may hold, spelt out: a reviewer is shown all of it. */
enum { EXPOSURE_BYTES_MAX = 256 * 1024 * 1024 };

/* The names of the sets. */
enum { EXPOSURE_SETS = 5 };
extern const char *const exposure_sets[EXPOSURE_SETS];

/* The one item of a set "egress" that has no bounds. */
#define EXPOSURE_ANY_HOST "any host"

/* The limit that binds only where spend can be measured, beside "usd", which always does. */
#define EXPOSURE_BEST_EFFORT "best_effort_usd"

/* {"machine", "states": [...], "union": {"workspace", "reads", ...}, "limits": {...}}; states that
 * touch nothing (branch, wait, terminal) are left out. New reference. */
json_t *exposure_of(
	const struct machine *machine, const struct config *config, const char *workspace);

/* The place of `word` in its order (none < read < write; tool < agent < run); -1: unknown. */
int exposure_rank(const char *what, const char *word);

/* Adds one finding per widening (a warning) and per narrowing (a note) from `old` to `now`, at what
 * says so in `machine`, the newer machine, else at the state. Returns how many widened. */
size_t exposure_compare(const json_t *old, const json_t *now, const struct machine *machine,
	struct findings *findings);

/* For a reviewer: at most 100 columns, Markdown, or a part of an HTML page. */
void exposure_text(const json_t *exposure, struct buf *out);
void exposure_html(const json_t *exposure, struct buf *out);
void exposure_markdown(const json_t *exposure, struct buf *out);
/* For tools that read findings: one note per state of `machine` and one for the machine. */
void exposure_findings(
	const json_t *exposure, const struct machine *machine, struct findings *findings);
#endif
