/*
 * The ledger: a state's used and allowed tokens and money, checked before each call.
 */
#ifndef AGENT_LEDGER_H
#define AGENT_LEDGER_H
#include "contract/agent_order.h"
#include "provider/usage.h"

struct ledger {
	const struct agent_limits *limits;
	struct usage total;
	int64_t microusd;          /* -1: a part could not be priced */
	int64_t measured_microusd; /* the sum of the priced part */
	bool unmetered; /* an attempt that cost money reported no usage: the sums hold estimates */
};

void ledger_init(struct ledger *ledger, const struct agent_limits *limits);
/* Returns the spending so far in the form of the events. */
json_t *ledger_json(const struct ledger *ledger);
/* Books one attempt that cost money at `prices`; NULL: unpriced. */
void ledger_add(struct ledger *ledger, const struct usage *usage, const struct prices *prices);
/* Reports whether a budget must hold whatever the provider does. Spending that cannot be measured
 * then ends the state. */
bool ledger_is_hard(const struct ledger *ledger);
/* Returns why the next call may not be made, by the first limit that is reached; NULL: it may. */
const char *ledger_reached(const struct ledger *ledger);
/* Returns the used percentage of the budget that is closest to its end; 0: there is none. */
int64_t ledger_percent(const struct ledger *ledger);
/* Returns `wanted` output tokens, or fewer if the budget has less left. */
int64_t ledger_output_cap(const struct ledger *ledger, const struct prices *prices, int64_t wanted);
/* Emits the event of a call under way: the spending including the usage `told` so far, and
 * including `most`, the highest cost possible. The latter counts if the agent is killed now. */
void ledger_open(const struct ledger *ledger, const struct usage *told, const struct usage *most,
	const struct prices *prices);
#endif
