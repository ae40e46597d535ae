/*
 * The jail's own network: an empty namespace with loopback up and, if the policy lists hosts, a
 * proxy listener that the launcher's caller serves from outside.
 *
 * Attack: any connection that the policy does not name. There is no route; the only way out is a
 * listening socket whose accepting end the broker holds, and no process inside bridges it.
 */
#include "base/fdpass.h"
#include "jail/jail.h"
#include <arpa/inet.h>
#include <linux/futex.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* Every port of a new network is free; clients do not get this one by chance. */
enum { PROXY_PORT = 61080 };
#define PROXY_AT "127.0.0.1:61080"

static int open_proxy(struct policy *policy, struct err *e)
{
	static const char http[] = "http://" PROXY_AT, own[] = "localhost,127.0.0.1,::1";
	AUTO_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const struct sockaddr_in at = {.sin_family = AF_INET,
		.sin_port = htons(PROXY_PORT),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof(at)) || listen(fd, 64))
		return err_errno(e, "cannot open the proxy's listener");
	if (fdpass_send((int)policy->proxy_fd, "L", 1, &fd, 1))
		return err_errno(e, "cannot hand the proxy's listener to its descriptor");
	/* ALL_PROXY is HTTP, too: httpx and aria2 stop at a scheme that they do not know, even if
	 * it is not used. Node.js reads these variables only if told to. Variables that the command
	 * was given stay: NO_PROXY leaves out listed names of this host. */
	json_auto_t *more = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "HTTP_PROXY",
		http, "http_proxy", http, "HTTPS_PROXY", http, "https_proxy", http, "ALL_PROXY",
		http, "all_proxy", http, "NO_PROXY", own, "no_proxy", own, "NODE_USE_ENV_PROXY",
		"1");
	return json_object_update_missing(policy->env, more) ? err_set(e, "out of memory") : 0;
}

static pid_t helper; /* the thread below, until it has ended */
static int made_fd;  /* the new namespace; -1: none was made; 0: none is wanted */

/* Makes a namespace. Returns its descriptor. */
static int make(struct err *e)
{
	if (unshare(CLONE_NEWNET))
		return err_errno(e, "cannot make a network (see user.max_net_namespaces)");
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo))
		return err_errno(e, "cannot bring up the loopback device");
	int net = ioctl(fd, SIOCGSKNS);
	close(fd); /* AUTO_FD would write errno, which the other process shares */
	return net < 0 ? err_errno(e, "cannot open the network namespace") : net;
}

static int help(void *unused)
{
	(void)unused;
	__atomic_store_n(&made_fd, make(NULL), __ATOMIC_RELEASE);
	return 0;
}

/* Waits for the helper and returns its result. The kernel clears the thread's number, and wakes who
 * waits for that: clone(2), CLONE_CHILD_CLEARTID. */
static int await_helper(void)
{
	for (pid_t tid; (tid = __atomic_load_n(&helper, __ATOMIC_ACQUIRE));)
		syscall(SYS_futex, &helper, FUTEX_WAIT, tid, NULL, NULL, 0);
	return __atomic_load_n(&made_fd, __ATOMIC_ACQUIRE);
}

/* Moves a thread to another processor. Many hosts, above all virtual machines, start it on its
 * maker's processor, where it would wait until the maker sleeps, while others are idle. If no other
 * can be chosen it waits. */
static void send_elsewhere(pid_t thread)
{
	cpu_set_t set;
	unsigned here;
	/* The C library first tries a faster way, which takes longer. */
	if (syscall(SYS_getcpu, &here, NULL, NULL) || sched_getaffinity(0, sizeof(set), &set))
		return;
	CPU_CLR((size_t)here, &set);
	sched_setaffinity(thread, sizeof(set), &set); /* fails if none is left */
}

/* Begins to make the network, which takes the kernel as long as the rest of the jail. A helper does
 * it meanwhile: a thread that allocates nothing and, unless it fails, does not change errno. A
 * process would take as long to reap as to start. */
int network_begin(struct jail *jail, struct err *e)
{
	static char stack[64 * 1024] __attribute__((aligned(16)));
	static const char *const words[] = {"none", "host", "proxy"};
	jail->report->layers.network = words[jail->policy.network];
	if (jail->policy.network == NETWORK_HOST || !LAYER_ON("namespace_net"))
		return 0;
	made_fd = -1;
	pid_t tid = clone(help, stack + sizeof(stack),
		CLONE_VM | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_PARENT_SETTID |
			CLONE_CHILD_CLEARTID,
		NULL, &helper, NULL, &helper);
	if (tid < 0)
		return err_errno(e, "cannot start the network's helper");
	send_elsewhere(tid);
	return 0;
}

int network_enter(struct jail *jail, struct err *e)
{
	int fd = await_helper();
	if (!fd)
		return 0;
	if (setns(fd, CLONE_NEWNET))
		return err_errno(e, "cannot enter the network namespace");
	return jail->policy.network == NETWORK_PROXY ? open_proxy(&jail->policy, e) : 0;
}

/* Corrects the report: the helper shares this process's errno, so a step may have failed by it or
 * reported it as its own. If there is no network, that is the cause. */
void network_explain(struct jail *jail)
{
	struct err e = ERR_NONE;
	if (await_helper() < 0 && make(&e) < 0) {
		jail->report->stage = NULL;
		jail_report_fail(jail->report, "network", &e);
	}
}
