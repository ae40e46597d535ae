#include "schema/rules.h"

#define RULE(name, id, severity, cause, example, fix)                                              \
	[RULE_##name] = {id, SEVERITY_##severity, cause, example, fix},
static const struct rule_info rules[] = {
#include "schema/rules_list.def"
};
#undef RULE

const struct rule_info *rule_info(enum rule rule)
{
	return &rules[rule];
}

const char *severity_name(enum severity severity)
{
	static const char *const names[] = {"note", "warning", "error"};
	return names[severity];
}
