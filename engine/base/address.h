/*
 * Address classes: what kind of place a resolved address is, and whether a channel of the broker
 * may go there. Pure.
 *
 * Source: the IANA special-purpose address registries (RFC 6890 and its successors), and the
 * metadata services of the large clouds, some of which lie outside those ranges.
 */
#ifndef BASE_ADDRESS_H
#define BASE_ADDRESS_H
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

union address {
	sa_family_t family; /* AF_UNSPEC: none */
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* An address that is written as one, its port left out; false: it is not. */
bool address_decode(union address *out, const char *text);

/* What an address asks for, and what a channel of the broker may reach. */
enum reach {
	REACH_PUBLIC,
	REACH_PRIVATE, /* RFC 1918, shared (CGNAT), benchmarking, unique-local; a channel: public
			  too */
	REACH_LOCAL,   /* loopback and nothing else */
	REACH_NEVER,   /* link-local, metadata, multicast, embedded, reserved: no channel may */
	REACH_NEAR,    /* of a channel alone: public, private or loopback */
};

/* Of an AF_INET or AF_INET6 address; any other family is never reached. Neither is one that embeds
 * an IPv4 address; of NAT64's well-known prefix, unless what it embeds is public. */
enum reach address_reach(const struct sockaddr *address);
bool address_allowed(const struct sockaddr *address, enum reach reach);
#endif
