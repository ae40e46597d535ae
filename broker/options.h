/*
 * The command line: channels, where facts go, how much may leave.
 */
#ifndef BROKER_OPTIONS_H
#define BROKER_OPTIONS_H
#include "base/err.h"
#include "broker/endpoint.h"

enum { CHANNELS_MAX = 64 };

struct channel_option {
	int fd;
	struct endpoint endpoint;
};

struct options {
	struct channel_option channels[CHANNELS_MAX];
	size_t channel_count;
	int control_fd;     /* -1: facts are not wanted */
	uint64_t max_bytes; /* UINT64_MAX: unlimited */
	char *proxy;        /* URL of the operator's proxy, borrowed from argv; NULL: none */
};

/* Every option is checked; nothing is opened. An error names the option and what it expects. */
int options_decode(struct options *o, int argc, char **argv, struct err *e) MUST_CHECK;
extern const char options_usage[];
#endif
