#include "cli/verb/opened_instance.h"
#include "run/replay.h"
#include <inttypes.h>
#include <stdio.h>

static int verify(const struct opened_instance *opened, const struct call *call)
{
	struct err e = ERR_NONE;
	uint64_t lines = 0;
	bool damaged = replay_verify(&opened->instance, &lines, &e);
	if (call_has(call, "json"))
		printf("{\"id\":\"%s\",\"lines\":%" PRIu64 ",\"ok\":%s}\n", opened->instance.id,
			lines, damaged ? "false" : "true");
	else if (!damaged)
		printf("%s: %" PRIu64 " line%s, the chain is whole\n", opened->instance.id, lines,
			lines == 1 ? "" : "s");
	return damaged ? verb_fail(EXIT_DAMAGED, &e) : EXIT_OK;
}

static int run(const struct call *call)
{
	return opened_instance_with(call, false, verify);
}

static const struct verb_option options[] = {
	{"json", NULL, "print one JSON object", false}, {NULL, NULL, NULL, false}};

const struct verb verb_machine_verify = {.path = "machine verify",
	.summary = "check the hash chain of an instance's journal",
	.arguments = "ID|DIR",
	.min_arguments = 1,
	.max_arguments = 1,
	.details = "Exit status: 0 whole; 5 damaged, with the line.",
	.options = options,
	.run = run};
