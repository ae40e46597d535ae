#include "base/io.h"
#include "base/tree.h"
#include "cli/bundle/stock.h"
#include "cli/verb/loaded.h"
#include "cli/verb/verb.h"
#include "instance/instance.h"
#include "report/text.h"
#include "schema/read.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUMMARY_BYTES = 1600 };

/* The bundle to be made. */
struct draft {
	const char *name;
	int dir_fd;
};

/* Returns the place in the source. Columns count code points. */
static const char *source_at(const struct doc *doc, uint32_t line, uint32_t column)
{
	const char *at = doc->text + doc->lines[line - 1];
	for (; column > 1; column--)
		do
			at++;
		while (((unsigned char)*at & 0xC0) == 0x80);
	return at;
}

/* Copies the machine file with another name in it; everything else, including comments, stays. */
static int rename_machine(
	const char *file, const char *text, size_t len, const char *name, struct buf *out)
{
	struct findings f;
	struct doc d;
	findings_init(&f);
	int unreadable = doc_read(&d, file, text, len, &f);
	const struct doc_node *old = unreadable ? NULL : doc_get(d.root, "machine");
	if (old) {
		const char *from = source_at(&d, old->pos.line, old->pos.column);
		const char *to = source_at(&d, old->pos.end_line, old->pos.end_column);
		const char *quote = *from == '"' || *from == '\'' ? "\"" : "";
		buf_add(out, d.text, (size_t)(from - d.text));
		bool block =
			to > from && to[-1] == '\n'; /* `|` and `>` include the end of their line */
		buf_addf(out, "%s%s%s%s", quote, name, quote, block ? "\n" : "");
		buf_add(out, to, d.len - (size_t)(to - d.text));
	}
	doc_done(&d);
	findings_done(&f);
	return old && !out->failed ? 0 : -1;
}

static int add(const struct draft *draft, const struct stock_file *file, struct err *e)
{
	if (strncmp(file->path, "machine.", 8) || strchr(file->path, '/'))
		return io_create_file(
			draft->dir_fd, file->path, file->bytes, file->len, file->mode, e);
	AUTO_BUF text = BUF_INIT(DOC_BYTES_MAX);
	if (rename_machine(file->path, file->bytes, file->len, draft->name, &text))
		return err_set(e, "%s: cannot put the name %s into it", file->path, draft->name);
	return io_create_file(draft->dir_fd, file->path, text.data, text.len, file->mode, e);
}

static int add_stock(const struct draft *draft, const struct stock *stock, struct err *e)
{
	for (size_t i = 0; i < stock->count; i++)
		if (add(draft, &stock->files[i], e))
			return -1;
	return 0;
}

static int add_bundle(const struct draft *draft, const struct bundle *bundle, struct err *e)
{
	for (size_t i = 0; i < bundle->count; i++) {
		const struct member *m = &bundle->members[i];
		AUTO_FREE char *text = NULL;
		struct stock_file f = {.path = m->path, .mode = m->mode | 022};
		if (bundle_read(bundle, m->path, &text, &f.len, e))
			return -1;
		f.bytes = text;
		if (add(draft, &f, e))
			return -1;
	}
	return 0;
}

static int fill(const struct draft *draft, const struct stock *stock, const struct bundle *bundle,
	struct err *e)
{
	mode_t mask = umask(0);
	umask(mask);
	if (draft->dir_fd < 0 || fchmod(draft->dir_fd, 0777 & ~mask))
		return err_errno(e, "cannot open the directory for %s", draft->name);
	return stock ? add_stock(draft, stock, e) : add_bundle(draft, bundle, e);
}

/* Makes the bundle whole or not at all: it gets its name when it is finished and on the disk, so
 * that an error, a kill or a power failure leaves no half bundle. */
static int begin(
	const char *name, const struct stock *stock, const struct bundle *bundle, struct err *e)
{
	char temp[IO_TEMP_BYTES];
	AUTO_FD int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!faccessat(AT_FDCWD, name, F_OK, AT_SYMLINK_NOFOLLOW)) {
		errno = EEXIST;
		return err_errno(e, "cannot create %s", name);
	}
	if (io_temp_name(here, name, temp, e))
		return -1;
	if (mkdir(temp, 0700))
		return err_errno(e, "cannot create %s", name);
	AUTO_FD int dir = open(temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int failed = fill(&(struct draft){name, dir}, stock, bundle, e);
	if (!failed && syncfs(dir))
		failed = err_errno(e, "cannot sync %s", name);
	if (!failed && rename(temp, name))
		failed = err_errno(e, "cannot create %s", name);
	if (failed)
		return tree_remove(AT_FDCWD, temp, NULL), -1;
	return fsync(here) ? err_errno(e,
				     "%s is written, but a power failure may undo that: cannot "
				     "sync its directory",
				     name)
			   : 0;
}

static int finish(const char *name, const struct stock *stock, const struct loaded *loaded)
{
	struct err e = ERR_NONE;
	if (begin(name, stock, loaded ? loaded->bundle : NULL, &e))
		return verb_fail(EXIT_REFUSED, &e);
	AUTO_BUF summary = BUF_INIT(SUMMARY_BYTES);
	const char *text = stock ? stock->summary : loaded->machine->description;
	text_clean_hidden(&summary, text && *text ? text : "a copy", SUMMARY_BYTES / 4);
	printf("%s: %s\nnext:\n  agent6 machine check %s\n  agent6 machine rehearse %s\n", name,
		summary.data, name, name);
	return EXIT_OK;
}

static int copy(void *name, const struct loaded *loaded)
{
	return finish(name, NULL, loaded);
}

static int run(const struct call *call)
{
	char *name = call->arguments[0];
	const char *from = call_value(call, "from");
	const struct stock *s = stock_find(from ? from : "agent");
	const char *slash = strrchr(name, '/');
	if (slash && instance_id_valid(slash + 1))
		return verb_refuse(
			"a new bundle lies in the working directory: go to %.*s, and name it %s",
			(int)(slash - name) + 1, name, slash + 1);
	if (!instance_id_valid(name))
		return verb_refuse("a machine's name is lower-case letters, digits, "
				   "_ and -, a letter first, at most 64");
	if (s)
		return finish(name, s, NULL);
	if (!strpbrk(from, "./"))
		return verb_refuse("no bundle %s comes with agent6 (--help lists them); for one of "
				   "your own, say ./%s",
			from, from);
	return loaded_with(from, copy, name);
}

static const struct verb_option options[] = {
	{"from", "TEMPLATE", "the template to begin with (agent)", false},
	{NULL, NULL, NULL, false}};

const struct verb verb_machine_new = {.path = "machine new",
	.summary = "begin a bundle that checks and rehearses as it is",
	.arguments = "NAME",
	.min_arguments = 1,
	.max_arguments = 1,
	.acts = true,
	.details = stock_details,
	.options = options,
	.run = run};
