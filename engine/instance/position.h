/*
 * The position of a run: the sum of its journal lines, and nothing else.
 *
 * position_apply is the one function that turns a journal line into a change. The live run applies
 * each line to a trial copy before it writes it; resume and replay apply the lines that they read.
 * Pure: no file, clock or environment.
 */
#ifndef INSTANCE_POSITION_H
#define INSTANCE_POSITION_H
#include "contract/line.h"
#include "instance/reduce.h"
#include "machine/machine.h"

enum {
	POSITION_DIGEST_BYTES = 80,
	POSITION_NAME_BYTES = 64,
	POSITION_REASON_BYTES = 1024,           /* the journal has the whole reason */
	POSITION_REASON_RENDERED = 1024 * 1024, /* limit of a terminal's reason */
};
/* Limit of the text that a state notifies on entry. */
enum { NOTIFY_BYTES_MAX = 1024 * 1024 };

struct position {
	const struct machine *machine;
	bool foreign;              /* the journal is another machine's: only the path is compared */
	const struct state *state; /* the active one */
	json_t *blackboard;
	uint64_t seq; /* steps committed; the active one will be seq + 1 */
	int attempt;  /* of the active step, from 1 */
	int format;   /* of the journal */
	/* Executions of the active step that are accounted for: retries and booked spends. */
	int executions;
	int64_t retry_at_us; /* the attempt may not begin earlier */
	struct spend step;   /* by earlier attempts of the active step */
	struct totals totals;
	bool begun, notified, armed, ended, ended_ok;
	int64_t wake_us; /* when an armed wait ends; 0: never by itself */
	enum end_cause cause;
	/* The last failure, until its state succeeds: {state, seq, attempt, label, words, exit,
	 * signal}; NULL: none. */
	json_t *failure;
	/* Autorun files that the run may have changed: the newest lines' {files, more, cut}
	 * together; NULL: none. */
	json_t *autorun;
	json_t *visits;  /* by state with max_visits: how often it was entered; NULL: none was */
	json_t *returns; /* the result of the machine that ended; NULL: none */
	json_t *poke;    /* payload of the last signal, for the next tool */
	char poke_name[POSITION_NAME_BYTES];    /* the last poke consumed */
	char refused_poke[POSITION_NAME_BYTES]; /* the last poke refused */
	char digest[POSITION_DIGEST_BYTES], profile[POSITION_NAME_BYTES];
	char reason[POSITION_REASON_BYTES]; /* of the end */
	int64_t started_us, updated_us;     /* the times of begin and of the last line */
	int64_t before_us; /* the time of the line before the last, for a foreign machine */
};

void position_init(struct position *position, const struct machine *machine);
void position_done(struct position *position);
/* Copies a position. Values are shared with `from` and never changed in place. */
void position_copy(struct position *to, const struct position *from);
/* Applies a decoded line. Returns -1 if the line cannot follow here, or differs from what this
 * machine computes. `position` is then unusable except for position_done. */
int position_apply(struct position *position, const struct line *line, struct err *e);
/* Decodes a line and applies it. */
int position_apply_event(struct position *position, const json_t *event, struct err *e);

/* Returns the `autorun` of a position after a journal line of that type. New reference. */
json_t *position_add_autorun(const json_t *known, const struct line_autorun *line);
/* Goes on through branches to the state that a live run executes or waits in: a branch takes no
 * time, and is journaled with the next fact. Stops before a branch that has a notify to write
 * first. */
void position_pass_branches(struct position *position);

/* Reports whether the active state was entered once more than it may be visited: no work of it is
 * done, and its next step is that of `exhausted`. */
bool position_exhausted(const struct position *position);

/* Reports whether the fact of the active state leads to a retry instead of a step. */
bool position_retries(const struct position *position, const struct reduced *reduced);

/* Writes the SHA-256 of the canonical blackboard, as in `end`. */
void position_blackboard_digest(const struct position *position, char out[POSITION_DIGEST_BYTES]);

/* Encode and decode for the snapshot. Decoding checks everything against the machine. */
json_t *position_encode(const struct position *position);
int position_decode(
	const struct machine *machine, const json_t *data, struct position *out, struct err *e);
#endif
