/*
 * All cases of a bundle: performed two at a time, each in a process of its own.
 */
#ifndef CLI_REHEARSE_SUITE_H
#define CLI_REHEARSE_SUITE_H
#include "cli/rehearse/perform.h"

/* Receives each verdict, in the order of the cases, as soon as it and those before it are there. */
typedef void suite_tell(
	void *ctx, const struct rehearsal_case *item, const struct case_result *verdict);

/* Performs every case. Returns -1 if a process could not be started or was lost; the cases that it
 * told about stand. */
int suite_run(const struct call *call, const struct loaded *loaded, const struct cases *cases,
	suite_tell *tell, void *ctx, struct err *e);
#endif
