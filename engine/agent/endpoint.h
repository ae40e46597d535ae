/*
 * An endpoint: a provider of the task, ready to be asked over its channel. It books the cost of its
 * calls in a ledger.
 */
#ifndef AGENT_ENDPOINT_H
#define AGENT_ENDPOINT_H
#include "agent/channels.h"
#include "agent/ledger.h"
#include "provider/client.h"

struct endpoint {
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
int endpoint_open(struct endpoint *out, const struct task_provider *provider, int channel_fd,
	int64_t deadline_ms, struct err *e);
void endpoint_close(struct endpoint *endpoint);
/* Calls client_call; emits its cost and its notices as events. */
int endpoint_ask(struct endpoint *endpoint, const struct wire_request *request, size_t serial,
	struct wire_reply *out, struct fault *fault);
#endif
