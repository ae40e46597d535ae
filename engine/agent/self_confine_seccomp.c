/*
 * Stops: every call that the loop, libcurl and the C library do not need, above all every new
 * socket (on the hardened profile nothing else stands between the process and the network; on the
 * strict one it closes what a network namespace does not cover, such as AF_VSOCK), every new
 * program and all memory that would become code.
 */
#include "agent/self_confine.h"

#include "base/seccomp_rules.h"
#include <asm/ioctls.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* These comparisons only allow more calls, so comparing all 64 bits is the strict way. */
#define EQUAL(arg, value)  SCMP_CMP64(arg, SCMP_CMP_EQ, value, 0)
#define WITHOUT(arg, bits) SCMP_CMP64(arg, SCMP_CMP_MASKED_EQ, bits, 0)
#define STREAM(arg)                                                                                \
	SCMP_CMP64(arg, SCMP_CMP_MASKED_EQ, ~(uint64_t)(SOCK_CLOEXEC | SOCK_NONBLOCK), SOCK_STREAM)
static const struct call_rule rules[] = {
#define CALL(name)            {#name, SCMP_ACT_ALLOW, 0, {{0}}},
#define WHEN(name, test)      {#name, SCMP_ACT_ALLOW, 1, {test}},
#define BOTH(name, one, two)  {#name, SCMP_ACT_ALLOW, 2, {one, two}},
#define REFUSED(name, number) {#name, SCMP_ACT_ERRNO(number), 0, {{0}}},
#include "agent/self_confine_calls.def"
};

static int prove(struct err *e)
{
	static const int families[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_VSOCK};
	for (size_t i = 0; i < ARRAY_LEN(families); i++) {
		AUTO_FD int fd = socket(families[i], SOCK_DGRAM, 0);
		if (fd >= 0 || errno != EAFNOSUPPORT)
			return err_set(
				e, "seccomp: a socket of family %d can still be made", families[i]);
	}
	return 0;
}

int self_confine_seccomp(json_t *layers, struct err *e)
{
	if (seccomp_enter_rules(rules, ARRAY_LEN(rules), e) || prove(e))
		return -1;
	return json_object_set_new(layers, "sockets", json_string("none"));
}
