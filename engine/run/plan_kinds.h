/*
 * The two kinds of state that something is executed for; plan_step chooses.
 */
#ifndef RUN_PLAN_KINDS_H
#define RUN_PLAN_KINDS_H
#include "run/plan.h"

int plan_tool(const struct plan_env *env, const struct position *position, struct step *out,
	struct err *e);
int plan_agent(const struct plan_env *env, const struct position *position, struct step *out,
	struct err *e);
/* What every command of this instance finds in its environment, a step's own additions aside. */
json_t *plan_environment(const struct plan_env *env);
#endif
