#include "cli/help.h"

#include "base/cleanup.h"
#include "report/text.h"

#include <string.h>

static bool in_group(const struct verb *verb, const char *group)
{
	size_t len = group ? strlen(group) : 0;
	return !group || (!strncmp(verb->path, group, len) && verb->path[len] == ' ');
}

enum { VERB_COLUMNS = 21, OPTION_COLUMNS = 29, LIST_COLUMNS = 12 };

/* Adds " left right", wrapped in its column; too long a left part has a line of its own. */
static void add_row(struct buf *out, const char *left, const char *right, size_t indent)
{
	size_t at = out->len;
	buf_addf(out, "  %s", left);
	if (out->len - at >= indent)
		buf_addf(out, "\n%*s", (int)indent, "");
	else
		text_pad(out, at, indent);
	wrap_text(out, right, indent, text_page_columns());
	buf_addc(out, '\n');
}

/* Headings above the first verb of each group. */
static const struct {
	const char *path, *head;
} heads[] = {{"machine new", "Write a machine"}, {"machine run", "Run it"},
	{"machine replay", "Afterwards"}, {"machine pack", "Hand it on"},
	{"check sandbox", "This host"}, {"config show", "Settings"},
	{"audit", "Agents and commands"}, {"completions", "This program"}};

static void add_head(struct buf *out, const struct verb *verb)
{
	for (size_t i = 0; i < ARRAY_LEN(heads); i++)
		if (!strcmp(heads[i].path, verb->path))
			buf_addf(out, "%s%s\n", out->len ? "\n" : "", heads[i].head);
}

void help_overview(FILE *out, const char *group)
{
	size_t count;
	const struct verb *const *all = verbs(&count);
	AUTO_BUF text = BUF_INIT(1 << 16), rows = BUF_INIT(1 << 16);
	for (size_t i = 0; i < count; i++) {
		if (!in_group(all[i], group))
			continue;
		add_head(&rows, all[i]);
		add_row(&rows, all[i]->path, all[i]->summary, VERB_COLUMNS);
	}
	wrap_text(&text,
		"agent6 runs agent state machines: a fixed graph, typed data, confined steps.\n\n"
		"usage: agent6 COMMAND [OPTION...] [ARGUMENT...]\n\n",
		0, text_page_columns());
	buf_adds(&text, rows.data);
	wrap_text(&text,
		"\n`agent6 COMMAND --help` explains one. `agent6 --version` prints the version.\n",
		0, text_page_columns());
	fputs(text.data, out);
}

static void add_option(struct buf *out, const struct verb_option *option)
{
	char left[64], right[256];
	snprintf(left, sizeof(left), "%s--%s%s%s", strcmp(option->name, "output") ? "" : "-o, ",
		option->name, option->value ? " " : "", option->value ? option->value : "");
	snprintf(right, sizeof(right), "%s%s", option->summary,
		option->repeats ? " (may be repeated)" : "");
	add_row(out, left, right, OPTION_COLUMNS);
}

/* Adds details line by line; one that begins with blanks is a row of a list. */
static void add_details(struct buf *out, const char *details)
{
	for (const char *line = details; *line;) {
		AUTO_FREE char *one = strndup(line, strcspn(line, "\n"));
		wrap_text(
			out, one ? one : "", *line == ' ' ? LIST_COLUMNS : 0, text_page_columns());
		buf_addc(out, '\n');
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
}

void help_verb(FILE *out, const struct verb *verb)
{
	AUTO_BUF text = BUF_INIT(1 << 16);
	buf_addf(&text, "usage: agent6 %s%s%s%s\n\n", verb->path,
		verb->options ? " [OPTION...]" : "", verb->arguments ? " " : "",
		verb->arguments ? verb->arguments : "");
	add_details(&text, verb->summary);
	if (verb->details) {
		buf_addc(&text, '\n');
		add_details(&text, verb->details);
	}
	buf_addc(&text, '\n');
	for (const struct verb_option *o = verb->options; o && o->name; o++)
		add_option(&text, o);
	add_option(&text, &(struct verb_option){"help", NULL, "print this and exit", false});
	fputs(text.data, out);
}
