/*
 * A seccomp filter from a table of system calls. A call that is not in the table does not exist
 * (ENOSYS), so that libraries fall back and future calls are closed. For programs that link
 * libseccomp.
 */
#ifndef BASE_SECCOMP_RULES_H
#define BASE_SECCOMP_RULES_H
#include "base/err.h"
#include <seccomp.h>
#include <stddef.h>

enum { CALL_TESTS_MAX = 3 };

/* A rule: `action` (SCMP_ACT_*) if all of the tests hold; several rows for one call are
 * alternatives. Tests compare all 64 bits, which is the strict way in an allow-list. */
struct call_rule {
	const char *call;
	uint32_t action;
	unsigned tests;
	struct scmp_arg_cmp test[CALL_TESTS_MAX];
};

/* Adds a rule. A call that this architecture or libseccomp does not know stays absent. */
static inline int seccomp_add_rule(scmp_filter_ctx filter, const struct call_rule *call_rule)
{
	int number = seccomp_syscall_resolve_name(call_rule->call);
	return number < 0 ? 0
			  : seccomp_rule_add_array(filter, call_rule->action, number,
				    call_rule->tests, call_rule->test);
}

/* Binds this thread, and everything it starts from now on, for ever. A call by another
 * architecture's numbers kills the process. */
static inline int seccomp_enter_rules(const struct call_rule *rules, size_t count, struct err *e)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	if (!filter)
		return err_set(e, "seccomp: out of memory");
	int rc = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (!rc) /* a tree instead of a list needs only a few steps per call */
		rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	for (size_t i = 0; !rc && i < count; i++)
		rc = seccomp_add_rule(filter, &rules[i]);
	if (!rc)
		rc = seccomp_load(filter);
	seccomp_release(filter);
	errno = -rc;
	return rc ? err_errno(e, "seccomp: cannot install the filter") : 0;
}
#endif
