#include "agent/tools/edit.h"

#include "agent/policy/redact.h"

#include <stdbool.h>
#include <string.h>

enum { EDIT_CAP_BYTES = 16 * 1024 * 1024, CLOSE_LINES_MAX = 40, INDENT_MAX = 64 };

enum { EFFORT_BYTES = 128 * 1024 * 1024, LINE_BYTES = 16, PLACES_SHOWN = 10, NOTES_MAX = 3 };

/* The file, and the report about the edits to it. */
struct file {
	const char *text;
	size_t len;
	struct buf *report;
};

/* The place of an edit, and the text that will stand there. */
struct placed {
	const struct edit *edit;
	size_t number;   /* of the edit, for messages */
	size_t at, len;  /* in the file */
	struct buf with; /* the replacement */
};

/* --- finding ------------------------------------------------------------------------------- */

static size_t occurrences(const struct file *file, const char *what, size_t what_len, size_t *at)
{
	size_t n = 0;
	const char *from = file->text, *end = file->text + file->len, *hit;
	while (n * what_len < EFFORT_BYTES &&
		(hit = memmem(from, (size_t)(end - from), what, what_len))) {
		if (!n++)
			*at = (size_t)(hit - file->text);
		from = hit + 1;
	}
	return n;
}

static size_t line_of(const struct file *file, size_t at)
{
	size_t line = 1;
	for (size_t i = 0; i < at; i++)
		line += file->text[i] == '\n';
	return line;
}

static void with_crlf(const char *text, struct buf *out)
{
	buf_clear(out);
	for (const char *c = text; *c; c++) {
		if (*c == '\n' && (c == text || c[-1] != '\r'))
			buf_addc(out, '\r');
		buf_addc(out, *c);
	}
}

/* Copies the text without carriage returns. Returns false if it has none. */
static bool without_cr(const char *text, struct buf *out)
{
	const char *from = text;
	buf_clear(out);
	for (const char *at; (at = strstr(from, "\r\n")); from = at + 1)
		buf_add(out, from, (size_t)(at - from));
	buf_adds(out, from);
	return from != text;
}

/* Reports whether every line of the file ends in CRLF. */
static bool is_crlf(const struct file *file)
{
	const char *end = file->text + file->len, *at = memchr(file->text, '\n', file->len);
	bool any = at;
	for (; at; at = memchr(at + 1, '\n', (size_t)(end - at - 1)))
		if (at == file->text || at[-1] != '\r')
			return false;
	return any;
}

/* --- indentation --------------------------------------------------------------------------- */

struct edit_line {
	const char *at;
	size_t len, indent; /* without the line end; leading blanks */
};

static bool next_line(const char **at, const char *end, struct edit_line *out)
{
	if (*at >= end)
		return false;
	const char *stop = memchr(*at, '\n', (size_t)(end - *at));
	out->at = *at;
	out->len = (size_t)((stop ? stop : end) - *at);
	out->indent = 0;
	while (out->indent < out->len &&
		(out->at[out->indent] == ' ' || out->at[out->indent] == '\t'))
		out->indent++;
	*at = stop ? stop + 1 : end;
	return true;
}

/* The difference between the file's indentation and the edit's: blanks to add, or to remove. */
struct shift {
	char add[INDENT_MAX + 1], drop[INDENT_MAX + 1];
	bool known;
};

/* A search for the lines of an edit in a file. Comparing each line of the file with all of them
 * takes too long if both are long and alike, so the effort is limited. */
struct hunt {
	const char *old, *old_end, *end; /* the text to find; the end of the file */
	size_t effort;
};

static struct hunt hunt_of(const struct file *file, const char *old)
{
	return (struct hunt){old, old + strlen(old), file->text + file->len, EFFORT_BYTES};
}

/* Returns false if the effort is used up. */
static bool spend(struct hunt *hunt, const struct edit_line *line)
{
	size_t cost = line->len + LINE_BYTES;
	hunt->effort -= cost < hunt->effort ? cost : hunt->effort;
	return hunt->effort;
}

static bool same_body(const struct edit_line *a, const struct edit_line *b)
{
	return a->len - a->indent == b->len - b->indent &&
	       !memcmp(a->at + a->indent, b->at + b->indent, a->len - a->indent);
}

static bool fits_shift(
	struct shift *shift, const struct edit_line *file, const struct edit_line *old)
{
	bool adds = file->indent >= old->indent;
	const struct edit_line *more = adds ? file : old, *less = adds ? old : file;
	size_t n = more->indent - less->indent;
	if (n > INDENT_MAX || memcmp(more->at + n, less->at, less->indent))
		return false;
	char add[INDENT_MAX + 1] = "", drop[INDENT_MAX + 1] = "";
	memcpy(adds ? add : drop, more->at, n);
	if (!shift->known)
		*shift = (struct shift){.known = true};
	else if (strcmp(shift->add, add) || strcmp(shift->drop, drop))
		return false;
	memcpy(shift->add, add, sizeof(add));
	memcpy(shift->drop, drop, sizeof(drop));
	return true;
}

/* Reports whether the lines at `text` equal those of `old` apart from one shift. Blank lines fit
 * any. */
static bool block_fits(struct hunt *hunt, const char *text, struct shift *shift, const char **stop)
{
	const char *old = hunt->old;
	struct edit_line file, want;
	*shift = (struct shift){.known = false};
	while (next_line(&old, hunt->old_end, &want)) {
		if (!next_line(&text, hunt->end, &file) || !spend(hunt, &want) ||
			!same_body(&file, &want))
			return false;
		if (want.indent < want.len && !fits_shift(shift, &file, &want))
			return false;
		*stop = file.at + file.len;
	}
	return shift->known && (shift->add[0] || shift->drop[0]);
}

static void reindent(const char *text, const struct shift *shift, struct buf *out)
{
	const char *at = text, *end = text + strlen(text);
	struct edit_line l;
	size_t drop = strlen(shift->drop);
	while (next_line(&at, end, &l)) {
		if (l.indent < l.len)
			buf_adds(out, shift->add);
		bool drops = drop && l.indent >= drop && !memcmp(l.at, shift->drop, drop);
		buf_add(out, l.at + (drops ? drop : 0), l.len - (drops ? drop : 0));
		if (l.at + l.len < end)
			buf_addc(out, '\n');
	}
}

/* Finds the only block that equals `old` shifted by one indentation. */
static bool heal_indent(const struct file *file, struct placed *placed)
{
	const char *old = placed->edit->old_text, *at = file->text, *stop = NULL,
		   *found_stop = NULL;
	size_t found = 0;
	struct hunt h = hunt_of(file, old);
	struct shift s, chosen = {.known = false};
	struct edit_line l;
	bool ends_line = old[0] && old[strlen(old) - 1] == '\n';
	for (const char *line = at; next_line(&at, h.end, &l); line = at) {
		if (!block_fits(&h, line, &s, &stop))
			continue;
		if (found++)
			return false;
		chosen = s;
		placed->at = (size_t)(line - file->text);
		found_stop = stop;
	}
	if (!found || !h.effort)
		return false;
	placed->len = (size_t)(found_stop - file->text) - placed->at;
	placed->len += ends_line && placed->at + placed->len < file->len;
	buf_clear(&placed->with);
	reindent(placed->edit->new_text, &chosen, &placed->with);
	buf_addf(file->report, "Edit %zu: the indentation was adapted to the file's.\n",
		placed->number);
	return true;
}

/* --- near misses --------------------------------------------------------------------------- */

static size_t count_lines(const char *text)
{
	size_t n = 0;
	const char *at = text, *end = text + strlen(text);
	for (struct edit_line l; next_line(&at, end, &l);)
		n++;
	return n;
}

/* Returns the line without its indentation and trailing blanks. */
static struct edit_line core_of(const struct edit_line *line)
{
	struct edit_line core = {.at = line->at + line->indent, .len = line->len - line->indent};
	while (core.len && strchr(" \t\r", core.at[core.len - 1]))
		core.len--;
	return core;
}

/* Reports whether two lines share more than a third of the longer one, at their beginning and
 * end. */
static bool is_alike(const struct edit_line *a, const struct edit_line *b)
{
	struct edit_line x = core_of(a), y = core_of(b);
	size_t most = x.len > y.len ? x.len : y.len, least = x.len + y.len - most;
	size_t head = 0, tail = 0;
	while (head < least && x.at[head] == y.at[head])
		head++;
	while (tail < least - head && x.at[x.len - 1 - tail] == y.at[y.len - 1 - tail])
		tail++;
	return head + tail > 2 && 3 * (head + tail) > most;
}

/* How well the lines at a place fit: the number of equal and of similar lines. */
struct fit {
	size_t same, alike;
};

static struct fit fit_at(struct hunt *hunt, const char *text)
{
	const char *old = hunt->old;
	struct edit_line a, b;
	struct fit fit = {0, 0};
	while (next_line(&old, hunt->old_end, &b) && next_line(&text, hunt->end, &a) &&
		spend(hunt, &a) && spend(hunt, &b)) {
		bool same = same_body(&a, &b), blank = a.indent == a.len;
		fit.same += same && !blank;
		fit.alike += !same && !blank && is_alike(&a, &b);
	}
	return fit;
}

static bool beyond_ascii(const struct edit_line *line)
{
	for (size_t i = 0; i < line->len; i++)
		if ((unsigned char)line->at[i] >= 0x80)
			return true;
	return false;
}

static size_t blanks_after(const struct edit_line *line)
{
	return line->len - line->indent - core_of(line).len;
}

/* Reports a difference in a line that cannot be seen when it is shown. Returns whether there was
 * one. */
static bool note_line(const struct edit_line *file, const struct edit_line *old, size_t number,
	struct buf *report)
{
	size_t blanks = blanks_after(file);
	if (blanks && !blanks_after(old))
		buf_addf(report, "Line %zu of the file ends in %zu blanks.\n", number, blanks);
	else if (!blanks && blanks_after(old))
		buf_addf(report, "Line %zu of the file does not end in blanks.\n", number);
	else if (beyond_ascii(file) && !beyond_ascii(old))
		buf_addf(report,
			"Line %zu of the file holds characters beyond ASCII; copy them as they "
			"are.\n",
			number);
	else if (!beyond_ascii(file) && beyond_ascii(old))
		buf_addf(report, "Line %zu of the file is plain ASCII, old_string is not.\n",
			number);
	else
		return false;
	return true;
}

static void note_differences(
	const struct hunt *hunt, const char *text, size_t number, struct buf *report)
{
	const char *old = hunt->old;
	struct edit_line a, b;
	size_t notes = 0;
	bool indents = true;
	for (; next_line(&old, hunt->old_end, &b) && next_line(&text, hunt->end, &a); number++) {
		bool same = same_body(&a, &b);
		indents = indents && same;
		if (!same && notes < NOTES_MAX)
			notes += note_line(&a, &b, number, report);
	}
	if (indents && old == hunt->old_end)
		buf_adds(report, "The indentation differs.\n");
}

static void show_region(struct hunt *hunt, const char *best, size_t number, struct buf *report)
{
	const char *at = best;
	struct edit_line l;
	size_t lines = count_lines(hunt->old);
	for (size_t i = 0; i < lines && i < CLOSE_LINES_MAX && next_line(&at, hunt->end, &l); i++) {
		buf_addf(report, "%zu\t", number + i);
		buf_add(report, l.at, l.len);
		buf_addc(report, '\n');
	}
	note_differences(hunt, best, number, report);
}

static void show_closest(const struct file *file, const char *old)
{
	const char *at = file->text, *best = NULL;
	size_t number = 1, best_number = 0;
	struct fit most = {0, 0};
	struct hunt h = hunt_of(file, old);
	struct edit_line l;
	for (const char *line = at; h.effort && next_line(&at, h.end, &l); line = at, number++) {
		struct fit fit = fit_at(&h, line);
		if (2 * fit.same + fit.alike > 2 * most.same + most.alike) {
			most = fit;
			best = line;
			best_number = number;
		}
	}
	if (!best) {
		buf_adds(file->report, "No line of it occurs in the file; read the file again.\n");
		return;
	}
	buf_addf(file->report, "The closest region (%zu of %zu lines are the same):\n", most.same,
		count_lines(old));
	show_region(&h, best, best_number, file->report);
}

/* Reports whether every line begins with a number and a tab, as read_file shows lines. */
static bool has_numbers(const char *text)
{
	const char *at = text, *end = text + strlen(text);
	size_t lines = 0;
	for (struct edit_line l; next_line(&at, end, &l); lines++) {
		size_t digits = strspn(l.at, "0123456789");
		if (!digits || digits >= l.len || l.at[digits] != '\t')
			return false;
	}
	return lines;
}

/* Reports whether a text is part of what another edit writes there, or contains that. */
static bool is_made(const char *text, const char *made)
{
	return made[strspn(made, " \t\r\n")] && (strstr(text, made) || strstr(made, text));
}

/* Guesses why the text was not found, beyond what the file's text shows. */
static void guess_why(const struct file *file, const struct placed *placed)
{
	const struct edit *e = placed->edit, *first = e - (placed->number - 1);
	const char *made = *e->new_text ? strstr(file->text, e->new_text) : NULL;
	for (size_t i = 0; i + 1 < placed->number; i++)
		if (is_made(e->old_text, first[i].new_text))
			buf_addf(file->report,
				"It seems to be what edit %zu makes, but an edit does not see the "
				"others: make one of them.\n",
				i + 1);
	if (has_numbers(e->old_text))
		buf_adds(file->report, "Give the text without the line numbers of read_file.\n");
	if (made)
		buf_addf(file->report,
			"The new_string stands at line %zu already; was this edit made before?\n",
			line_of(file, (size_t)(made - file->text)));
}

/* --- placing ------------------------------------------------------------------------------- */

static int refuse(const struct file *file, size_t number, const char *why)
{
	buf_addf(file->report, "Edit %zu: %s Nothing was changed.\n", number, why);
	return -1;
}

static int check_texts(const struct file *file, const struct placed *placed)
{
	const struct edit *e = placed->edit;
	if (!e->old_text[strspn(e->old_text, " \t\r\n")])
		return refuse(file, placed->number, "old_string is empty or blank.");
	if (!strcmp(e->old_text, e->new_text))
		return refuse(file, placed->number, "old_string and new_string are the same.");
	if (redact_is_marked(e->old_text) || redact_is_marked(e->new_text))
		return refuse(file, placed->number,
			"it holds a [REDACTED:...] placeholder; edit around the secret.");
	return 0;
}

/* Gives the new text the file's line ends if it has several lines. The edit of a single line does
 * not show how the file ends its lines. */
static void keep_ends(const struct file *file, struct placed *placed)
{
	const struct edit *e = placed->edit;
	if (strchr(e->old_text, '\n') || !strchr(e->new_text, '\n') || !is_crlf(file))
		return;
	with_crlf(e->new_text, &placed->with);
	buf_addf(file->report, "Edit %zu: the file's CRLF line ends were kept.\n", placed->number);
}

/* Finds the only text that equals `old` with the file's line ends instead of its own. */
static bool heal_ends(const struct file *file, struct placed *placed)
{
	const struct edit *e = placed->edit;
	AUTO_BUF old = BUF_INIT(EDIT_CAP_BYTES);
	bool crlf = memmem(file->text, file->len, "\r\n", 2);
	if (crlf)
		with_crlf(e->old_text, &old);
	else if (!without_cr(e->old_text, &old))
		return false;
	if (occurrences(file, old.data, old.len, &placed->at) != 1)
		return false;
	placed->len = old.len;
	if (crlf)
		with_crlf(e->new_text, &placed->with);
	else
		without_cr(e->new_text, &placed->with);
	buf_addf(file->report, "Edit %zu: the file's %s line ends were kept.\n", placed->number,
		crlf ? "CRLF" : "LF");
	return true;
}

/* Removes the line end that the edit gives the file's last line, which has none. */
static bool heal_final(const struct file *file, struct placed *placed)
{
	const struct edit *e = placed->edit;
	size_t old_len = strlen(e->old_text), new_len = strlen(e->new_text);
	if (e->old_text[old_len - 1] != '\n' || old_len - 1 > file->len ||
		memcmp(file->text + file->len - (old_len - 1), e->old_text, old_len - 1))
		return false;
	placed->len = old_len - 1;
	placed->at = file->len - placed->len;
	buf_clear(&placed->with);
	buf_add(&placed->with, e->new_text,
		new_len - (new_len && e->new_text[new_len - 1] == '\n'));
	buf_addf(file->report, "Edit %zu: the file has no final newline, and was left so.\n",
		placed->number);
	return true;
}

/* Writes "(lines 3, 17)". */
static void list_places(const struct file *file, const char *what)
{
	size_t what_len = strlen(what), n = 0;
	const char *from = file->text, *hit;
	while ((hit = memmem(from, (size_t)(file->text + file->len - from), what, what_len))) {
		buf_adds(file->report, n ? ", " : " (lines ");
		if (n++ == PLACES_SHOWN) {
			buf_adds(file->report, "...");
			break;
		}
		buf_addf(file->report, "%zu", line_of(file, (size_t)(hit - file->text)));
		from = hit + 1;
	}
	buf_addc(file->report, ')');
}

static int place(const struct file *file, struct placed *placed)
{
	const char *old = placed->edit->old_text;
	placed->len = strlen(old);
	buf_adds(&placed->with, placed->edit->new_text);
	size_t n = occurrences(file, old, placed->len, &placed->at);
	if (n == 1) {
		keep_ends(file, placed);
		return 0;
	}
	if (n > 1) {
		buf_addf(file->report, "Edit %zu: old_string occurs %zu times", placed->number, n);
		list_places(file, old);
		buf_adds(file->report,
			"; add lines around it until it is unique. Nothing was changed.\n");
		return -1;
	}
	if (heal_ends(file, placed) || heal_final(file, placed) || heal_indent(file, placed))
		return 0;
	refuse(file, placed->number, "old_string does not occur in the file.");
	guess_why(file, placed);
	show_closest(file, old);
	return -1;
}

static int by_place(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	return (x->at > y->at) - (x->at < y->at);
}

static int join(const struct file *file, struct placed *placed, size_t count, struct buf *out)
{
	size_t at = 0;
	qsort(placed, count, sizeof(*placed), by_place);
	for (size_t i = 0; i < count; i++) {
		if (placed[i].at < at)
			return refuse(file, placed[i].number, "it overlaps another edit.");
		buf_add(out, file->text + at, placed[i].at - at);
		buf_add(out, placed[i].with.data, placed[i].with.len);
		at = placed[i].at + placed[i].len;
		buf_addf(file->report, "Edit %zu: line %zu.\n", placed[i].number,
			line_of(file, placed[i].at));
	}
	if (buf_adds(out, file->text + at))
		return refuse(file, count, "the file would become too long.");
	return 0;
}

int edit_apply(const char *text, const struct edit *edits, size_t count, struct buf *out,
	struct buf *report)
{
	const struct file f = {text, strlen(text), report};
	struct placed *placed = calloc(count ? count : 1, sizeof(*placed));
	int rc = placed ? 0 : refuse(&f, 0, "out of memory.");
	for (size_t i = 0; !rc && i < count; i++) {
		struct placed *p = &placed[i];
		*p = (struct placed){
			.edit = &edits[i], .number = i + 1, .with = BUF_INIT(EDIT_CAP_BYTES)};
		rc = check_texts(&f, p) || place(&f, p) ? -1 : 0;
	}
	if (!rc)
		rc = join(&f, placed, count, out);
	for (size_t i = 0; placed && i < count; i++)
		buf_done(&placed[i].with);
	free(placed);
	return rc;
}
