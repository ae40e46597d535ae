/*
 * The plans of the two kinds of state that run a process; plan_step chooses between them.
 */
#ifndef RUN_PLAN_KINDS_H
#define RUN_PLAN_KINDS_H
#include "run/plan.h"

int plan_tool(const struct plan_env *env, const struct position *position, struct step *out,
	struct err *e);
int plan_agent(const struct plan_env *env, const struct position *position, struct step *out,
	struct err *e);
/* Returns the environment that all commands of this instance share, without a step's own
 * additions. */
json_t *plan_environment(const struct plan_env *env);
#endif
