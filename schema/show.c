/* Findings as people read them, and as JSON. */
#include "base/json.h"
#include "base/utf8.h"
#include "schema/finding.h"
#include "schema/wrap.h"
#include <string.h>

enum {
	SOURCE_COLUMNS = 100,     /* columns of a source line where nothing is wrapped */
	SOURCE_COLUMNS_MIN = 20,  /* those on the narrowest terminal */
	SOURCE_FRAME = 9 + 3 + 3, /* "    84 | ", and "..." before and after */
	HANG_COLUMNS = 7,
	HELP_COLUMNS = HANG_COLUMNS + 6,
	FILE_BYTES_MAX = 64 * 1024,
	WORDS_BYTES_MAX = 256 * 1024 * 1024
};

static uint32_t source_room(const struct finding_look *look)
{
	if (look->columns > SOURCE_COLUMNS + SOURCE_FRAME)
		return SOURCE_COLUMNS;
	if (look->columns < SOURCE_COLUMNS_MIN + SOURCE_FRAME)
		return SOURCE_COLUMNS_MIN;
	return (uint32_t)look->columns - SOURCE_FRAME;
}

static void begin_colour(struct buf *out, const struct finding_look *look, enum severity severity)
{
	static const char *const codes[] = {"1;36", "1;33", "1;31"};
	if (look->colour)
		buf_addf(out, "\033[%sm", codes[severity]);
}

static void end_colour(struct buf *out, const struct finding_look *look)
{
	if (look->colour)
		buf_adds(out, "\033[0m");
}

/* Reports whether a character must not appear in a line of a finding. */
static bool is_odd(uint32_t code)
{
	return utf8_is_odd(code) || code == '\r' || code == '\n';
}

/* Returns the columns of a character in a source line, and its bytes in `step`. Negative: it is
 * shown as one `?`. */
static int source_columns(const char *text, size_t len, size_t *step)
{
	uint32_t code = 0;
	size_t n = utf8_step(text, len, &code);
	*step = n ? n : 1;
	return n && !utf8_is_odd(code) ? (int)utf8_columns(code) : -1;
}

/* Adds the first `count` characters of a source line. */
static void add_columns(struct buf *out, const char *text, size_t len, uint32_t count)
{
	for (size_t at = 0, step; at < len && count; count--, at += step)
		if (source_columns(text + at, len - at, &step) < 0 || utf8_is_order(text, len, at))
			buf_addc(out, '?');
		else
			buf_add(out, text + at, step);
}

/* Adds `mark` once for each column of those characters, and one for each beyond the line's end. A
 * tab stays a tab among blanks, so that both lines align. */
static size_t add_marks(struct buf *out, const char *text, size_t len, uint32_t count, char mark)
{
	size_t at = 0;
	for (size_t step; count && at < len; count--, at += step) {
		int columns = source_columns(text + at, len - at, &step);
		bool tab = mark == ' ' && text[at] == '\t';
		for (int i = columns < 0 ? 1 : columns; i > 0; i--)
			buf_addc(out, tab ? '\t' : mark);
	}
	for (; count; count--)
		buf_addc(out, mark);
	return at;
}

/* The place where the last finding's excerpt began: findings come in source order, so a line of
 * megabytes is walked once and not once per finding. */
struct excerpt {
	const struct doc *d;
	uint32_t line, skip;
	size_t from;
};

static size_t excerpt_start(
	struct excerpt *last, const struct doc *doc, uint32_t line, uint32_t skip)
{
	size_t len;
	const char *text = doc_line(doc, line, &len);
	bool onward = last->d == doc && last->line == line && last->skip <= skip;
	uint32_t done = onward ? last->skip : 0;
	size_t from = onward ? last->from : 0;
	from += doc_bytes(text + from, len - from, skip - done);
	*last = (struct excerpt){doc, line, skip, from};
	return from;
}

/* Adds the line with a caret below; of a long line the part around the caret. */
static void add_source(struct buf *out, const struct finding_look *look, struct excerpt *last,
	const struct doc *doc, const struct finding *it)
{
	const struct doc_pos *pos = &it->pos;
	uint32_t shown = source_room(look), lead_most = shown * 3 / 5;
	size_t len;
	const char *line = doc_line(doc, pos->line, &len);
	uint32_t skip = pos->column > lead_most ? pos->column - 1 - lead_most / 2 : 0;
	size_t from = excerpt_start(last, doc, pos->line, skip);
	line += from;
	len -= from;
	buf_addf(out, "%6u | %s", pos->line, skip ? "..." : "");
	add_columns(out, line, len, shown);
	if (doc_bytes(line, len, shown) < len)
		buf_adds(out, "...");
	buf_addf(out, "\n       | %s", skip ? "   " : "");
	uint32_t lead = pos->column - 1 - skip, room = shown - lead;
	uint32_t width = pos->end_line == pos->line && pos->end_column > pos->column
				 ? pos->end_column - pos->column
				 : 1;
	size_t at = add_marks(out, line, len, lead, ' ');
	begin_colour(out, look, it->severity);
	add_marks(out, line + at, len - at, width < room ? width : room, '^');
	end_colour(out, look);
	buf_addc(out, '\n');
}

/* Adds ": TEXT" after the beginning of the line. */
static void add_words(
	struct buf *out, const struct finding_look *look, const char *text, size_t indent)
{
	AUTO_BUF clean = BUF_INIT(WORDS_BYTES_MAX);
	buf_adds(&clean, ": ");
	utf8_escape(&clean, text, strlen(text), is_odd);
	wrap_text(out, clean.data, indent, look->columns);
	buf_addc(out, '\n');
}

static void add_finding(struct buf *out, const struct finding_look *look, struct excerpt *last,
	const struct finding *it, const struct doc *doc)
{
	utf8_escape(out, it->file, strlen(it->file), is_odd);
	if (it->pos.line)
		buf_addf(out, ":%u:%u", it->pos.line, it->pos.column);
	buf_adds(out, ": ");
	begin_colour(out, look, it->severity);
	buf_addf(out, "%s[%s]", severity_name(it->severity), rule_info(it->rule)->id);
	end_colour(out, look);
	add_words(out, look, it->message, HANG_COLUMNS);
	if (doc && it->pos.line)
		add_source(out, look, last, doc, it);
	if (it->help) {
		buf_addf(out, "%*shelp", HANG_COLUMNS, "");
		add_words(out, look, it->help, HELP_COLUMNS);
	}
}

void findings_show(const struct findings *findings, const struct doc *const *docs, size_t n_docs,
	const struct finding_look *look, struct buf *out)
{
	struct excerpt last = {NULL, 0, 0, 0};
	for (size_t i = 0; i < findings->count; i++) {
		const struct doc *d = NULL;
		for (size_t k = 0; k < n_docs && !d; k++)
			if (docs[k] && docs[k]->file &&
				!strcmp(docs[k]->file, findings->items[i].file))
				d = docs[k];
		add_finding(out, look, &last, &findings->items[i], d);
	}
	if (findings->dropped)
		buf_addf(out, "... and %zu more\n", findings->dropped);
}

void findings_json(const struct findings *findings, struct buf *out)
{
	buf_addc(out, '[');
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *it = &findings->items[i];
		AUTO_BUF file; /* a path that is no UTF-8 does not fit into JSON */
		buf_init(&file, FILE_BYTES_MAX);
		if (utf8_prefix(it->file, strlen(it->file)) < strlen(it->file))
			utf8_escape(&file, it->file, strlen(it->file), is_odd);
		json_auto_t *item = json_pack("{ss ss ss ss si si si si ss? ss?}", "severity",
			severity_name(it->severity), "rule", rule_info(it->rule)->id, "message",
			it->message, "file", file.len ? file.data : it->file, "line",
			(int)it->pos.line, "column", (int)it->pos.column, "end_line",
			(int)it->pos.end_line, "end_column", (int)it->pos.end_column, "help",
			it->help, "state", it->state);
		buf_adds(out, i ? ",\n " : "");
		if (!item || json_write(out, item))
			out->failed = true;
	}
	buf_adds(out, "]\n");
}
