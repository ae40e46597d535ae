#include "cli/load.h"

#include "schema/read.h"
#include <stdio.h>

enum { SHOWN_BYTES_MAX = 256 * 1024 * 1024 };

int loaded_open(struct loaded *l, const char *path, struct findings *f, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	*l = (struct loaded){0};
	if (bundle_open(path, f, &l->bundle, e))
		return -1;
	const struct bundle *b = l->bundle;
	if (!b->machine)
		return 0;
	if (bundle_read(b, b->machine->path, &text, &len, e)) {
		loaded_done(l);
		return -1;
	}
	l->has_doc = true;
	struct member_files files = {.read = bundle_read_member, .ctx = l->bundle};
	if (!doc_read(&l->doc, b->machine_label, text, len, f))
		l->machine = machine_read(&l->doc, &files, f);
	return 0;
}

void loaded_done(struct loaded *l)
{
	machine_free(l->machine);
	if (l->has_doc)
		doc_done(&l->doc);
	bundle_free(l->bundle);
	*l = (struct loaded){0};
}

int loaded_usable(const struct loaded *l, struct findings *f)
{
	const struct doc *docs[] = {&l->doc};
	AUTO_BUF text;
	buf_init(&text, SHOWN_BYTES_MAX);
	findings_sort(f);
	findings_text(f, docs, l->has_doc ? 1 : 0, &text);
	if (text.len)
		fwrite(text.data, 1, text.len, stderr);
	return f->errors || !l->machine ? -1 : 0;
}
