/*
 * The lines that a run writes to the audit trail: each names its instance, state and step.
 */
#ifndef RUN_RUN_AUDIT_H
#define RUN_RUN_AUDIT_H
#include "audit/audit.h"
#include "run/live.h"

/* Returns a line for this step; takes `fields` (NULL: none). New reference. */
json_t *run_audit_line(
	const struct live *live, const struct step *step, enum audit_type type, json_t *fields);
/* Returns the words of a command for a line: `argv`, or if that is over 16 KiB, a shortened text
 * and `truncated`. New reference: an object to merge into the line's fields. */
json_t *run_audit_argv(const json_t *argv);
/* Writes an `audit` event of an agent, with only the types and fields that it may report. */
void run_audit_take(struct live *live, const struct step *step, const json_t *event);
/* Records a tool state whose command was killed by the jail's system call filter. */
void run_audit_tool(struct live *live, const struct step *step, const struct fact *fact);
/* Records the repositories that a command made. */
void run_audit_planted(struct live *live, const struct step *step, const json_t *planted);
/* Records the refusals in the sums by endpoint. */
void run_audit_egress(struct live *live, const struct step *step, const json_t *by_endpoint);
#endif
