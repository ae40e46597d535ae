#include "cli/rehearse/verdicts.h"

#include "report/html.h"
#include "report/text.h"
#include <string.h>

enum { NAME_COLUMNS = 16, TEXT_COLUMNS = 4000, LINE_BYTES = 8192, TEXT_BYTES = 64 * 1024 };

typedef void difference_visitor(struct buf *out, const char *text);
typedef void character_writer(struct buf *out, char c);

/* Appends a text on one line, without control characters; `put` escapes what the format would
 * understand. */
static void put_text(struct buf *out, character_writer *put, const char *text)
{
	AUTO_BUF clean = BUF_INIT(TEXT_BYTES);
	text_clean(&clean, text, TEXT_COLUMNS);
	for (size_t i = 0; i < clean.len && !clean.failed; i++)
		put(out, clean.data[i]);
}

static void each_line(struct buf *out, const char *text, difference_visitor *visit)
{
	for (const char *at = text; *at;) {
		char line[LINE_BYTES];
		size_t len = strcspn(at, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)len, at);
		visit(out, line);
		at += len + (at[len] == '\n');
	}
}

/* Visits each line of the reason of a refusal, or of the differences. */
static void each_difference(
	struct buf *out, const struct case_result *verdict, difference_visitor *visit)
{
	size_t i;
	json_t *text;
	if (verdict->refused)
		each_line(out, verdict->reason, visit);
	json_array_foreach (verdict->differences, i, text)
		each_line(out, json_string_value(text), visit);
}

/* Appends how many steps were not executed; nothing if all were. */
static void add_recorded(struct buf *out, const char *before, size_t recorded, const char *after)
{
	if (recorded)
		buf_addf(out, "%s%zu step%s recorded, not executed%s", before, recorded,
			recorded == 1 ? "" : "s", after);
}

/* --- text ------------------------------------------------------------------------------------- */

static void text_difference(struct buf *out, const char *text)
{
	buf_adds(out, "    ");
	text_clean(out, text, TEXT_COLUMNS);
	buf_addc(out, '\n');
}

static void text_add(struct buf *out, size_t number, const struct rehearsal_case *item,
	const struct case_result *verdict)
{
	(void)number;
	size_t from = out->len;
	buf_adds(out, verdict->refused ? "refused" : verdict_passes(verdict) ? "ok" : "differs");
	text_pad(out, from, 9);
	from = out->len;
	text_clean(out, item->name, TEXT_COLUMNS);
	if (*item->description) {
		text_pad(out, from, NAME_COLUMNS);
		text_clean(out, item->description, TEXT_COLUMNS);
	}
	add_recorded(out, " (", verdict->recorded, ")");
	buf_addc(out, '\n');
	each_difference(out, verdict, text_difference);
}

static void text_end(struct buf *out, const struct verdict_counts *counts)
{
	buf_addf(out, "%zu case%s, %zu %s", counts->cases, counts->cases == 1 ? "" : "s",
		counts->differing, counts->differing == 1 ? "differs" : "differ");
	if (counts->refused)
		buf_addf(out, ", %zu refused", counts->refused);
	buf_addc(out, '\n');
}

/* --- TAP -------------------------------------------------------------------------------------- */

static void tap_begin(struct buf *out, const char *machine, const struct verdict_counts *counts)
{
	(void)machine;
	buf_addf(out, "1..%zu\n", counts->cases);
}

static void tap_character(struct buf *out, char c)
{
	if (c == '#' || c == '\\') /* a directive, an escape */
		buf_addc(out, '\\');
	buf_addc(out, c);
}

static void tap_difference(struct buf *out, const char *text)
{
	buf_adds(out, "#   ");
	text_clean(out, text, TEXT_COLUMNS);
	buf_addc(out, '\n');
}

static void tap_add(struct buf *out, size_t number, const struct rehearsal_case *item,
	const struct case_result *verdict)
{
	buf_addf(out, "%sok %zu - ", verdict_passes(verdict) ? "" : "not ", number);
	put_text(out, tap_character, item->name);
	if (*item->description) {
		buf_adds(out, ": ");
		put_text(out, tap_character, item->description);
	}
	buf_addc(out, '\n');
	add_recorded(out, "#   ", verdict->recorded, "\n");
	each_difference(out, verdict, tap_difference);
}

/* --- JUnit ------------------------------------------------------------------------------------ */

void verdict_xml(struct buf *out, const char *text)
{
	AUTO_BUF clean = BUF_INIT(TEXT_BYTES);
	text_clean(&clean, text, TEXT_COLUMNS);
	html_text(out, clean.data ? clean.data : "", SIZE_MAX);
}

static void junit_difference(struct buf *out, const char *text)
{
	verdict_xml(out, text);
	buf_addc(out, '\n');
}

static void add_seconds(struct buf *out, int64_t ms)
{
	buf_addf(out, " time=\"%jd.%03jd\"", (intmax_t)(ms / 1000), (intmax_t)(ms % 1000));
}

static void junit_begin(struct buf *out, const char *machine, const struct verdict_counts *counts)
{
	buf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
		      "  <testsuite name=\"");
	verdict_xml(out, machine);
	buf_addf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n", counts->cases,
		counts->differing, counts->refused);
}

static void junit_add(struct buf *out, size_t number, const struct rehearsal_case *item,
	const struct case_result *verdict)
{
	(void)number;
	const char *kind = verdict->refused ? "error" : "failure";
	const char *first = verdict->refused
				    ? verdict->reason
				    : json_string_value(json_array_get(verdict->differences, 0));
	buf_adds(out, "    <testcase name=\"");
	verdict_xml(out, item->name);
	buf_adds(out, "\" classname=\"rehearsal\"");
	add_seconds(out, verdict->ms);
	if (verdict_passes(verdict)) {
		buf_adds(out, "/>\n");
		return;
	}
	buf_addf(out, ">\n      <%s message=\"", kind);
	verdict_xml(out, first ? first : "");
	buf_adds(out, "\">");
	each_difference(out, verdict, junit_difference);
	buf_addf(out, "</%s>\n    </testcase>\n", kind);
}

static void junit_end(struct buf *out, const struct verdict_counts *counts)
{
	(void)counts;
	buf_adds(out, "  </testsuite>\n</testsuites>\n");
}

/* --- GitHub ----------------------------------------------------------------------------------- */

/* The characters of a workflow command's own are escaped: fewer in its message than in its
 * properties. */
static void message_character(struct buf *out, char c)
{
	if (c == '%')
		buf_adds(out, "%25");
	else
		buf_addc(out, c);
}

static void property_character(struct buf *out, char c)
{
	if (c == ':' || c == ',')
		buf_addf(out, "%%%02X", (unsigned)c);
	else
		message_character(out, c);
}

static void github_difference(struct buf *out, const char *text)
{
	put_text(out, message_character, text);
	buf_adds(out, "%0A");
}

static void github_add(struct buf *out, size_t number, const struct rehearsal_case *item,
	const struct case_result *verdict)
{
	(void)number;
	if (verdict_passes(verdict))
		return;
	buf_adds(out, "::error title=rehearsal ");
	put_text(out, property_character, item->name);
	if (item->has_doc) {
		buf_adds(out, ",file=");
		put_text(out, property_character, item->doc.file);
		buf_adds(out, ",line=1");
	}
	buf_adds(out, "::");
	each_difference(out, verdict, github_difference);
	buf_addc(out, '\n');
}

const struct verdict_format *verdict_format(const char *name)
{
	static const struct verdict_format formats[] = {
		{"text", false, NULL, text_add, text_end},
		{"tap", false, tap_begin, tap_add, NULL},
		{"junit", true, junit_begin, junit_add, junit_end},
		{"github", false, NULL, github_add, text_end},
	};
	for (size_t i = 0; name && i < ARRAY_LEN(formats); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return &formats[0];
}
