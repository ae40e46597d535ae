/* Templates: any text compiles or is reported, and what compiles renders within its cap. */
#include "base/utf8.h"
#include "machine/blackboard.h"
#include "machine/failure.h"
#include "machine/template.h"
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
	json_t *blackboard = blackboard_new(f.m);
	json_t *failure = json_pack("{s:s, s:i}", "reason", "why", "exit", 3);
	struct captured captured = {
		.result = blackboard, .exit = json_object_get(blackboard, "n"), .failure = failure};
	for (enum template_use use = TEMPLATE_TEXT; use <= TEMPLATE_ASSIGN; use++) {
		struct scope scope = {.machine = f.m,
			.arena = &f.m->arena,
			.in_capture = use == TEMPLATE_ASSIGN,
			.has_exit = use == TEMPLATE_ASSIGN,
			.failure = use == TEMPLATE_ASSIGN ? &failure_command : NULL,
			.result = {.kind = TYPE_JSON}};
		size_t errors = f.findings.errors;
		const struct template *t = template_compile(&scope, &site, use);
		if (!t != (f.findings.errors > errors))
			abort();
		AUTO_BUF out;
		buf_init(&out, 4096);
		if (t && !template_is_splice(t) && use != TEMPLATE_ASSIGN)
			template_render(t, blackboard, NULL, &out, NULL);
		if (t && use == TEMPLATE_ASSIGN)
			json_decref(template_value(t, blackboard, &captured, NULL));
		if (out.len > out.cap_bytes)
			abort();
	}
	json_decref(blackboard);
	json_decref(failure);
	fixture_done(&f);
	return 0;
}
