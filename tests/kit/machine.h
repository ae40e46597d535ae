/*
 * A machine from a few lines of YAML, for tests of what reads and runs one.
 */
#ifndef TESTS_KIT_MACHINE_H
#define TESTS_KIT_MACHINE_H
#include "machine/machine.h"
#include "schema/read.h"
#include <string.h>

struct fixture {
	struct doc doc;
	struct findings findings;
	struct machine *m; /* NULL: there were errors */
};

/* NULL where there are errors. */
static inline struct machine *fixture_machine(
	const struct doc *doc, const struct member_files *files, struct findings *findings)
{
	bool whole;
	struct machine *m = machine_read(doc, files, findings, &whole);
	if (whole)
		return m;
	machine_free(m);
	return NULL;
}

static inline void fixture_init(struct fixture *fixture, const char *yaml)
{
	findings_init(&fixture->findings);
	doc_read_yaml(&fixture->doc, "machine.yaml", yaml, strlen(yaml), &fixture->findings);
	fixture->m = fixture_machine(&fixture->doc, NULL, &fixture->findings);
	findings_sort(&fixture->findings);
}

/* One variable of every type, for a text that is compiled against it. */
#define FIXTURE_VARIABLES                                                                          \
	"machine: m\nversion: 1\ninitial: d\nbudget: {max_transitions: 9}\n"                       \
	"vars:\n"                                                                                  \
	"  code:\n"                                                                                \
	"    n: {type: int, default: -9223372036854775808}\n"                                      \
	"    f: {type: float, default: 1}\n"                                                       \
	"    b: {type: bool, default: true}\n"                                                     \
	"    s: {type: str, default: text}\n"                                                      \
	"    l: {type: 'list[str]', default: [a, b]}\n"                                            \
	"    j: {type: json, default: {k: [1, 2]}}\n"                                              \
	"    v: {type: rec, default: {label: a}}\n"                                                \
	"schemas:\n"                                                                               \
	"  rec: {label: str, note: {type: str, optional: true}}\n"                                 \
	"states:\n"                                                                                \
	"  d: {kind: terminal, status: ok, reason: r}\n"

/* A string node as a reader would make it. */
static inline struct doc_node fixture_text(struct fixture *fixture, const void *text, size_t len)
{
	return (struct doc_node){.kind = DOC_STR,
		.count = (uint32_t)len,
		.pos = {1, 1, 2, 1},
		.text = arena_copy(&fixture->m->arena, text, len)};
}

static inline void fixture_done(struct fixture *fixture)
{
	machine_free(fixture->m);
	doc_done(&fixture->doc);
	findings_done(&fixture->findings);
}
#endif
