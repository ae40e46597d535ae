/*
 * Exit codes of every agent6 program and verb (docs/operating.md), in one place.
 */
#ifndef BASE_EXIT_H
#define BASE_EXIT_H

enum exit_code {
	EXIT_OK = 0,      /* also `waiting`, and `stopped` by `stop` */
	EXIT_FAILED = 1,  /* the machine ended failed; a test or rehearsal failed */
	EXIT_REFUSED = 2, /* invalid bundle, configuration or usage, a second runner: nothing ran */
	EXIT_BUDGET = 3,  /* a budget ended it, max_transitions included */
	EXIT_WIDENED = 4, /* check --against found a widening */
	EXIT_DAMAGED = 5, /* journal or state damaged */
	EXIT_SANDBOX = 125,     /* the sandbox could not be set up */
	EXIT_INTERRUPTED = 130, /* SIGINT */
	EXIT_TERMINATED = 143   /* SIGTERM */
};
#endif
