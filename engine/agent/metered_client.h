/*
 * A provider of the task, ready to be asked over its channel. It books the cost of its
 * calls in a ledger.
 */
#ifndef AGENT_METERED_CLIENT_H
#define AGENT_METERED_CLIENT_H
#include "agent/channels.h"
#include "agent/ledger.h"
#include "provider/client.h"

struct metered_client {
	struct client client;
	const struct prices *prices; /* NULL: unpriced */
	struct ledger *ledger;
	struct channels *channels; /* report why the provider was not reached */
	const char *about;         /* the beginning of its notices */
	struct usage spent;        /* usage of the newest question, all attempts */
	int64_t counted;           /* input tokens of the last attempt; 0: unknown */
	int64_t wrote;             /* output tokens of the last attempt; 0: unknown */
};

/* Opens *out, whose `ledger`, `channels` and `about` are set, and which must not move afterwards.
 * The texts of `provider` are borrowed. Nothing is asked after `deadline_ms`
 * (clock_monotonic_ms). */
int metered_client_open(struct metered_client *out, const struct agent_provider *provider,
	int channel_fd, int64_t deadline_ms, struct err *e);
void metered_client_close(struct metered_client *metered);
/* Calls client_call; emits its cost and its notices as events. */
int metered_client_ask(struct metered_client *metered, const struct wire_request *request,
	size_t serial, struct wire_reply *out, struct fault *fault);
#endif
