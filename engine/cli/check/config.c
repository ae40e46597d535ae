#include "cli/verb/setup.h"
#include "confine/confine.h"
#include "report/text.h"
#include "run/hook.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FINDINGS_BYTES_MAX = 16 * 1024 * 1024 };

static void PRINTF(1, 2) tell_problem(const char *format, ...)
{
	AUTO_FREE char *problem = NULL;
	AUTO_BUF text = BUF_INIT(FINDINGS_BYTES_MAX);
	va_list args;
	va_start(args, format);
	if (vasprintf(&problem, format, args) < 0)
		problem = NULL;
	va_end(args);
	text_clean(&text, problem ? problem : "", SIZE_MAX);
	text_print(text.data, 2);
}

static void tell_unset(const struct config_provider *provider, const char *what,
	const struct config_sent *sent, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct err e = ERR_NONE;
		if (!config_sent_text(provider, what, &sent[i], &e))
			tell_problem("%s", e.text);
	}
}

/* Tells which keys are missing, for which an agent state would be refused. The configuration may
 * still be valid: the key may be in the environment of another shell, or of a service. */
static void tell_keys(const struct config *config)
{
	for (size_t i = 0; i < config->provider_count; i++) {
		struct err e = ERR_NONE;
		char *key = NULL;
		const struct config_provider *p = &config->providers[i];
		/* A token_command runs when its key is needed, not for a check. */
		if (!p->token_command.count && config_provider_key(config, p, &key, &e))
			tell_problem("%s", e.text);
		tell_unset(p, "header", p->headers, p->header_count);
		tell_unset(p, "query parameter", p->query, p->query_count);
		if (key)
			explicit_bzero(key, strlen(key));
		free(key);
	}
}

static void tell_program(
	const struct config *config, const char *setting, const struct config_list *command)
{
	AUTO_FREE char *program = command->count ? hook_program(config, command->items[0]) : NULL;
	if (command->count && !program)
		tell_problem("%s: there is no program %s to run", setting, command->items[0]);
}

/* Tells which named files are missing. They may exist when a run starts. A run fails without a
 * grant, and goes on without a program. */
static void tell_missing(const struct config *config, const char *state)
{
	const struct config_list *read = &config->sandbox.read;
	for (size_t i = 0; i < read->count; i++) {
		struct err e = ERR_NONE;
		if (confine_check_grant("sandbox.read", read->items[i], false, state, &e))
			tell_problem("%s", e.text);
	}
	tell_program(config, "machine.notify.on_event", &config->machine.on_event);
	for (size_t i = 0; i < config->provider_count; i++) {
		char setting[128];
		snprintf(setting, sizeof(setting), "providers.%.64s.token_command",
			config->providers[i].name);
		tell_program(config, setting, &config->providers[i].token_command);
	}
}

static int tell_all(const struct call *call)
{
	struct setup setup;
	if (setup_open(&setup, call))
		return EXIT_REFUSED;
	setup_tell(&setup);
	printf("the configuration is valid\n  settings  %s/config.yaml\n  state     %s\n",
		setup.paths.config_dir, setup.statedir.root);
	if (!setup.config->provider_count)
		text_print("no provider is configured: agent states cannot run; `agent6 connect` "
			   "adds one",
			2);
	tell_keys(setup.config);
	tell_missing(setup.config, setup.statedir.root);
	setup_done(&setup);
	return EXIT_OK;
}

static int list(const struct call *call)
{
	struct setup setup;
	if (setup_load(&setup, call))
		return EXIT_REFUSED;
	text_findings_as(&setup.findings, findings_json);
	int code = setup.findings.errors ? EXIT_REFUSED : EXIT_OK;
	setup_done(&setup);
	return code;
}

static int run(const struct call *call)
{
	return call_has(call, "json") ? list(call) : tell_all(call);
}

static const struct verb_option options[] = {
	{"config", "FILE", "a configuration file on top of the operator's own", false},
	{"json", NULL, "print the problems as one JSON array", false}, {NULL, NULL, NULL, false}};

const struct verb verb_check_config = {.path = "check config",
	.summary = "check this directory's effective configuration",
	.max_arguments = 0,
	.details = "A provider whose key cannot be read is named, and is no fault of the "
		   "configuration; neither is a path of sandbox.read or a program of "
		   "machine.notify.on_event or a token_command that is not there now.\n"
		   "Exit status: 0 valid; 2 not, with the file, line and column of every "
		   "problem.",
	.options = options,
	.run = run};
