/*
 * Cues: the pokes that a rehearsal's cassettes hold for waits, {"state": WAIT, "poke": {"message":
 * TEXT} or {"data": JSON}}, one per line, in order for each state.
 */
#ifndef CLI_START_CUES_H
#define CLI_START_CUES_H
#include "instance/instance.h"
#include "journal/journal.h"
#include "machine/machine.h"
#include <jansson.h>

struct cues {
	json_t *pokes;            /* STATE: its payloads, in order */
	json_t *woken;            /* STATE: how many of its waits a poke ended */
	struct journal_mark read; /* what lies in front is counted there */
};

enum cue { CUE_NONE, CUE_GIVEN };

/* Reads the cassettes; of lines that answer an agent only the state is looked at. The error names
 * the line. */
int cues_read(
	struct cues *c, const struct machine *m, char *const *cassettes, int count, struct err *e);
void cues_done(struct cues *c);
/* Pokes the wait `state`, which `i` has come to, with the first payload that no earlier wait of
 * this instance was woken by. -1: it could not be queued. */
int cues_give(
	struct cues *c, const struct instance *i, const char *state, enum cue *out, struct err *e);
#endif
