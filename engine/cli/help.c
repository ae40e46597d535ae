#include "cli/help.h"

#include <string.h>

static bool in_group(const struct verb *v, const char *group)
{
	size_t len = group ? strlen(group) : 0;
	return !group || (!strncmp(v->path, group, len) && v->path[len] == ' ');
}

void help_overview(FILE *out, const char *group)
{
	size_t count;
	const struct verb *const *all = verbs(&count);
	fprintf(out,
		"agent6 runs agent state machines: a fixed graph, typed data, confined steps.\n\n"
		"usage: agent6 COMMAND [OPTION...] [ARGUMENT...]\n\n");
	for (size_t i = 0; i < count; i++)
		if (in_group(all[i], group))
			fprintf(out, "  %-18s %s\n", all[i]->path, all[i]->summary);
	fputs("\n`agent6 COMMAND --help` explains one. `agent6 --version` prints the version.\n",
		out);
}

static void help_option(FILE *out, const struct verb_option *o)
{
	char left[64];
	snprintf(left, sizeof(left), "%s--%s%s%s", strcmp(o->name, "output") ? "" : "-o, ", o->name,
		o->value ? " " : "", o->value ? o->value : "");
	fprintf(out, "  %-26s %s%s\n", left, o->summary, o->repeats ? " (may be repeated)" : "");
}

void help_verb(FILE *out, const struct verb *v)
{
	fprintf(out, "usage: agent6 %s%s%s%s\n\n%s\n", v->path, v->options ? " [OPTION...]" : "",
		v->arguments ? " " : "", v->arguments ? v->arguments : "", v->summary);
	if (v->details)
		fprintf(out, "\n%s\n", v->details);
	fputs("\n", out);
	for (const struct verb_option *o = v->options; o && o->name; o++)
		help_option(out, o);
	help_option(out, &(struct verb_option){"help", NULL, "print this and exit", false});
}
