/*
 * A fact: the result of one execution of a state, with all that the journal keeps of it.
 *
 * A decoded fact points into the object that it was decoded from, which is in `held`; fact_text and
 * fact_hold add other texts and values there. All of them live until fact_done.
 */
#ifndef CONTRACT_FACT_H
#define CONTRACT_FACT_H
#include "contract/outcome.h"
#include "contract/spend.h"

/* The causes that wake a wait. */
#define WAKERS(X)     X(TIMER, "timer") X(POKE, "poke")
#define X(name, text) WOKEN_BY_##name,
enum waker { WAKERS(X) WAKER_COUNT };
#undef X
WORDS_FUNCTIONS(waker);

enum fact_kind {
	FACT_NONE,
	FACT_TOOL,
	FACT_NOT_RUN,
	FACT_AGENT,
	FACT_WAIT,
	FACT_BRANCH,
	FACT_VISITS
};

struct fact_number {
	bool known;
	int64_t value;
};

/* A command that ran, or may have. */
struct tool_fact {
	struct fact_number exit, signal, wall_ms, max_rss_kib;
	bool timed_out;
	bool not_utf8;          /* the output was no clean UTF-8, and `output` differs from it */
	bool too_many_values;   /* the output should be JSON and has more values than are read */
	const char *output;     /* the output; if it was too long, its beginning and end */
	int64_t output_dropped; /* bytes left out between the two; 0: none */
	/* The length of that end; known if a part is left out and the state captures failures. */
	struct fact_number output_tail_bytes;
	const char *output_sha256; /* of the whole output if a part is left out; else NULL */
	const char *stderr_tail;
	const char *lost;     /* how the launcher was lost; NULL: it was not */
	const char *not_kept; /* why git does not record the changes; NULL: it does */
	const char *planted;  /* a repository that the command made against the rules; NULL: none */
};

struct agent_fact {
	enum outcome outcome;
	json_t *payload; /* NULL: none */
	const char *provider, *model;
	int64_t turns;
	struct spend spend;
};

struct wait_fact {
	const char *wake; /* the time at which it ends by itself; NULL: never */
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
		int64_t visits; /* made of a state that was entered once more */
	};
	/* For a tool's and an agent's fact; NULL: none. */
	const char *reason;
	const char *logs_cut; /* which files of the step are not whole, and why */
	json_t *moved_aside;  /* repositories that commands made: [{path, to}] */
	json_t *held;         /* owned */
};

#define AUTO_FACT __attribute__((cleanup(fact_done))) struct fact

/* Reads `from`, which may be any value: FACT_NONE if it is no fact. Leaves out a member of a wrong
 * type. Returns -1, with all else decoded, if an agent's spending cannot be read. */
int fact_decode(const json_t *from, struct fact *out, struct err *e);
/* Returns the object that the journal holds. New reference. */
json_t *fact_encode(const struct fact *fact);
void fact_done(struct fact *fact);

/* Returns a copy of the text that lives as long as the fact. */
const char *fact_text(struct fact *fact, const char *text);
/* Takes `value`, which then lives as long as the fact, and returns it. */
json_t *fact_hold(struct fact *fact, json_t *value);
#endif
