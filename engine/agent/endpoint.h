/*
 * A provider as the task describes it, ready to be asked over its channel; what its calls cost goes
 * into a ledger.
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
	struct channels *channels; /* whose end says why it was reached by none */
	const char *about;         /* how its notices begin */
	struct usage spent;        /* on the newest question, all attempts */
	int64_t counted;           /* its input tokens, as the last attempt had them; 0: unknown */
	int64_t wrote;             /* the same of its output */
};

/* Opens *out, whose `ledger`, `channels` and `about` are set and which then stays where it is. What
 * `provider` says is borrowed. Nothing is asked beyond `deadline_ms` (clock_monotonic_ms). */
int endpoint_open(struct endpoint *out, const struct task_provider *provider, int channel_fd,
	int64_t deadline_ms, struct err *e);
void endpoint_close(struct endpoint *endpoint);
/* client_call; what it costs and what a person should know go out as events. */
int endpoint_ask(struct endpoint *endpoint, const struct wire_request *request, size_t serial,
	struct wire_reply *out, struct fault *fault);
#endif
