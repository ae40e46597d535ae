/*
 * Address classes: what kind of place a resolved address is, and whether a channel may go there.
 *
 * Source: the IANA special-purpose address registries (RFC 6890 and its successors), and the
 * metadata services of the large clouds, some of which lie outside those ranges.
 */
#ifndef BROKER_PARSE_ADDRESS_H
#define BROKER_PARSE_ADDRESS_H
#include <stdbool.h>
#include <sys/socket.h>

enum address_class {
	ADDRESS_PUBLIC,
	ADDRESS_LOOPBACK,
	ADDRESS_PRIVATE, /* RFC 1918, shared (CGNAT), benchmarking, unique-local */
	ADDRESS_SPECIAL, /* link-local, metadata, multicast, embedded, reserved: never an endpoint
			  */
};

/* What a channel may reach. */
enum reach {
	REACH_PUBLIC,
	REACH_PRIVATE, /* public and private */
	REACH_LOCAL,   /* loopback and nothing else */
};

/* The class of an AF_INET or AF_INET6 address; any other family is special. An address that embeds
 * an IPv4 one is special; of NAT64's well-known prefix, unless what it embeds is public. */
enum address_class address_class(const struct sockaddr *address);
bool address_allowed(const struct sockaddr *address, enum reach reach);
#endif
