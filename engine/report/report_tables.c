#include "base/json.h"
#include "report/autorun_text.h"
#include "report/exposure.h"
#include "report/html.h"
#include "report/layers.h"
#include "report/report_private.h"
#include "report/repositories_text.h"
#include "report/text.h"
#include <string.h>

enum { VALUE_BYTES = 64 * 1024, LABEL_BYTES = 100 };

static void begin_table(struct buf *out, const char *const *heads, size_t count, size_t words)
{
	buf_adds(out, "<table><thead><tr>");
	for (size_t i = 0; i < count; i++)
		buf_addf(out, "<th%s>%s</th>", i < words ? "" : " class=\"n\"", heads[i]);
	buf_adds(out, "</tr></thead><tbody>\n");
}

/* Begins a cell. It names its column, for screens too narrow for columns. */
static void begin_cell(struct buf *out, const char *head, bool number)
{
	buf_addf(out, "<td data-k=\"%s\"%s>", head, number ? " class=\"n\"" : "");
}

/* Adds "ok 3, timeout 1". */
static void add_counts(struct buf *out, const json_t *counts)
{
	const char *name, *between = "";
	json_t *count;
	json_object_foreach ((json_t *)(uintptr_t)counts, name, count) {
		buf_adds(out, between);
		html_text(out, name, LABEL_BYTES);
		buf_addf(out, " \xc3\x97%jd", (intmax_t)json_integer_value(count));
		between = ", ";
	}
}

/* --- states ---------------------------------------------------------------------------------- */

static const char *const state_heads[] = {
	"state", "kind", "outcomes", "times", "time", "tokens in", "tokens out", "cost"};
/* The number of columns for a run without a model. */
enum { STATE_WORDS = 3, STATE_PLAIN = 5 };

static void add_spend(const json_t *sums, struct buf *out)
{
	json_int_t input = json_get_int(sums, "input_tokens");
	begin_cell(out, state_heads[STATE_PLAIN], true);
	if (input && json_object_get(sums, "unmetered"))
		buf_adds(out, "about ");
	if (input)
		text_count(out, input);
	buf_adds(out, "</td>");
	begin_cell(out, state_heads[STATE_PLAIN + 1], true);
	if (input)
		text_count(out, json_get_int(sums, "output_tokens"));
	buf_adds(out, "</td>");
	begin_cell(out, state_heads[STATE_PLAIN + 2], true);
	if (input)
		text_money(out, json_get_int(sums, "microusd"));
	buf_adds(out, "</td>");
}

static void add_state(const struct report *report, const struct state *state, struct buf *out)
{
	const json_t *sums = json_object_get(report->summary.states, state->name);
	if (!sums)
		return;
	buf_addf(out, "<tr><td>%s</td><td data-k=\"kind\">%s</td>", state->name,
		state_kind_name(state->kind));
	begin_cell(out, "outcomes", false);
	add_counts(out, json_object_get(sums, "outcomes"));
	buf_adds(out, "</td>");
	begin_cell(out, "times", true);
	buf_addf(out, "%jd</td>", (intmax_t)json_get_int(sums, "times"));
	begin_cell(out, "time", true);
	text_duration(out, json_get_int(sums, "ms"));
	buf_adds(out, "</td>");
	if (report->result.totals.input_tokens)
		add_spend(sums, out);
	buf_adds(out, "</tr>\n");
}

void report_states(const struct report *report, struct buf *out)
{
	bool spent = report->result.totals.input_tokens;
	buf_adds(out, "<div class=\"tall\">\n");
	begin_table(out, state_heads, spent ? ARRAY_LEN(state_heads) : STATE_PLAIN, STATE_WORDS);
	for (size_t i = 0; i < report->machine->state_count; i++)
		add_state(report, &report->machine->states[i], out);
	buf_adds(out, "</tbody></table>\n</div>\n");
}

/* --- blackboard ------------------------------------------------------------------------------ */

static void add_value(struct buf *out, const char *text)
{
	if (strchr(text, '\n') || strlen(text) > LABEL_BYTES) {
		html_block(out, text, VALUE_BYTES);
		return;
	}
	buf_adds(out, "<code>");
	html_text(out, text, LABEL_BYTES);
	buf_adds(out, "</code>");
}

void report_blackboard(const struct report *report, struct buf *out)
{
	static const char *const heads[] = {"variable", "written by", "value"};
	const struct machine *m = report->machine;
	if (!m->variable_count) {
		buf_adds(out, "<p class=\"soft\">The machine has no variables.</p>\n");
		return;
	}
	begin_table(out, heads, ARRAY_LEN(heads), ARRAY_LEN(heads));
	for (size_t i = 0; i < m->variable_count; i++) {
		AUTO_FREE char *text =
			html_json(json_object_get(report->before, m->variables[i].name));
		buf_addf(out, "<tr><td>%s</td><td data-k=\"written by\">%s%s</td><td>",
			m->variables[i].name, owner_name(m->variables[i].owner),
			m->variables[i].untrusted ? ", untrusted" : "");
		add_value(out, text);
		buf_adds(out, "</td></tr>\n");
	}
	buf_adds(out, "</tbody></table>\n");
}

/* --- egress ---------------------------------------------------------------------------------- */

static void add_endpoint(const char *endpoint, const json_t *sum, struct buf *out)
{
	const json_t *refused = json_object_get(sum, "refused");
	buf_adds(out, "<tr><td>");
	html_text(out, endpoint, 300);
	buf_adds(out, json_object_size(refused) ? "</td><td data-k=\"refused\" class=\"warn\">"
						: "</td><td data-k=\"refused\">");
	add_counts(out, refused);
	buf_adds(out, "</td>");
	begin_cell(out, "connections", true);
	buf_addf(out, "%jd</td>", (intmax_t)json_get_int(sum, "connections"));
	begin_cell(out, "sent", true);
	text_bytes(out, json_get_int(sum, "up"));
	buf_adds(out, "</td>");
	begin_cell(out, "received", true);
	text_bytes(out, json_get_int(sum, "down"));
	buf_adds(out, "</td></tr>\n");
}

void report_egress(const struct report *report, struct buf *out)
{
	static const char *const heads[] = {
		"endpoint", "refused", "connections", "sent", "received"};
	const char *endpoint;
	json_t *sum;
	if (!json_object_size(report->egress)) {
		buf_adds(out, "<p class=\"soft\">Nothing left the machine.</p>\n");
		return;
	}
	begin_table(out, heads, ARRAY_LEN(heads), 2);
	json_object_foreach (report->egress, endpoint, sum)
		add_endpoint(endpoint, sum, out);
	buf_adds(out, "</tbody></table>\n");
}

/* --- files that the host runs ----------------------------------------------------------------- */

void report_autorun(const struct report *report, struct buf *out)
{
	autorun_html(report->autorun, out);
}

/* --- repositories ----------------------------------------------------------------------------- */

void report_repositories(const struct report *report, struct buf *out)
{
	repositories_html(report->repositories, report->aside, report->data, out);
}

/* --- confinement ----------------------------------------------------------------------------- */

/* Adds the layers that the program reported. */
static void add_layers(struct buf *out, const char *who, const json_t *layers)
{
	const char *name;
	json_t *value;
	if (!layers)
		return;
	buf_addf(out, "<h3>In force around %s</h3><ul class=\"chips\">", who);
	json_object_foreach ((json_t *)(uintptr_t)layers, name, value) {
		AUTO_BUF layer = BUF_INIT(512);
		layers_word(&layer, name, value);
		if (!layer.len)
			continue;
		buf_adds(out,
			!strncmp(layer.data, "no Landlock", 11) ? "<li class=\"off\">" : "<li>");
		html_text(out, layer.data, 200);
		buf_adds(out, "</li>");
	}
	buf_adds(out, "</ul>\n");
}

void report_confinement(const struct report *report, struct buf *out)
{
	add_layers(out, "tools", report->summary.tool_layers);
	add_layers(out, "agents", report->summary.agent_layers);
	exposure_html(report->exposure, out);
}
