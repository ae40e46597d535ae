/*
 * A question to a person: commands that an agent proposes and that no setting allows, and the
 * dialogue that ends in a yes or no for each. Pure.
 *
 * The document is `{id, state, until, step, commands: [{argv, level, approvals, reasons}]}`. A
 * person approves a batch as a whole with `y`, or command by command with `s`, and is asked for
 * everything that any of these commands needs: a destructive one takes a second yes, a privileged
 * one the word `yes`. Each command is shown whole, with control characters and direction overrides
 * made visible.
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
	QUESTION_SHOWN_MAX = 32 * 1024 /* about 400 rows: the scrollback of a terminal */
};

enum question_stage { QUESTION_CONFIRM, QUESTION_EXPLICIT, QUESTION_TYPED, QUESTION_ANSWERED };

struct question {
	const json_t *doc; /* borrowed */
	size_t count;
	bool granted[QUESTION_COMMANDS_MAX];
	/* The dialogue is about commands [from, to). */
	enum question_stage stage;
	size_t from, to;
	int misses;
};

/* Begins a question. Returns -1 if `doc` is not one, or if it would show more than
 * QUESTION_SHOWN_MAX; the reason may be sent to the agent. `doc` is untrusted where it comes from
 * an agent. */
int question_init(struct question *question, const json_t *doc, struct err *e);
/* Writes the commands in question, in lines, without a prompt. */
void question_show(const struct question *question, struct buf *out);
/* Writes the next prompt. */
void question_prompt(const struct question *question, struct buf *out);
/* Takes one line of input. An unknown answer is asked again; the third one counts as no. */
void question_reply(struct question *question, const char *line);
/* Answers `y` to everything at once. Returns -1 if a command needs more than that. */
int question_approve(struct question *question, struct err *e);
void question_deny(struct question *question);
/* Returns the answers, an array of booleans. New reference. */
json_t *question_answers(const struct question *question);

/* Appends the words of a command quoted for a shell, made visible, and cut in the middle at 4 KiB.
 * For commands that nobody is asked about any more. */
void question_show_argv(struct buf *out, const json_t *argv);
/* Appends one word in the same way, whole. */
void question_show_word(struct buf *out, const char *word);
#endif
