/*
 * The live world: carries planned steps out with real processes and comes back with facts.
 *
 * It decides nothing: argv, environment, policy and limits are in the plan, what a fact means is
 * reduce's business. Everything a child says is untrusted: bounded, cleaned, checked.
 */
#ifndef RUN_LIVE_H
#define RUN_LIVE_H
#include "audit/audit.h"
#include "run/drive.h"
#include "run/interrupts.h"
#include "run/jails.h"
#include "run/plan.h"
#include "run/secret.h"

/* How an execution came back. */
enum live_end {
	LIVE_FACT,        /* there is a fact */
	LIVE_INTERRUPTED, /* a second signal killed it: nothing is committed */
	LIVE_NO_JAIL,     /* this jail could not be set up: nothing ran; another may be */
	LIVE_NO_SANDBOX,  /* confinement cannot be set up */
	LIVE_REFUSED,     /* a key or setting is missing */
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
	char *agent;                 /* path of the program; owned, NULL: no agent state */
	const char *record_dir;      /* run --record: the directory of the cassette; NULL: none */
	int record_fd;               /* it; owned, -1: none */
	drive_hide *without_secrets; /* of the request */
	const char *machine;         /* its name */
	struct audit audit;          /* owned */
	bool asking;                 /* a question is open: nothing is drawn over it */
	bool told_stop;              /* what the first signal does has been said */
	char left[1024];             /* why no other command may begin; "": nothing is in the way */
};

/* `*fact` is a new reference on LIVE_FACT; `*egress` an array of lines to journal with it. */
enum live_end live_tool(
	struct live *live, const struct step *step, json_t **fact, json_t **egress, struct err *e);
enum live_end live_agent(
	struct live *live, const struct step *step, json_t **fact, json_t **egress, struct err *e);

/* Has the first jail of a policy built by the time that a step asks for it. */
void live_ahead(struct live *live, const json_t *policy);
/* The part of live_tool that only runs the command in a jail of the step's policy. */
enum live_end live_jail(
	struct live *live, const struct step *step, json_t **fact, json_t **egress, struct err *e);

/* Takes what a jail's status line, or an agent that has read one, says of repositories: tells the
 * user, remembers what is in the way of the next command, and returns the list for the fact; NULL:
 * there are none. New reference. */
json_t *live_planted(struct live *live, const struct step *step, const json_t *status);
/* Refuses a step that begins where repositories may be left. */
int live_check_left(const struct live *live, struct err *e);

void live_notice(const struct live *live, const char *format, ...) PRINTF(2, 3);
/* A pump's tick: lets the listener redraw, and says what a signal does. `ctx` is the live world. */
void live_tick(void *ctx);
#endif
