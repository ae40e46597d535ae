/*
 * Compares a finished rehearsal with the expectations of its case.
 */
#ifndef CLI_REHEARSE_EXPECT_H
#define CLI_REHEARSE_EXPECT_H
#include "cli/bundle/cases.h"
#include <jansson.h>

/* A finished rehearsal. Everything is borrowed. */
struct observed {
	const char *state, *reason; /* of the end, or where it stands */
	bool ended, ok;
	int exit_code;
	const json_t *path;       /* names of the states, in order */
	const json_t *returns;    /* NULL: none */
	const json_t *blackboard; /* NULL: unknown */
	const json_t *endpoints;  /* object with a member for each HOST:PORT */
	int64_t left_over;
	int files_fd; /* the workspace at the end; -1: there is none */
};

/* Appends a line to the array `differences` for each expectation that does not hold. */
void expect_compare(
	const struct expectation *expect, const struct observed *observed, json_t *differences);
#endif
