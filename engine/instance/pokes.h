/*
 * The queue of pokes: one file each in `pokes/`, first in first out, at most 64.
 *
 * A poke's file is removed only after the step it caused is durable, and its name is in that step,
 * so that one which survives a crash in between is known and never wakes a second wait.
 */
#ifndef INSTANCE_POKES_H
#define INSTANCE_POKES_H
#include "instance/instance.h"
#include "instance/position.h"

enum { POKES_MAX = 64, POKE_BYTES_MAX = 1024 * 1024 };

/* Creates `pokes/`. */
int pokes_init(const struct instance *instance, struct err *e);
/* Queues a poke durably (`payload`: {"data": ...} or {"message": ...}); refused by an ended
 * instance and when POKES_MAX wait already. */
int pokes_add(const struct instance *instance, const json_t *payload, struct err *e);
/* The oldest poke: 1 with its name and payload (new reference), 0: none. One that is none is
 * set aside as NAME.bad and named in `bad` (may stay empty). -1: it cannot be read now. */
int pokes_first(const struct instance *instance, char name[POSITION_NAME_BYTES], json_t **payload,
	char bad[POSITION_NAME_BYTES], struct err *e);
/* Removes a consumed poke, durably. It need not be there any more. */
int pokes_remove(const struct instance *instance, const char *name, struct err *e);
/* How many wait. */
int pokes_count(const struct instance *instance);
/* The lock that pokers hold while they enqueue, and a machine while it ends. Released by close. */
int pokes_lock(const struct instance *instance, struct err *e);
#endif
