/*
 * Address classes: tells what kind of place a resolved address is, and whether a channel of the
 * broker may go there. Pure.
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

/* Decodes the text of an address without a port. Returns false if it is none. */
bool address_decode(union address *out, const char *text);

/* The class of an address, and the reach of a channel of the broker. */
enum reach {
	REACH_PUBLIC,
	/* RFC 1918, shared (CGNAT), benchmarking, unique-local; a channel of this reach may go to
	 * public addresses, too. */
	REACH_PRIVATE,
	REACH_LOCAL, /* loopback and nothing else */
	REACH_NEVER, /* link-local, metadata, multicast, embedded, reserved: no channel may */
	REACH_NEAR,  /* for channels only: public, private or loopback */
};

/* Returns the class of an AF_INET or AF_INET6 address. Other families are never reached, nor is an
 * address that embeds an IPv4 address; one with NAT64's well-known prefix is reached if the
 * embedded address is public. */
enum reach address_reach(const struct sockaddr *address);
bool address_allowed(const struct sockaddr *address, enum reach reach);
#endif
