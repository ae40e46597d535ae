#include "agent/metered_client.h"

#include "agent/emit.h"
#include "base/clock.h"
#include <sys/random.h>

static void on_notice(void *context, const char *text)
{
	const struct metered_client *metered = context;
	emit_notice("%s%s", metered->about, text);
}

static void on_bill(void *context, const struct usage *usage)
{
	struct metered_client *metered = context;
	ledger_add(metered->ledger, usage, metered->prices);
	usage_add(&metered->spent, usage);
	metered->counted = usage->known ? usage->input : 0;
	metered->wrote = usage->known ? usage->output : 0;
	emit(EVENT_SPENT, ledger_json(metered->ledger));
}

static const char *on_explain(void *context)
{
	const struct metered_client *metered = context;
	return metered->channels ? channels_refusal(metered->channels) : NULL;
}

static void on_open(void *context, const struct usage *told, const struct usage *most)
{
	const struct metered_client *metered = context;
	ledger_open(metered->ledger, told, most, metered->prices);
}

int metered_client_open(struct metered_client *out, const struct agent_provider *provider,
	int channel_fd, int64_t deadline_ms, struct err *e)
{
	const struct wire_format *format = wire_format(provider->api_format);
	if (!format)
		return err_set(e, "api_format %s is not known", provider->api_format);
	struct http_options o = {.base_url = provider->base_url,
		.any_version = format == &openai_format,
		.query = provider->query,
		.ca_file = provider->ca_file,
		.channel_fd = channel_fd,
		.proxied = out->channels && out->channels->proxied,
		.connect_timeout_ms = provider->connect_timeout_secs * 1000,
		.idle_timeout_ms = provider->idle_timeout_secs * 1000};
	struct http *http = http_open(&o, e);
	if (!http)
		return -1;
	uint64_t seed = 0;
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = (uint64_t)clock_monotonic_ms();
	out->prices = provider->prices;
	out->client = (struct client){.format = format,
		.http = http,
		.auth = provider->auth,
		.key = provider->key,
		.headers = provider->headers.items,
		.api_version = provider->api_version ? provider->api_version : "2023-06-01",
		.call_timeout_ms = provider->timeout_secs * 1000,
		.deadline_ms = deadline_ms,
		.max_retries = provider->max_retries,
		.seed = seed | 1, /* the generator stays at 0 for ever */
		.notice = on_notice,
		.bill = on_bill,
		.open = on_open,
		.explain = on_explain,
		.context = out};
	return 0;
}

void metered_client_close(struct metered_client *metered)
{
	http_close(metered->client.http);
	metered->client.http = NULL;
}

int metered_client_ask(struct metered_client *metered, const struct wire_request *request,
	size_t serial, struct wire_reply *out, struct fault *fault)
{
	metered->spent = USAGE_NONE;
	metered->wrote = 0;
	return client_call(&metered->client, request, serial, out, fault);
}
