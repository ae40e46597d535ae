#include "cli/setup.h"
#include "run/drive.h"

static int run(const struct call *c)
{
	struct resting r;
	struct err e = ERR_NONE;
	int code = resting_open(&r, c, false);
	if (code)
		return code;
	code = stop_run(&r.instance, &e) ? fail(EXIT_REFUSED, &e) : EXIT_OK;
	resting_done(&r);
	return code;
}

const struct verb verb_machine_stop = {.path = "machine stop",
	.summary = "park a running instance at its next boundary",
	.arguments = "ID",
	.min_arguments = 1,
	.max_arguments = 1,
	.details = "The step that runs is finished and journaled first. `machine run` continues.",
	.run = run};
