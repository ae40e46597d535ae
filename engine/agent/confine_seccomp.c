/*
 * Stops: every socket but AF_UNIX, every connection that is not handed over (on the hardened
 * profile nothing else does; on the strict one it closes what a network namespace does not cover,
 * such as AF_VSOCK), io_uring, which could make them behind the filter's back, and the calls that
 * reach into other processes.
 */
#include "agent/confine.h"

#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>

static const struct {
	int call, answer;
} refused[] = {
	{SCMP_SYS(io_uring_setup), ENOSYS},
	{SCMP_SYS(io_uring_enter), ENOSYS},
	{SCMP_SYS(io_uring_register), ENOSYS},
	{SCMP_SYS(connect), EACCES},
	{SCMP_SYS(bind), EACCES},
	{SCMP_SYS(listen), EACCES},
	{SCMP_SYS(ptrace), EPERM},
	{SCMP_SYS(process_vm_readv), EPERM},
	{SCMP_SYS(process_vm_writev), EPERM},
	{SCMP_SYS(pidfd_getfd), EPERM},
	{SCMP_SYS(setns), EPERM},
	{SCMP_SYS(bpf), EPERM},
	{SCMP_SYS(perf_event_open), EPERM},
	{SCMP_SYS(userfaultfd), EPERM},
	{SCMP_SYS(keyctl), EPERM},
	{SCMP_SYS(add_key), EPERM},
	{SCMP_SYS(request_key), EPERM},
};

static int fill(scmp_filter_ctx filter)
{
	/* NE over all 64 bits also refuses AF_UNIX with a stray upper half, so nothing passes. */
	int rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
		SCMP_A0(SCMP_CMP_NE, AF_UNIX, 0));
	for (size_t i = 0; !rc && i < ARRAY_LEN(refused); i++)
		rc = seccomp_rule_add(
			filter, SCMP_ACT_ERRNO((uint32_t)refused[i].answer), refused[i].call, 0);
	return rc ? rc : seccomp_load(filter);
}

static int prove(struct err *e)
{
	static const int families[] = {AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_VSOCK};
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
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	if (!filter)
		return err_set(e, "seccomp: out of memory");
	/* A call by another architecture's numbers is answered by death, libseccomp's default. */
	int rc = fill(filter);
	seccomp_release(filter);
	if (rc) {
		errno = -rc;
		return err_errno(e, "seccomp: cannot install the filter");
	}
	if (prove(e))
		return -1;
	return json_object_set_new(layers, "sockets", json_string("unix"));
}
