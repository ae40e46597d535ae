/*
 * The loop of one agent state: provider call, tool calls, results, until finish_run, a limit, or an
 * error.
 */
#ifndef AGENT_LOOP_H
#define AGENT_LOOP_H
#include "agent/channels.h"
#include "agent/ledger.h"
#include "agent/request.h"
#include "contract/outcome.h"

struct loop_world {
	struct channels *channels; /* give the broker's reports */
	int channel_fd;            /* the provider's */
	int reviewer_fd;           /* the reviewer's; -1: there is none */
	int workspace_fd;
	const char *workspace;
	struct launcher *launcher;             /* runs the commands, if there are any */
	const struct agent_commands *commands; /* NULL: it runs none */
	const struct record *result; /* the schema of its result; NULL: the state declares none */
};

struct loop_result {
	enum outcome outcome; /* one of AGENT_ENDS */
	char reason[1024];
	json_t *payload; /* OUTCOME_OK */
	struct ledger ledger;
	size_t turns;
};

/* Runs `task` to its end. Returns -1 with an error if it could not begin. Emits events on the way;
 * the caller emits the final one. */
int loop_run(const struct agent_task *task, const struct loop_world *world, struct loop_result *out,
	struct err *e);
void loop_result_done(struct loop_result *result);
/* Returns the members of the final event. */
json_t *loop_result_json(const struct loop_result *result);
/* Returns the same for a run that never began. */
json_t *loop_failure(const char *reason);
#endif
