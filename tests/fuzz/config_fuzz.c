/*
 * An operator's configuration and, behind a NUL, what a machine sets for itself: what is accepted
 * can be shown whole, and the machine has lowered limits and chosen among what it may choose,
 * nothing else. What is refused changes nothing.
 */
#include "base/cleanup.h"
#include "config/keys.h"
#include "schema/read.h"
#include "schema/shape.h"
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* The only sections that a machine may have a say in. */
static bool is_open(const char *key)
{
	static const char *const sections[] = {
		"models.", "agent.", "budget.", "workflow.", "git.commit."};
	for (size_t i = 0; i < ARRAY_LEN(sections); i++)
		if (!strncmp(key, sections[i], strlen(sections[i])))
			return true;
	return false;
}

static void on_key(void *ctx, const char *key, const json_t *value, enum config_layer layer)
{
	if (!value || layer > LAYER_ENVIRONMENT || (layer == LAYER_MACHINE && !is_open(key)))
		abort();
	json_object_set(ctx, key, (json_t *)(uintptr_t)value);
}

static json_t *shown(const struct config *config)
{
	json_t *all = json_object();
	config_each(config, on_key, all);
	return all;
}

static void check_limits(const json_t *before, const json_t *after)
{
	for (size_t i = 0; i < config_key_count; i++) {
		const struct key *key = &config_keys[i];
		const json_t *was = json_object_get(before, key->name),
			     *is = json_object_get(after, key->name);
		if ((key->kind == KEY_LIMIT || key->kind == KEY_USD) && json_is_number(was) &&
			(!json_is_number(is) || json_number_value(is) > json_number_value(was)))
			abort();
		if (!is_open(key->name) && !json_equal(was, is))
			abort();
	}
}

static void overlay(struct config *config, const char *text, struct findings *findings)
{
	struct doc d;
	AUTO_BUF machine;
	buf_init(&machine, 2 * DOC_BYTES_MAX);
	buf_addf(&machine,
		"machine: m\nversion: 1\ninitial: e\nbudget: {max_transitions: 1}\n"
		"states: {e: {kind: terminal, status: ok, reason: r}}\nconfig: %s\n",
		text);
	if (doc_read_yaml(&d, "machine.yaml", machine.data, machine.len, findings) ||
		findings->errors || shape_check(shape_machine, &d, d.root, findings)) {
		doc_done(&d);
		return;
	}
	json_auto_t *before = shown(config);
	int rc = config_overlay(config, &d, doc_get(d.root, "config"), findings);
	json_auto_t *after = shown(config);
	if (!rc != !findings->errors || (rc && !json_equal(before, after)))
		abort();
	check_limits(before, after);
	doc_done(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct findings f;
	AUTO_BUF text;
	buf_init(&text, DOC_BYTES_MAX);
	if (buf_add(&text, data, len))
		return 0;
	const char *machine = text.data + strlen(text.data) + 1;
	struct buf own = {.data = text.data, .len = strlen(text.data)};
	struct config_paths paths = {.config_text = &own, .state_dir = "/nonexistent/state"};
	findings_init(&f);
	struct config *c = config_load(&paths, &f);
	if (!f.errors)
		json_decref(shown(c));
	if (!f.errors && machine <= text.data + text.len)
		overlay(c, machine, &f);
	config_free(c);
	findings_done(&f);
	return 0;
}
