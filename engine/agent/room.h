/*
 * How a conversation stays within the model's context: how long it is, as far as that is known, and
 * what of it gives way.
 */
#ifndef AGENT_ROOM_H
#define AGENT_ROOM_H
#include "agent/digest.h"
#include "agent/summary.h"

struct room {
	struct wire_talk *talk;
	const struct digest *digest; /* of what was done in turns that go */
	struct summary *summary;
	int64_t context_tokens, deadline_ms;
	/* the rest is zero at first */
	int64_t sent;  /* tokens of the last request, as they were estimated */
	int64_t scale; /* thousandths of an estimate that the provider counts; 0: not known yet */
	bool warned;   /* of a provider that counts too little */
	int refusals;  /* in a row: how often the provider found the conversation too long */
};

/* A request goes out as the conversation is now. */
void room_sent(struct room *r);
/* It was answered, and `counted` for that many tokens; 0: nobody knows. */
void room_answered(struct room *r, int64_t counted);
/* Drops what is old where the conversation nears its limit. True: that may have cost a call. */
bool room_keep(struct room *r);
/* Drops more, because the provider found it too long. False: there is nothing left to drop. */
bool room_refused(struct room *r);
#endif
