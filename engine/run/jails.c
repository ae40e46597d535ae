#include "run/jails.h"

#include <stdlib.h>
#include <string.h>

static void end_slot(struct jails *jails, int at)
{
	struct jail_slot *s = &jails->slots[at];
	launcher_stop(&s->launcher);
	free(s->policy);
	jails->count--;
	memmove(s, s + 1, sizeof(*s) * (size_t)(jails->count - at));
}

static void to_front(struct jails *jails, int at)
{
	struct jail_slot found = jails->slots[at];
	memmove(jails->slots + 1, jails->slots, sizeof(found) * (size_t)at);
	jails->slots[0] = found;
}

struct launcher *jails_find(struct jails *jails, const struct jail_policy *policy, struct err *e)
{
	AUTO_FREE char *text = jail_policy_text(policy, NULL);
	for (int i = 0; i < jails->count; i++)
		if (text && jails->slots[i].policy && !strcmp(jails->slots[i].policy, text)) {
			to_front(jails, i);
			return &jails->slots[0].launcher;
		}
	if (jails->count == JAILS_MAX)
		end_slot(jails, JAILS_MAX - 1);
	struct jail_slot *s = &jails->slots[jails->count];
	if (launcher_start(policy, -1, &s->launcher, e))
		return NULL;
	s->policy = TAKE_PTR(text);
	to_front(jails, jails->count++);
	/* Wait for retired launchers only now, while the new one builds its first jail. */
	for (int i = jails->count - 1; i > 0; i--)
		if (!jails->slots[i].policy)
			end_slot(jails, i);
	return &jails->slots[0].launcher;
}

bool jails_none(const struct jails *jails)
{
	return !jails->count || !jails->slots[0].policy;
}

void jails_drop(struct jails *jails)
{
	if (jails->count)
		end_slot(jails, 0);
}

void jails_retire(struct jails *jails)
{
	for (int i = 0; i < jails->count; i++) {
		launcher_close(&jails->slots[i].launcher);
		free(TAKE_PTR(jails->slots[i].policy));
	}
}

void jails_clear(struct jails *jails)
{
	jails_retire(jails);
	while (jails->count)
		end_slot(jails, jails->count - 1);
}
