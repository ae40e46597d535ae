#include "agent/endpoint.h"

#include "base/clock.h"
#include <sys/random.h>

int endpoint_open(const struct task_provider *p, int channel_fd, struct client *out, struct err *e)
{
	const struct wire_format *format = wire_format(p->api_format);
	if (!format)
		return err_set(e, "api_format %s is not known", p->api_format);
	struct http_options o = {.base_url = p->base_url,
		.any_version = format == &openai_format,
		.ca_file = p->ca_file,
		.channel_fd = channel_fd,
		.proxied = p->proxied,
		.connect_timeout_ms = p->connect_timeout_secs * 1000,
		.idle_timeout_ms = p->idle_timeout_secs * 1000};
	struct http *http = http_open(&o, e);
	if (!http)
		return -1;
	uint64_t seed = 1;
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed) || !seed)
		seed = (uint64_t)clock_monotonic_ms() | 1;
	*out = (struct client){.format = format,
		.http = http,
		.auth = p->auth,
		.key = p->key,
		.api_version = p->api_version ? p->api_version : "2023-06-01",
		.call_timeout_ms = p->timeout_secs * 1000,
		.max_retries = p->max_retries,
		.seed = seed};
	return 0;
}

void endpoint_close(struct client *c)
{
	http_close(c->http);
	c->http = NULL;
}
