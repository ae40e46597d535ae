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

static inline void fixture_init(struct fixture *f, const char *yaml)
{
	findings_init(&f->findings);
	doc_read_yaml(&f->doc, "machine.yaml", yaml, strlen(yaml), &f->findings);
	f->m = machine_read(&f->doc, NULL, &f->findings);
	findings_sort(&f->findings);
}

static inline void fixture_done(struct fixture *f)
{
	machine_free(f->m);
	doc_done(&f->doc);
	findings_done(&f->findings);
}
#endif
