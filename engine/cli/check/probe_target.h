/*
 * The targets of the probes: a scratch directory, listeners and a process of this host.
 */
#ifndef CLI_CHECK_PROBE_TARGET_H
#define CLI_CHECK_PROBE_TARGET_H
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

enum { PROBE_LISTENERS = 4 };

struct probe_target {
	char *dir, *workspace, *file, *program, *named;
	int listeners[PROBE_LISTENERS]; /* TCP, UDP, abstract, named */
	pid_t victim;
	json_t *env; /* name -> value, for the probe */
};

/* Makes all targets below /tmp. If that fails, removes those that were made. */
int probe_target_init(struct probe_target *target, struct err *e);
void probe_target_done(struct probe_target *target);
/* Reports whether a target was reached or changed since the last call. */
bool probe_target_hit(struct probe_target *target);
#endif
