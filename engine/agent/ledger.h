/*
 * What a state has used and may use: tokens and money, checked before each call.
 */
#ifndef AGENT_LEDGER_H
#define AGENT_LEDGER_H
#include "agent/request.h"

struct ledger {
	const struct limits *limits;
	struct usage total;
	int64_t microusd;          /* -1: some of it could not be priced */
	int64_t measured_microusd; /* what could be */
	bool unmetered; /* a billed attempt came without usage: the sums hold estimates */
};

void ledger_init(struct ledger *ledger, const struct limits *limits);
/* As the events have it: what was spent until now. */
json_t *ledger_json(const struct ledger *ledger);
/* Books one billed attempt at `prices`; NULL: unpriced. */
void ledger_add(struct ledger *ledger, const struct usage *usage, const struct prices *prices);
/* A budget that must hold whatever the provider does: spend that cannot be measured breaks it. */
bool ledger_is_hard(const struct ledger *ledger);
/* NULL: the next call may be made. Else why not: the first limit reached. */
const char *ledger_reached(const struct ledger *ledger);
/* How much of the budget that is nearest its end is used; 0: there is none. */
int64_t ledger_percent(const struct ledger *ledger);
/* `wanted` output tokens, or fewer where the budget has less left. */
int64_t ledger_output_cap(const struct ledger *ledger, const struct prices *prices, int64_t wanted);
/* The event of a call that is under way: what is spent with what it has `told`, and with the `most`
 * that it can come to, which has been paid for when an agent is killed now. */
void ledger_open(const struct ledger *ledger, const struct usage *told, const struct usage *most,
	const struct prices *prices);
#endif
