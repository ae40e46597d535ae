#include "base/json.h"
#include "base/num.h"
#include "machine/kind.h"
#include "report/html.h"
#include "report/report_private.h"
#include "report/text.h"
#include <string.h>

/* A browser lays out a page of steps only when it is shown. */
enum {
	EDGE_STEPS = 5000,
	CHUNK_ROWS = 20,
	BLOCK_BYTES = 4000,
	SHORT_BYTES = 100,
	CONTEXT_LINES = 2
};

/* --- facts ----------------------------------------------------------------------------------- */

static void add_ms(struct buf *out, const json_t *value)
{
	text_duration(out, json_integer_value(value));
}

static void add_kib(struct buf *out, const json_t *value)
{
	int64_t bytes;
	if (__builtin_mul_overflow(json_integer_value(value), 1024, &bytes))
		bytes = INT64_MAX;
	text_bytes(out, bytes);
}

static void add_usd(struct buf *out, const json_t *value)
{
	text_money(out, num_microusd(json_number_value(value)));
}

static void add_count(struct buf *out, const json_t *value)
{
	text_count(out, json_integer_value(value));
}

static void add_instant(struct buf *out, const json_t *value)
{
	AUTO_BUF text = BUF_INIT(SHORT_BYTES);
	text_when(&text, json_string_value(value) ? json_string_value(value) : "");
	html_text(out, text.data, SHORT_BYTES);
}

static void add_plain(struct buf *out, const json_t *value)
{
	AUTO_FREE char *text = json_is_string(value) ? NULL : json_text(value);
	html_text(out, text ? text : json_string_value(value), BLOCK_BYTES);
}

/* Names and formats for members of facts; other members are written as they are. */
static const struct {
	const char *key, *name;
	void (*add)(struct buf *out, const json_t *value);
} members[] = {{"wall_ms", "took", add_ms}, {"max_rss_kib", "memory", add_kib},
	{"usd", "cost", add_usd}, {"input_tokens", "tokens in", add_count},
	{"output_tokens", "tokens out", add_count}, {"cached_tokens", "cached", add_count},
	{"unmetered", "estimated", add_plain}, {"wake", "due", add_instant},
	{"woke_by", "woken by", add_plain}, {"timed_out", "timed out", add_plain},
	{"stderr_tail", "stderr", add_plain}, {"logs_cut", "not kept whole", add_plain}};

static size_t member(const char *key)
{
	size_t i = 0;
	while (i < ARRAY_LEN(members) && strcmp(members[i].key, key))
		i++;
	return i;
}

static bool is_silent(const json_t *value)
{
	return json_is_null(value) || json_is_false(value) ||
	       (json_is_string(value) && !json_string_length(value));
}

static bool is_block(const char *key, const json_t *value)
{
	const char *text = json_string_value(value);
	return json_is_object(value) || json_is_array(value) || !strcmp(key, "stdout") ||
	       !strcmp(key, "stderr_tail") ||
	       (text && (strlen(text) > SHORT_BYTES || strchr(text, '\n')));
}

static void add_short(struct buf *out, const char *key, const json_t *value)
{
	size_t m = member(key);
	buf_adds(out, "<i>");
	html_text(out, m < ARRAY_LEN(members) ? members[m].name : key, SHORT_BYTES);
	buf_adds(out, "</i> ");
	(m < ARRAY_LEN(members) ? members[m].add : add_plain)(out, value);
	buf_addc(out, ' ');
}

static void add_block(struct buf *out, const char *key, const json_t *value)
{
	size_t m = member(key);
	AUTO_FREE char *text = json_is_string(value) ? NULL : html_json(value);
	buf_adds(out, "<h3>");
	html_text(out, m < ARRAY_LEN(members) ? members[m].name : key, SHORT_BYTES);
	buf_adds(out, "</h3>");
	html_block(out, text ? text : json_string_value(value), BLOCK_BYTES);
}

/* Adds every member that the fact has, as it was written. */
static void add_fact(struct buf *out, const struct line *line)
{
	const char *key;
	json_t *value, *fact = json_object_get(line->held, "fact");
	buf_adds(out, "<p class=\"facts\">");
	add_short(out, "at", json_object_get(line->held, "ts"));
	if (line->attempt > 1)
		add_short(out, "attempt", json_object_get(line->held, "attempt"));
	json_object_foreach (fact, key, value)
		if (!is_silent(value) && !is_block(key, value))
			add_short(out, key, value);
	buf_adds(out, "</p>");
	json_object_foreach (fact, key, value)
		if (!is_silent(value) && is_block(key, value))
			add_block(out, key, value);
}

/* --- changes --------------------------------------------------------------------------------- */

static size_t line_length(const char *text)
{
	size_t len = strcspn(text, "\n");
	return len + (text[len] == '\n');
}

/* Returns the number of equal lines at the beginning; *a and *b move past them. */
static size_t same_lines(const char **a, const char **b)
{
	size_t lines = 0;
	for (; **a; lines++) {
		size_t n = line_length(*a);
		if (n != line_length(*b) || memcmp(*a, *b, n))
			break;
		*a += n;
		*b += n;
	}
	return lines;
}

/* Returns the length of the equal end, in whole lines. */
static size_t same_tail(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), tail = 0;
	for (size_t i = 1; i <= n && i <= m && a[n - i] == b[m - i]; i++)
		if (i == n || a[n - i - 1] == '\n')
			if (i == m || b[m - i - 1] == '\n')
				tail = i;
	return tail;
}

/* Adds the first lines of a text, and a mark if there are more. */
static void add_context(struct buf *out, const char *text)
{
	size_t len = 0;
	for (int lines = 0; lines < CONTEXT_LINES; lines++)
		len += line_length(text + len);
	AUTO_FREE char *context = strndup(text, len);
	html_text(out, context ? context : "", BLOCK_BYTES);
	buf_adds(out, text[len] ? "\xe2\x80\xa6" : "");
}

static void add_lines(struct buf *out, const char *tag, const char *from, size_t len)
{
	for (size_t at = 0, n; at < len; at += n) {
		n = line_length(from + at);
		n = n < len - at ? n : len - at;
		AUTO_FREE char *line = strndup(from + at, n - (from[at + n - 1] == '\n'));
		buf_addf(out, "<%s>", tag);
		html_text(out, line ? line : "", BLOCK_BYTES);
		buf_addf(out, "</%s>", tag);
	}
}

/* Adds the difference between two texts, with a little context. */
static void add_difference(struct buf *out, const char *old, const char *now)
{
	const char *a = old, *b = now;
	same_lines(&a, &b);
	size_t tail = same_tail(a, b), alen = strlen(a) - tail, blen = strlen(b) - tail;
	const char *lead = b;
	for (int lines = 0; lead > now && lines < CONTEXT_LINES; lines++)
		do
			lead--;
		while (lead > now && lead[-1] != '\n');
	buf_adds(out, lead > now ? "<pre>\xe2\x80\xa6\n" : "<pre>");
	AUTO_FREE char *context = strndup(lead, (size_t)(b - lead));
	html_text(out, context ? context : "", BLOCK_BYTES);
	add_lines(out, "del", a, alen < BLOCK_BYTES ? alen : BLOCK_BYTES);
	add_lines(out, "ins", b, blen < BLOCK_BYTES ? blen : BLOCK_BYTES);
	add_context(out, b + blen);
	buf_adds(out, "</pre>");
	if (alen > BLOCK_BYTES || blen > BLOCK_BYTES)
		buf_adds(out, "<p class=\"more\">cut; the journal has all of it</p>");
}

static void add_changes(struct report *report, const json_t *blackboard)
{
	const char *name;
	json_t *value;
	json_object_foreach ((json_t *)(uintptr_t)blackboard, name, value) {
		const json_t *old = json_object_get(report->before, name);
		if (!report->before || old == value || json_equal(old, value))
			continue;
		AUTO_FREE char *was = html_json(old), *is = html_json(value);
		buf_adds(&report->rows, "<h3>changed: ");
		html_text(&report->rows, name, SHORT_BYTES);
		buf_adds(&report->rows, "</h3>");
		add_difference(&report->rows, was, is);
	}
}

/* --- rows ------------------------------------------------------------------------------------ */

static void begin_row(struct report *report, const char *tags, const char *state)
{
	if (report->row_count++ % CHUNK_ROWS == 0)
		buf_addf(&report->rows, "%s<div class=\"chunk\">\n",
			report->row_count > 1 ? "</div>\n" : "");
	buf_adds(&report->rows, tags);
	html_text(&report->rows, state, SHORT_BYTES);
	buf_adds(&report->rows, "</b>");
}

void report_reason(struct buf *out, const struct line *line)
{
	char words[REDUCE_REASON_BYTES];
	const struct fact *fact = &line->fact;
	reduce_words(fact, words);
	if (fact->kind == FACT_TOOL && fact->tool.exit.known)
		buf_addf(out, "exit %jd%s", (intmax_t)fact->tool.exit.value, *words ? ": " : "");
	html_text(out, words, sizeof(words));
}

/* Adds the visible part of a step's row. */
static void add_row(struct report *report, const struct line *line, const char *tag)
{
	const struct fact *fact = &line->fact;
	const char *to = line->type == LINE_STEP ? line->go_to : "";
	char tags[128];
	struct buf *out = &report->rows;
	bool well = report_went_well(line);
	snprintf(tags, sizeof(tags), "%s<span class=\"n\">%jd</span><b>", tag, (intmax_t)line->seq);
	begin_row(report, tags, line->state);
	buf_adds(out, well ? "<span>" : "<span class=\"off\">");
	html_text(out, line->label, 200);
	buf_adds(out, *to ? " \xe2\x86\x92 " : ", again");
	html_text(out, to, SHORT_BYTES);
	if (!well) {
		buf_adds(out, "<small>");
		report_reason(out, line);
		buf_adds(out, "</small>");
	}
	buf_adds(out, "</span><span class=\"n\">");
	if (fact->kind == FACT_AGENT && !fact->agent.spend.unpriced)
		text_money(out, fact->agent.spend.microusd);
	buf_adds(out, "</span><span class=\"n\">");
	text_duration(out, (report->summary.end_us - report->summary.from_us) / 1000);
	buf_adds(out, "</span>");
}

/* Adds a step. A branch observes nothing, so its row does not open: the parts that open make a page
 * slow. */
static void add_step(struct report *report, const struct line *line, const json_t *blackboard)
{
	const struct fact *fact = &line->fact;
	if (fact->kind == FACT_BRANCH) {
		add_row(report, line, "<div class=\"row\">");
		buf_adds(&report->rows, "</div>\n");
		return;
	}
	/* Only rows that are linked to have an id: a page has many steps. */
	char tag[96] = "<details><summary>";
	if (!report_went_well(line))
		snprintf(tag, sizeof(tag), "<details id=\"step-%jd-%jd\"><summary>",
			(intmax_t)line->seq, (intmax_t)line->attempt);
	add_row(report, line, tag);
	buf_adds(&report->rows, "</summary><div class=\"body\">");
	add_fact(&report->rows, line);
	add_changes(report, blackboard);
	if (line->type == LINE_STEP)
		report_talk(report, (uint64_t)line->seq, line->state);
	buf_adds(&report->rows, "</div></details>\n");
}

void report_unfinished(struct report *report)
{
	const struct state *s = machine_state(report->machine, report->result.state);
	char tag[64];
	if (report->result.already_ended || !s || !state_is(s, TRAIT_MODEL))
		return;
	snprintf(tag, sizeof(tag), "<details><summary><span class=\"n\">%ju</span><b>",
		(uintmax_t)report->result.seq + 1);
	begin_row(report, tag, s->name);
	buf_adds(&report->rows, "<span>not finished</span></summary><div class=\"body\">");
	report_talk(report, report->result.seq + 1, s->name);
	buf_adds(&report->rows, "</div></details>\n");
}

/* Adds a line between the steps that a reader wants to see: its word, its colour, its text. */
static void add_event(
	struct report *report, const struct line *line, const char *look, const char *says)
{
	char tags[128];
	snprintf(tags, sizeof(tags), "<p class=\"event %s\"><span></span><b>", look);
	begin_row(report, tags, line->state);
	buf_adds(&report->rows, "<span>");
	html_text(&report->rows, says, BLOCK_BYTES);
	buf_adds(&report->rows, "</span></p>\n");
}

static void add_notify(struct report *report, const struct line *line)
{
	static const char *const looks[] = {[NOTIFY_INFO] = "",
		[NOTIFY_WARN] = "warn",
		[NOTIFY_ERROR] = "bad",
		[NOTIFY_LEVEL_COUNT] = ""};
	add_event(report, line, looks[line->notify.level], line->notify.message);
}

static void add_stop(struct report *report, const struct line *line)
{
	AUTO_BUF says = BUF_INIT(256);
	buf_addf(&says, "stopped here by %s",
		line->stop == STOPPED_BY_REQUEST ? "agent6 machine stop"
						 : stopper_name(line->stop));
	add_event(report, line, "warn", says.data);
}

static void add_refused(struct report *report, const struct line *line)
{
	AUTO_BUF says = BUF_INIT(2048);
	buf_addf(&says, "refused a poke: %s", line->refused.reason);
	add_event(report, line, "warn", says.data);
}

static void add_unfinished(struct report *report, const struct line *line)
{
	AUTO_BUF says = BUF_INIT(256);
	buf_adds(&says, "an attempt never finished; it counts as ");
	text_count(&says, line->spend.input_tokens);
	buf_adds(&says, " tokens in, ");
	text_count(&says, line->spend.output_tokens);
	buf_adds(&says, " out");
	add_event(report, line, "warn", says.data);
}

static void add_refusals(struct report *report, const struct line *line)
{
	const char *why;
	json_t *count;
	json_object_foreach (line->egress.refusals, why, count) {
		AUTO_BUF says = BUF_INIT(1024);
		text_refusal(&says, line->egress.endpoint, why, json_integer_value(count));
		add_event(report, line, "warn", says.len ? says.data : why);
	}
}

/* Reports whether a row is left out: nobody reads a million, and no browser shows them. */
static bool is_left_out(const struct report *report, const struct line *line)
{
	uint64_t seq = (uint64_t)line->seq;
	return report->steps > 2 * EDGE_STEPS && seq > EDGE_STEPS &&
	       seq <= report->steps - EDGE_STEPS;
}

/* Adds one line in place of all rows that are left out, and after it the last failed one of them,
 * to which the page's head may link. */
static void add_gap(
	struct report *report, const struct line *line, const json_t *blackboard, bool step)
{
	bool failed = step && !report_went_well(line);
	if (report->gap_len && !failed)
		return;
	if (!report->gap_len) {
		report->gap_len = report->rows.len;
		report->gap_rows = report->row_count;
	}
	report->rows.len = report->gap_len;
	report->row_count = report->gap_rows;
	AUTO_BUF says = BUF_INIT(256);
	buf_adds(&says, "left out here: ");
	text_count(&says, (int64_t)report->steps - 2 * EDGE_STEPS);
	buf_addf(&says, " of the steps%s; agent6 machine replay %s tells them",
		failed ? ", but for the last that went wrong" : "", report->id);
	add_event(report, line, "", says.data);
	if (failed)
		add_step(report, line, blackboard);
}

void report_row(struct report *report, const struct line *line, const json_t *blackboard)
{
	static void (*const events[LINE_TYPE_COUNT])(
		struct report * report, const struct line *line) = {[LINE_NOTIFY] = add_notify,
		[LINE_STOP] = add_stop,
		[LINE_REFUSED] = add_refused,
		[LINE_SPEND] = add_unfinished,
		[LINE_EGRESS] = add_refusals};
	bool step = line->type == LINE_STEP || line->type == LINE_RETRY;
	if (is_left_out(report, line))
		add_gap(report, line, blackboard, step);
	else if (step)
		add_step(report, line, blackboard);
	else if (line->type != LINE_TYPE_COUNT && events[line->type])
		events[line->type](report, line);
	json_decref(report->before);
	report->before = json_copy((json_t *)(uintptr_t)blackboard);
}
