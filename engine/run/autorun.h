/*
 * Autorun files: what programs on the host run or obey because of its name, once a person enters a
 * directory, opens it, or does the usual there. Pure.
 *
 * They are the user's own files, so states may write them. A run lists those that it changed.
 */
#ifndef RUN_AUTORUN_H
#define RUN_AUTORUN_H
#include <stdbool.h>
#include <stddef.h>

/* When it takes effect, the soonest first: a word for programs, and one for people. */
#define AUTORUN_WHENS(X)                                                                           \
	X(ENTER, "enter", "when a shell enters the directory")                                     \
	X(OPEN, "open", "when an editor or another agent opens it")                                \
	X(COMMAND, "command", "with the next ordinary command there")                              \
	X(PUSH, "push", "once it is pushed")
#define X(name, word, text) AUTORUN_##name,
enum autorun_when { AUTORUN_WHENS(X) AUTORUN_WHEN_COUNT };
#undef X

struct autorun {
	const char *name, *who; /* who runs or obeys it */
	enum autorun_when when;
};

/* In the order of their names; and what whole families of names end in. */
extern const struct autorun autorun_table[], autorun_endings[];
extern const size_t autorun_count, autorun_ending_count;

const char *autorun_when_word(enum autorun_when when);
/* What such a word says to people; "": it is none. */
const char *autorun_when_text(const char *word);
/* Returns what a file of this name is, or with `directory` whatever lies below a directory of this
 * name; NULL: nothing known. Letters count alike in both cases. */
const struct autorun *autorun_name(const char *name, bool directory);
/* The same of a path: the outermost directory that is one decides, else the last name. */
const struct autorun *autorun_path(const char *path);
#endif
