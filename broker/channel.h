/*
 * A channel: on the agent's end a byte asks for a connection, and a connected descriptor answers.
 * The proxy's channel is a listening socket instead, whose clients say where to.
 *
 * Descriptors that come in with a byte are never accepted: the kernel is given no room for them and
 * closes them. Source: unix(7), SCM_RIGHTS and SCM_CREDENTIALS.
 */
#ifndef BROKER_CHANNEL_H
#define BROKER_CHANNEL_H
#include "broker/loop.h"
#include <stdbool.h>

struct channel {
	struct watch watch; /* fd -1: none, or not come yet */
	struct broker *broker;
	const struct endpoint *endpoint; /* NULL: the proxy */
	unsigned index, dialing;
	enum request {
		REQUEST_NONE,
		REQUEST_HONEST,
		REQUEST_OTHER, /* another user's, or with a descriptor: answered without one */
	} unanswered;
};

/* Checks that `fd` is a connected AF_UNIX stream socket made by our own user, and watches it; and
 * its maker as the agent, unless that is in another PID namespace. `endpoint` NULL: the listener
 * comes through it. */
int channel_open(
	struct broker *b, int fd, const struct endpoint *endpoint, struct err *e) MUST_CHECK;
/* Asks the agent's end for requests, or for room for an answer; for its end alone while the dials
 * are used up. */
void channel_arm(struct channel *c);
#endif
