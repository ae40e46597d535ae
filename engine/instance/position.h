/*
 * Where a run stands: everything its journal lines add up to, and nothing else.
 *
 * position_apply is the one function that turns a journal line into a change; the live run applies
 * each line to a trial copy before it writes it, resume and replay apply the lines they read.
 * Pure: no file, clock or environment.
 */
#ifndef INSTANCE_POSITION_H
#define INSTANCE_POSITION_H
#include "instance/reduce.h"
#include "machine/machine.h"

enum {
	POSITION_DIGEST_BYTES = 80,
	POSITION_NAME_BYTES = 64,
	POSITION_REASON_BYTES = 1024,           /* kept here; the journal has all of it */
	POSITION_REASON_RENDERED = 1024 * 1024, /* a terminal's reason at most */
};
/* Of what a state says when it is entered. */
enum { NOTIFY_BYTES_MAX = 1024 * 1024 };

struct totals {
	int64_t transitions, input_tokens, output_tokens, cached_tokens, microusd;
	bool unpriced;  /* some spend had no price: microusd is a lower bound */
	bool unmetered; /* some spend was not reported: it is estimated */
};

struct spend {
	int64_t input_tokens, output_tokens, cached_tokens, microusd;
	bool unpriced, unmetered;
};

/* Why a machine ended: its terminal state, a budget, or a state that could not go on. */
#define END_CAUSES(X) X(TERMINAL, "terminal") X(BUDGET, "budget") X(HALT, "halt")
#define X(name, text) END_##name,
enum end_cause { END_CAUSES(X) END_CAUSE_COUNT };
#undef X

struct position {
	const struct machine *machine;
	bool foreign;              /* the journal is another machine's: only the path is compared */
	const struct state *state; /* the active one */
	json_t *blackboard;
	uint64_t seq;   /* steps committed; the active one will be seq + 1 */
	int attempt;    /* of the active step, from 1 */
	int executions; /* of the active step that are accounted for: retries and booked spends */
	int64_t retry_at_us; /* the attempt may not begin earlier */
	struct spend step;   /* by earlier attempts of the active step */
	struct totals totals;
	bool begun, notified, armed, ended, ended_ok;
	int64_t wake_us; /* armed: when; 0: never by itself */
	enum end_cause cause;
	json_t *failure; /* the last execution that was not ok, until its state is: {state, seq,
			    attempt, label, words, exit, signal}; NULL: none */
	json_t *autorun; /* files that programs on the host run, as far as the run is known to have
			    changed them: the newest lines' {files, more, cut} together; NULL: none
			  */
	json_t *poke;    /* payload of the last signal, for the next tool */
	char poke_name[POSITION_NAME_BYTES]; /* the last poke that was consumed */
	char digest[POSITION_DIGEST_BYTES], profile[POSITION_NAME_BYTES];
	char reason[POSITION_REASON_BYTES]; /* of the end */
	int64_t started_us, updated_us;     /* time stamps of begin and of the last line */
};

void position_init(struct position *position, const struct machine *machine);
void position_done(struct position *position);
/* Values are shared with `from` and never changed in place. */
void position_copy(struct position *to, const struct position *from);
/* -1: the line cannot follow, or says something else than what this machine makes of it. `position`
 * is then unusable but for position_done. */
int position_apply(struct position *position, const json_t *event, struct err *e);

/* What `autorun` of a position becomes with a journal line of that type. New reference. */
json_t *position_add_autorun(const json_t *known, const json_t *event);
/* Goes on through branches to the state that a live run executes or waits in: it takes a branch in
 * no time, and journals it with the next fact. Stays before one that has something to say first. */
void position_pass_branches(struct position *position);

/* Whether what was observed in the present state is tried again instead of taken. */
bool position_retries(const struct position *position, const struct reduced *reduced);

/* SHA-256 of the canonical blackboard, as `end` records it. */
void position_blackboard_digest(const struct position *position, char out[POSITION_DIGEST_BYTES]);
/* Reads the money and tokens of a fact or spend line: refuses what is negative or no number. */
int spend_decode(const json_t *from, struct spend *out, struct err *e);
/* The members that it reads. */
json_t *spend_encode(const struct spend *spend);
json_t *totals_encode(const struct totals *totals);
/* -1: it is not what totals_encode makes. */
int totals_decode(json_t *data, struct totals *out);
/* Counts an execution in, but not as a transition. */
void totals_add(struct totals *totals, const struct spend *spend);
const char *end_cause_name(enum end_cause cause);

/* For the snapshot. Decoding checks everything against the machine. */
json_t *position_encode(const struct position *position);
int position_decode(
	const struct machine *machine, const json_t *data, struct position *out, struct err *e);
#endif
