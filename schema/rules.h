/*
 * The rules: every diagnostic this program can give about a file, with its documentation.
 *
 * One list (rules_list.def, one entry per rule) is expanded into the enum here, the table behind
 * rule_info and docs/diagnostics.md. Ids are stable: scripts and suppressions name them.
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
	const char *cause;   /* what the rule says and why, in a sentence or two */
	const char *example; /* lines of a file that break it */
	const char *fix;     /* what to do */
};

const struct rule_info *rule_info(enum rule rule);
/* "error", "warning", "note". */
const char *severity_name(enum severity severity);
#endif
