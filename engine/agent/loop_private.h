/*
 * The loop of one agent state, as its files share it: loop.c makes the calls and takes the replies,
 * loop_begin.c sets everything up, loop_cut.c handles a turn that was cut, loop_failed_call.c a
 * call that failed, loop_result.c the result.
 */
#ifndef AGENT_LOOP_PRIVATE_H
#define AGENT_LOOP_PRIVATE_H
#include "agent/dispatch.h"
#include "agent/ledger.h"
#include "agent/loop.h"
#include "agent/metered_client.h"
#include "agent/policy/redact.h"
#include "agent/tools/permit.h"
#include "agent/turn_summary.h"
#include "agent/window.h"

struct loop {
	const struct agent_task *task;
	const struct loop_world *world;
	struct loop_result *out;
	struct metered_client worker;
	struct turn_summary summary;
	struct tool_context tools;
	struct tool_commands commands;
	struct permits permits;
	struct redact redact;
	struct dispatch dispatch;
	struct ledger ledger;
	struct wire_talk talk;
	struct window window;
	json_t *declarations;
	char *system;
	int64_t deadline_ms, output_cap;
	/* The last request asked for twice the output tokens, after a cut turn. */
	bool doubled;
	bool no_more;       /* the provider refused the doubled number */
	bool told_cut;      /* the model was told to write less */
	bool told_budget;   /* the model was told that its budget is nearly used up */
	const char *markup; /* the mark of a call that the model wrote as text; NULL: none */
};

/* Ends the run; the first verdict stands. Returns -1, "stop". */
PRINTF(3, 4)
int loop_end(struct loop *loop, enum outcome outcome, const char *format, ...);
/* Adds a notice for the model to the newest text that it gets, never as a text after results. */
PRINTF(2, 3)
int loop_tell(struct loop *loop, const char *format, ...);
/* Emits a turn as a message of the transcript. */
void loop_keep(const struct loop *loop, const struct wire_turn *wire_turn);

/* Sets everything up for the first call. Returns -1 if the run cannot begin. */
int loop_begin(struct loop *loop, struct err *e);
/* Wipes the keys. The reason is redacted first, while secrets can still be found in it. */
void loop_forget_keys(struct loop *loop);

/* Returns the output tokens of the next call, unless a budget has less left. */
int64_t loop_wanted_tokens(const struct loop *loop);
/* Handles a turn cut by the output limit. It is never acted on, since its last call may be
 * incomplete. The turn is asked for again with twice the room, then with a notice to the model. */
int loop_cut(struct loop *loop);

/* Handles a call that brought no reply: the run ends, or the call is made again differently. */
int loop_call_failed(struct loop *loop, const struct fault *fault);
#endif
