/* References in another language's spelling: long texts full of what could be one. */
#include "machine/analyse/analyse.h"
#include "tests/kit/machine.h"
#include "tests/kit/tap.h"

/* Four megabytes of JSON, as a prompt may hold examples. */
static bool long_prompt(void)
{
	struct fixture f;
	AUTO_BUF yaml;
	buf_init(&yaml, DOC_BYTES_MAX);
	buf_adds(&yaml, "machine: m\nversion: 1\ninitial: s\nbudget: {max_transitions: 9}\n"
			"schemas: {r: {a: int}}\nvars: {operator: {x: {type: str, value: v}}}\n"
			"states:\n  e: {kind: terminal, status: ok, reason: r}\n"
			"  s:\n    kind: agent\n    output_schema: r\n    timeout_secs: 1\n"
			"    on: {ok: e, failed: e, budget_exhausted: e, timeout: e}\n"
			"    prompt: |\n");
	for (int i = 0; i < 200000; i++)
		buf_adds(&yaml, "      {a: [<b>, 1]}\n");
	buf_adds(&yaml, "      ${x}\n");
	fixture_init(&f, yaml.data);
	machine_analyse(f.m, &f.findings);
	bool found = f.findings.count == 1 && f.findings.items[0].rule == RULE_PLAIN_REFERENCE;
	fixture_done(&f);
	return found;
}

int main(void)
{
	ends(long_prompt, "each brace of a long prompt is looked at once");
	return tap_done();
}
