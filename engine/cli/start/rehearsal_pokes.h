/*
 * The pokes that a rehearsal's cassettes hold for waits, {"state": WAIT, "poke": {"message":
 * TEXT} or {"data": JSON}}, one per line, in order for each state.
 */
#ifndef CLI_START_REHEARSAL_POKES_H
#define CLI_START_REHEARSAL_POKES_H
#include "instance/instance.h"
#include "journal/journal.h"
#include "machine/machine.h"
#include <jansson.h>

struct rehearsal_pokes {
	json_t *pokes;            /* STATE: its payloads, in order */
	json_t *woken;            /* STATE: how many of its waits a poke ended */
	struct journal_mark read; /* what lies in front is counted there */
};

enum cue { CUE_NONE, CUE_GIVEN };

/* Reads the cassettes; of lines that answer an agent only the state is looked at. The error names
 * the line. */
int rehearsal_pokes_read(struct rehearsal_pokes *pokes, const struct machine *machine,
	char *const *cassettes, int count, struct err *e);
void rehearsal_pokes_done(struct rehearsal_pokes *pokes);
/* Pokes the wait `state`, which `instance` has come to, with the first payload that no earlier wait
 * of this instance was woken by. -1: it could not be queued. */
int rehearsal_pokes_give(struct rehearsal_pokes *pokes, const struct instance *instance,
	const char *state, enum cue *out, struct err *e);
#endif
