#include "base/io.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/setup.h"
#include "cli/text.h"
#include "run/status.h"
#include "schema/read.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	LIST_BYTES_MAX = 64 * 1024,
	CELLS_BYTES_MAX = 256 * 1024 * 1024,
	NAME_MAX_COLUMNS = 64,
	DESCRIPTION_COLUMNS = 200
};

#define COLUMNS(X)                                                                                 \
	X(ID, "ID")                                                                                \
	X(STATUS, "STATUS")                                                                        \
	X(STATE, "STATE")                                                                          \
	X(STEPS, "STEPS")                                                                          \
	X(UPDATED, "UPDATED")                                                                      \
	X(DESCRIPTION, "DESCRIPTION")

#define X(name, head) COLUMN_##name,
enum column { COLUMNS(X) COLUMN_COUNT };
#undef X

#define X(name, head) head,
static const char *const heads[] = {COLUMNS(X)};
#undef X

/* A table is as wide as what stands in it, so its rows are kept until the last one is known: as
 * text, of which ten thousand take less than a megabyte. */
struct listing {
	json_t *rows;     /* for --json, else NULL */
	struct buf cells; /* for people: each cell and a NUL, row by row */
	size_t widths[COLUMN_COUNT];
	const char *repo_dir;
};

/* The description in a machine file; NULL: there is none. */
static json_t *description_in(const char *file, const char *text, size_t len)
{
	struct doc doc;
	struct findings ignored;
	findings_init(&ignored);
	doc_read(&doc, file, text, len, &ignored);
	const struct doc_node *node = doc_get(&doc, doc.root, "description");
	json_t *value = node && node->kind == DOC_STR ? json_string(node->text) : NULL;
	doc_done(&doc);
	findings_done(&ignored);
	return value;
}

/* What the instance's own copy of its bundle says it is; the copy was checked when it was made. */
static json_t *description(const char *repo_dir, const char *id)
{
	static const char *const files[] = {
		"machine.yaml", "machine.yml", "machine.json", "machine.toml"};
	AUTO_FREE char *path = NULL;
	if (asprintf(&path, "%s/machines/%s/bundle", repo_dir, id) < 0)
		return NULL;
	AUTO_FD int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; dir >= 0 && i < ARRAY_LEN(files); i++) {
		AUTO_FREE char *text = NULL;
		size_t len;
		if (!io_read_file(dir, files[i], DOC_BYTES_MAX, &text, &len, NULL))
			return description_in(files[i], text, len);
	}
	return NULL;
}

/* What stands in column `c` of an instance's row; "": nothing. */
static void cell(const json_t *status, enum column c, struct buf *out)
{
	const json_t *seq = json_object_get(status, "seq");
	buf_adds(out, "");
	switch (c) {
	case COLUMN_ID: text_clean(out, text_of(status, "id"), NAME_MAX_COLUMNS); break;
	case COLUMN_STATUS:
		/* Who has many instances looks for the one that waits for them. */
		buf_adds(out, json_is_true(json_object_get(status, "asks"))
				      ? "asks you"
				      : text_of(status, "status"));
		break;
	case COLUMN_STATE: text_clean(out, text_of(status, "state"), NAME_MAX_COLUMNS); break;
	case COLUMN_STEPS:
		if (json_is_integer(seq))
			buf_addf(out, "%jd", (intmax_t)json_integer_value(seq));
		break;
	case COLUMN_UPDATED: text_when(out, text_of(status, "updated")); break;
	case COLUMN_DESCRIPTION:
		text_clean(out, text_of(status, json_is_integer(seq) ? "description" : "reason"),
			DESCRIPTION_COLUMNS);
		break;
	case COLUMN_COUNT: break;
	}
}

static void end_cell(struct listing *l, size_t c, size_t start)
{
	size_t width = utf8_count(l->cells.data + start, l->cells.len - start);
	l->widths[c] = width > l->widths[c] ? width : l->widths[c];
	buf_addc(&l->cells, '\0');
}

static void add_heads(struct listing *l)
{
	for (size_t c = 0; c < COLUMN_COUNT; c++) {
		size_t start = l->cells.len;
		buf_adds(&l->cells, heads[c]);
		end_cell(l, c, start);
	}
}

static void add_row(struct listing *l, const json_t *status)
{
	for (size_t c = 0; c < COLUMN_COUNT; c++) {
		size_t start = l->cells.len;
		cell(status, (enum column)c, &l->cells);
		end_cell(l, c, start);
	}
}

static void print_table(const struct listing *l)
{
	size_t columns = text_columns(STDOUT_FILENO);
	AUTO_BUF line, shown;
	buf_init(&line, LIST_BYTES_MAX);
	buf_init(&shown, LIST_BYTES_MAX);
	for (const char *text = l->cells.data; text < l->cells.data + l->cells.len;) {
		buf_clear(&line);
		buf_clear(&shown);
		for (size_t c = 0, at = 0; c < COLUMN_COUNT; c++, text += strlen(text) + 1) {
			if (c)
				text_pad(&line, at, l->widths[c - 1] + 2);
			at = line.len;
			buf_adds(&line, text);
		}
		while (line.len && line.data[line.len - 1] == ' ')
			line.data[--line.len] = '\0';
		bool fits = utf8_count(line.data, line.len) <= columns;
		text_clean(&shown, line.data, fits ? columns : columns - 3);
		puts(shown.data);
	}
}

static void each(void *ctx, const json_t *brief)
{
	struct listing *l = ctx;
	json_t *status = json_copy((json_t *)(uintptr_t)brief);
	json_t *what = description(l->repo_dir, text_of(brief, "id"));
	json_object_set_new(status, "description", what ? what : json_null());
	if (l->rows) {
		json_array_append_new(l->rows, status);
		return;
	}
	if (!l->cells.len)
		add_heads(l);
	add_row(l, status);
	json_decref(status);
}

static int run(const struct call *c)
{
	struct setup setup;
	struct err e = ERR_NONE;
	if (setup_open(&setup, c))
		return EXIT_REFUSED;
	json_auto_t *rows = call_has(c, "json") ? json_array() : NULL;
	struct listing l = {.rows = rows, .repo_dir = setup.place.repo_dir};
	buf_init(&l.cells, CELLS_BYTES_MAX);
	int code = EXIT_OK;
	if (status_each(&setup.place, each, &l, &e)) {
		code = fail(EXIT_REFUSED, &e);
	} else if (rows) {
		text_json_line(rows);
	} else if (l.cells.failed) {
		err_set(&e, "there are too many instances for one table; use --json");
		code = fail(EXIT_REFUSED, &e);
	} else if (l.cells.len) {
		print_table(&l);
	} else {
		text_complain("no instance of this repository or directory yet; `agent6 machine "
			      "run` starts one");
	}
	buf_done(&l.cells);
	setup_done(&setup);
	return code;
}

static const struct verb_option options[] = {
	{"json", NULL, "print one JSON array", false}, {NULL, NULL, NULL, false}};

const struct verb verb_machine_list = {.path = "machine list",
	.summary = "the instances of this repository or directory",
	.max_arguments = 0,
	.options = options,
	.run = run};
