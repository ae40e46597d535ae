/*
 * The members of facts in the journal (schema/journal.schema.json), one row each.
 */
#ifndef CONTRACT_FACT_TABLE_H
#define CONTRACT_FACT_TABLE_H

/* clang-format off */
/* Type, when it is written (contract/row.h), name, member of struct fact. */
#define FACT_WORK(X) \
	X(TEXT, ELSE, "logs_cut", logs_cut) \
	X(LIST, ELSE, "moved_aside", moved_aside)
#define FACT_TOOL_MEMBERS(X) \
	X(NUMBER, ALWAYS, "exit", tool.exit) \
	X(NUMBER, ALWAYS, "signal", tool.signal) \
	X(FLAG, NEEDED, "timed_out", tool.timed_out) \
	X(TEXT, NEEDED, "stdout", tool.output) \
	X(COUNT, ELSE, "stdout_dropped", tool.output_dropped) \
	X(NUMBER, ELSE, "stdout_tail_bytes", tool.output_tail_bytes) \
	X(TEXT, ELSE, "stdout_sha256", tool.output_sha256) \
	X(FLAG, ELSE, "not_utf8", tool.not_utf8) \
	X(FLAG, ELSE, "too_many_values", tool.too_many_values) \
	X(TEXT, ALWAYS, "stderr_tail", tool.stderr_tail) \
	X(NUMBER, ALWAYS, "wall_ms", tool.wall_ms) \
	X(NUMBER, ALWAYS, "max_rss_kib", tool.max_rss_kib) \
	X(TEXT, ELSE, "reason", reason) \
	X(TEXT, ELSE, "lost", tool.lost) \
	X(TEXT, ELSE, "not_kept", tool.not_kept) \
	X(TEXT, ELSE, "planted", tool.planted) \
	FACT_WORK(X)
#define FACT_NOT_RUN_MEMBERS(X) \
	X(TEXT, NEEDED, "not_run", not_run)
/* The members of struct spend come with these. */
#define FACT_AGENT_MEMBERS(X) \
	X(OUTCOME, NEEDED, "outcome", agent.outcome) \
	X(TEXT, ALWAYS, "reason", reason) \
	X(OBJECT, ALWAYS, "payload", agent.payload) \
	X(TEXT, ALWAYS, "provider", agent.provider) \
	X(TEXT, ALWAYS, "model", agent.model) \
	X(COUNT, ALWAYS, "turns", agent.turns) \
	FACT_WORK(X)
#define FACT_WAIT_MEMBERS(X) \
	X(TEXT, ALWAYS, "wake", wait.wake) \
	X(WAKER, NEEDED, "woke_by", wait.woke_by) \
	X(OBJECT, ALWAYS, "payload", wait.payload) \
	X(TEXT, ELSE, "poke", wait.poke)
#define FACT_BRANCH_MEMBERS(X) \
	X(COUNT, NEEDED, "clause", clause)
#define FACT_VISITS_MEMBERS(X) \
	X(COUNT, NEEDED, "visits", visits)
/* clang-format on */

#endif
