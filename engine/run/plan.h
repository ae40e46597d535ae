/*
 * Plan: computes the next thing to do from the position of a run, as data.
 *
 * Pure: execute carries the plan out without deciding anything, and check --report prints it.
 */
#ifndef RUN_PLAN_H
#define RUN_PLAN_H
#include "confine/confine.h"
#include "contract/jail_policy.h"
#include "instance/position.h"

/* The fixed facts of one start. Everything is borrowed. */
struct plan_env {
	struct confine confine;
	const char *instance_id;
	const char *instance_path;
	const json_t *host_env; /* confine_environment */
	bool rehearsal;         /* providers answer below /step/SEQ/ATTEMPT/STATE */
	bool auto_approve;      /* commands up to level `write` need nobody's approval */
	bool record;            /* the agent reports every exchange */
};

enum { STEP_HOSTS_MAX = 64 }; /* as in the schema */

/* The next execution of a tool or agent state. */
struct step {
	const struct state *state;
	uint64_t seq;
	int attempt, execution;
	int64_t timeout_secs; /* the state's own, or less where budget.max_secs leaves less */
	struct fact fact;     /* the result, if nothing needs to run; FACT_NONE: run it */
	/* Tool: its jail, and the command with its timeout and environment. */
	struct jail_policy policy;
	struct jail_order order;
	const char *hosts[STEP_HOSTS_MAX]; /* tool: the hosts of its list; borrowed */
	size_t host_count;
	char *stdin_text; /* tool: its stdin; NULL: /dev/null */
	size_t stdin_len;
	const json_t *poke;             /* tool: to write to data/poke.json; NULL: none; borrowed */
	struct agent_order agent_order; /* agent: its order */
	struct agent_task agent_task;   /* agent: its task, still without keys and secrets */
	const struct config_provider *provider;
	const char *model;
	char dir[128]; /* "states/SEQ-NAME" below the instance */
};

/* Plans the active step. Returns -1 with the reason if the machine must halt. */
int plan_step(const struct plan_env *env, const struct position *position, struct step *out,
	struct err *e);
/* Shortens the time of a planned state to what is left of budget.max_secs. */
void plan_shorten(struct step *step, const struct position *position, int64_t now_us);
void step_done(struct step *step);
/* Computes when a wait that is armed at `now_us` ends by itself; 0: never. */
int plan_wake(const struct position *position, int64_t now_us, int64_t *wake_us, struct err *e);
/* Returns the delay before attempt `attempt` + 1. `jitter` in [0, 1) shortens it by up to half. */
int64_t plan_backoff_ms(const struct state *state, int attempt, double jitter);
#endif
