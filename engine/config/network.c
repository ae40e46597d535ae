#include "config/network.h"

#define CASE(p, a, t, n)                                                                           \
	{                                                                                          \
		NETWORK_ON_##p, AGENT_NETWORK_##a, TOOL_NETWORK_##t, NETWORK_##n                   \
	}

const struct network_row network_rows[] = {
#define ROW(p, a, t, n, agent, command, tool)                                                      \
	{CASE(p, a, t, n), WAY_##agent, WAY_##command, WAY_##tool},
#include "config/network.def"
};
const size_t network_row_count = ARRAY_LEN(network_rows);

#define KEEP NETWORK_KEEP
#define CHANGE(...)                                                                                \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
static const struct network_refusal refusals[] = {
#define REFUSAL(name, reason, fix, one, other) [WAY_##name] = {reason, fix, {one, other}},
#include "config/network.def"
};

const struct network_row *network_find(const struct network_case *on)
{
	for (size_t i = 0; i < network_row_count; i++) {
		const struct network_case *row = &network_rows[i].on;
		if (row->profile == on->profile && row->agent == on->agent &&
			row->tool == on->tool && row->asked == on->asked)
			return &network_rows[i];
	}
	return NULL;
}

const struct network_refusal *network_refusal(enum network_way way)
{
	return (size_t)way < ARRAY_LEN(refusals) && refusals[way].reason ? &refusals[way] : NULL;
}
