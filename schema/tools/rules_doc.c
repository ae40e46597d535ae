/*
 * Writes docs/diagnostics.md from the table of rules. A build tool.
 *
 *   rules_doc         the page
 *   rules_doc --ids   one id a line
 */
#include "schema/rules.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void print_page(void)
{
	puts("# Diagnostics\n\n"
	     "Every problem that `agent6 machine check` and `agent6 check config` can report. The "
	     "id in\n"
	     "brackets after `error`, `warning` or `note` is stable: scripts may rely on it. "
	     "Warnings fail\n"
	     "a check under `--strict`; notes never do.\n\n"
	     "This page is generated from `schema/rules_*.def` by `make docs`; do not edit it.\n\n"
	     "| id | severity |\n|---|---|");
	for (int i = 0; i < RULE_COUNT; i++) {
		const struct rule_info *r = rule_info((enum rule)i);
		printf("| [%s](#%s) | %s |\n", r->id, r->id, severity_name(r->severity));
	}
	for (int i = 0; i < RULE_COUNT; i++) {
		const struct rule_info *r = rule_info((enum rule)i);
		printf("\n## %s\n\n%s\n\nExample (%s):\n\n```\n%s\n```\n\nFix: %s\n", r->id,
			r->cause, severity_name(r->severity), r->example, r->fix);
	}
}

int main(int argc, char **argv)
{
	bool ids = argc == 2 && !strcmp(argv[1], "--ids");
	if (argc > 1 && !ids) {
		fputs("usage: rules_doc [--ids]\n", stderr);
		return 2;
	}
	if (!ids)
		print_page();
	for (int i = 0; ids && i < RULE_COUNT; i++)
		puts(rule_info((enum rule)i)->id);
	return 0;
}
