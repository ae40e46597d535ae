#include "report/report_private.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/num.h"
#include "machine/fixed.h"
#include "report/html.h"
#include "report/repositories_text.h"
#include "report/show.h"
#include "report/text.h"
#include <string.h>

enum { ROWS_BYTES_MAX = 512 * 1024 * 1024 };

static const char style[] =
#include "report/report_style.h"
	;

void report_init(struct report *report, const struct machine *machine, const char *id)
{
	*report = (struct report){.machine = machine,
		.id = id,
		.dir_fd = -1,
		.repositories = json_array(),
		.edges = json_object(),
		.egress = json_object(),
		.spans = json_object()};
	summary_init(&report->summary);
	buf_init(&report->rows, ROWS_BYTES_MAX);
}

void report_done(struct report *report)
{
	summary_done(&report->summary);
	json_decref(report->begin);
	json_decref(report->edges);
	json_decref(report->egress);
	json_decref(report->before);
	json_decref(report->spans);
	json_decref(report->failure);
	json_decref(report->autorun);
	json_decref(report->repositories);
	json_decref(report->data);
	json_decref(report->aside);
	buf_done(&report->rows);
}

/* --- collecting ------------------------------------------------------------------------------ */

static void add_egress(struct report *report, const struct line_egress *line)
{
	const char *why;
	json_t *sum = json_object_get(report->egress, line->endpoint), *count;
	if (!sum) {
		sum = json_pack("{s:{}}", "refused");
		json_object_set_new(report->egress, line->endpoint, sum);
	}
	json_add_int(sum, "connections", line->connections);
	json_add_int(sum, "up", line->up);
	json_add_int(sum, "down", line->down);
	json_object_foreach (line->refusals, why, count)
		json_add_int(json_object_get(sum, "refused"), why, json_integer_value(count));
}

bool report_went_well(const struct line *line)
{
	static const unsigned bad = 1U << OUTCOME_NONZERO | 1U << OUTCOME_FAILED |
				    1U << OUTCOME_TIMEOUT | 1U << OUTCOME_BUDGET_EXHAUSTED |
				    1U << OUTCOME_EXHAUSTED;
	return line->fact.kind == FACT_BRANCH || !(bad & 1U << outcome_find(line->label));
}

static void add_span(struct report *report, const struct line *line)
{
	json_t *spans = json_object_get(report->spans, line->state);
	if (!spans) {
		spans = json_array();
		json_object_set_new(report->spans, line->state, spans);
	}
	json_array_append_new(spans, json_integer(report->summary.from_us));
	json_array_append_new(spans, json_integer(report->summary.end_us));
	json_array_append_new(spans, json_boolean(report_went_well(line)));
}

static void add_autorun(struct report *report, const struct line_autorun *line)
{
	json_t *before = report->autorun;
	report->autorun = position_add_autorun(before, line);
	json_decref(before);
}

void report_line(struct report *report, const struct line *line, const json_t *blackboard)
{
	bool step = line->type == LINE_STEP;
	summary_add(&report->summary, line);
	repositories_collect(report->repositories, line);
	if (line->type == LINE_BEGIN)
		report->begin = json_incref(line->held);
	if (line->type == LINE_EGRESS)
		add_egress(report, &line->egress);
	if (line->type == LINE_AUTORUN)
		add_autorun(report, &line->autorun);
	if (step) {
		char key[160];
		snprintf(key, sizeof(key), "%s\n%s", line->state, line->go_to);
		json_add_int(report->edges, key, 1);
	}
	if (step || line->type == LINE_RETRY)
		add_span(report, line);
	if ((step || line->type == LINE_RETRY) && !report_went_well(line)) {
		json_decref(report->failure);
		report->failure = json_incref(line->held);
	}
	report_row(report, line, blackboard);
}

/* --- the head -------------------------------------------------------------------------------- */

static void begin_tile(struct buf *out, const char *name)
{
	buf_addf(out, "<div><dt>%s</dt><dd>", name);
}

static void add_cost(const struct report *report, struct buf *out)
{
	const struct totals *t = &report->result.totals;
	if (!t->input_tokens && !t->output_tokens)
		return;
	begin_tile(out, "Cost");
	if (t->unmetered && t->microusd)
		buf_adds(out, "about ");
	else if (t->unpriced)
		buf_adds(out, t->microusd ? "\xe2\x89\xa5 " : "no price");
	if (!t->unpriced || t->microusd)
		text_money(out, t->microusd);
	const struct opt_float most = fixed_budget_usd(report->machine, report->before);
	if (most.present) {
		buf_adds(out, "<small>of at most ");
		text_money(out, num_microusd(most.value));
		buf_adds(out, "</small>");
	}
	buf_adds(out, "</dd></div>\n");
	begin_tile(out, "Tokens in");
	text_count(out, t->input_tokens);
	buf_adds(out, "<small>");
	text_count(out, t->output_tokens);
	buf_addf(out, " out%s</small></dd></div>\n", t->unmetered ? ", estimated" : "");
}

static void add_traffic(const struct report *report, struct buf *out)
{
	const struct summary *s = &report->summary;
	begin_tile(out, "Sent out");
	text_bytes(out, s->egress_up);
	buf_addf(out, "<small%s>%jd refused</small></dd></div>\n",
		s->egress_refused ? " class=\"warn\"" : "", (intmax_t)s->egress_refused);
}

static void add_tiles(const struct report *report, struct buf *out)
{
	buf_adds(out, "<dl class=\"tiles\">\n");
	begin_tile(out, "Took");
	text_duration(out, (report->summary.end_us - report->summary.begun_us) / 1000);
	if (report->machine->max_secs) {
		buf_adds(out, "<small>of at most ");
		text_duration(out, report->machine->max_secs * 1000);
		buf_adds(out, "</small>");
	}
	buf_adds(out, "</dd></div>\n");
	begin_tile(out, "Steps");
	text_count(out, (int64_t)report->result.seq);
	buf_adds(out, "<small>of at most ");
	text_count(out, report->machine->max_transitions);
	show_retries(out, &report->result.totals, report->result.seq);
	buf_adds(out, "</small></dd></div>\n");
	add_cost(report, out);
	add_traffic(report, out);
	begin_tile(out, "Profile");
	html_text(out, report->summary.profile, 64);
	buf_adds(out, "</dd></div>\n</dl>\n");
}

static void add_paragraph(struct buf *out, const char *look, const char *text)
{
	if (!text || !*text)
		return;
	buf_addf(out, "<p class=\"%s\">", look);
	html_text(out, text, 2000);
	buf_adds(out, "</p>\n");
}

/* Adds the reason of a failed run, which its reader looks for first. */
static void add_why(const struct report *report, struct buf *out)
{
	AUTO_LINE line;
	line_decode(report->failure, &line, NULL);
	if (!report->failure ||
		(report->result.status != RUN_FAILED && report->result.status != RUN_BUDGET))
		return;
	buf_addf(out, "<p class=\"why\">Last to go wrong: <a href=\"#step-%jd-%jd\">step %jd, ",
		(intmax_t)line.seq, (intmax_t)line.attempt, (intmax_t)line.seq);
	html_text(out, line.state, 64);
	buf_adds(out, "</a>, ");
	html_text(out, line.label, 64);
	buf_adds(out, ". <span>");
	report_reason(out, &line);
	buf_adds(out, "</span></p>\n");
}

static void add_returns(const struct report *report, struct buf *out)
{
	enum { RESULT_BYTES = 64 * 1024 };
	if (!report->summary.returns)
		return;
	AUTO_FREE char *text = html_json(report->summary.returns);
	buf_adds(out, "<details open><summary>Result</summary>\n");
	html_block(out, text, RESULT_BYTES);
	buf_adds(out, "</details>\n");
}

static void add_head(const struct report *report, struct buf *out)
{
	const char *status = run_status_name(report->result.status);
	bool good = report->result.status == RUN_OK, bad = report->result.status == RUN_FAILED;
	json_auto_t *description = text_hidden_json(report->machine->description);
	buf_adds(out, "<header><h1>");
	html_text(out, report->id, 64);
	buf_addf(out, " <span class=\"pill %s\">%s%s</span></h1>\n", status,
		good                                         ? "\xe2\x9c\x93 "
		: bad || report->result.status == RUN_BUDGET ? "\xe2\x9c\x97 "
							     : "",
		report->result.status == RUN_RUNNING ? "not ended" : status);
	add_paragraph(out, "lead", report->result.reason);
	add_returns(report, out);
	add_why(report, out);
	add_paragraph(out, "soft", json_string_value(description));
	add_tiles(report, out);
	buf_adds(out, "</header>\n");
}

/* --- about the run --------------------------------------------------------------------------- */

static void add_when(struct buf *out, const char *term, int64_t unix_us)
{
	char instant[CLOCK_TEXT_BYTES];
	AUTO_BUF text = BUF_INIT(64);
	clock_text(unix_us, instant);
	text_when(&text, unix_us ? instant : "not yet");
	html_term(out, term, text.data);
}

static void add_about(const struct report *report, struct buf *out)
{
	AUTO_BUF overrides = BUF_INIT(1024), check = BUF_INIT(256);
	AUTO_LINE line;
	line_decode(report->begin, &line, NULL);
	const struct line_begin *begin = &line.begin;
	AUTO_FREE char *parameters =
		json_object_size(begin->parameters) ? json_text(begin->parameters) : NULL;
	text_join(&overrides, begin->overrides);
	buf_addf(&check, "agent6 machine verify %s", report->id);
	buf_adds(out, "<dl class=\"terms\">\n");
	html_term(out, "machine", report->machine->name);
	html_term(out, "bundle", report->digest);
	add_when(out, "began", report->summary.begun_us);
	add_when(out, report->result.already_ended ? "ended" : "last line", report->summary.end_us);
	html_term(out, "state", report->result.state);
	if (*report->commits)
		html_term(out, "commits", report->commits);
	html_term(out, "parameters", parameters ? parameters : "the machine's own");
	html_term(out, "allowed by hand", overrides.len ? overrides.data : "nothing");
	html_term(out, "agent6", begin->agent6 ? begin->agent6 : "");
	html_term(out, "check its journal", check.data);
	buf_adds(out, "</dl>\n");
}

/* --- the page -------------------------------------------------------------------------------- */

static void add_steps(const struct report *report, struct buf *out)
{
	buf_add(out, report->rows.data, report->rows.len);
	buf_adds(out, report->row_count ? "</div>\n" : "<p class=\"soft\">None yet.</p>\n");
}

static bool has_repositories(const struct report *report)
{
	return json_array_size(report->repositories) || report->data || report->aside;
}

/* The sections in their order on the page; one with `is_shown` is there only if that says so. A
 * column begins where `column` is set and ends at the next. */
static const struct {
	const char *id, *title;
	void (*add)(const struct report *r, struct buf *out);
	const char *before, *after;
	bool (*is_shown)(const struct report *r);
} sections[] = {
	{"graph", "Path", report_graph, "<div class=\"columns\"><div>\n", "</div>\n", NULL},
	{"timeline", "Timeline", report_timeline, "<div>\n", "", NULL},
	{"states", "Cost by state", report_states, "", "", NULL},
	{"about", "This run", add_about, "", "</div></div>\n", NULL},
	{"steps", "Steps", add_steps, "", "", NULL},
	{"blackboard", "Blackboard at the end", report_blackboard, "", "", NULL},
	{"egress", "Egress", report_egress, "", "", NULL},
	{"autorun", "Changed files that the host runs", report_autorun, "", "", NULL},
	{"repositories", "Repositories that commands made", report_repositories, "", "",
		has_repositories},
	{"confinement", "Confinement", report_confinement, "", "", NULL},
};

static bool is_shown(const struct report *report, size_t section)
{
	return !sections[section].is_shown || sections[section].is_shown(report);
}

static void add_navigation(const struct report *report, struct buf *out)
{
	buf_adds(out, "<nav aria-label=\"sections\"><div>");
	for (size_t i = 0; i < ARRAY_LEN(sections); i++)
		if (is_shown(report, i))
			buf_addf(out, "<a href=\"#%s\">%s</a>", sections[i].id, sections[i].title);
	buf_adds(out, "</div></nav>\n");
}

void report_html(const struct report *report, struct buf *out)
{
	buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
		      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		      "style-src 'unsafe-inline'\"><title>");
	html_text(out, report->id, 64);
	buf_addf(out, ": %s</title>\n<style>\n%s</style></head><body>\n",
		run_status_name(report->result.status), style);
	buf_adds(out, "<a class=\"skip\" href=\"#steps\">Skip to the steps</a>\n");
	add_head(report, out);
	add_navigation(report, out);
	buf_adds(out, "<main>\n");
	for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
		if (!is_shown(report, i))
			continue;
		buf_addf(out, "%s<section aria-labelledby=\"%s\"><h2 id=\"%s\">%s</h2>\n",
			sections[i].before, sections[i].id, sections[i].id, sections[i].title);
		sections[i].add(report, out);
		buf_addf(out, "</section>\n%s", sections[i].after);
	}
	buf_adds(out, "</main>\n<footer>Made by agent6 " AGENT6_VERSION
		      " from the run's journal.</footer>\n</body></html>\n");
}
