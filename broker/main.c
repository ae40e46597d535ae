/*
 * agent6-broker: the agent's only way out. These are the steps of its start: open everything that
 * needs the host, confine the process, serve.
 */
#include "base/exit.h"
#include "broker/broker.h"
#include "broker/restrain.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

static int fail(const struct err *e, int status)
{
	fprintf(stderr, "agent6-broker: %s\n", e->text);
	return status;
}

int main(int argc, char **argv)
{
	static struct options options;
	static struct broker broker;
	const char *weakness = NULL;
	struct err e = ERR_NONE;
	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		return fputs(options_usage, stdout) < 0;
	if (options_decode(&options, argc, argv, &e) < 0)
		return fail(&e, EXIT_REFUSED);
	signal(SIGPIPE, SIG_IGN);
	/* A stopped broker does not notice that the agent has ended. The kernel sends this signal
	 * when the thread that started us ends, which may be before its program ends. */
	prctl(PR_SET_PDEATHSIG, SIGCONT);
	if (restrain_descriptors(&options, &e) < 0 || broker_open(&broker, &options, &e) < 0 ||
		restrain(&options, &weakness, &e) < 0)
		return fail(&e, EXIT_SANDBOX);
	if (weakness) {
		fprintf(stderr, "agent6-broker: %s\n", weakness);
		broker_say(&broker, json_pack("{s:s}", "notice", weakness));
	}
	if (broker_serve(&broker, &e) < 0)
		return fail(&e, EXIT_FAILED);
	/* Nothing needs to be flushed, and a resolver thread may still run. */
	_exit(EXIT_OK);
}
