/*
 * The network matrix: what the agent, its commands and a tool state may reach under every
 * combination of the four settings that decide it. The one table, network.def, is used by the check
 * of a configuration, the start of a machine, its report and docs/network.md.
 */
#ifndef CONFIG_NETWORK_H
#define CONFIG_NETWORK_H
#include "config/values.h"
#include "machine/machine.h"

enum network_profile { NETWORK_ON_STRICT, NETWORK_ON_HARDENED };

/* A combination of settings. In a fix, NETWORK_KEEP leaves a setting as it is. */
enum { NETWORK_KEEP = -1 };
struct network_case {
	int profile; /* enum network_profile */
	int agent;   /* enum agent_network */
	int tool;    /* enum tool_network */
	int asked;   /* enum allow_network, of the state */
};

enum network_way {
#define WAY(name, words)                       WAY_##name,
#define REFUSAL(name, reason, fix, one, other) WAY_##name,
#include "config/network.def"
};

struct network_row {
	struct network_case on;
	enum network_way agent, command, tool;
};

/* Every combination once, in the order of network.def. */
extern const struct network_row network_rows[];
extern const size_t network_row_count;

const struct network_row *network_find(const struct network_case *on);

/* Why nothing starts, the advice, and the same as one of two changes of settings. */
struct network_refusal {
	const char *reason, *fix;
	struct network_case changes[2];
};

/* Returns the refusal; NULL: this way is open (or closed without a complaint). */
const struct network_refusal *network_refusal(enum network_way way);
#endif
