#include "instance/stop.h"
#include "cli/verb/opened_instance.h"

static int stop(const struct opened_instance *opened, const struct call *call, struct err *e)
{
	(void)call;
	return stop_ask(&opened->instance, e);
}

static int run(const struct call *call)
{
	return opened_instance_tell(call, stop);
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
