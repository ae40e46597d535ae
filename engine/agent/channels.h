/*
 * The way out: one socketpair per allowed endpoint and the broker at their other ends.
 */
#ifndef AGENT_CHANNELS_H
#define AGENT_CHANNELS_H
#include "agent/request.h"

#include "base/buf.h"

struct channels {
	int *fds; /* one per order channel, in order */
	size_t count;
	int control_fd;    /* the broker's report of closed connections, JSON lines */
	struct buf report; /* a line whose end has not arrived yet */
	char refused[16];  /* why the connection that was closed last was refused; "": it was not */
	char cause[16];    /* why nothing was dialled: name, refused, timeout, unreachable */
	int64_t proxy_status; /* and the upstream proxy's own answer to it; 0: none */
	char words[256];      /* what channels_refusal says */
	bool proxied;         /* what is dialled is the upstream proxy */
	pid_t broker;
};

/* Starts agent6-broker with the channels, an empty environment and nothing else. */
int channels_start(const struct order *order, struct channels *out, struct err *e);
/* The descriptor for the channel called `name`; -1: there is none. */
int channels_find(const struct channels *channels, const struct order *order, const char *name);
/* Passes on what the broker has reported so far, as egress events. */
void channels_report(struct channels *channels);
/* Says, once, what the operator is to know of a refusal that has just ended a call; NULL: there was
 * none. */
const char *channels_refusal(struct channels *channels);
/* Closes the channels, which ends the broker, and passes on its last reports. */
void channels_stop(struct channels *channels);
#endif
