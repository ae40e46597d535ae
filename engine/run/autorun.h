/*
 * Autorun files: files that programs on the host run or obey because of their names, once a person
 * enters their directory, opens it, or runs the usual commands there. Pure.
 *
 * They are the user's own files, so states may write them. A run lists those that it changed.
 */
#ifndef RUN_AUTORUN_H
#define RUN_AUTORUN_H
#include <stdbool.h>
#include <stddef.h>

/* When a program takes notice, the soonest first: a word for programs, and a phrase for people. */
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

/* The rows in the order of their names, and those for whole families, known by how a name ends. */
extern const struct autorun autorun_table[], autorun_endings[];
extern const size_t autorun_count, autorun_ending_count;

const char *autorun_when_word(enum autorun_when when);
/* Returns the phrase for such a word, "" if it is none. */
const char *autorun_when_text(const char *word);
/* Returns the row for a file of this name, or with `directory` the row for everything below a
 * directory of this name. NULL: nothing is known. Upper and lower case count alike. */
const struct autorun *autorun_name(const char *name, bool directory);
/* Returns the row for a path: that of the outermost directory which has one, else that of its last
 * name. */
const struct autorun *autorun_path(const char *path);
#endif
