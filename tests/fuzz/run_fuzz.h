/* The machine whose journals and snapshots are fuzzed: one state of each kind. */
#ifndef TESTS_FUZZ_RUN_FUZZ_H
#define TESTS_FUZZ_RUN_FUZZ_H
#include "tests/kit/machine.h"
#include <stdint.h>

static const char run_fuzz_yaml[] =
	"machine: m\nversion: 1\ninitial: t\nbudget: {max_transitions: 9}\n"
	"schemas: {r: {n: int, s: {type: str, optional: true}}}\n"
	"vars:\n"
	"  operator: {p: {type: int, value: 1}}\n"
	"  code: {n: {type: int, default: 0}, j: {type: json, default: null}}\n"
	"  agent: {v: {type: r, default: {}}}\n"
	"states:\n"
	"  t: {kind: tool, command: [x], timeout_secs: 1, output_schema: r, notify: 'n {{ n }}',\n"
	"    capture: {set: {n: '{{ result.n }}'}}, retry: {on: [nonzero], max: 2},\n"
	"    on: {ok: b, nonzero: f, timeout: f}}\n"
	"  b: {kind: branch, when: [{if: 'n > p', goto: a}, {else: true, goto: w}]}\n"
	"  a: {kind: agent, prompt: p, timeout_secs: 1, output_schema: r,\n"
	"    capture: {finish_json: v},\n"
	"    on: {ok: w, failed: f, budget_exhausted: f, timeout: f}}\n"
	"  w: {kind: wait, every_secs: 5, on: {tick: t, signal: f}}\n"
	"  f: {kind: terminal, status: failed, reason: 'n {{ n }}'}\n";

static inline const struct machine *run_fuzz_machine(void)
{
	static struct fixture f;
	if (!f.m)
		fixture_init(&f, run_fuzz_yaml);
	if (!f.m)
		abort();
	return f.m;
}
#endif
