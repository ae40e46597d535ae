/* Machines: any text is read or refused, and what is accepted can be analysed, drawn and shown. */
#include "machine/analyse/analyse.h"
#include "machine/graph.h"
#include "report/exposure.h"
#include "report/report.h"
#include "schema/wrap.h"
#include "tests/fuzz/shown_fuzz.h"
#include "tests/kit/machine.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(const struct machine *machine)
{
	static struct config *config;
	struct report r;
	AUTO_BUF out;
	buf_init(&out, 1 << 26);
	if (!config)
		config =
			config_rehearsal(NULL, 0, API_OPENAI, "http://127.0.0.1:1", "/nonexistent");
	json_auto_t *exposure = exposure_of(machine, NULL, config, "/srv/ws");
	graph_mermaid(machine, &out);
	graph_dot(machine, &out);
	graph_text(machine, &out);
	graph_ascii(machine, &out);
	exposure_text(exposure, &out);
	exposure_markdown(exposure, &out);
	shown_text(out.data, out.len);
	report_init(&r, machine, "id");
	r.digest = "sha256:0";
	r.exposure = exposure;
	buf_clear(&out);
	report_html(&r, &out);
	shown_text(out.data, out.len);
	shown_page(out.data);
	report_done(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct findings findings;
	struct doc doc;
	AUTO_BUF out;
	buf_init(&out, 1 << 20);
	findings_init(&findings);
	doc_read_yaml(&doc, "machine.yaml", (const char *)data, size, &findings);
	struct machine *m = fixture_machine(&doc, NULL, &findings);
	if (!m != (findings.errors > 0))
		abort();
	if (m) {
		machine_analyse(m, &findings);
		show(m);
	}
	const struct doc *docs[] = {&doc};
	findings_sort(&findings);
	findings_show(&findings, docs, 1, &(struct finding_look){.columns = WRAP_NEVER}, &out);
	machine_free(m);
	doc_done(&doc);
	findings_done(&findings);
	return 0;
}
