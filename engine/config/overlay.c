/* A machine's `config`: the highest layer, for this machine only. machine.schema.json lists the
 * allowed keys; here limits are kept below the operator's. */
#include "config/keys.h"
#include <stdio.h>
#include <string.h>

static double number_of(const struct doc_node *node)
{
	return node->kind == DOC_INT ? (double)node->integer : node->number;
}

/* Compares by integers where possible: a double cannot tell two large ones apart. */
static bool is_above(const struct doc_node *wanted, const struct doc_node *limit)
{
	return wanted->kind == DOC_INT && limit->kind == DOC_INT
		       ? wanted->integer > limit->integer
		       : number_of(wanted) > number_of(limit);
}

static void check_lower(const struct config *config, const struct key *key, const struct doc *doc,
	const struct doc_node *wanted, struct findings *findings)
{
	enum config_layer layer;
	const struct doc_node *limit = config_find_key(config, key->name, &layer);
	if (!limit || !is_above(wanted, limit))
		return;
	char text[32];
	if (limit->kind == DOC_INT)
		snprintf(text, sizeof(text), "%jd", (intmax_t)limit->integer);
	else
		snprintf(text, sizeof(text), "%.15g", limit->number);
	struct finding *it = finding_add(findings, RULE_CONFIG_ONLY_LOWER, doc, wanted,
		"`%s` may only be lowered: the operator's limit is %s (%s)", key->name, text,
		config_layer_name(layer));
	finding_help(
		findings, it, "lower it, or raise `%s` in the operator's configuration", key->name);
}

static void check_limits(const struct config *before, const struct config *after,
	const struct doc *doc, struct findings *findings)
{
	for (size_t i = 0; i < config_key_count; i++) {
		const struct key *key = &config_keys[i];
		enum config_layer layer;
		const struct doc_node *wanted = config_find_key(after, key->name, &layer);
		if ((key->kind == KEY_LIMIT || key->kind == KEY_USD) && layer == LAYER_MACHINE)
			check_lower(before, key, doc, wanted, findings);
	}
}

/* Checks the roles. A machine chooses among the operator's providers; a role that names none keeps
 * the operator's. On a host without providers nothing is checked, since nothing could run there. */
static void check_roles(const struct config *config, const struct doc *doc,
	const struct doc_node *overlay, struct findings *findings)
{
	const struct doc_node *models = doc_get(overlay, "models");
	for (uint32_t i = 0; models && config->provider_count && i < models->count; i++) {
		const struct doc_node *role = &models->pairs[i].value;
		const struct doc_node *name = doc_get(role, "provider");
		const char *path[] = {"models", models->pairs[i].key.text, "provider"};
		if (name && !config_provider(config, name->text))
			finding_add(findings, RULE_CONFIG_PROVIDER, doc, name,
				"the operator has no provider called `%.64s`", name->text);
		if (!config_find(config, path, 3, NULL) && config->provider_count != 1)
			finding_add(findings, RULE_CONFIG_PROVIDER, doc, &models->pairs[i].key,
				"`%.64s` must name its provider, because %zu are configured",
				models->pairs[i].key.text, config->provider_count);
	}
}

int config_overlay(struct config *config, const struct doc *doc, const struct doc_node *overlay,
	struct findings *findings)
{
	if (!overlay)
		return 0;
	size_t errors = findings->errors;
	struct config_source *s = &config->store->layers[LAYER_MACHINE];
	struct config_store below = *config->store;
	struct config before = *config;
	before.store = &below;
	s->doc = doc;
	s->root = overlay;
	check_limits(&before, config, doc, findings);
	check_roles(&before, doc, overlay, findings);
	if (findings->errors != errors) {
		s->doc = NULL;
		s->root = NULL;
		return -1;
	}
	config_decode(config);
	return 0;
}
