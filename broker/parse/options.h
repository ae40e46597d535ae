/*
 * The command line: channels, the place for facts, the limit on bytes.
 */
#ifndef BROKER_PARSE_OPTIONS_H
#define BROKER_PARSE_OPTIONS_H
#include "broker/parse/endpoint.h"

/* FDS_MAX: descriptors named by all options together. */
enum { FD_MAX = 1 << 20, FDS_MAX = 66, RULES_MAX = 64, DNS_PORT = 53 };

struct options {
	struct channel_option {
		int fd;
		struct endpoint endpoint;
	} channels[FDS_MAX];
	size_t channel_count;
	int proxy_fd;                     /* -1: no proxy is served */
	struct endpoint rules[RULES_MAX]; /* the destinations of the proxy */
	size_t rule_count;
	struct host_port near[RULES_MAX]; /* those of them that may lead to private addresses */
	size_t near_count;
	int control_fd;       /* -1: facts are not wanted */
	int64_t max_bytes;    /* INT64_MAX: unlimited */
	char *upstream_proxy; /* URL, heap, wiped from argv; NULL: none */
	int fds[FDS_MAX];     /* all descriptors named above */
	size_t fd_count;
	uint64_t fd_limit; /* how many descriptors may be open; set by restrain_descriptors */
	uint16_t ports[FDS_MAX + RULES_MAX + 1]; /* the ports of TCP connections */
	size_t port_count;
};

/* Checks every option and opens nothing. An error names the option and the expected value. */
int options_decode(struct options *options, int argc, char **argv, struct err *e) MUST_CHECK;
/* Reports whether an option names `fd`. */
bool options_names(const struct options *options, int fd);
extern const char options_usage[];
#endif
