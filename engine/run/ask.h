/*
 * Asking a person while an agent waits: the terminal of this run, or a file that `machine approve`
 * answers from another one.
 *
 * A question is `question.json` in the instance's directory for as long as it is open, and
 * `answer.json` ends it; both are replaced whole, and an answer names its question. inotify and a
 * timer wake the pump; only for the foreground of a terminal, where it is not shown yet, there is
 * nothing to wait for. Neither the agent nor a jailed command can write there.
 */
#ifndef RUN_ASK_H
#define RUN_ASK_H
#include "run/live.h"
#include "run/pump.h"
#include "run/question.h"

enum ask_by { ASK_PERSON, ASK_TIMEOUT, ASK_NOBODY };

struct asking {
	struct live *live;
	struct pump *pump;
	int first_stream; /* of the pump: files, timer, terminal; -1: none added yet */
	json_t *doc;      /* the open question; NULL: none */
	struct question question;
	struct buf typed; /* a line of the terminal that is not whole yet */
	int seen;         /* of the live world's signals, when it was last shown */
	/* The question has its answers (booleans in its order, borrowed). */
	void (*answered)(void *ctx, const json_t *answers, enum ask_by by);
	void *ctx;
};

/* Removes what an earlier run may have left open. */
void ask_init(struct asking *asking, struct live *live, struct pump *pump);
void ask_done(struct asking *asking);
/* Whether anybody is there: a terminal whose foreground we are, or a `machine watch`. */
bool ask_approver(const struct asking *asking);
/* Opens a question; takes `doc` ({state, step, commands}). -1: it cannot be asked. */
int ask_open(struct asking *asking, json_t *doc, struct err *e);
/* Shows the open question again after a signal, which may have come with other lines, and to who
 * has brought us to the foreground since; not where somebody has answered it elsewhere. */
void ask_tick(struct asking *asking);

/* For the other side. Marks this process as watching until the descriptor is closed. */
int ask_watch(const struct instance *instance, struct err *e);
/* The open question. NULL with e empty: there is none. New reference. */
json_t *ask_read(const struct instance *instance, struct err *e);
/* Leaves the answer to a question. -1 also when that is not open any more. */
int ask_answer(const struct instance *instance, const struct question *question, struct err *e);
#endif
