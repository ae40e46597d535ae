/* The configuration of a rehearsal: built in, so that the same bundle rehearses the same
 * everywhere. */
#include "config/store.h"
#include "schema/read.h"
#include <string.h>

/* Prices that make budgets bind and totals visible without being anyone's. */
static json_t *provider_json(enum api_format format, const char *base_url)
{
	return json_pack("{ss ss ss s{s{si si}}}", "api_format",
		format == API_ANTHROPIC ? "anthropic" : "openai", "base_url", base_url, "auth",
		"none", "prices", "*", "input", 1, "output", 5);
}

static char *rehearsal_text(
	const char *const *providers, size_t count, enum api_format format, const char *base_url)
{
	json_auto_t *all = json_object();
	for (size_t i = 0; i < count; i++)
		json_object_set_new(all, providers[i], provider_json(format, base_url));
	json_auto_t *worker =
		count ? json_pack("{ss ss}", "provider", providers[0], "model", "rehearsal") : NULL;
	json_auto_t *root = json_pack("{sO s{s{ss ss}}}", "providers", all, "git", "commit", "name",
		"agent6 rehearsal", "email", "rehearsal@agent6.invalid");
	if (worker)
		json_object_set_new(root, "models", json_pack("{sO}", "worker", worker));
	return json_dumps(root, 0);
}

struct config *config_rehearsal(const char *const *providers, size_t count, enum api_format format,
	const char *base_url, const char *state_dir)
{
	struct config *c = config_new();
	struct config_source *s = &c->store->layers[LAYER_GLOBAL];
	AUTO_FREE char *text = rehearsal_text(providers, count, format, base_url);
	struct findings none;
	findings_init(&none);
	if (text && !doc_read_json(&s->own, "rehearsal", text, strlen(text), &none)) {
		s->doc = &s->own;
		s->root = s->own.root;
	}
	findings_done(&none);
	c->store->state_dir_default = arena_copy(&c->store->arena, state_dir, strlen(state_dir));
	config_decode(c);
	return c;
}
