/*
 * Writes docs/autorun.md from the table of autorun files (engine/run/autorun.def). A build tool.
 */
#include "run/autorun.h"
#include <stdio.h>

static const char head[] =
	"# Files that the host runs\n"
	"\n"
	"Generated from `engine/run/autorun.def` by `make docs`; do not edit it.\n"
	"\n"
	"Programs on the host run or obey these files because of their names, once a person enters "
	"the "
	"directory they lie in, opens it, or does the usual there. They are a project's own files, "
	"so "
	"states may write them; a run says which of them were changed while it went on: in its "
	"last "
	"lines, in `agent6 machine status`, in `--json`, in the journal (`autorun`) and on the "
	"page of "
	"`agent6 machine report`. A machine with `mode: run` says it of the commits on its branch. "
	"[Confinement](confinement.md) says how to hold them, and what the list cannot know.\n"
	"\n"
	"Letters count alike in both cases. A name that ends in `/` is a directory's, and stands "
	"for all "
	"that lies in it.\n";

int main(void)
{
	fputs(head, stdout);
	for (enum autorun_when when = 0; when < AUTORUN_WHEN_COUNT; when++) {
		const char *text = autorun_when_text(autorun_when_word(when));
		printf("\n## %c%s\n\n| name | who |\n|---|---|\n", text[0] - 'a' + 'A', text + 1);
		for (size_t i = 0; i < autorun_count; i++)
			if (autorun_table[i].when == when)
				printf("| `%s` | %s |\n", autorun_table[i].name,
					autorun_table[i].who);
		for (size_t i = 0; i < autorun_ending_count; i++)
			if (autorun_endings[i].when == when)
				printf("| `*%s` | %s |\n", autorun_endings[i].name,
					autorun_endings[i].who);
	}
	return 0;
}
