/*
 * Attempts on addresses: TCP, UDP, names, and what lies below them.
 */
#include "tests/security/egress/reach.h"

#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <linux/vm_sockets.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MPTCP = 262, SCTP = 132, UDPLITE = 136, DNS_PORT = 53 };

/* --- TCP and UDP ------------------------------------------------------------------------------ */

int tcp_loopback(const char *id)
{
	return reach_send(reach_canary("127.0.0.1"), SOCK_STREAM, 0, id);
}

int tcp_public(const char *id)
{
	return reach_send(reach_canary(egress_told("PUBLIC")), SOCK_STREAM, 0, id);
}

int tcp6_loopback(const char *id)
{
	return reach_send(reach_canary("::1"), SOCK_STREAM, 0, id);
}

int tcp6_public(const char *id)
{
	return reach_send(reach_canary(egress_told("PUBLIC6")), SOCK_STREAM, 0, id);
}

int udp_loopback(const char *id)
{
	return reach_send(reach_canary("127.0.0.1"), SOCK_DGRAM, 0, id);
}

int udp_public(const char *id)
{
	return reach_send(reach_canary(egress_told("PUBLIC")), SOCK_DGRAM, 0, id);
}

int udp6_public(const char *id)
{
	return reach_send(reach_canary(egress_told("PUBLIC6")), SOCK_DGRAM, 0, id);
}

int mptcp(const char *id)
{
	return reach_send(reach_canary("127.0.0.1"), SOCK_STREAM, MPTCP, id);
}

int sctp(const char *id)
{
	return reach_send(reach_canary("127.0.0.1"), SOCK_STREAM, SCTP, id);
}

int udplite(const char *id)
{
	return reach_send(reach_canary("127.0.0.1"), SOCK_DGRAM, UDPLITE, id);
}

/* --- fast open: the message travels with the first packet, past a rule for connect() ---------- */

static int fastopen(const char *id, int by_message)
{
	char text[MESSAGE_BYTES];
	struct target t = reach_canary("127.0.0.1");
	struct iovec data = {text, reach_message(text, id)};
	struct msghdr m = {
		.msg_name = &t.at, .msg_namelen = t.len, .msg_iov = &data, .msg_iovlen = 1};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	ssize_t n = by_message ? sendmsg(fd, &m, MSG_FASTOPEN)
			       : sendto(fd, text, data.iov_len, MSG_FASTOPEN, &t.at.any, t.len);
	int got = n < 0 ? errno : reach_answered(fd);
	close(fd);
	return got;
}

int fastopen_sendto(const char *id)
{
	return fastopen(id, 0);
}

int fastopen_sendmsg(const char *id)
{
	return fastopen(id, 1);
}

int fastopen_connect(const char *id)
{
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct target t = reach_canary("127.0.0.1");
	if (fd < 0)
		return errno;
	int got = setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof(on)) ||
				  connect(fd, &t.at.any, t.len)
			  ? errno
			  : egress_say(fd, id);
	close(fd);
	return got;
}

/* --- names ------------------------------------------------------------------------------------ */

static void leaking_name(char out[MESSAGE_BYTES], const char *id)
{
	snprintf(out, MESSAGE_BYTES, "%s.%s.%s.leak.test", id, reach_role, egress_told("MARK"));
	for (; *out; out++)
		*out = *out == '_' ? '-' : *out;
}

int dns_libc(const char *id)
{
	char name[MESSAGE_BYTES];
	struct addrinfo *found = NULL;
	const struct addrinfo want = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
	leaking_name(name, id);
	int rc = getaddrinfo(name, NULL, &want, &found);
	if (!rc)
		freeaddrinfo(found);
	return rc ? EHOSTUNREACH : 0;
}

static size_t query(unsigned char out[MESSAGE_BYTES + 32], const char *id)
{
	char name[MESSAGE_BYTES];
	static const unsigned char head[] = {0x61, 0x36, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0};
	static const unsigned char tail[] = {0, 0, 1, 0, 1};
	size_t len = sizeof(head);
	memcpy(out, head, len);
	leaking_name(name, id);
	for (const char *label = name; *label; label += *label == '.') {
		size_t n = strcspn(label, ".");
		out[len++] = (unsigned char)n;
		memcpy(out + len, label, n);
		len += n;
		label += n;
	}
	memcpy(out + len, tail, sizeof(tail));
	return len + sizeof(tail);
}

static int ask_resolver(const char *id, int type)
{
	unsigned char text[MESSAGE_BYTES + 34];
	struct target t = reach_port("127.0.0.1", DNS_PORT);
	int fd = reach_call(&t, type, 0);
	if (fd < 0)
		return errno;
	size_t len = query(text + 2, id), skip = type == SOCK_STREAM ? 0 : 2;
	text[0] = (unsigned char)(len >> 8);
	text[1] = (unsigned char)len;
	ssize_t n = send(fd, text + skip, len + 2 - skip, MSG_NOSIGNAL);
	int got = n < 0 ? errno : reach_answered(fd);
	close(fd);
	return got;
}

int dns_udp(const char *id)
{
	return ask_resolver(id, SOCK_DGRAM);
}

int dns_tcp(const char *id)
{
	return ask_resolver(id, SOCK_STREAM);
}

/* --- below TCP and UDP ------------------------------------------------------------------------ */

static uint16_t checksum(const void *bytes, size_t len)
{
	uint32_t sum = 0;
	for (const uint8_t *at = bytes; len > 1; at += 2, len -= 2)
		sum += (uint32_t)(at[0] | at[1] << 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static int echo_request(int type, const char *id)
{
	struct {
		struct icmphdr head;
		char text[64];
	} echo = {.head.type = ICMP_ECHO};
	struct target t = reach_port(egress_told("PUBLIC"), 0);
	snprintf(echo.text, sizeof(echo.text), "%s %s", reach_role, id);
	echo.head.checksum = checksum(&echo, sizeof(echo));
	int fd = reach_call(&t, type, IPPROTO_ICMP);
	if (fd < 0)
		return errno;
	int got = send(fd, &echo, sizeof(echo), 0) < 0 ? errno : reach_answered(fd);
	close(fd);
	return got;
}

int icmp_ping(const char *id)
{
	return echo_request(SOCK_DGRAM, id);
}

int icmp_raw(const char *id)
{
	return echo_request(SOCK_RAW, id);
}

/* A frame with a UDP packet in it, for the loopback interface. Nobody answers to this socket. */
int packet(const char *id)
{
	struct {
		struct iphdr ip;
		struct udphdr udp;
		char text[MESSAGE_BYTES];
	} __attribute__((packed))
	frame = {.ip = {.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP}};
	size_t len = reach_message(frame.text, id) + sizeof(frame.udp);
	frame.ip.saddr = frame.ip.daddr = htonl(INADDR_LOOPBACK);
	frame.ip.tot_len = htons((uint16_t)(len + sizeof(frame.ip)));
	frame.ip.check = checksum(&frame.ip, sizeof(frame.ip));
	frame.udp.dest = frame.udp.source = htons((uint16_t)egress_number("PORT"));
	frame.udp.len = htons((uint16_t)len);
	struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP)};
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_IP));
	if (fd < 0)
		return errno;
	at.sll_ifindex = (int)if_nametoindex("lo");
	at.sll_halen = ETH_ALEN;
	ssize_t n =
		sendto(fd, &frame, len + sizeof(frame.ip), 0, (struct sockaddr *)&at, sizeof(at));
	int got = n < 0 ? errno : 0;
	close(fd);
	return got;
}

/* The stage has no hypervisor to call: a socket is what is asked for. */
int vsock(const char *id)
{
	(void)id;
	int fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return fd < 0 ? errno : close(fd);
}

int netlink_generic(const char *id)
{
	(void)id;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	return fd < 0 ? errno : close(fd);
}

/* An address for the loopback interface: harmless, and enough to be listened to. */
int netlink_link(const char *id)
{
	struct {
		struct nlmsghdr head;
		struct ifaddrmsg address;
		struct rtattr attribute;
		uint32_t value;
	} ask = {.head = {.nlmsg_len = sizeof(ask),
			 .nlmsg_type = RTM_NEWADDR,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE},
		.address = {.ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = 1},
		.attribute = {.rta_len = RTA_LENGTH(4), .rta_type = IFA_LOCAL},
		.value = htonl(0x7f000009)};
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
	} reply;
	(void)id;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0)
		return errno;
	int got = send(fd, &ask, sizeof(ask), 0) < 0 ? errno
		  : recv(fd, &reply, sizeof(reply), 0) < (ssize_t)sizeof(reply)
			  ? EIO
			  : -reply.error.error;
	close(fd);
	return got == EEXIST ? 0 : got;
}
