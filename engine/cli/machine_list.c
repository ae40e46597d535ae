#include "base/json.h"
#include "cli/setup.h"
#include "cli/text.h"
#include "run/drive.h"
#include <stdio.h>

enum { LIST_BYTES_MAX = 64 * 1024 * 1024 };

struct listing {
	const struct setup *setup;
	struct buf out;
	bool json;
};

/* What is known of an instance that cannot be read: that it cannot. */
static json_t *damaged(const char *id, const char *reason)
{
	return json_pack("{s:s, s:s, s:s}", "id", id, "status", "damaged", "reason", reason);
}

static json_t *status_of(const struct instance *i, const char *id, struct err *e)
{
	struct findings findings;
	struct loaded loaded;
	AUTO_FREE char *path = NULL;
	json_t *status = NULL;
	if (asprintf(&path, "%s/bundle", i->path) < 0)
		return damaged(id, "out of memory");
	findings_init(&findings);
	if (!loaded_open(&loaded, path, &findings, e)) {
		if (loaded.machine)
			status = status_run(i, loaded.machine, e);
		else
			err_set(e, "its copy of the bundle is damaged");
		loaded_done(&loaded);
	}
	findings_done(&findings);
	return status ? status : damaged(id, e->text);
}

static void add_row(struct buf *out, const json_t *status)
{
	static const struct {
		const char *key;
		size_t width;
	} columns[] = {{"id", 24}, {"status", 12}, {"state", 20}};
	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		size_t at = out->len;
		text_clean(out, text_of(status, columns[i].key), 64);
		text_pad(out, at, columns[i].width);
	}
	const json_t *seq = json_object_get(status, "seq");
	if (seq)
		buf_addf(out, "%6jd  %s", (intmax_t)json_integer_value(seq),
			text_of(status, "updated"));
	else
		text_clean(out, text_of(status, "reason"), 200);
	buf_addc(out, '\n');
}

static int each(void *ctx, const char *id)
{
	struct listing *l = ctx;
	struct instance i = INSTANCE_NONE;
	struct err e = ERR_NONE;
	json_auto_t *status = instance_open(&l->setup->place, id, &i, &e) ? damaged(id, e.text)
									  : status_of(&i, id, &e);
	instance_done(&i);
	if (l->json) {
		json_object_del(status, "blackboard");
		buf_addc(&l->out, l->out.len ? ',' : '[');
		json_write(&l->out, status);
	} else {
		if (!l->out.len)
			buf_adds(&l->out,
				"ID                      STATUS      STATE                "
				"STEPS  UPDATED\n");
		add_row(&l->out, status);
	}
	return 0;
}

static int run(const struct call *c)
{
	struct setup setup;
	struct err e = ERR_NONE;
	struct listing l = {.setup = &setup, .json = call_has(c, "json")};
	if (setup_open(&setup, c))
		return EXIT_REFUSED;
	buf_init(&l.out, LIST_BYTES_MAX);
	int code = EXIT_OK;
	if (instance_list(&setup.place, each, &l, &e))
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
