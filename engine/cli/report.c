#include "cli/report.h"

#include "base/clock.h"
#include "base/json.h"
#include "cli/html.h"
#include "cli/show.h"
#include "cli/text.h"
#include <string.h>

enum {
	ROWS_BYTES_MAX = 512 * 1024 * 1024,
	FACT_BYTES_MAX = 4000,
	VALUE_BYTES_MAX = 1000,
	CHUNK_ROWS = 100
};

static const char style[] =
	":root{color-scheme:light "
	"dark;--line:#8885;--soft:#8882;--mark:#2a7;--bad:#c33;--warn:#b70}"
	"body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:1100px;padding:1rem}"
	"h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.15rem;margin:2rem 0 .5rem}"
	"nav a{margin-right:1rem}table{border-collapse:collapse;width:100%}"
	"th,td{text-align:left;padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--line);"
	"vertical-align:top}td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:"
	"nowrap}"
	".wide{overflow-x:auto}.ok{color:var(--mark)}.failed{color:var(--bad)}"
	"dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem "
	"1rem}dt{opacity:.7}dd{margin:0;"
	"overflow-wrap:anywhere}"
	"details{border-bottom:1px solid var(--line);padding:.15rem "
	"0}summary{cursor:pointer;display:grid;"
	"grid-template-columns:4rem 10rem 1fr 7rem;gap:.5rem}summary:focus-visible{outline:2px "
	"solid "
	"var(--mark)}summary .n{text-align:right;font-variant-numeric:tabular-nums}"
	"@media(max-width:600px){summary{grid-template-columns:3rem 1fr}summary "
	".n{text-align:left}}"
	"pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--soft);padding:.5rem;"
	"margin:.3rem 0;"
	"font-size:13px}.chunk{content-visibility:auto;contain-intrinsic-size:auto 3000px}"
	"svg{width:100%;height:auto;display:block}svg text{font:14px "
	"system-ui,sans-serif;fill:currentColor}"
	"svg .kind{text-anchor:end;opacity:.6;font-size:12px}.state "
	"rect{fill:none;stroke:currentColor;"
	"stroke-opacity:.35}.state.seen "
	"rect{stroke:var(--mark);stroke-opacity:1;stroke-width:2;fill:var(--soft)}"
	".edge{fill:none;stroke:currentColor;stroke-opacity:.25;marker-end:url(#tip)}.edge.taken{"
	"stroke:var(--mark);stroke-opacity:1;stroke-width:2}#tip "
	"path{fill:currentColor;fill-opacity:.6}"
	".bar{display:inline-block;height:.6rem;background:var(--mark);min-width:1px}";

void report_init(struct report *r, const struct machine *m, const char *id)
{
	*r = (struct report){
		.machine = m, .id = id, .edges = json_object(), .egress = json_object()};
	summary_init(&r->summary);
	buf_init(&r->rows, ROWS_BYTES_MAX);
}

void report_done(struct report *r)
{
	summary_done(&r->summary);
	json_decref(r->edges);
	json_decref(r->egress);
	json_decref(r->before);
	buf_done(&r->rows);
}

static void add_number(json_t *object, const char *key, json_int_t more)
{
	json_object_set_new(
		object, key, json_integer(json_integer_value(json_object_get(object, key)) + more));
}

static void add_egress(struct report *r, const json_t *fields)
{
	const char *endpoint = text_of(fields, "endpoint"), *why;
	json_t *sum = json_object_get(r->egress, endpoint), *count;
	if (!sum) {
		sum = json_object();
		json_object_set_new(r->egress, endpoint, sum);
	}
	add_number(sum, "connections", json_integer_value(json_object_get(fields, "connections")));
	add_number(sum, "up", json_integer_value(json_object_get(fields, "up")));
	add_number(sum, "down", json_integer_value(json_object_get(fields, "down")));
	json_object_foreach (json_object_get(fields, "refusals"), why, count)
		add_number(sum, "refused", json_integer_value(count));
}

void report_line(struct report *r, const json_t *fields)
{
	const char *type = text_of(fields, "t");
	summary_add(&r->summary, fields);
	if (!strcmp(type, "egress"))
		add_egress(r, fields);
	if (!strcmp(type, "step")) {
		char key[160];
		snprintf(key, sizeof(key), "%s\n%s", text_of(fields, "state"),
			text_of(fields, "goto"));
		add_number(r->edges, key, 1);
	}
}

/* --- steps
 * ------------------------------------------------------------------------------------------ */

static void add_json(struct buf *out, const json_t *value, size_t limit)
{
	AUTO_FREE char *text =
		value ? json_dumps(value, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_ENCODE_ANY) : NULL;
	html_text(out, text ? text : "", limit);
}

static void add_changes(struct report *r, const json_t *blackboard)
{
	const char *name;
	json_t *value;
	bool any = false;
	json_object_foreach ((json_t *)(uintptr_t)blackboard, name, value) {
		const json_t *old = json_object_get(r->before, name);
		if (!r->before || json_equal(old, value))
			continue;
		buf_adds(&r->rows,
			any ? ""
			    : "<table><tr><th>variable</th><th>before</th><th>after</th></tr>");
		any = true;
		buf_addf(&r->rows, "<tr><td>%s</td><td><pre>", name);
		add_json(&r->rows, old, VALUE_BYTES_MAX);
		buf_adds(&r->rows, "</pre></td><td><pre>");
		add_json(&r->rows, value, VALUE_BYTES_MAX);
		buf_adds(&r->rows, "</pre></td></tr>");
	}
	buf_adds(&r->rows, any ? "</table>" : "");
}

void report_step(struct report *r, const json_t *fields, const json_t *blackboard)
{
	const char *ts = text_of(fields, "ts");
	json_int_t seq = json_integer_value(json_object_get(fields, "seq"));
	int64_t now = r->row_us;
	struct buf *out = &r->rows;
	clock_parse(ts, strlen(ts), &now);
	if (seq % CHUNK_ROWS == 1)
		buf_addf(out, "%s<div class=\"chunk\">\n", seq > 1 ? "</div>" : "");
	buf_addf(out, "<details><summary><span class=\"n\">%jd</span><b>", (intmax_t)seq);
	html_text(out, text_of(fields, "state"), 64);
	buf_adds(out, "</b><span>");
	html_text(out, text_of(fields, "label"), 200);
	buf_adds(out, " \xe2\x86\x92 ");
	html_text(out, text_of(fields, "goto"), 64);
	buf_adds(out, "</span><span class=\"n\">");
	text_duration(out, r->row_us ? (now - r->row_us) / 1000 : 0);
	buf_addf(out, "</span></summary><p>%s</p><pre>", ts);
	add_json(out, json_object_get(fields, "fact"), FACT_BYTES_MAX);
	buf_adds(out, "</pre>");
	add_changes(r, blackboard);
	buf_adds(out, "</details>\n");
	json_decref(r->before);
	r->before = json_deep_copy(blackboard);
	r->row_us = now;
}

/* --- sections
 * ----------------------------------------------------------------------------------------- */

static void add_term(struct buf *out, const char *term, const char *text)
{
	if (!*text)
		return;
	buf_addf(out, "<dt>%s</dt><dd>", term);
	html_text(out, text, 2000);
	buf_adds(out, "</dd>\n");
}

static void add_head(const struct report *r, struct buf *out)
{
	char begun[CLOCK_TEXT_BYTES], steps[40];
	AUTO_BUF spent, took;
	buf_init(&spent, 256);
	buf_init(&took, 64);
	show_spend(&spent, &r->result.totals);
	text_duration(&took, (r->summary.end_us - r->summary.begun_us) / 1000);
	clock_text(r->summary.begun_us, begun);
	snprintf(steps, sizeof(steps), "%ju", (uintmax_t)r->result.seq);
	const char *status = run_status_name(r->result.status);
	buf_adds(out, "<header><h1>");
	html_text(out, r->id, 64);
	buf_addf(out, ": <span class=\"%s\">%s</span></h1>\n<dl>\n", status, status);
	add_term(out, "reason", r->result.reason);
	add_term(out, "machine", r->machine->name);
	add_term(out, "about", r->machine->description ? r->machine->description : "");
	add_term(out, "state", r->result.state);
	add_term(out, "began", begun);
	add_term(out, "took", took.data ? took.data : "");
	add_term(out, "steps", steps);
	add_term(out, "spent", spent.len ? spent.data : "");
	add_term(out, "bundle", r->digest);
	add_term(out, "profile", r->summary.profile);
	buf_adds(out, "</dl>\n<nav><a href=\"#graph\">Graph</a><a href=\"#states\">States</a><a "
		      "href=\"#steps\">Steps</a><a href=\"#egress\">Egress</a><a "
		      "href=\"#confinement\">Confinement</a></nav></header>\n");
}

static int64_t longest_ms(const struct report *r)
{
	const char *name;
	json_t *sums;
	int64_t longest = 1;
	json_object_foreach (r->summary.states, name, sums) {
		int64_t ms = json_integer_value(json_object_get(sums, "ms"));
		longest = ms > longest ? ms : longest;
	}
	return longest;
}

static void add_state_row(
	const struct state *s, const json_t *sums, int64_t longest, struct buf *out)
{
	const char *label;
	json_t *count;
	int64_t ms = json_integer_value(json_object_get(sums, "ms"));
	const char *before = "";
	buf_addf(out, "<tr><td>%s</td><td>%s</td><td class=\"n\">%jd</td><td class=\"n\">", s->name,
		state_kind_name(s->kind),
		(intmax_t)json_integer_value(json_object_get(sums, "times")));
	text_duration(out, ms);
	buf_addf(out, "</td><td><span class=\"bar\" style=\"width:%jdpx\"></span></td><td>",
		(intmax_t)(120 * ms / longest));
	json_object_foreach (json_object_get(sums, "outcomes"), label, count) {
		buf_adds(out, before);
		html_text(out, label, 100);
		buf_addf(out, " %jd", (intmax_t)json_integer_value(count));
		before = ", ";
	}
	json_int_t input = json_integer_value(json_object_get(sums, "input_tokens"));
	buf_adds(out, "</td><td class=\"n\">");
	if (input)
		text_count(out, input);
	buf_adds(out, "</td><td class=\"n\">");
	if (input)
		text_count(out, json_integer_value(json_object_get(sums, "output_tokens")));
	buf_adds(out, "</td><td class=\"n\">");
	if (input)
		text_money(out, json_integer_value(json_object_get(sums, "microusd")));
	buf_adds(out, "</td></tr>\n");
}

static void add_states(const struct report *r, struct buf *out)
{
	int64_t longest = longest_ms(r);
	buf_adds(out, "<h2 id=\"states\">States</h2>\n<div "
		      "class=\"wide\"><table><tr><th>state</th><th>kind</th>"
		      "<th>times</th><th>time</th><th></th><th>outcomes</th><th>tokens "
		      "in</th><th>out</th>"
		      "<th>cost</th></tr>\n");
	for (size_t i = 0; i < r->machine->state_count; i++) {
		const struct state *s = &r->machine->states[i];
		const json_t *sums = json_object_get(r->summary.states, s->name);
		if (sums)
			add_state_row(s, sums, longest, out);
	}
	buf_adds(out, "</table></div>\n");
}

static void add_egress_table(const struct report *r, struct buf *out)
{
	const char *endpoint;
	json_t *sum;
	buf_adds(out, "<h2 id=\"egress\">Egress</h2>\n");
	if (!json_object_size(r->egress)) {
		buf_adds(out, "<p>Nothing left the machine.</p>\n");
		return;
	}
	buf_adds(out,
		"<div class=\"wide\"><table><tr><th>endpoint</th><th>connections</th><th>sent</th>"
		"<th>received</th><th>refused</th></tr>\n");
	json_object_foreach (r->egress, endpoint, sum) {
		buf_adds(out, "<tr><td>");
		html_text(out, endpoint, 300);
		buf_addf(out, "</td><td class=\"n\">%jd</td><td class=\"n\">",
			(intmax_t)json_integer_value(json_object_get(sum, "connections")));
		text_bytes(out, json_integer_value(json_object_get(sum, "up")));
		buf_adds(out, "</td><td class=\"n\">");
		text_bytes(out, json_integer_value(json_object_get(sum, "down")));
		buf_addf(out, "</td><td class=\"n\">%jd</td></tr>\n",
			(intmax_t)json_integer_value(json_object_get(sum, "refused")));
	}
	buf_adds(out, "</table></div>\n");
}

void report_html(const struct report *r, struct buf *out)
{
	buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
		      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		      "style-src "
		      "'unsafe-inline'\"><title>");
	html_text(out, r->id, 64);
	buf_addf(out, "</title><style>%s</style></head><body>\n", style);
	add_head(r, out);
	buf_adds(out, "<main>\n<h2 id=\"graph\">Graph</h2>\n");
	report_graph(r, out);
	add_states(r, out);
	buf_adds(out, "<h2 id=\"steps\">Steps</h2>\n");
	buf_add(out, r->rows.data ? r->rows.data : "", r->rows.len);
	buf_adds(out, r->rows.len ? "</div>\n" : "<p>None yet.</p>\n");
	buf_adds(out, "<h2>Blackboard at the end</h2>\n<pre>");
	add_json(out, r->before, 64 * 1024);
	buf_adds(out, "</pre>\n");
	add_egress_table(r, out);
	buf_adds(out, "<h2 id=\"confinement\">Confinement</h2>\n<pre>");
	html_text(out, r->confinement, 256 * 1024);
	buf_adds(out, "</pre>\n</main></body></html>\n");
}
