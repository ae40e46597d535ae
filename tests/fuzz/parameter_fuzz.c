/*
 * Fuzzes values for an operator's variable of each type (--set NAME=VALUE, a line of a fixture): a
 * value is refused with a reason and nothing changes, or it has the type and stays the same.
 */
#include "base/json.h"
#include "machine/blackboard.h"
#include "tests/kit/machine.h"
#include "types/types.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char yaml[] =
	"machine: m\nversion: 1\ninitial: w\nbudget: {max_transitions: 9}\n"
	"schemas: {r: {n: int, k: {type: str, optional: true}, e: {type: str, enum: [a, b]}}}\n"
	"vars:\n"
	"  operator:\n"
	"    i: {type: int, value: 1}\n"
	"    f: {type: float, value: 1}\n"
	"    b: {type: bool, value: true}\n"
	"    s: {type: str, value: x}\n"
	"    l: {type: 'list[int]', value: [1]}\n"
	"    t: {type: 'list[str]', value: [x]}\n"
	"    j: {type: json, value: {}}\n"
	"    r: {type: r, value: {n: 1}}\n"
	"    at: {type: str, value: '2026-01-01'}\n"
	"states:\n"
	"  w: {kind: wait, every_secs: '{{ i }}', on: {tick: u, signal: u}}\n"
	"  u: {kind: wait, until: '{{ at }}', on: {tick: w, signal: e}}\n"
	"  e: {kind: terminal, status: ok, reason: r}\n";

static void give(const struct machine *machine, const struct variable *variable, const char *text)
{
	struct err e = ERR_NONE;
	AUTO_BUF problems;
	buf_init(&problems, 1 << 20);
	json_auto_t *board = blackboard_new(machine), *before = json_deep_copy(board);
	json_auto_t *value = blackboard_parse_parameter(machine, variable->name, text, &e);
	if (!value ||
		blackboard_set_parameter(machine, board, variable->name, value, VALUE_WHOLE, &e)) {
		if (!*e.text || !json_equal(board, before))
			abort();
		return;
	}
	struct demand demand = {variable->type, &variable->constraint, VALUE_WHOLE};
	json_object_set(before, variable->name, value);
	if (!json_equal(board, before) || demand_check(&demand, value, variable->name, &problems))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fixture f;
	if (!f.m)
		fixture_init(&f, yaml);
	char *text = strndup((const char *)data, size);
	if (!f.m || !text)
		abort();
	for (size_t i = 0; i < f.m->variable_count; i++)
		give(f.m, &f.m->variables[i], text);
	free(text);
	return 0;
}
