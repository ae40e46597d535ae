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

static int refuse(const struct getting *g)
{
	const char *near = suggest_word(g->wanted, g->keys, g->count);
	AUTO_BUF meant = BUF_INIT(KEYS_BYTES_MAX);
	if (config_keys_ending(g->wanted, &meant))
		return verb_refuse(
			"there is no setting '%s'; did you mean %s?", g->wanted, meant.data);
	if (near)
		return verb_refuse("there is no setting '%s'; did you mean '%s'?", g->wanted, near);
	return verb_refuse("there is no setting '%s'; `agent6 config show` lists them", g->wanted);
}

static int print(const struct getting *g, bool as_json)
{
	if (!g->value)
		return refuse(g);
	if (as_json) {
		json_auto_t *all = json_pack(
			"{s:O, s:s}", "value", g->value, "layer", config_layer_name(g->layer));
		text_json_line(all);
		return EXIT_OK;
	}
	AUTO_FREE char *text = json_text(g->value);
	puts(json_is_string(g->value) ? json_string_value(g->value) : text ? text : "");
	return EXIT_OK;
}

static int run(const struct call *c)
{
	struct setup setup;
	struct getting g = {.wanted = c->arguments[0]};
	if (setup_read(&setup, c))
		return EXIT_REFUSED;
	arena_init(&g.arena);
	config_each(setup.config, each, &g);
	int code = print(&g, call_has(c, "json"));
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
