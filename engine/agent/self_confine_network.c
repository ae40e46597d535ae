/*
 * Stops: any connection that does not go through the broker. The process moves into a user and
 * network namespace of its own, where only a loopback interface exists, and then asks the kernel
 * for every route there is: one that leaves by another interface means that the namespace is not
 * empty.
 */
#include "agent/self_confine.h"

#include "base/io.h"
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { ANSWER_BYTES = 32768 };

static int map_self(uid_t uid, gid_t gid, struct err *e)
{
	char users[64], groups[64];
	snprintf(users, sizeof(users), "%u %u 1\n", uid, uid);
	snprintf(groups, sizeof(groups), "%u %u 1\n", gid, gid);
	if (io_put("/proc/self/setgroups", "deny", e) || io_put("/proc/self/uid_map", users, e))
		return -1;
	return io_put("/proc/self/gid_map", groups, e);
}

static int loopback_up(struct err *e)
{
	AUTO_FD int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo))
		return err_errno(e, "cannot bring the loopback interface up");
	return 0;
}

static int check_route(const struct nlmsghdr *message, unsigned loopback, struct err *e)
{
	const struct rtmsg *route = NLMSG_DATA(message);
	int left = (int)RTM_PAYLOAD(message);
	const struct rtattr *a = RTM_RTA(route);
	for (; RTA_OK(a, left); left -= (int)RTA_ALIGN(a->rta_len),
		a = (const void *)((const char *)a + RTA_ALIGN(a->rta_len))) {
		unsigned out;
		memcpy(&out, RTA_DATA(a), a->rta_type == RTA_OIF ? sizeof(out) : 0);
		if (a->rta_type == RTA_OIF && out != loopback)
			return err_set(
				e, "the new network namespace has a route by interface %u", out);
		if (a->rta_type == RTA_GATEWAY || a->rta_type == RTA_MULTIPATH)
			return err_set(e, "the new network namespace has a gateway");
	}
	return 0;
}

/* Returns 1 if the dump is over, 0 if there is more to come. */
static int check_answer(const char *answer, ssize_t len, unsigned loopback, struct err *e)
{
	unsigned left = (unsigned)len;
	for (const struct nlmsghdr *m = (const void *)answer; NLMSG_OK(m, left);
		m = NLMSG_NEXT(m, left)) {
		if (m->nlmsg_type == NLMSG_DONE)
			return 1;
		if (m->nlmsg_type == NLMSG_ERROR)
			return err_set(e, "the kernel does not list the routes");
		if (m->nlmsg_type == RTM_NEWROUTE && check_route(m, loopback, e))
			return -1;
	}
	return 0;
}

static int verify_no_route(struct err *e)
{
	AUTO_FD int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct {
		struct nlmsghdr head;
		struct rtmsg route;
	} ask = {.head = {.nlmsg_len = sizeof(ask),
			 .nlmsg_type = RTM_GETROUTE,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.route = {.rtm_family = AF_UNSPEC}};
	if (fd < 0 || send(fd, &ask, sizeof(ask), 0) != sizeof(ask))
		return err_errno(e, "cannot ask for the routes");
	static char answer[ANSWER_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	unsigned loopback = if_nametoindex("lo");
	for (int rc = 0; !rc;) {
		/* The kernel fills the dump while it is asked, so there is nothing to wait for. */
		ssize_t n = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
		if (n <= 0)
			return err_errno(e, "cannot read the routes");
		rc = check_answer(answer, n, loopback, e);
		if (rc < 0)
			return -1;
	}
	return 0;
}

int self_confine_network(json_t *layers, struct err *e)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return err_errno(e,
			"cannot enter a user and network namespace of its own (`agent6 check "
			"sandbox` says what this host lacks)");
	if (map_self(uid, gid, e) || loopback_up(e) || verify_no_route(e))
		return -1;
	json_object_set_new(layers, "user_namespace", json_true());
	return json_object_set_new(layers, "network_namespace", json_string("empty"));
}
