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
	bool acts;           /* does more than print: its exit code stands when printing fails */
	const char *details; /* for --help and the manual, a line each paragraph; NULL: none */
	const struct verb_option *options; /* NULL: only --help */
	int (*run)(const struct call *c);  /* returns the exit code */
};

enum { CALL_OPTIONS_MAX = 256 };

/* What the parser accepted. Strings belong to argv. */
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
/* The last value given, NULL when absent. A value spelled with choices is one of them. */
const char *call_value(const struct call *call, const char *option);
/* The value number `at` of a repeating option, NULL behind the last. */
const char *call_value_at(const struct call *call, const char *option, size_t at);
/* An integer within range[0] to range[1]; absent: *value stays as it is. -1: not one; the message
 * is complete. */
int call_int(
	const struct call *call, const char *option, long range[2], long *value, struct err *e);

/* Parses argv behind the verb's path. Choices, missing values, unknown and repeated options, and
 * the number of arguments are checked; the message ends with what to do. */
int call_parse(struct call *call, const struct verb *verb, char **argv, struct err *e);

/* How a verb ends that cannot go on: "agent6: MESSAGE" on stderr; returns `code`, the second one
 * EXIT_REFUSED. */
int verb_fail(enum exit_code code, const struct err *e);
int verb_refuse(const char *format, ...) PRINTF(1, 2);
#endif
