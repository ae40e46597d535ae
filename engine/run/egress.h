/*
 * Egress: sums of connections for the journal, and the broker of one jailed command that may reach
 * a list of hosts.
 */
#ifndef RUN_EGRESS_H
#define RUN_EGRESS_H
#include "base/buf.h"
#include "base/child.h"
#include "contract/line.h"
#include <jansson.h>

enum { EGRESS_ENDPOINTS_MAX = 64 };

/* Adds one of the broker's facts to the sums by endpoint: {connections, up, down, refusals}. The
 * line is untrusted. A new endpoint beyond EGRESS_ENDPOINTS_MAX is dropped. */
void egress_add(json_t *by_endpoint, const json_t *line);
/* Returns what the journal says of an endpoint and its sums, which are borrowed. */
struct line_egress egress_line(const char *endpoint, const json_t *sums);

struct egress {
	struct child broker; /* pid -1: none */
	int jail_fd;         /* passed to the jail, which sends its listener over it; owned */
	int life_fd;         /* the broker ends when this is closed; owned */
	int facts_fd;        /* a pipe with the broker's facts; owned */
	struct buf line;     /* an unfinished fact */
	json_t *by_endpoint; /* the sums; the caller releases them after egress_done */
};
#define EGRESS_NONE                                                                                \
	(struct egress)                                                                            \
	{                                                                                          \
		.broker.pid = -1, .jail_fd = -1, .life_fd = -1, .facts_fd = -1                     \
	}

struct egress_ask {
	const char *const *hosts; /* HOST:PORT, a leading "*." allowed */
	size_t host_count;
	/* Those of `hosts` that may resolve to private addresses. */
	const char *const *private_hosts;
	size_t private_count;
	const char *upstream_proxy; /* NULL: none */
};

/* Starts agent6-broker, ready for the listener that the jail will hand over. */
int egress_start(struct egress *egress, const struct egress_ask *ask, struct err *e);
/* Takes facts as they come: the taker of a pump's stream. */
void egress_take(void *ctx, const char *bytes, size_t len);
/* Lets the broker finish after the jail has ended, takes its last facts, reaps it. Safe on
 * EGRESS_NONE. */
void egress_done(struct egress *egress);
#endif
