/* Builds an agent's first line: the endpoints it may reach, and the policy for confining itself. */
#include "config/url.h"
#include "confine/confine.h"

#include <string.h>

static bool has_channel(const json_t *list, const char *name)
{
	size_t i;
	json_t *channel;
	json_array_foreach (list, i, channel)
		if (!strcmp(json_string_value(json_object_get(channel, "name")), name))
			return true;
	return false;
}

/* Returns the channels of the providers, then one for every host that the operator has added. */
static json_t *channels(const struct config_sandbox *sandbox,
	const struct config_provider *const *providers, size_t count)
{
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++) {
		const struct config_provider *p = providers[i];
		if (p && !has_channel(list, p->name))
			json_array_append_new(list,
				json_pack("{s:s,s:s,s:b,s:b,s:b,s:s*}", "name", p->name, "endpoint",
					p->endpoint, "tls", p->tls, "local", p->loopback, "private",
					p->private_network, "ca_file", p->ca_file));
	}
	for (size_t i = 0; i < sandbox->allow_urls.count; i++) {
		struct url u;
		if (url_parse_host(sandbox->allow_urls.items[i], &u, NULL)) {
			json_decref(list);
			return NULL;
		}
		json_array_append_new(
			list, json_pack("{s:s,s:s,s:b,s:b,s:b}", "name",
				      sandbox->allow_urls.items[i], "endpoint", u.at.text, "tls",
				      u.tls, "local", u.loopback, "private", 0));
	}
	return list;
}

json_t *confine_agent(const struct confine *confine, const struct config_provider *const *providers,
	size_t count, const char *state_dir)
{
	const struct config_sandbox *sandbox = &confine->config->sandbox;
	json_t *cap = sandbox->max_egress_bytes >= 0
			      ? json_integer((json_int_t)sandbox->max_egress_bytes)
			      : json_null();
	return json_pack("{s:i,s:s,s:s,s:s,s:s,s:o,s:o,s:s?}", "version", 1, "profile",
		confine->profile, "agent_network",
		config_word("sandbox.agent_network", sandbox->agent_network), "workspace",
		confine->workspace, "state_dir", state_dir, "channels",
		channels(sandbox, providers, count), "max_egress_bytes", cap, "upstream_proxy",
		sandbox->upstream_proxy);
}
