/*
 * Asking a person while an agent waits: on the terminal of this run, or through a file that
 * `machine approve` answers from another terminal.
 *
 * A question is `question.json` in the instance's directory for as long as it is open, and
 * `answer.json` ends it. Both are replaced whole, and an answer names its question. inotify and a
 * timer wake the pump. No event says that this process has come to the foreground of its terminal,
 * so a question that is not shown there yet needs a tick. Neither the agent nor a jailed command
 * can write to this directory.
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
	/* The pump's index of the first of three: files, timer, terminal; -1: none added yet. */
	int first_stream;
	json_t *doc; /* the open question; NULL: none */
	struct question question;
	struct buf typed; /* the unfinished line from the terminal */
	/* The count of signals in live->interrupts when the question was last shown. */
	int seen;
	/* Called when the question has been answered. `answers` holds booleans in its order,
	 * borrowed. */
	void (*answered)(void *ctx, const json_t *answers, enum ask_by by);
	void *ctx;
};

/* Removes a question that an earlier run left open. */
void ask_init(struct asking *asking, struct live *live, struct pump *pump);
void ask_done(struct asking *asking);
/* Reports whether somebody can answer: at a terminal in whose foreground we are, or in a `machine
 * watch`. */
bool ask_approver(const struct asking *asking);
/* Opens a question; takes `doc` ({state, step, commands}). Returns -1 if it cannot be asked. */
int ask_open(struct asking *asking, json_t *doc, struct err *e);
/* Shows the open question again after a signal, since other lines may cover it, and when we have
 * come to the foreground. Takes an answer that was given elsewhere instead, if there is one. */
void ask_tick(struct asking *asking);

/* Marks this process as watching until the returned descriptor is closed; for the process that
 * answers. */
int ask_watch(const struct instance *instance, struct err *e);
/* Returns the open question, a new reference. NULL with e empty: there is none. */
json_t *ask_read(const struct instance *instance, struct err *e);
/* Leaves the answer to a question. Also returns -1 if the question has been closed. */
int ask_answer(const struct instance *instance, const struct question *question, struct err *e);
#endif
