/*
 * A question to a person: commands that an agent proposes and that nobody has allowed yet, and the
 * dialogue that ends in a yes or no for each. Pure.
 *
 * The document is `{id, state, until, step, commands: [{argv, level, approvals, reasons}]}`. A
 * batch is approved as a whole with `y`, or command by command with `s`; whatever any of its
 * commands needs is asked for: destructive ones are repeated, privileged ones want the word `yes`.
 * Everything is shown, and whole, with control characters and direction overrides made visible.
 */
#ifndef RUN_QUESTION_H
#define RUN_QUESTION_H
#include "base/buf.h"
#include "base/err.h"
#include <jansson.h>

enum {
	QUESTION_COMMANDS_MAX = 64,
	QUESTION_ID_BYTES = 17,
	QUESTION_BYTES_MAX = 1024 * 1024,
	QUESTION_SHOWN_MAX = 32 * 1024 /* some 400 rows: what a terminal can scroll back to */
};

enum question_stage { QUESTION_CONFIRM, QUESTION_EXPLICIT, QUESTION_TYPED, QUESTION_ANSWERED };

struct question {
	const json_t *doc; /* borrowed */
	size_t count;
	bool granted[QUESTION_COMMANDS_MAX];
	/* The dialogue: about commands [from, to). */
	enum question_stage stage;
	size_t from, to;
	int misses;
};

/* -1: not a question, or one of more than QUESTION_SHOWN_MAX, whose reason is one to tell an agent.
 * `doc` is untrusted as far as it comes from an agent. */
int question_init(struct question *question, const json_t *doc, struct err *e);
/* What is asked about, in lines, without asking. */
void question_show(const struct question *question, struct buf *out);
/* What a person is asked next. */
void question_prompt(const struct question *question, struct buf *out);
/* Takes one line of input; what is not understood is asked again, three times, and is then a no. */
void question_reply(struct question *question, const char *line);
/* A `y` to everything at once. -1: one of its commands needs more than that. */
int question_approve(struct question *question, struct err *e);
void question_deny(struct question *question);
/* The answers: an array of booleans. New reference. */
json_t *question_answers(const struct question *question);

/* Appends the words as a shell would need them, made visible, cut in the middle at 4 KiB: for what
 * is no question any more. */
void question_show_argv(struct buf *out, const json_t *argv);
/* One word so, whole. */
void question_show_word(struct buf *out, const char *word);
#endif
