/* Conditions: any text compiles or is reported, and what compiles evaluates. */
#include "base/utf8.h"
#include "machine/blackboard.h"
#include "machine/predicate.h"
#include "tests/kit/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fixture f;
	/* The readers let nothing else through. */
	if (memchr(data, 0, size) || utf8_prefix((const char *)data, size) != size)
		return 0;
	fixture_init(&f, FIXTURE_VARIABLES);
	struct doc_node node = fixture_text(&f, data, size);
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
