/*
 * The members of the journal's lines (schema/journal.schema.json), one row each.
 */
#ifndef CONTRACT_LINE_TABLE_H
#define CONTRACT_LINE_TABLE_H

/* clang-format off */
/* Type, when it is written (contract/row.h), name, member of struct line. Every line has t, ts, seq
 * and the journal's h, too. */
#define LINE_STATE(X) \
	X(TEXT, NEEDED, "state", state)
/* A fact comes with these. */
#define LINE_WORK(X) \
	LINE_STATE(X) \
	X(COUNT, NEEDED, "attempt", attempt) \
	X(TEXT, NEEDED, "label", label)
#define LINE_BEGIN_MEMBERS(X) \
	X(TEXT, NEEDED, "instance", begin.instance) \
	X(TEXT, NEEDED, "machine", begin.machine) \
	X(COUNT, NEEDED, "format", begin.format) \
	X(TEXT, NEEDED, "bundle", begin.bundle) \
	X(OBJECT, NEEDED, "parameters", begin.parameters) \
	X(TEXT, NEEDED, "profile", begin.profile) \
	X(TEXT, NEEDED, "agent6", begin.agent6) \
	X(LIST, NEEDED, "overrides", begin.overrides) \
	X(TEXT, ELSE, "workspace", begin.workspace) \
	X(TEXT, ELSE, "repository", begin.repository)
#define LINE_STEP_MEMBERS(X) \
	LINE_WORK(X) \
	X(TEXT, NEEDED, "goto", go_to)
#define LINE_RETRY_MEMBERS(X) \
	LINE_WORK(X) \
	X(COUNT, NEEDED, "delay_ms", retry.delay_ms) \
	X(TEXT, NEEDED, "until", retry.until)
#define LINE_ARMED_MEMBERS(X) \
	LINE_STATE(X) \
	X(TEXT, ALWAYS, "wake", armed.wake) \
	X(TOTALS, ELSE, "totals", armed.totals)
#define LINE_REFUSED_MEMBERS(X) \
	LINE_STATE(X) \
	X(TEXT, NEEDED, "poke", refused.poke) \
	X(TEXT, NEEDED, "reason", refused.reason) \
	X(TOTALS, NEEDED, "totals", refused.totals)
#define LINE_NOTIFY_MEMBERS(X) \
	LINE_STATE(X) \
	X(LEVEL, NEEDED, "level", notify.level) \
	X(TEXT, NEEDED, "message", notify.message)
#define LINE_EGRESS_MEMBERS(X) \
	LINE_STATE(X) \
	X(TEXT, NEEDED, "endpoint", egress.endpoint) \
	X(COUNT, NEEDED, "connections", egress.connections) \
	X(COUNT, NEEDED, "up", egress.up) \
	X(COUNT, NEEDED, "down", egress.down) \
	X(OBJECT, NEEDED, "refusals", egress.refusals)
#define LINE_AUTORUN_MEMBERS(X) \
	LINE_STATE(X) \
	X(TEXT, ELSE, "branch", autorun.branch) \
	X(LIST, NEEDED, "files", autorun.files) \
	X(COUNT, NEEDED, "more", autorun.more) \
	X(FLAG, NEEDED, "cut", autorun.cut)
/* The members of struct spend come with these. */
#define LINE_SPEND_MEMBERS(X) \
	LINE_STATE(X) \
	X(COUNT, NEEDED, "attempt", attempt)
#define LINE_STOP_MEMBERS(X) \
	LINE_STATE(X) \
	X(STOPPER, NEEDED, "by", stop)
#define LINE_END_MEMBERS(X) \
	LINE_STATE(X) \
	X(OUTCOME, NEEDED, "status", end.status) \
	X(TEXT, NEEDED, "reason", end.reason) \
	X(CAUSE, NEEDED, "cause", end.cause) \
	X(COUNT, NEEDED, "transitions", end.transitions) \
	X(TOTALS, NEEDED, "totals", end.totals) \
	X(TEXT, NEEDED, "blackboard", end.blackboard) \
	X(OBJECT, ELSE, "returns", end.returns)
/* clang-format on */

#endif
