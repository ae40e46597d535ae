/* Every effective value with the layer that set it, for `config show`. */
#include "config/keys.h"
#include <string.h>

struct each {
	const struct config *c;
	config_each_fn *call;
	void *ctx;
};

static void give(const struct each *each, const char *key, json_t *value, enum config_layer layer)
{
	each->call(each->ctx, key, value, layer);
	json_decref(value);
}

/* Gives one field below free names: "providers.NAME.FIELD". */
static void give_at(const struct each *each, const char *const *path, size_t depth, json_t *value)
{
	char key[512];
	size_t used = 0;
	enum config_layer layer;
	config_find(each->c, path, depth, &layer);
	for (size_t i = 0; i < depth && used < sizeof(key); i++)
		used += (size_t)snprintf(
			key + used, sizeof(key) - used, "%s%s", i ? "." : "", path[i]);
	give(each, key, value, layer);
}

static void give_prices(const struct each *each, const struct config_provider *provider)
{
	for (size_t i = 0; i < provider->price_count; i++) {
		const struct config_price *price = &provider->prices[i];
		const char *path[] = {"providers", provider->name, "prices", price->model};
		give_at(each, path, ARRAY_LEN(path),
			json_pack("{sf sf sf sf}", "input", price->input, "output", price->output,
				"cache_read", price->cache_read, "cache_write",
				price->cache_write));
	}
}

/* Gives headers or query parameters without their texts, which may be credentials. */
static void give_sent(const struct each *each, const struct config_provider *provider,
	const char *key, const struct config_sent *sent, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *path[] = {"providers", provider->name, key, sent[i].name};
		give_at(each, path, ARRAY_LEN(path),
			sent[i].env ? json_pack("{ss}", "env", sent[i].env)
				    : json_string("[REDACTED]"));
	}
}

static void section_PROVIDERS(const struct each *each)
{
	for (size_t i = 0; i < each->c->provider_count; i++) {
		const struct config_provider *p = &each->c->providers[i];
		const char *path[] = {"providers", p->name, NULL};
		for (size_t k = 0; k < config_provider_key_count; k++) {
			path[2] = config_provider_keys[k].name;
			give_at(each, path, ARRAY_LEN(path), key_json(&config_provider_keys[k], p));
		}
		give_sent(each, p, "headers", p->headers, p->header_count);
		give_sent(each, p, "query", p->query, p->query_count);
		give_prices(each, p);
	}
}

static void section_SECRETS(const struct each *each)
{
	for (size_t i = 0; i < each->c->sandbox.secret_count; i++) {
		const struct config_secret *s = &each->c->sandbox.secrets[i];
		const char *path[] = {"sandbox", "secrets", s->name};
		json_t *machines = json_array();
		for (size_t k = 0; k < s->machines.count; k++)
			json_array_append_new(machines, json_string(s->machines.items[k]));
		give_at(each, path, ARRAY_LEN(path),
			json_pack("{ss so}", "env", s->env, "machines", machines));
	}
}

/* Returns an address without its user and password: SCHEME://USER:PASSWORD@HOST. */
static json_t *without_user(const char *url)
{
	const char *host = strstr(url, "://");
	host = host ? host + 3 : url;
	size_t authority = strcspn(host, "/?#");
	const char *at = memrchr(host, '@', authority);
	return at ? json_sprintf("%.*s[REDACTED]%s", (int)(host - url), url, at) : json_string(url);
}

static void give_key(const struct each *each, const struct key *key)
{
	enum config_layer layer;
	const char *proxy = each->c->sandbox.upstream_proxy;
	bool secret = proxy && !strcmp(key->name, "sandbox.upstream_proxy");
	config_find_key(each->c, key->name, &layer);
	if (key->kind == KEY_NEVER)
		layer = LAYER_DEFAULT;
	give(each, key->name, secret ? without_user(proxy) : key_json(key, each->c), layer);
}

void config_each(const struct config *config, config_each_fn *call, void *ctx)
{
	const struct each each = {config, call, ctx};
	const struct key *key = config_keys;
	enum config_layer layer;
	config_find_key(config, "agent6.state_dir", &layer);
	give(&each, "agent6.state_dir",
		config->state_dir ? json_string(config->state_dir) : json_null(),
		config->store->state_home ? LAYER_ENVIRONMENT : layer);
#define SECTION(name)          section_##name(&each);
#define KEY(kind, name, field) give_key(&each, key++);
#include "config/keys.def"
#undef KEY
#undef SECTION
}
