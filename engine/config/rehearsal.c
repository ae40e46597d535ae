/* The configuration of a rehearsal: built in, so that the same bundle rehearses the same
 * everywhere. */
#include "config/store.h"
#include <string.h>

/* Returns a provider with prices that make budgets bind and totals visible. The key, headers and
 * query of a settings file are left out: the cassette asks for none, and the user may not have
 * them. */
static json_t *provider_json(enum api_format format, const char *base_url)
{
	return json_pack("{ss ss ss s[] sn sn s{s{si si}}}", "api_format",
		config_word("api_format", format), "base_url", base_url, "auth", "none",
		"token_command", "headers", "query", "prices", "*", "input", 1, "output", 5);
}

static json_t *role_json(const char *provider)
{
	return json_pack("{ss ss}", "provider", provider, "model", "rehearsal");
}

/* Returns the settings. Whatever a settings file says, no program of the host is started and the
 * operator's audit trail does not change. */
static char *rehearsal_text(const char *const *providers, size_t count, enum api_format format,
	const char *base_url, const char *state_dir)
{
	json_auto_t *all = json_object();
	for (size_t i = 0; i < count; i++)
		json_object_set_new(all, providers[i], provider_json(format, base_url));
	json_auto_t *root = json_pack("{sO s{s{ss ss}} s{s{s[]}} s{so}}", "providers", all, "git",
		"commit", "name", "agent6 rehearsal", "email", "rehearsal@agent6.invalid",
		"machine", "notify", "on_event", "audit", "path",
		json_sprintf("%s/audit.jsonl", state_dir));
	if (count)
		json_object_set_new(
			root, "models", json_pack("{so}", "worker", role_json(providers[0])));
	return json_dumps(root, 0);
}

struct config *config_rehearsal(const char *const *providers, size_t count, enum api_format format,
	const char *base_url, const char *state_dir)
{
	struct config *c = config_new();
	AUTO_FREE char *text = rehearsal_text(providers, count, format, base_url, state_dir);
	config_set_layer(c, LAYER_FILE, "rehearsal", text);
	c->store->state_home = arena_copy(&c->store->arena, state_dir, strlen(state_dir));
	config_decode(c);
	return c;
}

void config_rehearsal_settings(
	struct config *config, const char *file, const char *workspace, struct findings *findings)
{
	struct config_paths paths = {.state_dir = config->state_dir, .workspace = workspace};
	size_t before = findings->errors;
	const char *provider = config->models.worker.provider;
	/* The other roles are no real models either. */
	json_auto_t *roles = json_pack("{s{so so}}", "models", "reviewer", role_json(provider),
		"planner", role_json(provider));
	AUTO_FREE char *text = roles ? json_dumps(roles, 0) : NULL;
	config_set_layer(config, LAYER_REPOSITORY, "rehearsal", text);
	config_read_layer(config, LAYER_GLOBAL, file, findings);
	config_decode(config);
	if (findings->errors == before)
		config_check(config, &paths, findings);
}
