/*
 * A fact: what an execution of a state has brought, and all that the journal keeps of it.
 *
 * Texts and values lie in `held`: those of a decoded fact in the object that it was decoded from,
 * others where fact_text and fact_hold have put them. They live until fact_done.
 */
#ifndef CONTRACT_FACT_H
#define CONTRACT_FACT_H
#include "contract/outcome.h"
#include "contract/spend.h"

/* What woke a wait. */
#define WAKERS(X)     X(TIMER, "timer") X(POKE, "poke")
#define X(name, text) WOKEN_BY_##name,
enum waker { WAKERS(X) WAKER_COUNT };
#undef X
WORDS_FUNCTIONS(waker);

enum fact_kind { FACT_NONE, FACT_TOOL, FACT_NOT_RUN, FACT_AGENT, FACT_WAIT, FACT_BRANCH };

struct fact_number {
	bool known;
	int64_t value;
};

/* A command that ran, or may have. */
struct tool_fact {
	struct fact_number exit, signal, wall_ms, max_rss_kib;
	bool timed_out;
	bool not_utf8;          /* what it printed was no clean UTF-8, and is no more as it was */
	bool too_many_values;   /* more than are read of what should be JSON */
	const char *output;     /* what it printed; its edges where it was too long */
	int64_t output_dropped; /* bytes that are left out between the edges; 0: none */
	const char *output_sha256; /* of all of it where some is left out; else NULL */
	const char *stderr_tail;
	const char *lost;     /* how its launcher was lost; NULL: it was not */
	const char *not_kept; /* why git does not take what it left; NULL: it does */
	const char *planted;  /* which repository it made that it may not; NULL: none */
};

struct agent_fact {
	enum outcome outcome;
	json_t *payload; /* NULL: none */
	const char *provider, *model;
	int64_t turns;
	struct spend spend;
};

struct wait_fact {
	const char *wake; /* when it was to end by itself; NULL: never */
	enum waker woke_by;
	json_t *payload;  /* of the poke; NULL: none */
	const char *poke; /* its file; NULL: the timer woke it */
};

struct fact {
	enum fact_kind kind;
	union {
		struct tool_fact tool;
		const char *not_run; /* why the command could not be started */
		struct agent_fact agent;
		struct wait_fact wait;
		int64_t clause; /* of a branch, from 0 */
	};
	/* Of a tool's and an agent's fact; NULL: nothing. */
	const char *reason;
	const char *logs_cut; /* which files of the step are not whole, and why */
	json_t *moved_aside;  /* repositories that commands made: [{path, to}] */
	json_t *held;         /* owned */
};

#define AUTO_FACT __attribute__((cleanup(fact_done))) struct fact

/* Reads `from`, whatever it is: FACT_NONE if it is no fact. A member that is not of its type is
 * left out. Returns -1, with all else decoded, where what an agent has spent cannot be read. */
int fact_decode(const json_t *from, struct fact *out, struct err *e);
/* Returns the object that the journal holds. New reference. */
json_t *fact_encode(const struct fact *fact);
void fact_done(struct fact *fact);

/* Returns a copy of the text that lives as long as the fact. */
const char *fact_text(struct fact *fact, const char *text);
/* Takes `value`, which then lives as long as the fact, and returns it. */
json_t *fact_hold(struct fact *fact, json_t *value);
#endif
