#include "run/jails.h"

#include <stdint.h>
#include <string.h>

static void end_slot(struct jails *j, int at)
{
	struct jail_slot *s = &j->slots[at];
	launcher_stop(&s->launcher);
	json_decref(s->policy);
	j->count--;
	memmove(s, s + 1, sizeof(*s) * (size_t)(j->count - at));
}

static void to_front(struct jails *j, int at)
{
	struct jail_slot found = j->slots[at];
	memmove(j->slots + 1, j->slots, sizeof(found) * (size_t)at);
	j->slots[0] = found;
}

struct launcher *jails_find(struct jails *j, const json_t *policy, struct err *e)
{
	for (int i = 0; i < j->count; i++)
		if (json_equal(j->slots[i].policy, policy)) {
			to_front(j, i);
			return &j->slots[0].launcher;
		}
	if (j->count == JAILS_MAX)
		end_slot(j, JAILS_MAX - 1);
	struct jail_slot *s = &j->slots[j->count];
	if (launcher_start(policy, -1, &s->launcher, e))
		return NULL;
	s->policy = json_incref((json_t *)(uintptr_t)policy);
	to_front(j, j->count++);
	/* Their end is waited for while the first jail of this one is built. */
	for (int i = j->count - 1; i > 0; i--)
		if (!j->slots[i].policy)
			end_slot(j, i);
	return &j->slots[0].launcher;
}

bool jails_none(const struct jails *j)
{
	return !j->count || !j->slots[0].policy;
}

void jails_drop(struct jails *j)
{
	if (j->count)
		end_slot(j, 0);
}

void jails_retire(struct jails *j)
{
	for (int i = 0; i < j->count; i++) {
		launcher_close(&j->slots[i].launcher);
		json_decref(TAKE_PTR(j->slots[i].policy));
	}
}

void jails_clear(struct jails *j)
{
	jails_retire(j);
	while (j->count)
		end_slot(j, j->count - 1);
}
