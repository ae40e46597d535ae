/*
 * The jail's own network: an empty namespace with loopback up and, when the policy lists hosts, a
 * proxy listener that the launcher's caller serves from outside.
 *
 * Attack: any connection that the policy does not name. There is no route; the only way out is a
 * listening socket whose accepting end is held by the broker, and no process inside bridges it.
 */
#include "base/pass.h"
#include "jail/jail.h"
#include "jail/leave_out.h"
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

static int loopback_up(struct err *e)
{
	AUTO_FD int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo))
		return err_errno(e, "cannot bring up the loopback device");
	return 0;
}

static int listen_local(uint16_t *port, struct err *e)
{
	AUTO_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, len) || listen(fd, 64) ||
		getsockname(fd, (struct sockaddr *)&at, &len))
		return err_errno(e, "cannot open the proxy's listener");
	*port = ntohs(at.sin_port);
	return TAKE_FD(fd);
}

static int hand_over(int channel, int listener, struct err *e)
{
	return pass_send(channel, "L", 1, &listener, 1)
		       ? err_errno(e, "cannot hand the proxy's listener to descriptor %d", channel)
		       : 0;
}

static int point_at_proxy(struct policy *p, uint16_t port, struct err *e)
{
	static const char *const names[] = {
		"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"};
	static const char *const socks[] = {"ALL_PROXY", "all_proxy"};
	char url[64];
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", port);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (policy_setenv(p, names[i], url, e))
			return -1;
	snprintf(url, sizeof(url), "socks5h://127.0.0.1:%u", port);
	for (size_t i = 0; i < ARRAY_LEN(socks); i++)
		if (policy_setenv(p, socks[i], url, e))
			return -1;
	return policy_setenv(p, "NO_PROXY", "localhost,127.0.0.1,::1", e) ||
			       policy_setenv(p, "no_proxy", "localhost,127.0.0.1,::1", e)
		       ? -1
		       : 0;
}

int network_prepare(struct jail *j, struct err *e)
{
	static const char *const words[] = {"none", "host", "proxy"};
	j->report->layers.network = words[j->policy.network];
	if (j->policy.network == NETWORK_HOST || !LAYER_ON("namespace_net"))
		return 0;
	if (loopback_up(e))
		return -1;
	if (j->policy.network != NETWORK_PROXY)
		return 0;
	uint16_t port = 0;
	AUTO_FD int listener = listen_local(&port, e);
	if (listener < 0 || hand_over(j->policy.proxy_fd, listener, e))
		return -1;
	own_close(&j->policy.proxy_fd);
	return point_at_proxy(&j->policy, port, e);
}
