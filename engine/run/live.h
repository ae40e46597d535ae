/*
 * The live world: executes planned steps with real processes and returns facts.
 *
 * It decides nothing: the plan holds argv, environment, policy and limits, and reduce decides what
 * a fact means. Everything a child says is untrusted: bounded, cleaned, checked.
 */
#ifndef RUN_LIVE_H
#define RUN_LIVE_H
#include "audit/audit.h"
#include "run/drive.h"
#include "run/interrupts.h"
#include "run/jails.h"
#include "run/plan.h"
#include "run/secret.h"

/* The way an execution ended. */
enum live_end {
	LIVE_FACT,        /* there is a fact */
	LIVE_INTERRUPTED, /* a second signal killed it: nothing is committed */
	LIVE_NO_JAIL,     /* this jail could not be set up and nothing ran; another jail may work */
	LIVE_NO_SANDBOX,  /* confinement cannot be set up */
	LIVE_REFUSED,     /* a key or a setting is missing */
	LIVE_BROKEN       /* this host failed us: no descriptors, no memory, no program */
};

struct live {
	const struct instance *instance;
	const struct config *config;
	struct secret_source keys; /* the descriptor is owned */
	const struct drive_listener *listener;
	struct interrupts interrupts;
	struct activity now;
	int data_fd; /* the instance's data directory; owned */
	struct jails jails;
	/* Path of the program; owned; NULL: the machine has no agent state. */
	char *agent;
	const char *record_dir;      /* run --record: the directory of the cassette; NULL: none */
	int record_fd;               /* that directory; owned; -1: none */
	drive_hide *without_secrets; /* the request's */
	const char *machine;         /* its name */
	struct audit audit;          /* owned */
	bool asking;                 /* a question is open: draw nothing over it */
	bool told_stop;              /* the user has been told how to stop at once */
	char left[1024];             /* why no further command may begin; "": commands may begin */
};

/* Run one execution. `*fact`, which comes as FACT_NONE, is filled when LIVE_FACT is returned (to be
 * released);
 * `*egress` is then sums by endpoint to journal with it (run/egress.h), a new reference. */
enum live_end live_tool(struct live *live, const struct step *step, struct fact *fact,
	json_t **egress, struct err *e);
enum live_end live_agent(struct live *live, const struct step *step, struct fact *fact,
	json_t **egress, struct err *e);

/* Starts the launcher of a policy, so that its first jail is ready when a step needs it. */
void live_ahead(struct live *live, const struct jail_policy *policy);
/* Runs the command of a tool step in a jail of the step's policy, without the rest of live_tool. */
enum live_end live_jail(struct live *live, const struct step *step, struct fact *fact,
	json_t **egress, struct err *e);

/* Handles the repositories that a command made, from a jail's status line, or from an agent that
 * has read one. Tells the user, remembers the reason why no further command may begin, if there is
 * one, and returns the list for the fact. NULL: there are none. New reference. */
json_t *live_planted(struct live *live, const struct step *step, const struct jail_status *status);
/* Refuses a step if a repository that an earlier command made may still be in place. */
int live_check_left(const struct live *live, struct err *e);

void live_notice(const struct live *live, const char *format, ...) PRINTF(2, 3);
/* Lets the listener redraw, and tells the user about signals: the tick of a pump. `ctx` is the live
 * world. */
void live_tick(void *ctx);
#endif
