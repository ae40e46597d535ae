/* Manual pages, written from the table of verbs: man-pages(7). */
#include "cli/verbs.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* The date of the last review of the pages. */
#define DATED "2026-11-23"

/* Writes text for roff: backslashes, leading dots and quotes are escaped, hyphens stay hyphens, and
 * a line break stays one. */
static void roff(FILE *out, const char *text)
{
	bool line_start = true;
	for (; *text; text++) {
		if (line_start && (*text == '.' || *text == '\''))
			fputs("\\&", out);
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else if (*text == '\n' && text[1] > ' ' && !line_start)
			fputs("\n.br\n", out);
		else
			fputc(*text, out);
		line_start = *text == '\n';
	}
}

static void option_page(FILE *out, const struct verb_option *option)
{
	fputs(".TP\n", out);
	if (!strcmp(option->name, "output"))
		fputs("\\fB\\-o\\fR, ", out);
	fputs("\\fB\\-\\-", out);
	roff(out, option->name);
	fputs("\\fR", out);
	if (option->value) {
		fputs(" \\fI", out);
		roff(out, option->value);
		fputs("\\fR", out);
	}
	fputs("\n", out);
	roff(out, option->summary);
	fputs(option->repeats ? " (may be repeated)\n" : "\n", out);
}

/* Writes "agent6-machine-run". */
static void page_name(const struct verb *verb, char *out, size_t size)
{
	snprintf(out, size, "agent6-%s", verb->path);
	for (char *p = out; *p; p++)
		if (*p == ' ')
			*p = '-';
}

static void head(FILE *out, const char *page, const char *summary)
{
	fputs(".TH ", out);
	for (const char *p = page; *p; p++)
		fputc(toupper((unsigned char)*p), out);
	fputs(" 1 \"" DATED "\" \"agent6 " AGENT6_VERSION "\" \"agent6\"\n.SH NAME\n", out);
	roff(out, page);
	fputs(" \\- ", out);
	roff(out, summary);
	fputs("\n.SH SYNOPSIS\n", out);
}

static void verb_page(FILE *out, const struct verb *verb)
{
	char page[80];
	page_name(verb, page, sizeof(page));
	head(out, page, verb->summary);
	fprintf(out, ".B agent6 %s\n", verb->path);
	fprintf(out, "[\\fIOPTION\\fR...]%s", verb->arguments ? " " : "");
	roff(out, verb->arguments ? verb->arguments : "");
	fputs("\n", out);
	if (verb->details) {
		fputs(".SH DESCRIPTION\n", out);
		roff(out, verb->details);
		fputs("\n", out);
	}
	fputs(".SH OPTIONS\n", out);
	for (const struct verb_option *o = verb->options; o && o->name; o++)
		option_page(out, o);
	option_page(out, &(struct verb_option){"help", NULL, "print a summary and exit", false});
	fputs(".SH SEE ALSO\n.BR agent6 (1)\n", out);
}

static const char overview_rest[] =
	".SH EXIT STATUS\n"
	".TP\n0\nok, also waiting and stopped\n"
	".TP\n1\nthe machine, test or rehearsal failed\n"
	".TP\n2\nrefused, nothing ran\n"
	".TP\n3\na budget ended it\n"
	".TP\n4\na widening was found\n"
	".TP\n5\njournal or state damaged, or the host gave out under a run\n"
	".TP\n125\nthe sandbox could not be set up\n"
	".TP\n130, 143\ninterrupted\n"
	".SH ENVIRONMENT\n"
	".TP\n.B AGENT6_ALLOW_ROOT\n1: run although this is root\n"
	".TP\n.B AGENT6_STATE_HOME\nwhere instances are kept\n"
	".TP\n.B NO_COLOR\nset: no colours\n"
	".SH FILES\n"
	".TP\n.I ~/.config/agent6/config.yaml\nsettings; below $XDG_CONFIG_HOME where that is set\n"
	".TP\n.I ~/.config/agent6/secrets.yaml\nkeys of providers, mode 0600\n"
	".TP\n.I ~/.local/state/agent6\ninstances; below $XDG_STATE_HOME where that is set\n";

static void overview_page(FILE *out)
{
	size_t count;
	char page[80];
	const struct verb *const *all = verbs(&count);
	head(out, "agent6", "run agent state machines: a fixed graph, typed data, confined steps");
	fputs(".B agent6\n\\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n.SH "
	      "COMMANDS\n",
		out);
	for (size_t i = 0; i < count; i++) {
		page_name(all[i], page, sizeof(page));
		fputs(".TP\n.BR ", out);
		roff(out, page);
		fputs(" (1)\n", out);
		roff(out, all[i]->summary);
		fputs("\n", out);
	}
	fputs(overview_rest, out);
}

static int write_page(int dir, const struct verb *verb, struct err *e)
{
	char page[80] = "agent6", name[96];
	if (verb)
		page_name(verb, page, sizeof(page));
	snprintf(name, sizeof(name), "%s.1", page);
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		own_close(&fd);
		return err_errno(e, "cannot write %s", name);
	}
	if (verb)
		verb_page(out, verb);
	else
		overview_page(out);
	bool bad = ferror(out);
	return fclose(out) || bad ? err_errno(e, "cannot write %s", name) : 0;
}

static int write_all(const char *path, struct err *e)
{
	size_t count;
	const struct verb *const *all = verbs(&count);
	AUTO_FD int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_errno(e, "cannot open %s", path);
	int failed = write_page(dir, NULL, e);
	for (size_t i = 0; !failed && i < count; i++)
		failed = write_page(dir, all[i], e);
	return failed;
}

static int run(const struct call *call)
{
	const char *output = call_value(call, "output");
	struct err e = ERR_NONE;
	int words;
	if (output)
		return write_all(output, &e) ? verb_fail(EXIT_REFUSED, &e) : EXIT_OK;
	if (!call->argument_count) {
		overview_page(stdout);
		return EXIT_OK;
	}
	const struct verb *v = verbs_find(call->arguments, &words, &e);
	if (!v)
		return verb_fail(EXIT_REFUSED, &e);
	verb_page(stdout, v);
	return EXIT_OK;
}

static const struct verb_option options[] = {
	{"output", "DIR", "write every page into DIR", false}, {NULL, NULL, NULL, false}};

const struct verb verb_manual = {.path = "manual",
	.summary = "print a manual page, for man(1)",
	.arguments = "[COMMAND]",
	.min_arguments = 0,
	.max_arguments = 2,
	.options = options,
	.run = run};
