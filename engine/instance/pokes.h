/*
 * The queue of pokes: one file each in `pokes/`, first in first out, at most 64.
 *
 * A poke's file is removed only after the step that it caused is durable. The step has its name, so
 * a poke that survives a crash in between is recognised and never wakes a second wait.
 */
#ifndef INSTANCE_POKES_H
#define INSTANCE_POKES_H
#include "instance/instance.h"
#include "instance/position.h"

enum { POKES_MAX = 64, POKE_BYTES_MAX = 1024 * 1024 };

/* Creates `pokes/`. */
int pokes_init(const struct instance *instance, struct err *e);
/* Queues a poke durably (`payload`: {"data": ...} or {"message": ...}). Refused if the instance has
 * ended, or if POKES_MAX pokes wait already. */
int pokes_add(const struct instance *instance, const json_t *payload, struct err *e);
/* Takes the oldest poke. 1: its name and payload (new reference); 0: there is none; -1: it cannot
 * be read now. A file that is no poke is set aside as NAME.bad and named in `bad` (else ""). */
int pokes_first(const struct instance *instance, char name[POSITION_NAME_BYTES], json_t **payload,
	char bad[POSITION_NAME_BYTES], struct err *e);
/* Sets a poke that a wait refused aside as NAME.bad, durably. It may be gone already. */
int pokes_set_aside(const struct instance *instance, const char *name, struct err *e);
/* Removes a consumed poke, durably. It may be gone already. */
int pokes_remove(const struct instance *instance, const char *name, struct err *e);
/* Returns how many wait. */
int pokes_count(const struct instance *instance);
/* Takes the lock that pokers hold while they enqueue, and a machine while it ends. Closing the
 * descriptor releases it. */
int pokes_lock(const struct instance *instance, struct err *e);
#endif
