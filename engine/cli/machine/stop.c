#include "instance/stop.h"
#include "cli/verb/resting.h"

static int stop(const struct resting *r, const struct call *c, struct err *e)
{
	(void)c;
	return stop_ask(&r->instance, e);
}

static int run(const struct call *c)
{
	return resting_tell(c, stop);
}

const struct verb verb_machine_stop = {.path = "machine stop",
	.summary = "park a running instance at its next boundary",
	.arguments = "ID",
	.min_arguments = 1,
	.max_arguments = 1,
	.acts = true,
	.details = "The step that runs is finished and journaled first; `machine status` says "
		   "so until then. Two SIGTERM to the process that it names kill a step that does "
		   "not end, uncommitted. `machine run` continues.",
	.run = run};
