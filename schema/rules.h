/*
 * The rules: every diagnostic that this program can give about a file, with its documentation.
 */
#ifndef SCHEMA_RULES_H
#define SCHEMA_RULES_H

enum severity { SEVERITY_NOTE, SEVERITY_WARNING, SEVERITY_ERROR };

#define RULE(name, id, severity, cause, example, fix) RULE_##name,
enum rule {
#include "schema/rules_list.def"
	RULE_COUNT
};
#undef RULE

struct rule_info {
	const char *id; /* kebab-case */
	enum severity severity;
	const char *cause;   /* the meaning of the rule and its reason, in a sentence or two */
	const char *example; /* lines of a file that break it */
	const char *fix;     /* what to do */
};

const struct rule_info *rule_info(enum rule rule);
/* Returns "error", "warning" or "note". */
const char *severity_name(enum severity severity);
#endif
