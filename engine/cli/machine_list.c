#include "base/json.h"
#include "cli/setup.h"
#include "cli/text.h"
#include "run/drive.h"
#include <stdio.h>

enum { LIST_BYTES_MAX = 64 * 1024 * 1024 };

struct listing {
	struct buf out;
	bool json;
};

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
	if (seq)
		buf_addf(out, "%6jd  ", (intmax_t)json_integer_value(seq));
	if (seq)
		text_when(out, text_of(status, "updated"));
	else
		text_clean(out, text_of(status, "reason"), 200);
	buf_addc(out, '\n');
}

static void each(void *ctx, const json_t *status)
{
	struct listing *l = ctx;
	if (l->json) {
		buf_addc(&l->out, l->out.len ? ',' : '[');
		json_write(&l->out, status);
		return;
	}
	if (!l->out.len)
		buf_adds(&l->out, "ID                  STATUS    STATE              "
				  "STEPS  UPDATED\n");
	add_row(&l->out, status);
}

static int run(const struct call *c)
{
	struct setup setup;
	struct err e = ERR_NONE;
	struct listing l = {.json = call_has(c, "json")};
	if (setup_open(&setup, c))
		return EXIT_REFUSED;
	buf_init(&l.out, LIST_BYTES_MAX);
	int code = EXIT_OK;
	if (status_each(&setup.place, each, &l, &e))
		code = fail(EXIT_REFUSED, &e);
	else if (l.json)
		printf("%s]\n", l.out.len ? l.out.data : "[");
	else if (l.out.len)
		fputs(l.out.data, stdout);
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
