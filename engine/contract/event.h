/*
 * The lines on an agent's event pipe to the supervisor, each an object whose member `event` is one
 * of these words; and the agent's judgement of a command that it proposes.
 */
#ifndef CONTRACT_EVENT_H
#define CONTRACT_EVENT_H
#include "contract/words.h"

#define AGENT_EVENTS(X)                                                                            \
	X(CONFINED, "confined") /* it has confined itself; now the task may be sent */             \
	X(SPENT, "spent")       /* its spending so far, and the most with the call under way */    \
	X(TURN, "turn")         /* the same, after each turn */                                    \
	X(MESSAGE, "message")   /* one of the transcript */                                        \
	X(TOOL, "tool")         /* a tool was called */                                            \
	X(PROPOSAL, "proposal") /* commands that wait for an answer */                             \
	X(AUDIT, "audit")       /* something for the audit trail */                                \
	X(EXCHANGE, "exchange") /* a request and its reply, for a cassette */                      \
	X(EGRESS, "egress")     /* connections that its broker has passed or refused */            \
	X(NOTICE, "notice")     /* a text for the user */                                          \
	X(RESULT, "result")     /* the last line */

#define X(name, text) EVENT_##name,
enum agent_event { AGENT_EVENTS(X) EVENT_COUNT };
#undef X
WORDS_FUNCTIONS(agent_event);

/* The types of the audit trail's lines; an agent names those of them that it has seen happen. */
#define AUDIT_TYPES(X)                                                                             \
	X(OPENED, "opened")                                                                        \
	X(PROPOSED, "proposed")                                                                    \
	X(APPROVED, "approved")                                                                    \
	X(DENIED, "denied")                                                                        \
	X(BLOCKED, "blocked")                                                                      \
	X(EXECUTED, "executed")                                                                    \
	X(FAILED, "failed")                                                                        \
	X(SANDBOX_VIOLATION, "sandbox_violation")                                                  \
	X(SECRET_FILTERED, "secret_filtered")                                                      \
	X(INJECTION_DETECTED, "injection_detected")                                                \
	X(EGRESS_REFUSED, "egress_refused")

#define X(name, text) AUDIT_##name,
enum audit_type { AUDIT_TYPES(X) AUDIT_TYPE_COUNT };
#undef X
WORDS_FUNCTIONS(audit_type);

/* The decision about a proposed command. */
#define DECISIONS(X)                                                                               \
	X(RUN, "run")     /* it runs */                                                            \
	X(ASK, "ask")     /* a person is asked */                                                  \
	X(DENY, "deny")   /* the operator does not allow it */                                     \
	X(BLOCK, "block") /* it never runs */

#define X(name, text) DECIDE_##name,
enum decision { DECISIONS(X) DECIDE_COUNT };
#undef X
WORDS_FUNCTIONS(decision);
#endif
