/*
 * The exfiltration corpus: attempts to get one marked message out of a confined process, made by
 * the agent (in its own process), by a command it runs, and by a tool state.
 *
 * Each returns 0 when somebody outside answered (or, where nobody can answer, when the kernel took
 * the message), else the errno of the refusal. None waits longer than ANSWER_MS.
 */
#ifndef TESTS_SECURITY_EGRESS_ATTEMPTS_H
#define TESTS_SECURITY_EGRESS_ATTEMPTS_H
#include <stddef.h>
#include <sys/types.h>

enum { ANSWER_MS = 30000 };

/* id; NET: the host's network, where a state was given it; NEVER: under no setting; the profile,
 * and the layers of the jail without which a command gets through there; what is tried. The broker
 * alone holds what goes by its proxy. `make teeth` leaves the layers out. */
#define ATTEMPTS(X)                                                                                \
	X(tcp_loopback, NET, strict, "namespace_net", "TCP to a service of this host")             \
	X(tcp_public, NET, strict, "namespace_net", "TCP to a public address")                     \
	X(tcp6_loopback, NET, strict, "namespace_net", "TCP over IPv6 to a service of this host")  \
	X(tcp6_public, NET, strict, "namespace_net", "TCP over IPv6 to a public address")          \
	X(udp_loopback, NET, strict, "namespace_net", "UDP to a service of this host")             \
	X(udp_public, NET, strict, "namespace_net", "UDP to a public address")                     \
	X(udp6_public, NET, strict, "namespace_net", "UDP over IPv6")                              \
	X(dns_libc, NET, strict, "namespace_net",                                                  \
		"a name that carries the message, by the C library")                               \
	X(dns_udp, NET, strict, "namespace_net", "the same, sent to the resolver by UDP")          \
	X(dns_tcp, NET, strict, "namespace_net", "the same by TCP")                                \
	X(fastopen_sendto, NEVER, strict, "namespace_net,without-sockets",                         \
		"TCP fast open by sendto")                                                         \
	X(fastopen_sendmsg, NEVER, strict, "namespace_net,without-sockets",                        \
		"TCP fast open by sendmsg")                                                        \
	X(fastopen_connect, NEVER, strict, "namespace_net,without-sockets",                        \
		"TCP fast open by connect")                                                        \
	X(mptcp, NEVER, strict, "namespace_net,without-sockets", "multipath TCP")                  \
	X(sctp, NEVER, strict, "namespace_net,without-sockets", "SCTP")                            \
	X(udplite, NEVER, strict, "namespace_net,without-sockets", "UDP-Lite")                     \
	X(icmp_ping, NEVER, strict, "namespace_net,without-sockets",                               \
		"an echo request by a ping socket")                                                \
	X(icmp_raw, NEVER, hardened, "without-sockets,capabilities",                               \
		"an echo request by a raw socket")                                                 \
	X(packet, NEVER, hardened, "without-sockets,capabilities",                                 \
		"a UDP frame by a packet socket")                                                  \
	X(vsock, NEVER, strict, "without-sockets", "a vsock stream")                               \
	X(netlink_generic, NEVER, strict, "without-sockets", "generic netlink")                    \
	X(netlink_link, NEVER, hardened, "without-sockets,capabilities",                           \
		"a new interface by route netlink")                                                \
	X(abstract_stream, NEVER, strict, "namespace_net,landlock",                                \
		"an abstract stream socket of the host")                                           \
	X(abstract_dgram, NEVER, strict, "namespace_net,landlock",                                 \
		"an abstract datagram socket of the host")                                         \
	X(docker, NEVER, hardened, "seccomp_no_unix", "the docker socket of the host")             \
	X(workspace_socket, NEVER, strict, "mask", "an agent socket that lies in the workspace")   \
	X(workspace_renamed, NEVER, strict, "mask", "the same, moved first")                       \
	X(passed_workspace, NEVER, strict, "mask",                                                 \
		"a descriptor passed by a socket in the workspace")                                \
	X(passed_abstract, NEVER, strict, "namespace_net,landlock",                                \
		"a descriptor passed by an abstract socket")                                       \
	X(passed_reconnect, NEVER, strict, "namespace_net,landlock",                               \
		"a passed socket, connected elsewhere")                                            \
	X(inherited, NEVER, strict, "descriptors", "a socket that was left open for it")           \
	X(steal, NEVER, hardened, "without-tracing,landlock,capabilities",                         \
		"another process's socket, the broker's above all")                                \
	X(io_uring, NEVER, strict, "without-io_uring", "sockets by io_uring")                      \
	X(proxy_listed, LISTED, strict, "broker", "the proxy of a list, to a host of the list")    \
	X(proxy_other, NEVER, strict, "broker", "the same, to a host that is not")

/* Targets come from the environment as EGRESS_`name`; "" when there is none. */
const char *egress_told(const char *name);
int egress_number(const char *name);
/* Reads NAME=value lines from `path` into the environment. -1: it cannot be read. */
int egress_read_targets(const char *path);
/* Sends "MARK ROLE `id`" on `fd` and waits for the answer. */
int egress_say(int fd, const char *id);
/* Makes every attempt as `role`; `told` receives a line "ID ERRNO" for each. */
void egress_all(const char *role, void (*told)(const char *id, int got, void *ctx), void *ctx);
#endif
