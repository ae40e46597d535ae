/*
 * What a run writes into the audit trail: every line says which instance, state and step it is of.
 */
#ifndef RUN_RUN_AUDIT_H
#define RUN_RUN_AUDIT_H
#include "audit/audit.h"
#include "run/live.h"

/* A line of this step; takes `fields` (NULL: none). New reference. */
json_t *run_audit_line(
	const struct live *live, const struct step *step, enum audit_type type, json_t *fields);
/* The words of a command as they are recorded: an `argv`, or, over 16 KiB, what of it is shown and
 * `truncated`. New reference: an object to merge into a line's fields. */
json_t *run_audit_argv(const json_t *argv);
/* An `audit` event of an agent: only the types it may report, only the fields they have. */
void run_audit_take(struct live *live, const struct step *step, const json_t *event);
/* A tool state whose command the jail's system call filter has killed. */
void run_audit_tool(struct live *live, const struct step *step, const json_t *fact);
/* The repositories that a command made. */
void run_audit_planted(struct live *live, const struct step *step, const json_t *planted);
/* The refusals in the lines that `egress_lines` made. */
void run_audit_egress(struct live *live, const struct step *step, const json_t *lines);
#endif
