/*
 * How an execution of a state comes out: the labels of a machine's edges.
 */
#ifndef CONTRACT_OUTCOME_H
#define CONTRACT_OUTCOME_H
#include "contract/words.h"

/* An agent's own ends come first: it names one of them in its result. */
#define AGENT_ENDS(X)                                                                              \
	X(OK, "ok")                                                                                \
	X(FAILED, "failed") X(BUDGET_EXHAUSTED, "budget_exhausted") X(TIMEOUT, "timeout")
#define OUTCOMES(X)                                                                                \
	AGENT_ENDS(X)                                                                              \
	X(NONZERO, "nonzero") X(TICK, "tick") X(SIGNAL, "signal") X(EXHAUSTED, "exhausted")

#define X(name, text) OUTCOME_##name,
enum outcome { OUTCOMES(X) OUTCOME_COUNT };
#undef X
#define X(name, text) +1
enum { AGENT_END_COUNT = 0 AGENT_ENDS(X) };
#undef X
WORDS_FUNCTIONS(outcome);
#endif
