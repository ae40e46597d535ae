/*
 * The pokes for waits in a rehearsal's cassettes, {"state": WAIT, "poke": {"message": TEXT} or
 * {"data": JSON}}, one per line, in order for each state.
 */
#ifndef CLI_START_REHEARSAL_POKES_H
#define CLI_START_REHEARSAL_POKES_H
#include "instance/instance.h"
#include "journal/journal.h"
#include "machine/machine.h"
#include <jansson.h>

struct rehearsal_pokes {
	json_t *pokes;            /* STATE: its payloads, in order */
	json_t *woken;            /* STATE: number of its waits that a poke ended */
	struct journal_mark read; /* the journal is counted up to here */
};

enum cue { CUE_NONE, CUE_GIVEN };

/* Reads the cassettes. In lines that answer an agent it only looks at the state. The error names
 * the line. */
int rehearsal_pokes_read(struct rehearsal_pokes *pokes, const struct machine *machine,
	char *const *cassettes, int count, struct err *e);
void rehearsal_pokes_done(struct rehearsal_pokes *pokes);
/* Pokes the wait `state`, which `instance` has reached, with the next payload that has not woken an
 * earlier wait of this instance. Returns -1 if it could not be queued. */
int rehearsal_pokes_give(struct rehearsal_pokes *pokes, const struct instance *instance,
	const char *state, enum cue *out, struct err *e);
#endif
