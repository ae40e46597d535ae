/* Machines: any text is read or refused, and what is accepted can be analysed, drawn and tried. */
#include "machine/analyse.h"
#include "machine/graph.h"
#include "schema/read.h"
#include "schema/wrap.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct findings findings;
	struct doc doc;
	AUTO_BUF out;
	buf_init(&out, 1 << 20);
	findings_init(&findings);
	doc_read_yaml(&doc, "machine.yaml", (const char *)data, size, &findings);
	struct machine *m = machine_read(&doc, NULL, &findings);
	if (!m != (findings.errors > 0))
		abort();
	if (m) {
		machine_analyse(m, &findings);
		graph_mermaid(m, &out);
		graph_dot(m, &out);
		graph_text(m, &out);
	}
	const struct doc *docs[] = {&doc};
	findings_sort(&findings);
	findings_show(&findings, docs, 1, &(struct finding_look){.columns = WRAP_NEVER}, &out);
	machine_free(m);
	doc_done(&doc);
	findings_done(&findings);
	return 0;
}
