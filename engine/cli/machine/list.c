#include "base/io.h"
#include "base/json.h"
#include "base/utf8.h"
#include "bundle/bundle.h"
#include "cli/verb/loaded.h"
#include "cli/verb/setup.h"
#include "report/show.h"
#include "report/text.h"
#include "run/status.h"
#include "schema/read.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
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
	X(COST, "COST")                                                                            \
	X(UPDATED, "UPDATED")                                                                      \
	X(DESCRIPTION, "DESCRIPTION")

#define X(name, head) COLUMN_##name,
enum column { COLUMNS(X) COLUMN_COUNT };
#undef X

#define X(name, head) head,
static const char *const heads[] = {COLUMNS(X)};
#undef X

/* The table. Its width depends on all of its rows, so they are kept as text until the last one is
 * known; ten thousand take less than a megabyte. */
struct listing {
	json_t *rows;     /* for --json, else NULL */
	struct buf cells; /* for people: each cell and a NUL, row by row */
	size_t widths[COLUMN_COUNT];
	json_t *described; /* by a bundle's digest: a hundred instances may run the same one */
	const struct statedir *statedir;
};

static json_t *text_at(const struct doc *doc, const char *key)
{
	const struct doc_node *node = doc_get(doc->root, key);
	return node && node->kind == DOC_STR ? json_string(node->text) : json_null();
}

/* Returns the names of the states that are branches. */
static json_t *branches(const struct doc *doc)
{
	json_t *names = json_object();
	const struct doc_node *states = doc_get(doc->root, "states");
	for (uint32_t i = 0; states && states->kind == DOC_MAP && i < states->count; i++) {
		const struct doc_pair *pair = &states->pairs[i];
		const struct doc_node *kind =
			pair->value.kind == DOC_MAP ? doc_get(&pair->value, "kind") : NULL;
		if (kind && kind->kind == DOC_STR && !strcmp(kind->text, "branch"))
			json_object_set_new(names, pair->key.text, json_true());
	}
	return names;
}

/* Returns {description, initial, branches}: two texts, or null, and an object. */
static json_t *describe(const char *file, const char *text, size_t len)
{
	struct doc doc;
	struct findings ignored;
	findings_init(&ignored);
	doc_read(&doc, file, text, len, &ignored);
	json_auto_t *description = text_at(&doc, "description");
	json_t *said = json_pack("{s:o,s:o,s:o}", "description",
		text_hidden_json(json_string_value(description)), "initial",
		text_at(&doc, "initial"), "branches", branches(&doc));
	doc_done(&doc);
	findings_done(&ignored);
	return said;
}

/* Reads the description from the instance's own copy of its bundle, which was checked when it was
 * made. */
static json_t *read_description(int machines, const char *id)
{
	for (size_t i = 0; i < BUNDLE_MACHINES; i++) {
		char path[NAME_MAX + sizeof("/bundle/machine.yaml")];
		AUTO_FREE char *text = NULL;
		size_t len;
		snprintf(path, sizeof(path), "%s/bundle/%s", id, bundle_machines[i]);
		if (!io_read_file(machines, path, DOC_BYTES_MAX, &text, &len, NULL))
			return describe(bundle_machines[i], text, len);
	}
	return json_object();
}

/* Passes branches that a running instance has taken but not journaled yet. */
static void pass_branches(json_t *status, const struct statedir *statedir)
{
	struct instance i = INSTANCE_NONE;
	struct findings ignored;
	struct loaded copy = {0};
	char path[PATH_MAX];
	findings_init(&ignored);
	json_t *whole = NULL;
	if (!instance_open(statedir, json_get_text(status, "id"), &i, NULL)) {
		snprintf(path, sizeof(path), "%s/bundle", i.path);
		if (!loaded_open(&copy, path, &ignored, NULL) && copy.machine)
			whole = status_run(&i, copy.machine, NULL);
	}
	if (whole) {
		json_object_set(status, "state", json_object_get(whole, "state"));
		json_object_set(status, "seq", json_object_get(whole, "seq"));
	}
	json_decref(whole);
	loaded_done(&copy);
	findings_done(&ignored);
	instance_done(&i);
}

/* Adds the description; and the state of a run that has begun without a state in its journal
 * yet. */
static void add_described(json_t *status, int machines, const struct listing *listing)
{
	json_t *all = listing->described;
	const char *bundle = json_get_text(status, "bundle");
	json_auto_t *said = json_incref(json_object_get(all, bundle));
	if (!said) {
		said = read_description(machines, json_get_text(status, "id"));
		if (*bundle && json_object_size(said))
			json_object_set(all, bundle, said);
	}
	json_t *description = json_object_get(said, "description"),
	       *initial = json_object_get(said, "initial");
	if (*bundle && initial && json_is_null(json_object_get(status, "state")))
		json_object_set(status, "state", initial);
	bool behind =
		json_object_get(json_object_get(said, "branches"), json_get_text(status, "state"));
	if (behind && strcmp(json_get_text(status, "status"), "damaged") != 0)
		pass_branches(status, listing->statedir);
	json_object_set(status, "description", description ? description : json_null());
}

/* Appends the text of column `c` of an instance's row; "": nothing. */
static void cell(const json_t *status, enum column c, struct buf *out)
{
	const json_t *seq = json_object_get(status, "seq");
	struct totals totals;
	switch (c) {
	case COLUMN_ID: text_clean(out, json_get_text(status, "id"), NAME_MAX_COLUMNS); break;
	case COLUMN_STATUS:
		/* A user with many instances looks for the one that waits for an answer. */
		text_clean(out,
			json_is_true(json_object_get(status, "asks"))
				? "asks you"
				: json_get_text(status, "status"),
			NAME_MAX_COLUMNS);
		break;
	case COLUMN_STATE: text_clean(out, json_get_text(status, "state"), NAME_MAX_COLUMNS); break;
	case COLUMN_STEPS:
		if (json_is_integer(seq))
			buf_addf(out, "%jd", (intmax_t)json_integer_value(seq));
		break;
	case COLUMN_COST:
		totals = show_totals(json_object_get(status, "totals"));
		show_cost(out, &totals);
		break;
	case COLUMN_UPDATED: text_when(out, json_get_text(status, "updated")); break;
	case COLUMN_DESCRIPTION:
		text_clean(out,
			json_get_text(status, json_is_integer(seq) ? "description" : "reason"),
			DESCRIPTION_COLUMNS);
		break;
	case COLUMN_COUNT: break;
	}
}

static void end_cell(struct listing *listing, size_t c, size_t start)
{
	size_t width = utf8_width(listing->cells.data + start, listing->cells.len - start);
	listing->widths[c] = width > listing->widths[c] ? width : listing->widths[c];
	buf_addc(&listing->cells, '\0');
}

static void add_heads(struct listing *listing)
{
	for (size_t c = 0; c < COLUMN_COUNT; c++) {
		size_t start = listing->cells.len;
		buf_adds(&listing->cells, heads[c]);
		end_cell(listing, c, start);
	}
}

static void add_row(struct listing *listing, const json_t *status)
{
	for (size_t c = 0; c < COLUMN_COUNT; c++) {
		size_t start = listing->cells.len;
		cell(status, (enum column)c, &listing->cells);
		end_cell(listing, c, start);
	}
}

static void print_table(const struct listing *listing)
{
	size_t columns = text_columns(STDOUT_FILENO);
	AUTO_BUF line = BUF_INIT(LIST_BYTES_MAX), shown = BUF_INIT(LIST_BYTES_MAX);
	for (const char *text = listing->cells.data;
		text < listing->cells.data + listing->cells.len;) {
		buf_clear(&line);
		buf_clear(&shown);
		for (size_t c = 0, at = 0; c < COLUMN_COUNT; c++, text += strlen(text) + 1) {
			if (c)
				text_pad(&line, at, listing->widths[c - 1] + 2);
			at = line.len;
			buf_adds(&line, text);
		}
		while (line.len && line.data[line.len - 1] == ' ')
			line.data[--line.len] = '\0';
		bool fits = utf8_width(line.data, line.len) <= columns;
		if (!fits)
			text_clean(&shown, line.data, columns - 3);
		puts(fits ? line.data : shown.data);
	}
}

static void each(void *ctx, int machines, json_t *status)
{
	struct listing *l = ctx;
	add_described(status, machines, l);
	if (l->rows) {
		json_array_append(l->rows, status);
		return;
	}
	if (!l->cells.len)
		add_heads(l);
	add_row(l, status);
}

static int run(const struct call *call)
{
	struct setup setup;
	struct err e = ERR_NONE;
	if (setup_look(&setup, call))
		return EXIT_REFUSED;
	json_auto_t *rows = call_has(call, "json") ? json_array() : NULL;
	json_auto_t *described = json_object();
	struct listing l = {.rows = rows, .described = described, .statedir = &setup.statedir};
	buf_init(&l.cells, CELLS_BYTES_MAX);
	int code = EXIT_OK;
	if (status_each(&setup.statedir, each, &l, &e)) {
		code = verb_fail(EXIT_REFUSED, &e);
	} else if (rows) {
		text_json_line(rows);
	} else if (l.cells.failed) {
		code = verb_refuse("there are too many instances for one table; use --json");
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
