#include "cli/start/interface_help.h"

#include "cli/verb/loaded.h"
#include "cli/verb/verb.h"
#include "report/interface.h"
#include "report/text.h"
#include <stdio.h>

enum { HELP_BYTES_MAX = 16 * 1024 * 1024, INDENT_COLUMNS = 14 };

static void add_line(struct buf *out, const char *label, const char *text)
{
	AUTO_BUF clean = BUF_INIT(HELP_BYTES_MAX);
	text_clean_hidden(&clean, text, SIZE_MAX);
	text_entry(out, label, clean.data, INDENT_COLUMNS);
}

static void print_interface(const struct machine *machine)
{
	AUTO_BUF out = BUF_INIT(HELP_BYTES_MAX);
	json_auto_t *interface = interface_of(machine);
	buf_addf(&out, "\nThis machine\n");
	add_line(&out, "machine", machine->name);
	if (machine->description)
		add_line(&out, "description", machine->description);
	interface_lines(interface, add_line, &out);
	fwrite(out.data, 1, out.len, stdout);
}

void interface_help(const char *path)
{
	struct findings findings;
	struct loaded loaded;
	struct err e = ERR_NONE;
	findings_init(&findings);
	if (loaded_open(&loaded, path, &findings, &e)) {
		verb_fail(EXIT_REFUSED, &e);
	} else {
		if (loaded.machine && !findings.errors)
			print_interface(loaded.machine);
		else
			verb_refuse("%s has errors; `agent6 machine check` lists them", path);
		loaded_done(&loaded);
	}
	findings_done(&findings);
}
