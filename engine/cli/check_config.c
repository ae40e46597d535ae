#include "cli/setup.h"
#include "cli/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FINDINGS_BYTES_MAX = 16 * 1024 * 1024 };

/* What an agent state would be refused for. The configuration can be valid all the same: the key
 * may come from the environment of another shell, or of a service. */
static void tell_keys(const struct config *config)
{
	for (size_t i = 0; i < config->provider_count; i++) {
		struct err e = ERR_NONE;
		char *key = NULL;
		AUTO_BUF text;
		buf_init(&text, FINDINGS_BYTES_MAX);
		if (config_provider_key(config, &config->providers[i], &key, &e)) {
			text_clean(&text, e.text, sizeof(e.text));
			text_print(text.data, 2);
		}
		if (key)
			explicit_bzero(key, strlen(key));
		free(key);
	}
}

static int tell(const struct call *c)
{
	struct setup setup;
	if (setup_open(&setup, c))
		return EXIT_REFUSED;
	setup_tell(&setup);
	printf("the configuration is valid\n  settings  %s/config.yaml\n  state     %s\n",
		setup.paths.config_dir, setup.place.state_dir);
	if (!setup.config->provider_count)
		puts("no provider is configured: agent states cannot run; `agent6 connect` adds "
		     "one");
	tell_keys(setup.config);
	setup_done(&setup);
	return EXIT_OK;
}

static int list(const struct call *c)
{
	struct setup setup;
	if (setup_load(&setup, c))
		return EXIT_REFUSED;
	text_findings_as(&setup.findings, findings_json);
	int code = setup.findings.errors ? EXIT_REFUSED : EXIT_OK;
	setup_done(&setup);
	return code;
}

static int run(const struct call *c)
{
	return call_has(c, "json") ? list(c) : tell(c);
}

static const struct verb_option options[] = {
	{"config", "FILE", "a configuration file on top of the operator's own", false},
	{"json", NULL, "print the problems as one JSON array", false}, {NULL, NULL, NULL, false}};

const struct verb verb_check_config = {.path = "check config",
	.summary = "check this directory's effective configuration",
	.max_arguments = 0,
	.details = "A provider whose key cannot be read is named, and is no fault of the "
		   "configuration.\n"
		   "Exit status: 0 valid; 2 not, with the file, line and column of every "
		   "problem.",
	.options = options,
	.run = run};
