/*
 * One rehearsal: a case of a bundle on its own stage, from the start to the comparison with what it
 * expects.
 */
#ifndef CLI_REHEARSE_PERFORM_H
#define CLI_REHEARSE_PERFORM_H
#include "cli/bundle/cases.h"
#include "cli/verb/verb.h"

struct performance {
	const struct call *call;
	const struct loaded *loaded;
	const struct rehearsal_case *item;
	bool alone; /* the only one: a person follows it as they follow a run */
};

/* The result of a performance. */
struct case_result {
	/* Nothing ran, for `reason`; the exit status says why. */
	bool refused;
	int exit_code; /* of a run that ends like this one */
	char reason[4096];
	json_t *differences; /* owned array of texts; empty: the case passes */
	json_t *visits;      /* owned object: what it reached (coverage.h) */
	size_t recorded;     /* steps that were taken from tools.jsonl and not executed */
	int64_t ms;
};

/* Returns the parameters that it gives the machine: the case's, and those of the call, which count
 * more. New reference; NULL: the call's cannot be read. */
json_t *case_parameters(const struct performance *performance, struct err *e);
/* Performs it, and prints it as a run if it is alone. Fills `out` in any case. */
void perform(const struct performance *performance, struct case_result *out);
void verdict_done(struct case_result *verdict);
#endif
