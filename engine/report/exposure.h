/*
 * The exposure of a machine: what each state may touch under the operator's configuration. It is
 * data that is printed, and compared with another version of the bundle.
 *
 * A state: {"state", "kind", "does" (its command or prompt source), "ranks": {"workspace", "mode"},
 * "sets": {"reads", "writes", "egress", "env", "secrets"}, "limits": {NAME: number|null}}. In
 * limits null means unlimited. An agent of mode `run` also has the texts "verify" and "commands", a
 * tool "ok_exit" unless that is 0 alone.
 * Ranks are ordered words. Limits and hosts that refer to parameters have the values of the start,
 * or the declared ones; "fixed" of the machine lists them: [{"state" (null: the budget), "key",
 * "parameter", "value" (null: a start has yet to give it)}].
 */
#ifndef REPORT_EXPOSURE_H
#define REPORT_EXPOSURE_H
#include "config/config.h"
#include "machine/machine.h"

/* Enough for any bundle, since a reviewer is shown all of it. */
enum { EXPOSURE_BYTES_MAX = 256 * 1024 * 1024 };

/* The names of the sets. */
enum { EXPOSURE_SETS = 5 };
extern const char *const exposure_sets[EXPOSURE_SETS];

/* The item of a set "egress" without bounds. */
#define EXPOSURE_ANY_HOST "any host"

/* The limit that binds only where spending can be measured; "usd" always binds. */
#define EXPOSURE_BEST_EFFORT "best_effort_usd"

/* `blackboard`: of a run that has begun; NULL: the declared values are shown.
 * Returns {"machine", "interface": see interface.h, "fixed", "states": [...], "union":
 * {"workspace", "reads", ...}, "limits": {...}}, without states that touch nothing (branch, wait,
 * terminal). New reference. */
json_t *exposure_of(const struct machine *machine, const json_t *blackboard,
	const struct config *config, const char *workspace);

/* Returns the place of `word` in its order (none < read < write; tool < agent < run); -1:
 * unknown. */
int exposure_rank(const char *what, const char *word);

/* Adds one finding per widening (a warning) and per narrowing (a note) from `old` to `now`, at the
 * key of `machine`, the newer machine, that causes it, or at the state. Returns how many
 * widened. */
size_t exposure_compare(const json_t *old, const json_t *now, const struct machine *machine,
	struct findings *findings);

/* Does the same for a bundle that is new as a whole: each host that it may reach, each path that it
 * may write outside the workspace and each secret is a widening. */
size_t exposure_compare_new(
	const json_t *now, const struct machine *machine, struct findings *findings);

/* Write the exposure for a reviewer: in at most 100 columns, as Markdown, or as a part of a
 * page. */
void exposure_text(const json_t *exposure, struct buf *out);
void exposure_html(const json_t *exposure, struct buf *out);
void exposure_markdown(const json_t *exposure, struct buf *out);
/* Adds findings for tools that read them: one note per state of `machine` and one for the
 * machine. */
void exposure_findings(
	const json_t *exposure, const struct machine *machine, struct findings *findings);
#endif
