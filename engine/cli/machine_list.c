#include "base/io.h"
#include "base/json.h"
#include "cli/setup.h"
#include "cli/text.h"
#include "run/drive.h"
#include "schema/read.h"
#include <fcntl.h>
#include <stdio.h>

enum { LIST_BYTES_MAX = 64 * 1024 * 1024, DESCRIPTION_COLUMNS = 80 };

struct listing {
	struct buf out;
	const char *repo_dir;
	bool json;
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

static void add_row(struct buf *out, const json_t *status)
{
	static const struct {
		const char *key;
		size_t width;
	} columns[] = {{"id", 20}, {"status", 10}, {"state", 18}};
	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		size_t at = out->len;
		/* Who has many instances looks for the one that waits for them. */
		bool asks = i == 1 && json_is_true(json_object_get(status, "asks"));
		text_clean(out, asks ? "asks you" : text_of(status, columns[i].key), 64);
		text_pad(out, at, columns[i].width);
	}
	const json_t *seq = json_object_get(status, "seq");
	size_t at = out->len;
	if (seq)
		buf_addf(out, "%6jd  ", (intmax_t)json_integer_value(seq));
	if (seq)
		text_when(out, text_of(status, "updated"));
	else
		text_clean(out, text_of(status, "reason"), 200);
	const char *what = text_of(status, "description");
	if (*what) {
		text_pad(out, at, 33);
		text_clean(out, what, DESCRIPTION_COLUMNS);
	}
	buf_addc(out, '\n');
}

static void each(void *ctx, const json_t *brief)
{
	struct listing *l = ctx;
	json_auto_t *status = json_copy((json_t *)(uintptr_t)brief);
	json_t *what = description(l->repo_dir, text_of(brief, "id"));
	json_object_set_new(status, "description", what ? what : json_null());
	if (l->json) {
		buf_addc(&l->out, l->out.len ? ',' : '[');
		json_write(&l->out, status);
		return;
	}
	if (!l->out.len)
		buf_adds(&l->out, "ID                  STATUS    STATE              "
				  "STEPS  UPDATED                  DESCRIPTION\n");
	add_row(&l->out, status);
}

static int run(const struct call *c)
{
	struct setup setup;
	struct err e = ERR_NONE;
	struct listing l = {.json = call_has(c, "json")};
	if (setup_open(&setup, c))
		return EXIT_REFUSED;
	l.repo_dir = setup.place.repo_dir;
	buf_init(&l.out, LIST_BYTES_MAX);
	int code = EXIT_OK;
	if (status_each(&setup.place, each, &l, &e))
		code = fail(EXIT_REFUSED, &e);
	else if (l.json)
		printf("%s]\n", l.out.len ? l.out.data : "[");
	else if (l.out.len)
		fputs(l.out.data, stdout);
	else
		fprintf(stderr, "agent6: no instance of this repository or directory yet; "
				"`agent6 machine run` starts one\n");
	buf_done(&l.out);
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
