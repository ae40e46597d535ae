/* Checks the rules of a configuration that go beyond its shape. */
#include "base/etc_table.h"
#include "base/num.h"
#include "base/path.h"
#include "config/keys.h"
#include "config/network.h"
#include "config/url.h"
#include "schema/advice.h"
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { NAMES_SHOWN_MAX = 20 };

struct check {
	const struct config *c;
	struct findings *f;
};

static const struct doc *doc_of(const struct check *check, enum config_layer layer)
{
	return check->c->store->layers[layer].doc;
}

/* Reports whether a path is absolute, in the one spelling that comparisons rely on. */
static bool is_clean(const char *path)
{
	return path_is_normal(path) || !strcmp(path, "/");
}

static void check_path(
	const struct check *check, const struct doc_node *node, enum config_layer layer)
{
	if (is_clean(node->text))
		return;
	struct finding *it = finding_add(check->f, RULE_CONFIG_PATH, doc_of(check, layer), node,
		"`%.200s` is not a plain absolute path", node->text);
	finding_help(check->f, it, "write it without `.`, `..`, doubled or trailing slashes");
}

static void check_path_key(const struct check *check, const char *key)
{
	enum config_layer layer;
	const struct doc_node *node = config_find_key(check->c, key, &layer);
	if (!node)
		return;
	if (node->kind == DOC_STR)
		check_path(check, node, layer);
	for (uint32_t i = 0; node->kind == DOC_LIST && i < node->count; i++)
		check_path(check, &node->items[i], layer);
}

/* Checks that an entry has a key in some layer: each layer may set single keys of it. */
static void check_has(
	const struct check *check, const char *const *path, size_t depth, const char *key)
{
	const char *whole[] = {path[0], path[1], depth > 2 ? path[2] : key, key};
	enum config_layer layer;
	const struct doc_node *entry = config_find(check->c, path, depth, &layer);
	if (entry && !config_find(check->c, whole, depth + 1, NULL))
		finding_add(check->f, RULE_MISSING_KEY, doc_of(check, layer), entry,
			"`%.64s` needs the key `%s`", path[depth - 1], key);
}

/* Reports whether the key would be sent without TLS to another host, so that anybody on the way
 * could read it. */
static bool shows_key(const struct config_provider *provider, const struct url *url)
{
	bool sends = provider->auth != AUTH_NONE;
	for (size_t i = 0; i < provider->header_count; i++)
		sends |= provider->headers[i].env != NULL;
	for (size_t i = 0; i < provider->query_count; i++)
		sends |= provider->query[i].env != NULL;
	return sends && !url->tls && !url->loopback && !url->private && !provider->private_network;
}

/* Returns the end of base_url that is the address of one call; NULL: it has none. */
static const char *call_path(const char *url)
{
	static const char *const paths[] = {"/chat/completions", "/messages", "/responses"};
	const char *host = strstr(url, "://"), *path = host ? strchr(host + 3, '/') : NULL;
	size_t len = path ? strlen(path) : 0;
	while (len && path[len - 1] == '/')
		len--;
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		size_t tail = strlen(paths[i]);
		if (len >= tail && !memcmp(path + len - tail, paths[i], tail))
			return path + len - tail;
	}
	return NULL;
}

static void check_call_path(
	const struct check *check, const struct doc *doc, const struct doc_node *url)
{
	const char *path = call_path(url->text);
	if (!path)
		return;
	finding_help(check->f,
		finding_add(check->f, RULE_CONFIG_URL, doc, url,
			"`%.200s` is the address of one kind of call; agent6 adds the call's own "
			"path to a base_url",
			url->text),
		"write `%.*s`", (int)(path - url->text), url->text);
}

/* Returns the setting that sends this header; NULL: none of ours. */
static const char *sent_by_us(const struct config_provider *provider, const char *name)
{
	static const char *const always[] = {"accept", "accept-encoding", "anthropic-version",
		"connection", "content-encoding", "content-length", "content-type", "expect",
		"host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
		"user-agent"};
	for (size_t i = 0; i < ARRAY_LEN(always); i++)
		if (!strcasecmp(name, always[i]))
			return strncmp(always[i], "anthropic", 9) ? "" : " (`api_version`)";
	const char *key = provider->auth == AUTH_BEARER      ? "authorization"
			  : provider->auth == AUTH_X_API_KEY ? "x-api-key"
							     : "";
	return strcasecmp(name, key) ? NULL : " (`auth`)";
}

static void bad_header(const struct check *check, const struct config_provider *provider,
	const char *name, const char *why, const char *fix)
{
	const char *path[] = {"providers", provider->name, "headers", name};
	enum config_layer layer;
	const struct doc_node *node = config_find(check->c, path, 4, &layer);
	finding_help(check->f,
		finding_add(check->f, RULE_CONFIG_HEADER, doc_of(check, layer), node, "`%.128s` %s",
			name, why),
		"%s", fix);
}

static bool is_printable(const char *text)
{
	for (; text && *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

static void check_headers(const struct check *check, const struct config_provider *provider)
{
	for (size_t i = 0; i < provider->header_count; i++) {
		const char *name = provider->headers[i].name, *ours = sent_by_us(provider, name);
		char why[96];
		snprintf(why, sizeof(why), "is a header that agent6 sets itself%s",
			ours ? ours : "");
		if (ours)
			bad_header(check, provider, name, why, "leave it out");
		if (!is_printable(provider->headers[i].text))
			bad_header(check, provider, name, "holds a byte outside printable ASCII",
				"write it in ASCII, percent-encoded or in base64, as the server "
				"expects it");
		for (size_t n = 0; n < i; n++)
			if (!strcasecmp(name, provider->headers[n].name))
				bad_header(check, provider, name,
					"is there in another spelling, too",
					"a header's name has no case; keep one of them");
	}
}

static void check_token_command(const struct check *check, const struct config_provider *provider)
{
	const char *path[] = {"providers", provider->name, "token_command"};
	enum config_layer layer;
	const struct doc_node *node = config_find(check->c, path, 3, &layer);
	const char *why = provider->auth == AUTH_NONE ? "`auth: none` sends no key"
			  : provider->api_key_env
				  ? "`api_key_env` says where the key comes from, too"
				  : NULL;
	if (!provider->token_command.count || !node)
		return;
	if (!*provider->token_command.items[0])
		finding_help(check->f,
			finding_add(check->f, RULE_CONFIG_KEY, doc_of(check, layer), node,
				"`token_command` names no program"),
			"write the program and its arguments, [PROGRAM, ARGUMENT, ...]");
	else if (why)
		finding_help(check->f,
			finding_add(check->f, RULE_CONFIG_KEY, doc_of(check, layer), node,
				"`token_command` of `%.64s` prints a key, and %s", provider->name,
				why),
			"leave one of the two out");
}

static void check_provider(const struct check *check, const struct config_provider *provider)
{
	const char *path[] = {"providers", provider->name, "base_url"};
	enum config_layer layer;
	check_has(check, path, 2, "api_format");
	check_has(check, path, 2, "base_url");
	struct err e = ERR_NONE;
	struct url u;
	const struct doc_node *url = config_find(check->c, path, 3, &layer);
	if (url && url_parse(url->text, &u, &e)) {
		struct finding *it = finding_add(check->f, RULE_CONFIG_URL, doc_of(check, layer),
			url, "`%.200s` is not an address of a provider: %s", url->text, e.text);
		finding_help(check->f, it, "write http://HOST:PORT or https://HOST");
	} else if (url && shows_key(provider, &u)) {
		finding_help(check->f,
			finding_add(check->f, RULE_CONFIG_CLEARTEXT, doc_of(check, layer), url,
				"the key of `%.64s` goes to %.200s unencrypted, readable on the "
				"way",
				provider->name, u.at.host),
			"write https://; or `auth: none` for an endpoint that takes no key, "
			"`private_network: true` for one of your own network");
	}
	if (url && !*e.text)
		check_call_path(check, doc_of(check, layer), url);
	check_headers(check, provider);
	check_token_command(check, provider);
	path[2] = "ca_file";
	const struct doc_node *file = config_find(check->c, path, 3, &layer);
	if (file)
		check_path(check, file, layer);
}

static void unknown_provider(
	const struct check *check, const struct doc *doc, const struct doc_node *name)
{
	const char *names[NAMES_SHOWN_MAX];
	size_t count = 0;
	for (; count < check->c->provider_count && count < NAMES_SHOWN_MAX; count++)
		names[count] = check->c->providers[count].name;
	struct finding *it = finding_add(check->f, RULE_CONFIG_PROVIDER, doc, name,
		"no provider is called `%.64s`", name->text);
	advise_word(check->f, it, name->text, names, count);
}

static void check_role(const struct check *check, const char *role)
{
	const char *path[] = {"models", role, "provider"};
	enum config_layer own, layer;
	const struct doc_node *entry = config_find(check->c, path, 2, &own);
	const struct doc_node *name = config_find(check->c, path, 3, &layer);
	if (!entry)
		return;
	check_has(check, path, 2, "model");
	if (name && !config_provider(check->c, name->text))
		unknown_provider(check, doc_of(check, layer), name);
	if (!name && check->c->provider_count != 1)
		finding_add(check->f, RULE_CONFIG_PROVIDER, doc_of(check, own), entry,
			"`models.%s` must name its provider, because %zu are configured", role,
			check->c->provider_count);
}

static void check_hosts(const struct check *check)
{
	enum config_layer layer;
	const struct doc_node *list = config_find_key(check->c, "sandbox.allow_urls", &layer);
	for (uint32_t i = 0; list && i < list->count; i++) {
		struct err e = ERR_NONE;
		struct url u;
		struct finding *it = NULL;
		if (url_parse_host(list->items[i].text, &u, &e))
			it = finding_add(check->f, RULE_CONFIG_URL, doc_of(check, layer),
				&list->items[i], "`%.200s` is neither a host nor an address: %s",
				list->items[i].text, e.text);
		if (it)
			finding_help(check->f, it, "write HOST, HOST:PORT or https://HOST[:PORT]");
	}
	if (list && list->count > ALLOW_URLS_MAX)
		finding_add(check->f, RULE_CONFIG_URL, doc_of(check, layer),
			&list->items[ALLOW_URLS_MAX],
			"more than %d hosts in `allow_urls`: each takes a channel of its own",
			ALLOW_URLS_MAX);
}

/* Checks that the broker would accept the names. */
static void check_private_hosts(const struct check *check)
{
	enum config_layer layer;
	const struct doc_node *list = config_find_key(check->c, "sandbox.private_hosts", &layer);
	for (uint32_t i = 0; list && i < list->count; i++) {
		struct host_port name;
		if (!host_name_rule_decode(&name, list->items[i].text, NULL))
			continue;
		struct finding *it = finding_add(check->f, RULE_CONFIG_URL, doc_of(check, layer),
			&list->items[i], "`%.200s` is not the name of a host", list->items[i].text);
		finding_help(check->f, it,
			"write HOST or *.HOST without a port, which tool states name in "
			"`allow_network`; an address that one names there needs no permission");
	}
}

/* Reports whether the broker accepts the proxy. A TLS session with the proxy would stay in libcurl
 * when it hands the socket out. */
static bool is_proxy(const char *text)
{
	static const char *const schemes[] = {"http://", "socks5://", "socks5h://"};
	bool known = false;
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		known |= !strncmp(text, schemes[i], strlen(schemes[i]));
	const char *port = strrchr(text, ':') + 1;
	int64_t number;
	return known && !num_int(port, strcspn(port, "/"), &number) && number >= 1 &&
	       number <= 65535;
}

static void check_proxy(const struct check *check)
{
	enum config_layer layer;
	const struct doc_node *proxy = config_find_key(check->c, "sandbox.upstream_proxy", &layer);
	if (!proxy || (strchr(proxy->text, ':') && is_proxy(proxy->text)))
		return;
	struct finding *it = finding_add(check->f, RULE_CONFIG_URL, doc_of(check, layer), proxy,
		"the proxy is not http://, socks5:// or socks5h:// and PROXY:PORT");
	finding_help(check->f, it, "write http://PROXY:PORT or socks5h://PROXY:PORT");
}

static void check_network(const struct check *check)
{
	const struct config_sandbox *s = &check->c->sandbox;
	enum config_layer layer;
	const struct doc_node *tool = config_find_key(check->c, "sandbox.tool_network", &layer);
	/* Refuse what is wrong on every profile and for every state. */
	const struct network_refusal *refusal = network_refusal(
		network_find(&(struct network_case){NETWORK_ON_STRICT, (int)s->agent_network,
				     (int)s->tool_network, NETWORK_AUTO})
			->agent);
	if (refusal) {
		struct finding *it = finding_add(check->f, RULE_CONFIG_NETWORK,
			doc_of(check, layer), tool, "%s", refusal->reason);
		finding_help(check->f, it, "%s", refusal->fix);
	}
	const struct doc_node *urls = config_find_key(check->c, "sandbox.allow_urls", &layer);
	if (s->allow_urls.count && s->agent_network != AGENT_NETWORK_PROVIDERS)
		finding_add(check->f, RULE_CONFIG_NETWORK, doc_of(check, layer), urls,
			"`allow_urls` has a meaning only under `agent_network: providers`");
}

static void check_never_honoured(const struct check *check)
{
	for (size_t i = 0; i < config_key_count; i++) {
		enum config_layer layer;
		const char *name = config_keys[i].name;
		const struct doc_node *node = config_find_key(check->c, name, &layer);
		if (config_keys[i].kind == KEY_NEVER && node && node->boolean)
			finding_add(check->f, RULE_CONFIG_NEVER_HONOURED, doc_of(check, layer),
				node, "`%s` is never honoured", name);
	}
}

static void check_state_dir(const struct check *check, const struct config_paths *paths)
{
	enum config_layer layer;
	const struct doc_node *node = config_find_key(check->c, "agent6.state_dir", &layer);
	struct doc environment = {.file = check->c->store->state_home ? "AGENT6_STATE_HOME"
								      : "XDG_STATE_HOME or HOME"};
	const struct doc *d = check->c->store->state_home ? &environment
			      : node                      ? doc_of(check, layer)
							  : &environment;
	const struct doc_node *at = d == &environment ? NULL : node;
	AUTO_FREE char *workspace = paths->workspace ? realpath(paths->workspace, NULL) : NULL;
	struct err e = ERR_NONE;
	free(config_state_dir(check->c->state_dir, workspace, &e));
	if (*e.text)
		finding_add(check->f, RULE_CONFIG_PATH, d, at, "%s", e.text);
}

/* Returns the first of `list` that exists and lies below `path`; *within: one of them contains
 * it. */
static const char *shown_below(
	const char *const *list, size_t count, const char *path, bool *within)
{
	const char *below = NULL;
	for (size_t i = 0; i < count; i++) {
		*within |= path_is_within(path, list[i]);
		if (!below && path_is_below(list[i], path) && !access(list[i], F_OK))
			below = list[i];
	}
	return below;
}

/* Checks hidden paths. A jail has a root of its own: it shows the listed paths of the host, and no
 * directory above them. */
static void check_hide(const struct check *check, const char *workspace)
{
	static const char *const system[] = {PATH_SYSTEM_DIRS, ETC_SHOWN(ETC_PATHS)};
	const struct config_sandbox *s = &check->c->sandbox;
	enum config_layer layer;
	const struct doc_node *node = config_find_key(check->c, "sandbox.hide", &layer);
	for (uint32_t i = 0; node && node->kind == DOC_LIST && i < node->count; i++) {
		const struct doc_node *item = &node->items[i];
		bool within = false;
		if (!is_clean(item->text))
			continue;
		const char *const found[] = {
			shown_below(&workspace, workspace != NULL, item->text, &within),
			shown_below(s->read.items, s->read.count, item->text, &within),
			shown_below(s->write.items, s->write.count, item->text, &within),
			shown_below(system, ARRAY_LEN(system), item->text, &within)};
		for (size_t at = 0; !within && at < ARRAY_LEN(found); at++) {
			if (!found[at])
				continue;
			finding_help(check->f,
				finding_add(check->f, RULE_CONFIG_HIDES_NOTHING,
					doc_of(check, layer), item,
					"commands do not see `%.200s` itself, but %.200s in it, "
					"which stays visible",
					item->text, found[at]),
				"name what is to be hidden: %.200s, or what lies in it", found[at]);
			break;
		}
	}
}

void config_check(
	const struct config *config, const struct config_paths *paths, struct findings *findings)
{
	struct check k = {config, findings};
	static const char *const path_keys[] = {"sandbox.read", "sandbox.write", "sandbox.protect",
		"sandbox.hide", "machine.allowed_signers", "audit.path"};
	check_state_dir(&k, paths);
	for (size_t i = 0; i < config->provider_count; i++)
		check_provider(&k, &config->providers[i]);
	check_role(&k, "worker");
	check_role(&k, "reviewer");
	check_role(&k, "planner");
	for (size_t i = 0; i < ARRAY_LEN(path_keys); i++)
		check_path_key(&k, path_keys[i]);
	for (size_t i = 0; i < config->sandbox.secret_count; i++) {
		const char *path[] = {"sandbox", "secrets", config->sandbox.secrets[i].name};
		check_has(&k, path, 3, "env");
		check_has(&k, path, 3, "machines");
	}
	check_hide(&k, paths->workspace);
	check_hosts(&k);
	check_private_hosts(&k);
	check_proxy(&k);
	check_network(&k);
	check_never_honoured(&k);
}
