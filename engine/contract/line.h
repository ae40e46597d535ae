/*
 * A line of the journal: one thing that happened, with all that replay needs of it.
 *
 * A line that is filled in to be written owns nothing. A decoded line points into the object that
 * it was decoded from; both live until line_done.
 */
#ifndef CONTRACT_LINE_H
#define CONTRACT_LINE_H
#include "contract/fact.h"
#include "contract/totals.h"

#define JOURNAL_LINES(X)                                                                           \
	X(BEGIN, "begin")          /* the first line */                                            \
	X(STEP, "step")            /* a state is done */                                           \
	X(RETRY, "retry")          /* an attempt failed, and the next one is due */                \
	X(ARMED, "wait.armed")     /* a wait has begun */                                          \
	X(REFUSED, "poke.refused") /* a poke has not the form that the wait takes */               \
	X(NOTIFY, "notify")        /* a message for the operator */                                \
	X(EGRESS, "egress")        /* connections that a broker passed or refused */               \
	X(AUTORUN, "autorun")      /* files changed that programs of the host obey */              \
	X(SPEND, "spend")          /* the cost of an attempt that never finished */                \
	X(STOP, "stop")            /* the run was parked */                                        \
	X(END, "end")              /* the last line */

/* The importance of a message. */
#define NOTIFY_LEVELS(X) X(INFO, "info") X(WARN, "warn") X(ERROR, "error")
/* Why a machine ended: its terminal state, a budget, or a state that could not go on. */
#define END_CAUSES(X) X(TERMINAL, "terminal") X(BUDGET, "budget") X(HALT, "halt")
/* The sender of what parked a run. */
#define STOPPERS(X) X(REQUEST, "request") X(SIGINT, "SIGINT") X(SIGTERM, "SIGTERM")

#define X(name, text) LINE_##name,
enum line_type { JOURNAL_LINES(X) LINE_TYPE_COUNT };
#undef X
#define X(name, text) NOTIFY_##name,
enum notify_level { NOTIFY_LEVELS(X) NOTIFY_LEVEL_COUNT };
#undef X
#define X(name, text) END_##name,
enum end_cause { END_CAUSES(X) END_CAUSE_COUNT };
#undef X
#define X(name, text) STOPPED_BY_##name,
enum stopper { STOPPERS(X) STOPPER_COUNT };
#undef X
WORDS_FUNCTIONS(line_type);
WORDS_FUNCTIONS(notify_level);
WORDS_FUNCTIONS(end_cause);
WORDS_FUNCTIONS(stopper);

/* The formats of a journal. In format 1, a capture fails where the result lacks an optional field;
 * from 2 on, its variable stays as it was, states may be exhausted, and waits refuse pokes. */
enum { JOURNAL_FORMAT_FIRST = 1, JOURNAL_FORMAT_LAST = 2 };

/* Totals that a line may hold; those of a wrong form have -1 transitions, as no run has. */
struct line_totals {
	bool given;
	struct totals sum;
};

struct line_begin {
	const char *instance, *machine, *bundle, *profile, *agent6;
	const char *workspace, *repository; /* NULL: not known; there is none */
	int64_t format;
	json_t *parameters, *overrides;
};

struct line_retry {
	int64_t delay_ms;
	const char *until;
};

struct line_armed {
	const char *wake;          /* the time at which it ends by itself; NULL: never */
	struct line_totals totals; /* of the run; not given in an old line */
};

struct line_refused {
	const char *poke;          /* its file */
	const char *reason;        /* the misfit */
	struct line_totals totals; /* of the run */
};

struct line_notify {
	enum notify_level level;
	const char *message;
};

struct line_egress {
	const char *endpoint;
	int64_t connections, up, down;
	json_t *refusals; /* counts by their reasons */
};

struct line_autorun {
	const char *branch; /* of whose commits it tells; NULL: of the workspace */
	json_t *files;
	int64_t more; /* files that are not in the list */
	bool cut;     /* not all were looked at */
};

struct line_end {
	enum outcome status; /* OUTCOME_OK or OUTCOME_FAILED */
	const char *reason;
	enum end_cause cause;
	int64_t transitions;
	struct line_totals totals;
	const char *blackboard; /* its digest */
	json_t *returns;        /* the machine's result; NULL: none */
};

struct line {
	enum line_type type;   /* LINE_TYPE_COUNT: none that is known */
	const char *type_text; /* of a decoded line: its type as it was written */
	const char *ts;
	int64_t seq;       /* -1: no number */
	const char *state; /* "" for a begin */
	int64_t attempt;   /* for step, retry, spend */
	const char *label; /* for step, retry; "" for others */
	struct fact fact;  /* for step, retry */
	union {
		struct line_begin begin;
		const char *go_to; /* for a step: the next state */
		struct line_retry retry;
		struct line_armed armed;
		struct line_refused refused;
		struct line_notify notify;
		struct line_egress egress;
		struct line_autorun autorun;
		struct spend spend;
		enum stopper stop;
		struct line_end end;
	};
	json_t *held; /* owned */
};

#define AUTO_LINE __attribute__((cleanup(line_done))) struct line

/* Reads `from`, which may be any value. A needed text that is missing is "". Returns -1, with all
 * else decoded, if a spending cannot be read; the error begins with the line's type and number. */
int line_decode(const json_t *from, struct line *out, struct err *e);
/* Returns the object that the journal holds. New reference. */
json_t *line_encode(const struct line *line);
void line_done(struct line *line);
#endif
