/*
 * Journal lines as people see them. Whatever a line says, what `watch` prints of it holds nothing
 * that a terminal would act on; of lines that a run can have, the summary does not either, and the
 * page holds no markup but its own.
 */
#include "base/json.h"
#include "instance/position.h"
#include "report/report.h"
#include "report/show.h"
#include "tests/fuzz/run_fuzz.h"
#include "tests/fuzz/shown_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(const void *fields)
{
	struct show s = {.mode = SHOW_PLAIN, .terminal_fd = -1};
	AUTO_LINE line;
	line_decode(fields, &line, NULL);
	show_event(&s, &line);
	show_end(&s, "id", &line);
}

static void check_report(struct report *report, const struct position *position)
{
	AUTO_BUF out;
	buf_init(&out, 1 << 26);
	report->result.totals = position->totals;
	report->result.seq = position->seq;
	report->result.status =
		position->ended ? position->ended_ok ? RUN_OK : RUN_FAILED : RUN_RUNNING;
	snprintf(report->result.reason, sizeof(report->result.reason), "%s", position->reason);
	summary_text(&report->summary, position->machine, &report->result, &out);
	shown_text(out.data, out.len);
	buf_clear(&out);
	report_html(report, &out);
	shown_text(out.data, out.len);
	shown_page(out.data);
}

/* A line that cannot follow is left out. */
static void take(struct report *report, struct position *position, const json_t *line)
{
	struct position trial;
	position_copy(&trial, position);
	if (position_apply_event(&trial, line, NULL)) {
		position_done(&trial);
		return;
	}
	position_done(position);
	*position = trial;
	AUTO_LINE decoded;
	line_decode(line, &decoded, NULL);
	report_line(report, &decoded, position->blackboard);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct machine *m = run_fuzz_machine();
	struct position p;
	struct report r;
	json_auto_t *exposure = json_object();
	position_init(&p, m);
	report_init(&r, m, "id");
	r.digest = "sha256:0";
	r.exposure = exposure;
	for (size_t at = 0, len; at < size; at += len + 1) {
		const uint8_t *nl = memchr(data + at, '\n', size - at);
		len = nl ? (size_t)(nl - data) - at : size - at;
		json_auto_t *line = json_read((const char *)data + at, len, 1 << 20, NULL);
		if (!json_is_object(line))
			continue;
		shown_printed(show, line);
		take(&r, &p, line);
	}
	check_report(&r, &p);
	report_done(&r);
	position_done(&p);
	return 0;
}
