/*
 * agent6-broker: the agent's only way out. This is the order in which it comes up; what needs the
 * host is opened first, then the process confines itself, then it serves.
 */
#include "base/exit.h"
#include "broker/broker.h"
#include "broker/restrain.h"
#include <signal.h>
#include <stdio.h>

static int fail(const struct err *e, int status)
{
	fprintf(stderr, "agent6-broker: %s\n", e->text);
	return status;
}

static struct restraint restraint_of(const struct options *o, int *kept_fds)
{
	struct restraint r = {.kept_fds = kept_fds};
	for (size_t i = 0; i < o->channel_count; i++)
		kept_fds[r.kept_count++] = o->channels[i].fd;
	if (o->control_fd >= 0)
		kept_fds[r.kept_count++] = o->control_fd;
	r.ports[r.port_count++] = 53;
	if (o->proxy)
		r.ports[r.port_count++] = dialer_proxy_port(o->proxy);
	for (size_t i = 0; i < o->channel_count && !o->proxy; i++)
		r.ports[r.port_count++] = o->channels[i].endpoint.port;
	return r;
}

int main(int argc, char **argv)
{
	static struct options options;
	static struct broker broker;
	struct err e = ERR_NONE;
	int kept_fds[CHANNELS_MAX + 1];
	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		return fputs(options_usage, stdout) < 0;
	if (options_decode(&options, argc, argv, &e) < 0)
		return fail(&e, EXIT_REFUSED);
	struct restraint restraint = restraint_of(&options, kept_fds);
	signal(SIGPIPE, SIG_IGN);
	if (restrain_inherited(&restraint, &e) < 0 ||
		broker_open(&broker, &options, restrain_descriptors(), &e) < 0 ||
		restrain(&restraint, &e) < 0)
		return fail(&e, EXIT_SANDBOX);
	if (broker_serve(&broker, &e) < 0)
		return fail(&e, EXIT_FAILED);
	/* Nothing is left to flush, and a resolver thread may still be running. */
	_exit(EXIT_OK);
}
