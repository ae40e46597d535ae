#include "agent/policy/approve.h"

/* Returns why a command cannot work; NULL: it can. Nobody is asked about such a command. */
static const char *impossible(const struct approve_rules *rules, enum level level)
{
	if (level == LEVEL_PRIVILEGED)
		return "no privileges exist in the jail; this cannot work";
	if (level == LEVEL_NETWORK && !rules->has_network)
		return "network is not available to commands here (sandbox.tool_network); this "
		       "cannot work";
	return NULL;
}

enum decision approve_decide(
	const struct approve_rules *rules, const struct verdict *verdict, const char **why)
{
	*why = impossible(rules, verdict->level);
	if (verdict->level == LEVEL_DENIED) {
		*why = "blocked by policy, whatever the approval";
		return DECIDE_BLOCK;
	}
	if (*why)
		return DECIDE_DENY;
	*why = "allowed by the operator's settings";
	if (rules->commands_free || (rules->build_free && verdict->level <= LEVEL_BUILD))
		return DECIDE_RUN;
	*why = "granted by --auto-approve";
	if (rules->auto_approve && verdict->level <= LEVEL_WRITE)
		return DECIDE_RUN;
	*why = "no_approver: nobody is there to approve it";
	return DECIDE_ASK;
}
