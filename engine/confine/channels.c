/* Makes an agent's order: the endpoints it may reach, and the policy for confining itself. */
#include "config/url.h"
#include "confine/confine.h"

#include <string.h>

static bool has_channel(const struct agent_order *order, const char *name)
{
	for (size_t i = 0; i < order->channel_count; i++)
		if (!strcmp(order->channels[i].name, name))
			return true;
	return false;
}

/* Adds the channels of the providers, then one for every host that the operator has added. */
static int add_channels(struct agent_order *order, const struct config_sandbox *sandbox,
	const struct config_provider *const *providers, size_t count, struct err *e)
{
	order->channels = arena_array(
		&order->arena, count + sandbox->allow_urls.count, sizeof(*order->channels));
	for (size_t i = 0; i < count; i++) {
		const struct config_provider *p = providers[i];
		if (p && !has_channel(order, p->name))
			order->channels[order->channel_count++] =
				(struct agent_channel){.name = p->name,
					.endpoint = p->endpoint,
					.tls = p->tls,
					.local = p->loopback,
					.private = p->private_network,
					.ca_file = p->ca_file};
	}
	for (size_t i = 0; i < sandbox->allow_urls.count; i++) {
		struct url u;
		if (url_parse_host(sandbox->allow_urls.items[i], &u, e))
			return -1;
		order->channels[order->channel_count++] =
			(struct agent_channel){.name = sandbox->allow_urls.items[i],
				.endpoint = arena_copy(&order->arena, u.at.text, strlen(u.at.text)),
				.tls = u.tls,
				.local = u.loopback};
	}
	return 0;
}

int confine_agent(const struct confine *confine, const struct config_provider *const *providers,
	size_t count, const char *state_dir, struct agent_order *out, struct err *e)
{
	const struct config_sandbox *sandbox = &confine->config->sandbox;
	*out = (struct agent_order){.version = AGENT_ORDER_VERSION,
		.profile = confine->profile,
		.agent_network = config_word("sandbox.agent_network", sandbox->agent_network),
		.workspace = confine->workspace,
		.max_egress_bytes = sandbox->max_egress_bytes,
		.upstream_proxy = sandbox->upstream_proxy};
	out->state_dir = arena_copy(&out->arena, state_dir, strlen(state_dir));
	return add_channels(out, sandbox, providers, count, e);
}
