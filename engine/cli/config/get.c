#include "base/json.h"
#include "base/suggest.h"
#include "cli/verb/setup.h"
#include "report/text.h"
#include <stdio.h>
#include <string.h>

enum { KEYS_MAX = 1024, KEYS_BYTES_MAX = 4096 };

struct getting {
	const char *wanted;
	json_t *value; /* NULL: not found */
	enum config_layer layer;
	struct arena arena;
	const char *keys[KEYS_MAX];
	size_t count;
};

static void each(void *ctx, const char *key, const json_t *value, enum config_layer layer)
{
	struct getting *g = ctx;
	if (!strcmp(key, g->wanted)) {
		g->value = json_deep_copy(value);
		g->layer = layer;
	}
	if (g->count < KEYS_MAX)
		g->keys[g->count++] = arena_copy(&g->arena, key, strlen(key));
}

static int refuse(const struct getting *getting)
{
	const char *near = suggest_word(getting->wanted, getting->keys, getting->count);
	AUTO_BUF meant = BUF_INIT(KEYS_BYTES_MAX);
	if (config_keys_ending(getting->wanted, &meant))
		return verb_refuse(
			"there is no setting '%s'; did you mean %s?", getting->wanted, meant.data);
	if (near)
		return verb_refuse(
			"there is no setting '%s'; did you mean '%s'?", getting->wanted, near);
	return verb_refuse(
		"there is no setting '%s'; `agent6 config show` lists them", getting->wanted);
}

static int print(const struct getting *getting, bool as_json)
{
	if (!getting->value)
		return refuse(getting);
	if (as_json) {
		json_auto_t *all = json_pack("{s:O, s:s}", "value", getting->value, "layer",
			config_layer_name(getting->layer));
		text_json_line(all);
		return EXIT_OK;
	}
	AUTO_FREE char *text = json_text(getting->value);
	puts(json_is_string(getting->value) ? json_string_value(getting->value) : text ? text : "");
	return EXIT_OK;
}

static int run(const struct call *call)
{
	struct setup setup;
	struct getting g = {.wanted = call->arguments[0]};
	if (setup_read(&setup, call))
		return EXIT_REFUSED;
	arena_init(&g.arena);
	config_each(setup.config, each, &g);
	int code = print(&g, call_has(call, "json"));
	json_decref(g.value);
	arena_done(&g.arena);
	setup_done(&setup);
	return code;
}

static const struct verb_option options[] = {
	{"config", "FILE", "a configuration file on top of the operator's own", false},
	{"json", NULL, "print one JSON object {value, layer}", false}, {NULL, NULL, NULL, false}};

const struct verb verb_config_get = {.path = "config get",
	.summary = "print one effective setting",
	.arguments = "KEY",
	.min_arguments = 1,
	.max_arguments = 1,
	.options = options,
	.run = run};
