#include "broker/parse/options.h"

#include "base/num.h"
#include <string.h>

const char options_usage[] =
	"usage: agent6-broker --channel FD=HOST:PORT,tls|plain[,local|private] ...\n"
	"                     [--control FD] [--max-bytes N] [--upstream-proxy URL]\n"
	"       agent6-broker --proxy FD=HOST:PORT[,HOST:PORT ...] ...\n"
	"\n"
	"Connects a confined agent to fixed endpoints. FD is one end of an AF_UNIX stream\n"
	"socketpair: each byte sent on the other end is answered with one byte and one connected\n"
	"AF_UNIX descriptor that leads to HOST:PORT.\n"
	"\n"
	"  --channel         an endpoint; local: it is on the loopback interface, private: its "
	"name\n"
	"                    may resolve to a private address\n"
	"  --proxy           FD is a connected AF_UNIX stream socket that brings one listening "
	"socket;\n"
	"                    on it HTTP CONNECT and SOCKS5 are served for these HOST:PORT, \"*.\" "
	"in\n"
	"                    front of a name meaning its subdomains, until FD's other end is "
	"closed\n"
	"  --control         one JSON line per closed connection is written to FD\n"
	"  --max-bytes       at most N bytes leave, over all channels\n"
	"  --upstream-proxy  connect through http://, socks5:// or socks5h:// PROXY:PORT\n";

static int decode_fd(struct options *o, const char *text, size_t len, int *out, struct err *e)
{
	int64_t number;
	if (num_int(text, len, &number) < 0 || number < 0 || number > 1 << 20)
		return err_set(e, "expected the number of an open descriptor");
	for (size_t i = 0; i < o->fd_count; i++)
		if (o->fds[i] == (int)number)
			return err_set(e, "descriptor %d is given twice", o->fds[i]);
	*out = o->fds[o->fd_count++] = (int)number;
	return 0;
}

static int decode_flag(struct endpoint *p, const char *flag, size_t len, struct err *e)
{
	/* What a written address may reach follows from the address. */
	if (len == 5 && memcmp(flag, "local", 5) == 0)
		p->reach = REACH_LOCAL;
	else if (len == 7 && memcmp(flag, "private", 7) == 0)
		p->reach = p->is_address ? p->reach : REACH_PRIVATE;
	else
		return err_set(e, "the second flag must be local or private");
	return 0;
}

static int decode_channel(struct options *o, const char *text, struct err *e)
{
	const char *equals = strchr(text, '='), *comma = strchr(text, ',');
	struct channel_option c;
	if (!equals || !comma || comma < equals)
		return err_set(e, "expected FD=HOST:PORT,tls or FD=HOST:PORT,plain");
	if (o->channel_count == CHANNELS_MAX)
		return err_set(e, "there are more than %d channels", CHANNELS_MAX);
	if (decode_fd(o, text, (size_t)(equals - text), &c.fd, e) < 0 ||
		endpoint_decode(&c.endpoint, equals + 1, (size_t)(comma - equals - 1), e) < 0)
		return -1;
	const char *mode = comma + 1, *flag = strchr(mode, ',');
	size_t mode_len = flag ? (size_t)(flag - mode) : strlen(mode);
	c.endpoint.tls = mode_len == 3 && memcmp(mode, "tls", 3) == 0;
	if (!c.endpoint.tls && (mode_len != 5 || memcmp(mode, "plain", 5) != 0))
		return err_set(e, "the flag behind the port must be tls or plain");
	if (flag && decode_flag(&c.endpoint, flag + 1, strlen(flag + 1), e) < 0)
		return -1;
	o->channels[o->channel_count++] = c;
	return 0;
}

static int decode_rules(struct options *o, const char *text, struct err *e)
{
	const char *equals = strchr(text, '=');
	if (!equals)
		return err_set(e, "expected FD=HOST:PORT[,HOST:PORT ...]");
	if (o->proxy_fd >= 0)
		return err_set(e, "there can be one proxy only");
	if (decode_fd(o, text, (size_t)(equals - text), &o->proxy_fd, e) < 0)
		return -1;
	for (const char *at = equals + 1, *end;; at = end + 1) {
		end = strchrnul(at, ',');
		if (o->rule_count == RULES_MAX)
			return err_set(e, "there are more than %d hosts", RULES_MAX);
		if (endpoint_decode_rule(&o->rules[o->rule_count++], at, (size_t)(end - at), e) < 0)
			return err_wrap(e, "%.*s", (int)(end - at), at);
		if (!*end)
			return 0;
	}
}

static int decode_control(struct options *o, const char *text, struct err *e)
{
	return decode_fd(o, text, strlen(text), &o->control_fd, e);
}

static int decode_max_bytes(struct options *o, const char *text, struct err *e)
{
	int64_t number;
	if (num_int(text, strlen(text), &number) < 0 || number < 0)
		return err_set(e, "expected a number of bytes");
	o->max_bytes = (uint64_t)number;
	return 0;
}

/* An https:// proxy is refused: the broker passes the socket on from libcurl and could not keep
 * the TLS session with the proxy. */
static int decode_upstream(struct options *o, char *text, struct err *e)
{
	static const char *const schemes[] = {"http://", "socks5://", "socks5h://"};
	bool known = false;
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		known |= strncmp(text, schemes[i], strlen(schemes[i])) == 0;
	const char *colon = strrchr(text, ':'), *digits = colon ? colon + 1 : "";
	int64_t port;
	if (!known || num_int(digits, strcspn(digits, "/"), &port) < 0 || port < 1 || port > 65535)
		return err_set(e, "expected http://, socks5:// or socks5h:// and PROXY:PORT");
	o->upstream_proxy = text;
	o->ports[o->port_count++] = (uint16_t)port;
	return 0;
}

static int decode_option(struct options *o, const char *name, char *value, struct err *e)
{
	if (strcmp(name, "--channel") == 0)
		return decode_channel(o, value, e);
	if (strcmp(name, "--proxy") == 0)
		return decode_rules(o, value, e);
	if (strcmp(name, "--control") == 0)
		return decode_control(o, value, e);
	if (strcmp(name, "--max-bytes") == 0)
		return decode_max_bytes(o, value, e);
	if (strcmp(name, "--upstream-proxy") == 0)
		return decode_upstream(o, value, e);
	return err_set(e, "there is no such option");
}

/* What the upstream proxy is told is not where we connect. */
static void add_endpoint_ports(struct options *o)
{
	for (size_t i = 0; i < o->channel_count; i++)
		o->ports[o->port_count++] = o->channels[i].endpoint.port;
	for (size_t i = 0; i < o->rule_count; i++)
		o->ports[o->port_count++] = o->rules[i].port;
}

int options_decode(struct options *o, int argc, char **argv, struct err *e)
{
	*o = (struct options){.control_fd = -1, .proxy_fd = -1, .max_bytes = UINT64_MAX};
	o->ports[o->port_count++] = DNS_PORT;
	for (int i = 1; i < argc; i++) {
		char *equals = strncmp(argv[i], "--", 2) == 0 ? strchr(argv[i], '=') : NULL;
		char *value = equals ? equals + 1 : i + 1 < argc ? argv[i + 1] : NULL;
		size_t name_len = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
		char name[32];
		snprintf(name, sizeof(name), "%.*s", (int)(name_len < 31 ? name_len : 31), argv[i]);
		if (!value)
			return err_set(e, "%s: a value is missing", name);
		if (decode_option(o, name, value, e) < 0)
			return err_wrap(
				e, "%s %s", name, strcmp(name, "--upstream-proxy") ? value : "");
		i += !equals;
	}
	if (o->channel_count == 0 && o->proxy_fd < 0)
		return err_set(e, "--channel or --proxy is missing: there is nothing to do");
	if (!o->upstream_proxy)
		add_endpoint_ports(o);
	return 0;
}
