/*
 * The jail's own network: an empty namespace with loopback up and, when the policy lists hosts, a
 * proxy listener that the launcher's caller serves from outside.
 *
 * Attack: any connection that the policy does not name. There is no route; the only way out is a
 * listening socket whose accepting end is held by the broker, and no process inside bridges it.
 */
#include "base/pass.h"
#include "jail/jail.h"
#include <arpa/inet.h>
#include <net/if.h>
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

static int point_at_proxy(struct policy *p, unsigned port, struct err *e)
{
	static const char *const names[] = {
		"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"};
	char url[64];
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		bool socks = i >= 4;
		snprintf(url, sizeof(url), "%s://127.0.0.1:%u", socks ? "socks5h" : "http", port);
		if (policy_setenv(p, names[i], url, e))
			return -1;
	}
	static const char own[] = "localhost,127.0.0.1,::1";
	return policy_setenv(p, "NO_PROXY", own, e) || policy_setenv(p, "no_proxy", own, e) ? -1
											    : 0;
}

static int open_proxy(struct policy *p, struct err *e)
{
	AUTO_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, len) || listen(fd, 64) ||
		getsockname(fd, (struct sockaddr *)&at, &len))
		return err_errno(e, "cannot open the proxy's listener");
	if (pass_send((int)p->proxy_fd, "L", 1, &fd, 1))
		return err_errno(e, "cannot hand the proxy's listener to its descriptor");
	return point_at_proxy(p, ntohs(at.sin_port), e);
}

int network_prepare(struct jail *j, struct err *e)
{
	static const char *const words[] = {"none", "host", "proxy"};
	j->report->layers.network = words[j->policy.network];
	if (j->policy.network == NETWORK_HOST || !LAYER_ON("namespace_net"))
		return 0;
	if (loopback_up(e))
		return -1;
	return j->policy.network == NETWORK_PROXY ? open_proxy(&j->policy, e) : 0;
}
