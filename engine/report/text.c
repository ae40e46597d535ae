#include "report/text.h"

#include "agent/policy/redact.h"
#include "base/utf8.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
	COMPLAINT_BYTES_MAX = 256 * 1024,
	PRINT_BYTES_MAX = 64 * 1024 * 1024,
	FINDINGS_BYTES_MAX = 256 * 1024 * 1024
};

void text_clean(struct buf *out, const char *text, size_t columns)
{
	size_t len = strlen(text), from = 0, at = 0;
	for (size_t n; at < len; at += n ? n : 1) {
		uint32_t code = 0;
		n = utf8_step(text + at, len - at, &code);
		size_t width = n ? utf8_columns(code) : 1;
		if (width > columns)
			break;
		columns -= width;
		if (text[at] != '\n' && text[at] != '\r' && text[at] != '\t')
			continue;
		utf8_escape(out, text + from, at - from, utf8_is_odd);
		buf_addc(out, ' ');
		from = at + 1;
	}
	utf8_escape(out, text + from, at - from, utf8_is_odd);
	if (at < len)
		buf_adds(out, "...");
}

/* Hides secrets before a text is cut: half of a secret would not be recognised. */
static const char *hide(struct buf *hidden, const char *text)
{
	buf_init(hidden, FINDINGS_BYTES_MAX);
	redact_own(NULL, text, strlen(text), hidden, NULL);
	return hidden->data;
}

void text_clean_hidden(struct buf *out, const char *text, size_t columns)
{
	AUTO_BUF hidden;
	text_clean(out, hide(&hidden, text), columns);
}

json_t *text_hidden_json(const char *text)
{
	AUTO_BUF hidden = {0};
	return text ? json_string(hide(&hidden, text)) : json_null();
}

size_t text_columns(int fd)
{
	enum { COLUMNS_MIN = 20, COLUMNS_USUAL = 80 };
	struct winsize size;
	if (!isatty(fd))
		return WRAP_NEVER;
	if (ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col)
		return COLUMNS_USUAL;
	return size.ws_col > COLUMNS_MIN ? size.ws_col : COLUMNS_MIN;
}

size_t text_page_columns(void)
{
	enum { COLUMNS_PAGE = 80 };
	size_t columns = text_columns(STDOUT_FILENO);
	return columns < COLUMNS_PAGE ? columns : COLUMNS_PAGE;
}

bool text_is_terminal(int fd)
{
	const char *term = getenv("TERM");
	return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

bool text_has_colour(int fd)
{
	const char *no_colour = getenv("NO_COLOR");
	return text_is_terminal(fd) && !(no_colour && *no_colour);
}

void text_print(const char *text, size_t indent)
{
	AUTO_BUF wrapped = BUF_INIT(PRINT_BYTES_MAX);
	wrap_text(&wrapped, text, indent, text_columns(STDOUT_FILENO));
	puts(wrapped.data);
}

void text_json(const char *json, size_t len)
{
	bool raw = !isatty(STDOUT_FILENO);
	for (size_t at = 0, n; at < len; at += n ? n : 1) {
		uint32_t code = 0;
		n = raw ? len : utf8_step(json + at, len - at, &code);
		if (!raw && n && utf8_is_odd(code) && code > 0xffff)
			printf("\\u%04x\\u%04x", 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
		else if (!raw && n && utf8_is_odd(code))
			printf("\\u%04x", code);
		else if (n)
			fwrite(json + at, 1, n, stdout);
		else /* not valid in JSON */
			putchar('?');
	}
}

void text_json_line(const json_t *value)
{
	AUTO_FREE char *text = value ? json_text(value) : NULL;
	text_json(text ? text : "", text ? strlen(text) : 0);
	putchar('\n');
}

void text_complain(const char *format, ...)
{
	static const char lead[] = "agent6: ";
	AUTO_FREE char *told = NULL;
	AUTO_BUF hidden = BUF_INIT(COMPLAINT_BYTES_MAX), clean = BUF_INIT(COMPLAINT_BYTES_MAX),
		 shown = BUF_INIT(COMPLAINT_BYTES_MAX);
	va_list args;
	va_start(args, format);
	int len = vasprintf(&told, format, args);
	va_end(args);
	if (len < 0)
		told = NULL;
	else
		redact_known(NULL, told, (size_t)len, &hidden, NULL);
	const char *text = hidden.data;
	for (size_t n; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		AUTO_FREE char *line = strndup(text, n);
		text_clean(&clean, line ? line : "", SIZE_MAX);
		if (text[n])
			buf_addc(&clean, '\n');
	}
	buf_adds(&shown, lead);
	wrap_text(&shown, clean.data, sizeof(lead) - 1, text_columns(STDERR_FILENO));
	fflush(stdout); /* Keep the order of the two streams. */
	fprintf(stderr, "%s\n", shown.data);
}

static void hide_in(struct arena *arena, const char **text)
{
	AUTO_BUF shown = {0};
	if (*text) {
		const char *hidden = hide(&shown, *text);
		*text = arena_copy(arena, hidden, shown.len);
	}
}

/* Hides secrets before the findings are laid out: half of a secret, cut or wrapped, would not be
 * recognised. */
static void prepare(struct findings *findings)
{
	findings_sort(findings);
	for (size_t i = 0; i < findings->count; i++) {
		hide_in(&findings->arena, &findings->items[i].message);
		hide_in(&findings->arena, &findings->items[i].help);
		hide_in(&findings->arena, &findings->items[i].state);
	}
}

/* Returns the lines of `doc` with the findings from *at on, and as many around them as a private
 * key has, which is the longest secret. Findings are in source order; *at: the next one. */
static const char *lines_around(
	const struct findings *findings, const struct doc *doc, size_t *at, size_t *len)
{
	enum { AROUND = 60 };
	uint32_t from = 0, to = 0;
	for (; *at < findings->count; ++*at) {
		const struct finding *it = &findings->items[*at];
		uint32_t line = it->pos.line;
		if (!line || line > doc->line_count || strcmp(it->file, doc->file) != 0)
			continue;
		uint32_t first = line > AROUND ? line - AROUND : 1;
		if (from && first > to)
			break;
		from = from ? from : first;
		to = doc->line_count - line > AROUND ? line + AROUND : doc->line_count;
	}
	const char *begin = doc_line(doc, from, len), *last = doc_line(doc, to, len);
	*len += (size_t)(last - begin);
	return from ? begin : NULL;
}

/* Returns `doc` with stars for the secrets in the lines that findings quote; all positions stay
 * valid. */
static struct doc without_secrets_in(struct findings *findings, const struct doc *doc)
{
	struct doc copy = *doc;
	char *text = arena_copy(&findings->arena, doc->text ? doc->text : "", doc->len);
	const char *lines;
	AUTO_BUF shown = BUF_INIT(FINDINGS_BYTES_MAX);
	for (size_t at = 0, len; (lines = lines_around(findings, doc, &at, &len));
		buf_clear(&shown))
		if (!redact_over(NULL, lines, len, &shown, NULL))
			memcpy(text + (lines - doc->text), shown.data, shown.len);
	copy.text = text;
	return copy;
}

void text_findings_in(struct buf *out, const struct finding_look *look, struct findings *findings,
	const struct doc *const *docs, size_t n_docs)
{
	if (!findings->count)
		return;
	AUTO_FREE struct doc *copies = calloc(n_docs + 1, sizeof(*copies));
	AUTO_FREE const struct doc **shown = calloc(n_docs + 1, sizeof(*shown));
	prepare(findings);
	for (size_t i = 0; copies && shown && i < n_docs; i++) {
		copies[i] = without_secrets_in(findings, docs[i]);
		shown[i] = &copies[i];
	}
	findings_show(findings, shown, copies && shown ? n_docs : 0, look, out);
}

void text_findings(struct findings *findings, const struct doc *const *docs, size_t n_docs)
{
	const struct finding_look look = {
		.columns = text_columns(STDERR_FILENO), .colour = text_has_colour(STDERR_FILENO)};
	AUTO_BUF text = BUF_INIT(FINDINGS_BYTES_MAX);
	text_findings_in(&text, &look, findings, docs, n_docs);
	fwrite(text.data, 1, text.len, stderr);
}

void text_findings_as(struct findings *findings, findings_fn *write)
{
	AUTO_BUF text = BUF_INIT(FINDINGS_BYTES_MAX);
	prepare(findings);
	write(findings, &text);
	text_json(text.data, text.len);
	if (findings->dropped)
		text_complain(
			"%zu more findings are left out; mend these first", findings->dropped);
}

void text_markdown(struct buf *out, const char *text)
{
	AUTO_BUF clean = BUF_INIT(FINDINGS_BYTES_MAX);
	text_clean(&clean, text, SIZE_MAX);
	for (const char *p = clean.data; *p; p++) {
		bool calls = strchr("@#", *p) && isalnum((unsigned char)p[1]);
		buf_addf(out, "%s%c%s", strchr("|\\`*_<>[]&~$@#!%^", *p) ? "\\" : "", *p,
			calls ? "<!-- -->" : "");
	}
}

void text_join(struct buf *out, const json_t *list)
{
	size_t i;
	const json_t *item;
	json_array_foreach (list, i, item)
		buf_addf(out, "%s%s", i ? ", " : "", json_string_value(item));
}

void text_duration(struct buf *out, int64_t ms)
{
	int64_t secs = ms / 1000;
	if (ms < 1000)
		buf_addf(out, "%jd ms", (intmax_t)(ms > 0 ? ms : 0));
	else if (secs < 60)
		buf_addf(out, "%jd.%jd s", (intmax_t)secs, (intmax_t)(ms % 1000 / 100));
	else if (secs < 3600)
		buf_addf(out, "%jd min %jd s", (intmax_t)(secs / 60), (intmax_t)(secs % 60));
	else if (secs < 86400)
		buf_addf(out, "%jd h %jd min", (intmax_t)(secs / 3600),
			(intmax_t)(secs % 3600 / 60));
	else
		buf_addf(out, "%jd d %jd h", (intmax_t)(secs / 86400),
			(intmax_t)(secs % 86400 / 3600));
}

void text_when(struct buf *out, const char *instant)
{
	enum { DATE = 10, TIME = 8 };
	size_t plain = strspn(instant, "0123456789-T:.Z");
	if (plain > DATE + TIME && !instant[plain])
		buf_addf(out, "%.*s %.*s UTC", DATE, instant, TIME, instant + DATE + 1);
	else
		text_clean(out, instant, DATE + TIME);
}

void text_count(struct buf *out, int64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%jd", (intmax_t)n);
	for (int i = 0; i < len; i++) {
		if (i && digits[i - 1] != '-' && (len - i) % 3 == 0)
			buf_addc(out, ',');
		buf_addc(out, digits[i]);
	}
}

void text_money(struct buf *out, int64_t microusd)
{
	int places = microusd < 1000000 ? 4 : 2;
	buf_addf(out, "$%.*f", places, (double)microusd / 1e6);
}

void text_bytes(struct buf *out, int64_t bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes / 1024;
	size_t unit = 0;
	if (bytes < 1024) {
		buf_addf(out, "%jd B", (intmax_t)bytes);
		return;
	}
	for (; value >= 1024 && unit + 1 < ARRAY_LEN(units); unit++)
		value /= 1024;
	buf_addf(out, "%.1f %s", value, units[unit]);
}

void text_pad(struct buf *out, size_t from, size_t width)
{
	size_t used = out->len > from ? utf8_width(out->data + from, out->len - from) : 0;
	do
		buf_addc(out, ' ');
	while (++used < width);
}

void text_refusal(struct buf *out, const char *endpoint, const char *why, int64_t count)
{
	static const struct {
		const char *why, *head, *words;
	} known[] = {{"sni", "egress refused", "another name in TLS"},
		{"host", "egress refused", "another Host in the request"},
		{"host not listed", "egress refused", "host not listed in allow_network"},
		{"address", "egress refused", "its name leads to addresses that are not allowed"},
		{"budget", "egress refused", "sandbox.max_egress_bytes is used up"},
		{"dial", "not reached", "no such name, or nothing answers there"},
		{"hello", "egress refused", "no TLS where TLS belongs"}};
	const char *head = "egress refused", *words = why;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (!strcmp(known[i].why, why)) {
			head = known[i].head;
			words = known[i].words;
		}
	buf_addf(out, "%s: ", head);
	text_clean(out, endpoint, 200);
	buf_adds(out, ", ");
	text_clean(out, words, 80);
	if (count > 1)
		buf_addf(out, ", %jd times", (intmax_t)count);
}

void text_entry(struct buf *out, const char *label, const char *clean, size_t indent)
{
	size_t at = out->len;
	buf_addf(out, "  %s", label);
	text_pad(out, at, indent);
	wrap_text(out, clean, indent, text_page_columns());
	buf_addc(out, '\n');
}
