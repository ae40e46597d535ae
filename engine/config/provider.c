/* Providers: entries with free names, their addresses and their prices. */
#include "config/keys.h"
#include "config/url.h"
#include "machine/machine.h"
#include <ctype.h>
#include <string.h>

/* USD per million tokens (input, output, cache read, cache write of five minutes) at the vendors'
 * own endpoints, as of November 2026:
 *   https://platform.claude.com/docs/en/about-claude/pricing
 *   https://developers.openai.com/api/docs/pricing
 * A model that costs more for long prompts stands here with its higher price, or not at all: a
 * hard limit must never be too generous. A model that is not here, or is served by someone else,
 * has no price until the operator gives one. */
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

/* What a vendor puts behind a model's name: -20250514 or -2025-05-14. */
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

const struct config_price *config_price(const struct config_provider *p, const char *model)
{
	const struct config_price *any = NULL;
	for (size_t i = 0; i < p->price_count; i++) {
		if (!strcmp(p->prices[i].model, model))
			return &p->prices[i];
		if (!strcmp(p->prices[i].model, "*"))
			any = &p->prices[i];
	}
	for (size_t i = 0; !any && i < ARRAY_LEN(builtins); i++)
		if (!strcmp(builtins[i].host, p->host) && is_model(builtins[i].price.model, model))
			return &builtins[i].price;
	return any;
}

const struct config_provider *config_provider(const struct config *c, const char *name)
{
	if (!name)
		return c->provider_count == 1 ? &c->providers[0] : NULL;
	for (size_t i = 0; i < c->provider_count; i++)
		if (!strcmp(c->providers[i].name, name))
			return &c->providers[i];
	return NULL;
}

const struct config_provider *config_agent_provider(
	const struct config *c, const struct state *s, const char **model)
{
	const struct config_role *worker = &c->models.worker;
	*model = s->agent.model ? s->agent.model : worker->model;
	return config_provider(c, s->agent.provider ? s->agent.provider : worker->provider);
}

const struct config_provider *config_reviewer(const struct config *c, const char **model)
{
	const struct config_role *reviewer = &c->models.reviewer;
	*model = reviewer->model;
	if (c->agent.summarise != SUMMARISE_MODEL || !reviewer->model)
		return NULL;
	return config_provider(c, reviewer->provider);
}

static double number_at(
	const struct config *c, const char *const path[4], const char *field, double otherwise)
{
	const char *const full[] = {path[0], path[1], path[2], path[3], field};
	const struct doc_node *node = config_find(c, full, 5, NULL);
	if (!node)
		return otherwise;
	return node->kind == DOC_INT ? (double)node->integer : node->number;
}

/* Without a price of its own a cached token costs what an uncached one does, a written one a
 * quarter more: a hard limit must never be too generous. */
static void decode_prices(struct config *c, struct config_provider *p)
{
	const char *path[] = {"providers", p->name, "prices", NULL}, *const * models;
	size_t count = config_names(c, path, 3, &models);
	struct config_price *prices = arena_array(&c->store->arena, count, sizeof(*prices));
	for (size_t i = 0; i < count; i++) {
		path[3] = models[i];
		double input = number_at(c, path, "input", 0);
		prices[i] = (struct config_price){models[i], input, number_at(c, path, "output", 0),
			number_at(c, path, "cache_read", input),
			number_at(c, path, "cache_write", input * 1.25)};
	}
	p->prices = prices;
	p->price_count = count;
}

static const struct config_sent *decode_sent(
	struct config *c, const struct config_provider *p, const char *key, size_t *count)
{
	const char *path[] = {"providers", p->name, key, NULL}, *const * names;
	size_t room = config_names(c, path, 3, &names);
	struct config_sent *all = arena_array(&c->store->arena, room, sizeof(*all));
	*count = 0;
	for (size_t i = 0; i < room; i++) {
		path[3] = names[i];
		const struct doc_node *node = config_find(c, path, 4, NULL);
		const struct doc_node *env = doc_get(node, "env");
		if (node)
			all[(*count)++] = (struct config_sent){
				names[i], env ? NULL : node->text, env ? env->text : NULL};
	}
	return all;
}

/* A bad address has no host here; config_check reports it. */
static void decode_address(struct config *c, struct config_provider *p)
{
	struct url u;
	if (!p->base_url || url_parse(p->base_url, &u, NULL))
		return;
	p->host = arena_copy(&c->store->arena, u.at.host, strlen(u.at.host));
	p->endpoint = arena_copy(&c->store->arena, u.at.text, strlen(u.at.text));
	p->port = u.at.port;
	p->tls = u.tls;
	p->loopback = u.loopback;
}

static void decode_provider(struct config *c, struct config_provider *p)
{
	const char *path[] = {"providers", p->name, NULL};
	for (size_t i = 0; i < config_provider_key_count; i++) {
		path[2] = config_provider_keys[i].name;
		key_store(c, &config_provider_keys[i], config_find(c, path, 3, NULL), p);
	}
	decode_address(c, p);
	decode_prices(c, p);
	p->headers = decode_sent(c, p, "headers", &p->header_count);
	p->query = decode_sent(c, p, "query", &p->query_count);
	if (p->idle_timeout_secs == CONFIG_NONE)
		p->idle_timeout_secs = p->loopback ? 600 : 60;
	path[2] = "auth";
	if (!config_find(c, path, 3, NULL))
		p->auth = p->api_format == API_ANTHROPIC ? AUTH_X_API_KEY : AUTH_BEARER;
}

void config_decode_providers(struct config *c)
{
	const char *const *names;
	size_t count = config_names(c, (const char *const[]){"providers"}, 1, &names);
	struct config_provider *all = arena_array(&c->store->arena, count, sizeof(*all));
	for (size_t i = 0; i < count; i++) {
		all[i].name = names[i];
		all[i].host = all[i].endpoint = "";
		decode_provider(c, &all[i]);
	}
	c->providers = all;
	c->provider_count = count;
}
