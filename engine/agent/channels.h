/*
 * The way out: one socketpair for each allowed endpoint, with the broker at the other ends.
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
	int64_t proxy_status; /* the upstream proxy's answer in that case; 0: none */
	char words[256];      /* the text that channels_refusal returns */
	bool proxied;         /* the upstream proxy is dialled instead of the endpoint */
	pid_t broker;
};

/* Starts agent6-broker with the channels, an empty environment and nothing else. */
int channels_start(const struct agent_order *order, struct channels *out, struct err *e);
/* Returns the descriptor of the channel called `name`; -1: there is none. */
int channels_find(
	const struct channels *channels, const struct agent_order *order, const char *name);
/* Passes on what the broker has reported so far, as egress events. */
void channels_report(struct channels *channels);
/* Returns once what the operator should know about a refusal that has just ended a call; NULL:
 * there was none. */
const char *channels_refusal(struct channels *channels);
/* Closes the channels, which ends the broker, and passes on its last reports. */
void channels_stop(struct channels *channels);
#endif
