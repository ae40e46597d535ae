/* Providers: entries with free names, their addresses and their prices. */
#include "config/keys.h"
#include "config/url.h"
#include "machine/machine.h"
#include <ctype.h>
#include <string.h>

/* Prices in USD per million tokens (input, output, cache read, cache write of five minutes) at the
 * vendors' own endpoints, as of November 2026:
 *   https://platform.claude.com/docs/en/about-claude/pricing
 *   https://developers.openai.com/api/docs/pricing
 * A model that costs more for long prompts has its higher price here, or is left out: a hard limit
 * must never be too generous. A model that is not here, or is served by someone else, has no price
 * until the operator gives one. */
static const struct builtin {
	const char *host;
	struct config_price price;
} builtins[] = {
	{"api.anthropic.com", {"claude-fable-5-1", 10, 50, 0.25, 12.5}},
	{"api.anthropic.com", {"claude-fable-5", 10, 50, 1, 12.5}},
	{"api.anthropic.com", {"claude-opus-5-5", 4, 20, 0.2, 5}},
	{"api.anthropic.com", {"claude-opus-5", 5, 25, 0.5, 6.25}},
	{"api.anthropic.com", {"claude-opus-4-8", 5, 25, 0.5, 6.25}},
	{"api.anthropic.com", {"claude-opus-4-7", 5, 25, 0.5, 6.25}},
	{"api.anthropic.com", {"claude-opus-4-6", 5, 25, 0.5, 6.25}},
	{"api.anthropic.com", {"claude-opus-4-5", 5, 25, 0.5, 6.25}},
	{"api.anthropic.com", {"claude-opus-4-1", 15, 75, 1.5, 18.75}},
	{"api.anthropic.com", {"claude-opus-4", 15, 75, 1.5, 18.75}},
	{"api.anthropic.com", {"claude-sonnet-5-5", 2, 10, 0.1, 2.5}},
	{"api.anthropic.com", {"claude-sonnet-5", 2, 10, 0.2, 2.5}},
	{"api.anthropic.com", {"claude-sonnet-4-6", 3, 15, 0.3, 3.75}},
	{"api.anthropic.com", {"claude-sonnet-4-5", 3, 15, 0.3, 3.75}},
	{"api.anthropic.com", {"claude-sonnet-4", 3, 15, 0.3, 3.75}},
	{"api.anthropic.com", {"claude-haiku-5-5", 0.5, 2.5, 0.05, 0.625}},
	{"api.anthropic.com", {"claude-haiku-4-5", 1, 5, 0.1, 1.25}},
	{"api.anthropic.com", {"claude-3-5-haiku", 0.8, 4, 0.08, 1}},
	{"api.openai.com", {"gpt-5.2", 1.75, 14, 0.175, 1.75}},
	{"api.openai.com", {"gpt-5.1", 1.25, 10, 0.125, 1.25}},
	{"api.openai.com", {"gpt-5", 1.25, 10, 0.125, 1.25}},
	{"api.openai.com", {"gpt-5-mini", 0.25, 2, 0.025, 0.25}},
	{"api.openai.com", {"gpt-5-nano", 0.05, 0.4, 0.005, 0.05}},
	{"api.openai.com", {"gpt-4.1", 2, 8, 0.5, 2}},
	{"api.openai.com", {"gpt-4.1-mini", 0.4, 1.6, 0.1, 0.4}},
	{"api.openai.com", {"gpt-4o", 2.5, 10, 1.25, 2.5}},
	{"api.openai.com", {"gpt-4o-mini", 0.15, 0.6, 0.075, 0.15}},
};

/* Reports whether this is the date that a vendor appends to a model's name: -20250514 or
 * -2025-05-14. */
static bool is_date(const char *text)
{
	size_t digits = 0;
	for (const char *p = text; *p; p++) {
		digits += isdigit((unsigned char)*p) != 0;
		if (!isdigit((unsigned char)*p) && *p != '-')
			return false;
	}
	return *text == '-' && digits == 8;
}

static bool is_model(const char *name, const char *model)
{
	size_t len = strlen(name);
	return !strncmp(model, name, len) && (!model[len] || is_date(model + len));
}

const struct config_price *config_price(const struct config_provider *provider, const char *model)
{
	const struct config_price *any = NULL;
	for (size_t i = 0; i < provider->price_count; i++) {
		if (!strcmp(provider->prices[i].model, model))
			return &provider->prices[i];
		if (!strcmp(provider->prices[i].model, "*"))
			any = &provider->prices[i];
	}
	for (size_t i = 0; !any && i < ARRAY_LEN(builtins); i++)
		if (!strcmp(builtins[i].host, provider->host) &&
			is_model(builtins[i].price.model, model))
			return &builtins[i].price;
	return any;
}

const struct config_provider *config_provider(const struct config *config, const char *name)
{
	if (!name)
		return config->provider_count == 1 ? &config->providers[0] : NULL;
	for (size_t i = 0; i < config->provider_count; i++)
		if (!strcmp(config->providers[i].name, name))
			return &config->providers[i];
	return NULL;
}

const struct config_provider *config_agent_provider(
	const struct config *config, const struct state *state, const char **model)
{
	const struct config_role *worker = &config->models.worker;
	*model = state->agent.model ? state->agent.model : worker->model;
	return config_provider(
		config, state->agent.provider ? state->agent.provider : worker->provider);
}

const struct config_provider *config_reviewer(const struct config *config, const char **model)
{
	const struct config_role *reviewer = &config->models.reviewer;
	*model = reviewer->model;
	if (config->agent.summarise != SUMMARISE_MODEL || !reviewer->model)
		return NULL;
	return config_provider(config, reviewer->provider);
}

static double number_at(
	const struct config *config, const char *const path[4], const char *field, double otherwise)
{
	const char *const full[] = {path[0], path[1], path[2], path[3], field};
	const struct doc_node *node = config_find(config, full, 5, NULL);
	if (!node)
		return otherwise;
	return node->kind == DOC_INT ? (double)node->integer : node->number;
}

/* Decodes prices. Without a price of its own, a cached token costs as much as an uncached one, and
 * a written one a quarter more: a hard limit must never be too generous. */
static void decode_prices(struct config *config, struct config_provider *provider)
{
	const char *path[] = {"providers", provider->name, "prices", NULL}, *const * models;
	size_t count = config_names(config, path, 3, &models);
	struct config_price *prices = arena_array(&config->store->arena, count, sizeof(*prices));
	for (size_t i = 0; i < count; i++) {
		path[3] = models[i];
		double input = number_at(config, path, "input", 0);
		prices[i] = (struct config_price){models[i], input,
			number_at(config, path, "output", 0),
			number_at(config, path, "cache_read", input),
			number_at(config, path, "cache_write", input * 1.25)};
	}
	provider->prices = prices;
	provider->price_count = count;
}

static const struct config_sent *decode_sent(struct config *config,
	const struct config_provider *provider, const char *key, size_t *count)
{
	const char *path[] = {"providers", provider->name, key, NULL}, *const * names;
	size_t room = config_names(config, path, 3, &names);
	struct config_sent *all = arena_array(&config->store->arena, room, sizeof(*all));
	*count = 0;
	for (size_t i = 0; i < room; i++) {
		path[3] = names[i];
		const struct doc_node *node = config_find(config, path, 4, NULL);
		const struct doc_node *env = doc_get(node, "env");
		if (node)
			all[(*count)++] = (struct config_sent){
				names[i], env ? NULL : node->text, env ? env->text : NULL};
	}
	return all;
}

/* Decodes the address. A bad one leaves the host empty; config_check reports it. */
static void decode_address(struct config *config, struct config_provider *provider)
{
	struct url u;
	if (!provider->base_url || url_parse(provider->base_url, &u, NULL))
		return;
	provider->host = arena_copy(&config->store->arena, u.at.host, strlen(u.at.host));
	provider->endpoint = arena_copy(&config->store->arena, u.at.text, strlen(u.at.text));
	provider->port = u.at.port;
	provider->tls = u.tls;
	provider->loopback = u.loopback;
}

static void decode_provider(struct config *config, struct config_provider *provider)
{
	const char *path[] = {"providers", provider->name, NULL};
	for (size_t i = 0; i < config_provider_key_count; i++) {
		path[2] = config_provider_keys[i].name;
		key_store(config, &config_provider_keys[i], config_find(config, path, 3, NULL),
			provider);
	}
	decode_address(config, provider);
	decode_prices(config, provider);
	provider->headers = decode_sent(config, provider, "headers", &provider->header_count);
	provider->query = decode_sent(config, provider, "query", &provider->query_count);
	if (provider->idle_timeout_secs == CONFIG_NONE)
		provider->idle_timeout_secs = provider->loopback ? 600 : 60;
	path[2] = "auth";
	if (!config_find(config, path, 3, NULL))
		provider->auth =
			provider->api_format == API_ANTHROPIC ? AUTH_X_API_KEY : AUTH_BEARER;
}

void config_decode_providers(struct config *config)
{
	const char *const *names;
	size_t count = config_names(config, (const char *const[]){"providers"}, 1, &names);
	struct config_provider *all = arena_array(&config->store->arena, count, sizeof(*all));
	for (size_t i = 0; i < count; i++) {
		all[i].name = names[i];
		all[i].host = all[i].endpoint = "";
		decode_provider(config, &all[i]);
	}
	config->providers = all;
	config->provider_count = count;
}
