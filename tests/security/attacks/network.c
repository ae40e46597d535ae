/*
 * Attempts on sockets and other ways to talk: the driver's canaries listen on all of them.
 */
#include "tests/security/attacks/attack.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <mqueue.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static uint16_t port(const char *name)
{
	return htons((uint16_t)strtol(target(name), NULL, 10));
}

static struct sockaddr_in host4(const char *name)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
		.sin_port = port(name),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

int net_tcp4(void)
{
	struct sockaddr_in at = host4("TCP4");
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	return fd < 0 ? errno : answer(connect(fd, (struct sockaddr *)&at, sizeof(at)));
}

int net_tcp6(void)
{
	struct sockaddr_in6 at = {.sin6_family = AF_INET6,
		.sin6_port = port("TCP6"),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	return fd < 0 ? errno : answer(connect(fd, (struct sockaddr *)&at, sizeof(at)));
}

int net_udp(void)
{
	struct sockaddr_in at = host4("UDP");
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	return fd < 0 ? errno : answer(sendto(fd, "x", 1, 0, (struct sockaddr *)&at, sizeof(at)));
}

int net_fastopen(void)
{
	struct sockaddr_in at = host4("TCP4");
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0)
		return errno;
	return answer(sendto(fd, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&at, sizeof(at)));
}

int net_fastopen_msg(void)
{
	struct sockaddr_in at = host4("TCP4");
	struct iovec data = {"x", 1};
	struct msghdr message = {
		.msg_name = &at, .msg_namelen = sizeof(at), .msg_iov = &data, .msg_iovlen = 1};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	return fd < 0 ? errno : answer(sendmsg(fd, &message, MSG_FASTOPEN));
}

int net_mptcp(void)
{
	return answer(socket(AF_INET, SOCK_STREAM, 262));
}

int net_protocols(void)
{
	static const int families[] = {AF_INET, AF_INET6}, types[] = {1, 2, 3, 5, 6},
			 protocols[] = {
				 1, 2, 33, 46, 47, 50, 51, 58, 103, 108, 115, 132, 136, 143, 255};
	for (size_t f = 0; f < 2; f++)
		for (size_t t = 0; t < 5; t++)
			for (size_t p = 0; p < sizeof(protocols) / sizeof(protocols[0]); p++)
				if (socket(families[f], types[t], protocols[p]) >= 0)
					return 0;
	return errno;
}

int net_raw(void)
{
	return answer(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
}

int net_ping(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
	return fd < 0 && errno == EACCES ? 0 : answer(fd); /* reached; a sysctl decides */
}

int net_packet(void)
{
	return answer(socket(AF_PACKET, SOCK_RAW, 0));
}

int net_netlink(void)
{
	return answer(socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC));
}

int net_vsock(void)
{
	return answer(socket(AF_VSOCK, SOCK_STREAM, 0));
}

int net_vsock_high(void)
{
	return answer(syscall(SYS_socket, 0x100000000ul | AF_VSOCK, SOCK_STREAM, 0));
}

int net_alg(void)
{
	return answer(socket(AF_ALG, SOCK_SEQPACKET, 0));
}

/* Every family, type and protocol but the four allowed families: one that opens is one too many. */
int net_families(void)
{
	static const int protocols[] = {0, 1, 6, 17, 33, 58, 132, 136, 255, 262};
	for (int family = 0; family < 46; family++) {
		if (family == AF_UNIX || family == AF_INET || family == AF_INET6 ||
			family == AF_NETLINK)
			continue;
		for (int type = 1; type <= 10; type++)
			for (size_t p = 0; p < sizeof(protocols) / sizeof(protocols[0]); p++)
				if (socket(family, type, protocols[p]) >= 0)
					return 0;
	}
	return errno;
}

int net_config(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	return fd < 0 ? errno : answer(ioctl(fd, SIOCSIFFLAGS, &lo));
}

static int connect_at(int fd, const char *name, socklen_t skip)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	size_t len = strlen(name);
	if (len + skip >= sizeof(at.sun_path))
		return ENAMETOOLONG;
	memcpy(at.sun_path + skip, name, len);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + skip + len);
	return answer(connect(fd, (struct sockaddr *)&at, size));
}

static int connect_unix(const char *name, socklen_t skip)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	return fd < 0 ? errno : connect_at(fd, name, skip);
}

int unix_abstract(void)
{
	return connect_unix(target("ABSTRACT"), 1);
}

int unix_outside(void)
{
	return connect_unix(outside("s"), 0);
}

/* One that is connected already, and for datagrams can be connected elsewhere. */
int unix_pair(void)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		return errno;
	int result = connect_at(pair[0], outside("d"), 0);
	return result ? result : answer(send(pair[0], "x", 1, 0));
}

int unix_inside(void)
{
	return connect_unix("services/s", 0);
}

int unix_renamed(void)
{
	rename("services", "moved");
	int result = connect_unix("moved/s", 0);
	return result == ENOENT ? connect_unix("services/s", 0) : result;
}

int ipc_shm(void)
{
	return answer(shmget((key_t)strtol(target("IPC"), NULL, 10), 0, 0));
}

int ipc_sem(void)
{
	return answer(semget((key_t)strtol(target("IPC"), NULL, 10), 0, 0));
}

int ipc_msg(void)
{
	return answer(msgget((key_t)strtol(target("IPC"), NULL, 10), 0));
}

int ipc_mqueue(void)
{
	return answer(mq_open(target("MQ"), O_RDWR));
}
