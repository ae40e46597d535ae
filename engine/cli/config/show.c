#include "base/json.h"
#include "cli/verb/setup.h"
#include "report/text.h"
#include <stdio.h>
#include <unistd.h>

enum {
	SHOWN_BYTES_MAX = 4 * 1024 * 1024,
	VALUE_COLUMN = 30,
	LAYER_COLUMN = 54,
	TABLE_COLUMNS = 66
};

struct showing {
	struct buf out;
	json_t *all; /* --json, else NULL */
};

static void each(void *ctx, const char *key, const json_t *value, enum config_layer layer)
{
	struct showing *s = ctx;
	if (s->all) {
		json_object_set_new(s->all, key,
			json_pack("{s:O, s:s}", "value", value, "layer", config_layer_name(layer)));
		return;
	}
	AUTO_FREE char *text = json_text(value);
	AUTO_BUF line = BUF_INIT(SHOWN_BYTES_MAX);
	buf_adds(&line, key);
	text_pad(&line, 0, VALUE_COLUMN);
	text_clean(&line, json_is_null(value) ? "-" : text ? text : "", 400);
	text_pad(&line, 0, text_page_columns() < TABLE_COLUMNS ? 0 : LAYER_COLUMN);
	buf_addf(&line, "%s\n", config_layer_name(layer));
	wrap_text(&s->out, line.data, 2, text_columns(STDOUT_FILENO));
}

static int run(const struct call *call)
{
	struct setup setup;
	struct showing s = {0};
	if (setup_read(&setup, call))
		return EXIT_REFUSED;
	json_auto_t *all = call_has(call, "json") ? json_object() : NULL;
	s.all = all;
	buf_init(&s.out, SHOWN_BYTES_MAX);
	config_each(setup.config, each, &s);
	if (all)
		text_json_line(all);
	else
		fwrite(s.out.data, 1, s.out.len, stdout);
	buf_done(&s.out);
	setup_done(&setup);
	return EXIT_OK;
}

static const struct verb_option options[] = {
	{"config", "FILE", "a configuration file on top of the operator's own", false},
	{"json", NULL, "print one JSON object KEY: {value, layer}", false},
	{NULL, NULL, NULL, false}};

const struct verb verb_config_show = {.path = "config show",
	.summary = "every effective setting, and which file set it",
	.max_arguments = 0,
	.details = "Keys of providers are never part of it.",
	.options = options,
	.run = run};
