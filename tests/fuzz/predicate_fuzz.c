/* Conditions: any text compiles or is reported, and what compiles evaluates. */
#include "base/utf8.h"
#include "machine/blackboard.h"
#include "machine/predicate.h"
#include "tests/kit/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char yaml[] = "machine: m\nversion: 1\ninitial: d\nbudget: {max_transitions: 9}\n"
			   "vars:\n"
			   "  code:\n"
			   "    n: {type: int, default: -9223372036854775808}\n"
			   "    f: {type: float, default: 1}\n"
			   "    b: {type: bool, default: true}\n"
			   "    s: {type: str, default: text}\n"
			   "    l: {type: 'list[str]', default: [a, b]}\n"
			   "    j: {type: json, default: {k: [1, 2]}}\n"
			   "    v: {type: rec, default: {label: a}}\n"
			   "schemas:\n"
			   "  rec: {label: str, note: {type: str, optional: true}}\n"
			   "states:\n"
			   "  d: {kind: terminal, status: ok, reason: r}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fixture f;
	/* The readers let nothing else through. */
	if (memchr(data, 0, size) || utf8_prefix((const char *)data, size) != size)
		return 0;
	fixture_init(&f, yaml);
	struct doc_node node = {.kind = DOC_STR,
		.count = (uint32_t)size,
		.pos = {1, 1, 2, 1},
		.text = arena_copy(&f.m->arena, (const char *)data, size)};
	struct site site = {.findings = &f.findings, .doc = &f.doc, .node = &node};
	struct scope scope = {.machine = f.m, .arena = &f.m->arena};
	const struct predicate *p = predicate_compile(&scope, &site);
	if (!p != (f.findings.errors > 0))
		abort();
	json_t *blackboard = blackboard_new(f.m);
	bool out;
	struct err e = ERR_NONE;
	if (p && predicate_eval(p, blackboard, &out, &e) && !e.text[0])
		abort();
	json_decref(blackboard);
	fixture_done(&f);
	return 0;
}
