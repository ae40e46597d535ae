/*
 * Stops: every call that the loop, libcurl and the C library do not need, above all every new
 * socket (on the hardened profile nothing else stands between the process and the network; on the
 * strict one it closes what a network namespace does not cover, such as AF_VSOCK), every new
 * program and all memory that would become code.
 */
#include "agent/confine.h"

#include <asm/ioctls.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

struct row {
	const char *call;
	int answer; /* an errno; 0: allowed */
	unsigned tests;
	struct scmp_arg_cmp test;
};

/* These tests only widen, so comparing all 64 bits is the strict way. */
#define EQUAL(arg, value)                                                                          \
	{                                                                                          \
		arg, SCMP_CMP_EQ, value, 0                                                         \
	}
#define WITHOUT(arg, bits)                                                                         \
	{                                                                                          \
		arg, SCMP_CMP_MASKED_EQ, bits, 0                                                   \
	}
static const struct row rows[] = {
#define CALL(name)            {#name, 0, 0, {0}},
#define WHEN(name, ...)       {#name, 0, 1, __VA_ARGS__},
#define REFUSED(name, number) {#name, number, 0, {0}},
#include "agent/confine_calls.def"
};

/* A call that this architecture or this libseccomp does not know stays absent. */
static int add(scmp_filter_ctx filter, const struct row *r)
{
	int number = seccomp_syscall_resolve_name(r->call);
	if (number < 0)
		return 0;
	uint32_t answer = r->answer ? SCMP_ACT_ERRNO((uint32_t)r->answer) : SCMP_ACT_ALLOW;
	return seccomp_rule_add_array(filter, answer, number, r->tests, &r->test);
}

static int fill(scmp_filter_ctx filter)
{
	/* A call by another architecture's numbers is answered by death. */
	int rc = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	for (size_t i = 0; !rc && i < ARRAY_LEN(rows); i++)
		rc = add(filter, &rows[i]);
	return rc ? rc : seccomp_load(filter);
}

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

int confine_seccomp(json_t *layers, struct err *e)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	if (!filter)
		return err_set(e, "seccomp: out of memory");
	int rc = fill(filter);
	seccomp_release(filter);
	if (rc) {
		errno = -rc;
		return err_errno(e, "seccomp: cannot install the filter");
	}
	if (prove(e))
		return -1;
	return json_object_set_new(layers, "sockets", json_string("none"));
}
