/*
 * Slots: the places whose presence the maybe-unset analysis follows, numbered from 1.
 *
 * A record variable that is read anywhere has a slot for itself ("something has been written") and
 * one for each field path that is read, and for every prefix of that path. A variable that times a
 * wait has a slot if its default is no valid timing. Internal to the module.
 */
#ifndef MACHINE_ANALYSE_SLOTS_H
#define MACHINE_ANALYSE_SLOTS_H
#include "machine/ref.h"

struct slot {
	const struct variable *variable;
	const struct field *field; /* NULL: the variable itself */
	uint32_t parent, child, next;
	uint32_t below[2]; /* in the tree of its parent's children, whose top is the first child */
	bool required;     /* present whenever the whole record is */
	bool initial;      /* present in the declared value or default */
	/* Present whenever the record around it is, whoever wrote that. For a variable: whenever
	 * any of its fields is. */
	bool implied;
};

struct slots {
	const struct machine *m;
	struct slot *items; /* [0] is no slot */
	uint32_t count;
	size_t room;
	uint32_t *root;   /* by variable: its own slot; 0: none */
	uint32_t *of_ref; /* by ref id: the slot that it reads; 0: a place that is always present */
};

void slots_init(struct slots *slots, const struct machine *machine);
void slots_done(struct slots *slots);
/* Returns the slot that corresponds to `path` (a slot of another variable) below the place that
 * `ref` names; 0: it is not followed. */
uint32_t slots_below(const struct slots *slots, const struct ref *ref, uint32_t path);
#endif
