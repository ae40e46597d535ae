#include "report/report_private.h"
#include "report/text.h"

/* One lane per state, one path per lane: the drawing stays small however long the run was. Bars too
 * close to be told apart become one. */
enum { WIDTH = 10000, BAR_MIN = 25, GAP_MIN = 12, QUARTERS = 4 };

static void add_bar(struct buf *out, int64_t from, int64_t to)
{
	buf_addf(out, "M%jd 0h%jdv10h-%jdz", (intmax_t)from, (intmax_t)(to - from),
		(intmax_t)(to - from));
}

/* Adds the bars of a lane: all of them, or only the failures. */
static void add_bars(const struct report *report, const json_t *spans, bool bad, struct buf *out)
{
	int64_t begun = report->summary.begun_us, total = report->summary.end_us - begun;
	int64_t from = -1, to = -1;
	for (size_t i = 0; i + 2 < json_array_size(spans); i += 3) {
		int64_t a = json_integer_value(json_array_get(spans, i)) - begun;
		int64_t b = json_integer_value(json_array_get(spans, i + 1)) - begun;
		if (bad && json_is_true(json_array_get(spans, i + 2)))
			continue;
		a = total > 0 ? (int64_t)((double)a / (double)total * WIDTH) : 0;
		b = total > 0 ? (int64_t)((double)b / (double)total * WIDTH) : 0;
		a = a > WIDTH - BAR_MIN ? WIDTH - BAR_MIN : a < 0 ? 0 : a;
		b = b > a + BAR_MIN ? b : a + BAR_MIN;
		if (to >= 0 && a > to + GAP_MIN) {
			add_bar(out, from, to);
			from = a;
		}
		from = from < 0 ? a : from;
		to = b > to ? b : to;
	}
	if (to >= 0)
		add_bar(out, from, to);
}

static void add_lane(const struct report *report, const struct state *state, struct buf *out)
{
	const json_t *spans = json_object_get(report->spans, state->name);
	const json_t *sums = json_object_get(report->summary.states, state->name);
	if (!spans)
		return;
	buf_addf(out,
		"<div class=\"lane\"><span>%s</span><svg aria-hidden=\"true\" viewBox=\"0 0 %d "
		"10\" "
		"preserveAspectRatio=\"none\"><path class=\"%s\" d=\"",
		state->name, WIDTH, state_kind_name(state->kind));
	add_bars(report, spans, false, out);
	buf_adds(out, "\"/><path class=\"bad\" d=\"");
	add_bars(report, spans, true, out);
	buf_adds(out, "\"/></svg><span class=\"n\">");
	text_duration(out, json_get_int(sums, "ms"));
	buf_adds(out, "</span></div>\n");
}

static void add_axis(const struct report *report, struct buf *out)
{
	int64_t total_ms = (report->summary.end_us - report->summary.begun_us) / 1000;
	buf_adds(out, "<div class=\"lane axis\"><span>state</span><div>");
	for (int quarter = 0; quarter <= QUARTERS; quarter++) {
		buf_adds(out, "<i>");
		text_duration(out, total_ms * quarter / QUARTERS);
		buf_adds(out, "</i>");
	}
	buf_adds(out, "</div><span class=\"n\">in all</span></div>\n");
}

static void add_legend(struct buf *out)
{
	static const struct {
		const char *look, *name;
	} colours[] = {{"agent", "agent"}, {"tool", "tool"}, {"branch", "branch"}, {"wait", "wait"},
		{"bad", "did not go well"}};
	buf_adds(out, "<p class=\"more legend\">");
	for (size_t i = 0; i < ARRAY_LEN(colours); i++)
		buf_addf(out, "<span><i class=\"%s\"></i>%s</span> ", colours[i].look,
			colours[i].name);
	buf_adds(out, "</p>\n");
}

void report_timeline(const struct report *report, struct buf *out)
{
	if (!json_object_size(report->spans)) {
		buf_adds(out, "<p class=\"soft\">No step has ended yet.</p>\n");
		return;
	}
	buf_adds(out, "<div class=\"tall\">\n");
	add_axis(report, out);
	for (size_t i = 0; i < report->machine->state_count; i++)
		add_lane(report, &report->machine->states[i], out);
	buf_adds(out, "</div>\n");
	add_legend(out);
}
