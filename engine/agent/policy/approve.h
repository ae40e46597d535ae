/*
 * Approval: decides whether a judged command runs, by the operator's settings, the jail's
 * abilities, and the presence of a person who can be asked.
 */
#ifndef POLICY_APPROVE_H
#define POLICY_APPROVE_H
#include "agent/policy/classify.h"
#include "contract/event.h"

#include <stdbool.h>

struct approve_rules {
	bool commands_free; /* run_commands: yes; false: ask */
	bool build_free;    /* approval.default: auto: nobody is asked up to `build` */
	bool auto_approve;  /* --auto-approve: grants up to `write` */
	bool has_network;   /* of the jail the command would run in */
};

/* Decides. `why` (never NULL afterwards) is the reason for the model and the audit trail. */
enum decision approve_decide(
	const struct approve_rules *rules, const struct verdict *verdict, const char **why);
#endif
