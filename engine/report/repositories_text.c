#include "report/repositories_text.h"

#include "base/json.h"
#include "launch/planted.h"
#include "report/html.h"
#include "report/text.h"

#include <limits.h>

enum { LINES_MAX = 1000, SHOWN_MAX = 40 };

void repositories_collect(json_t *lines, const struct line *line)
{
	json_t *moved = line->fact.moved_aside;
	const char *planted = line->fact.kind == FACT_TOOL ? line->fact.tool.planted : NULL;
	if ((!moved && !planted) || json_array_size(lines) > LINES_MAX)
		return;
	json_array_append_new(
		lines, json_pack("{s:I, s:I, s:s, s:O*, s:s*}", "seq", (json_int_t)line->seq,
			       "attempt", (json_int_t)line->attempt, "state", line->state, "moved",
			       moved, "planted", moved ? NULL : planted));
}

static void add_code(struct buf *out, const char *path)
{
	buf_adds(out, "<code>");
	html_text(out, path, PATH_MAX);
	buf_adds(out, "</code>");
}

static void add_moved(const json_t *moved, struct buf *out)
{
	size_t i;
	const json_t *one;
	json_array_foreach (moved, i, one) {
		AUTO_BUF back = BUF_INIT(64 * 1024);
		const char *path = json_get_text(one, "path"), *to = json_get_text(one, "to");
		buf_adds(out, i ? "<br>\n" : "");
		add_code(out, path);
		if (!*to)
			continue;
		buf_adds(out, ", now ");
		add_code(out, to);
		planted_restore(path, to, &back);
		buf_adds(out, "; back with: ");
		add_code(out, back.failed ? "" : back.data);
	}
}

static void add_line(const json_t *line, struct buf *out)
{
	json_int_t seq = json_get_int(line, "seq");
	buf_addf(out, "<li><a href=\"#step-%jd-%jd\">step %jd, ", (intmax_t)seq,
		(intmax_t)json_get_int(line, "attempt"), (intmax_t)seq);
	html_text(out, json_get_text(line, "state"), 64);
	buf_adds(out, "</a>: ");
	add_moved(json_object_get(line, "moved"), out);
	html_text(out, json_get_text(line, "planted"), PATH_MAX);
	buf_adds(out, "</li>\n");
}

static void add_lines(const json_t *lines, struct buf *out)
{
	size_t i;
	const json_t *line;
	buf_adds(out, "<p>Commands made these in what they may write, where a person's git would "
		      "execute what they say. Each was moved aside, none was deleted; the command "
		      "brings it back.</p>\n<ul>\n");
	json_array_foreach (lines, i, line)
		if (i < LINES_MAX)
			add_line(line, out);
	buf_addf(out, "</ul>\n%s",
		json_array_size(lines) > LINES_MAX
			? "<p class=\"warn\">Later steps made more; the journal has them.</p>\n"
			: "");
}

static void add_data(const json_t *data, struct buf *out)
{
	size_t i;
	const json_t *path;
	const json_t *paths = json_object_get(data, "paths");
	if (json_array_size(paths))
		buf_adds(out, "<p class=\"warn\">These lie in the data directory, where states may "
			      "make them. Git of yours executes what they say as soon as it works "
			      "there: look at their settings and hooks first.</p>\n<ul>\n");
	json_array_foreach (paths, i, path) {
		buf_adds(out, "<li>");
		add_code(out, json_string_value(path));
		buf_adds(out, "</li>\n");
	}
	buf_adds(out, json_array_size(paths) ? "</ul>\n" : "");
	if (json_is_true(json_object_get(data, "cut")))
		buf_adds(out, "<p class=\"warn\">The data directory was not searched as a whole: "
			      "it may hold others.</p>\n");
}

/* Reports whether a line of the journal has the entry that lies at `to`. */
static bool is_journaled(const json_t *lines, const char *to)
{
	size_t i, k;
	const json_t *line, *one;
	json_array_foreach (lines, i, line)
		json_array_foreach (json_object_get(line, "moved"), k, one)
			if (!strcmp(json_get_text(one, "to"), to))
				return true;
	return false;
}

/* Adds the entries of commands that were cut before their step was recorded. */
static void add_unrecorded(const json_t *lines, const json_t *aside, struct buf *out)
{
	size_t i;
	const json_t *one;
	json_auto_t *rest = json_array();
	json_array_foreach (aside, i, one)
		if (!is_journaled(lines, json_get_text(one, "to")))
			json_array_append(rest, (json_t *)one);
	if (!json_array_size(rest))
		return;
	buf_adds(out,
		"<p>Commands that were cut made these; they were moved aside as well.</p>\n<p>");
	add_moved(rest, out);
	buf_adds(out, "</p>\n");
}

void repositories_html(
	const json_t *lines, const json_t *aside, const json_t *data, struct buf *out)
{
	if (json_array_size(lines))
		add_lines(lines, out);
	add_unrecorded(lines, aside, out);
	add_data(data, out);
}

void moved_aside_text(const json_t *aside, struct buf *out)
{
	size_t i;
	const json_t *one;
	buf_adds(out,
		json_array_size(aside) ? "  repositories that commands made, moved aside\n" : "");
	json_array_foreach (aside, i, one) {
		AUTO_BUF back = BUF_INIT(64 * 1024);
		const char *path = json_get_text(one, "path");
		if (i == SHOWN_MAX) {
			buf_addf(out, "    and %zu more, see --json\n", json_array_size(aside) - i);
			break;
		}
		planted_restore(path, json_get_text(one, "to"), &back);
		buf_adds(out, "    ");
		text_clean(out, path, PATH_MAX);
		buf_adds(out, "; back with: ");
		text_clean(out, back.failed ? "" : back.data, 64 * 1024);
		buf_addc(out, '\n');
	}
}
