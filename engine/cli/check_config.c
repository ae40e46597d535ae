#include "cli/setup.h"
#include <stdio.h>

static int run(const struct call *c)
{
	struct setup setup;
	if (setup_open(&setup, c))
		return EXIT_REFUSED;
	printf("the configuration is valid; %s/config.yaml is the operator's, %s holds the state\n",
		setup.paths.config_dir, setup.place.state_dir);
	if (!setup.config->provider_count)
		puts("no provider is configured: agent states cannot run; `agent6 connect` adds "
		     "one");
	setup_done(&setup);
	return EXIT_OK;
}

static const struct verb_option options[] = {
	{"config", "FILE", "a configuration file on top of the operator's own", false},
	{NULL, NULL, NULL, false}};

const struct verb verb_check_config = {.path = "check config",
	.summary = "check this directory's effective configuration",
	.max_arguments = 0,
	.details = "Exit status: 0 valid; 2 not, with the file, line and column of every problem.",
	.options = options,
	.run = run};
