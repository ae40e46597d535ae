/* A tools.jsonl, which a bundle may bring: any bytes are read or refused with their line, and each
 * fact that was read can be journaled and reduced. */
#include "cli/bundle/recorded_steps.h"
#include "instance/reduce.h"
#include "tests/kit/machine.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct fixture fixture;

static const char tool[] = "machine: m\nversion: 1\ninitial: t\nbudget: {max_transitions: 9}\n"
			   "vars: {code: {j: {type: json, default: {}}}}\n"
			   "states:\n"
			   "  t: {kind: tool, command: [\"true\"], timeout_secs: 1, capture: "
			   "{stdout_json: j}, on: {ok: d, nonzero: d, timeout: d}}\n"
			   "  d: {kind: terminal, status: ok, reason: r}\n";

static void use(const struct recorded_step *step)
{
	struct err e = ERR_NONE;
	struct reduced reduced;
	json_auto_t *blackboard = json_pack("{s:{}}", "j");
	json_auto_t *journaled = fact_encode(&step->fact);
	AUTO_FACT again;
	if (!journaled || fact_decode(journaled, &again, &e) || again.kind != FACT_TOOL)
		abort();
	reduce(machine_state(fixture.m, "t"), &step->fact, JOURNAL_FORMAT_LAST, blackboard,
		&reduced, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct findings findings;
	struct recorded_steps steps;
	AUTO_FREE char *text =
		calloc(1, len + 1); /* with a NUL behind it, as bundle_read gives it */
	if (!fixture.m)
		fixture_init(&fixture, tool);
	if (!fixture.m || !text)
		abort();
	memcpy(text, data, len);
	findings_init(&findings);
	struct steps_file file = {"tools.jsonl", text, len};
	recorded_steps_read(&steps, fixture.m, &file, &findings);
	for (size_t i = 0; i < steps.count; i++)
		use(&steps.items[i]);
	if (steps.count && recorded_steps_of(&steps, "t", 0) != &steps.items[0])
		abort();
	recorded_steps_done(&steps);
	findings_done(&findings);
	return 0;
}
