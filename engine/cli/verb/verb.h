/*
 * A verb: its words, options and arguments as data, and a call of it as the parser accepted it.
 *
 * A verb is one file exporting one `const struct verb verb_NAME`, entered in the table of
 * cli/verbs.h; its run function sees only what the parser accepted.
 */
#ifndef CLI_VERB_H
#define CLI_VERB_H
#include "base/err.h"
#include "base/exit.h"
#include <stdbool.h>
#include <stddef.h>

struct verb_option {
	const char *name; /* without the dashes; NULL ends the table */
	const char
		*value; /* "FILE", "N=V", "text|json": its metavariable or choices; NULL: a flag */
	const char *summary; /* one line, lower case, no full stop */
	bool repeats;        /* may be given more than once */
};

struct call;

struct verb {
	const char *path;      /* "machine check" */
	const char *summary;   /* one line for the overview */
	const char *arguments; /* "BUNDLE...", "ID", "[--] CMD [ARG...]"; NULL: takes none */
	int min_arguments, max_arguments; /* max -1: any number */
	/* Has effects beyond printing: its exit code stands even if printing fails. */
	bool acts;
	const char *details; /* for --help and the manual, one line per paragraph; NULL: none */
	const struct verb_option *options; /* NULL: only --help */
	int (*run)(const struct call *c);  /* returns the exit code */
	/* Prints what --help adds for these arguments; NULL: nothing. */
	void (*explain)(const struct call *call);
};

enum { CALL_OPTIONS_MAX = 256 };

/* The arguments that the parser accepted. Strings belong to argv. */
struct call {
	const struct verb *verb;
	char **arguments;
	int argument_count;
	struct {
		const struct verb_option *option;
		const char *value; /* "" for a flag */
	} given[CALL_OPTIONS_MAX];
	size_t given_count;
};

bool call_has(const struct call *call, const char *option);
/* Returns the last value given; NULL: none. An option with choices has one of them. */
const char *call_value(const struct call *call, const char *option);
/* Returns the value number `at` of a repeated option, NULL after the last. */
const char *call_value_at(const struct call *call, const char *option, size_t at);
/* Reads an integer within range[0] to range[1]; without the option *value does not change. Returns
 * -1 with a complete message if it is none. */
int call_int(
	const struct call *call, const char *option, long range[2], long *value, struct err *e);

/* Parses argv after the verb's path. Checks choices, missing values, unknown and repeated options,
 * and the number of arguments; the message ends with advice. */
int call_parse(struct call *call, const struct verb *verb, char **argv, struct err *e);

/* Print "agent6: MESSAGE" on stderr, for a verb that cannot continue. The first returns `code`, the
 * second EXIT_REFUSED. */
int verb_fail(enum exit_code code, const struct err *e);
int verb_refuse(const char *format, ...) PRINTF(1, 2);
#endif
