#include "broker/options.h"

#include "base/num.h"
#include <string.h>

const char options_usage[] =
	"usage: agent6-broker --channel FD=HOST:PORT,tls|plain[,local|private] ...\n"
	"                     [--control FD] [--max-bytes N] [--upstream-proxy URL]\n"
	"\n"
	"Connects a confined agent to fixed endpoints. FD is one end of an AF_UNIX stream\n"
	"socketpair: each byte sent on the other end is answered with one byte and one connected\n"
	"AF_UNIX descriptor that leads to HOST:PORT.\n"
	"\n"
	"  --channel         an endpoint; local: it is on the loopback interface, private: its "
	"name\n"
	"                    may resolve to a private address\n"
	"  --control         one JSON line per closed connection is written to FD\n"
	"  --max-bytes       at most N bytes leave, over all channels\n"
	"  --upstream-proxy  connect through http://, socks5:// or socks5h:// PROXY:PORT\n";

static int decode_fd(const char *text, size_t len, int *out, struct err *e)
{
	int64_t number;
	if (num_int(text, len, &number) < 0 || number < 0 || number > 1 << 20)
		return err_set(e, "expected the number of an open descriptor");
	*out = (int)number;
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
	if (decode_fd(text, (size_t)(equals - text), &c.fd, e) < 0 ||
		endpoint_decode(&c.endpoint, equals + 1, (size_t)(comma - equals - 1), e) < 0)
		return -1;
	const char *mode = comma + 1, *flag = strchr(mode, ',');
	size_t mode_len = flag ? (size_t)(flag - mode) : strlen(mode);
	c.endpoint.tls = mode_len == 3 && memcmp(mode, "tls", 3) == 0;
	if (!c.endpoint.tls && (mode_len != 5 || memcmp(mode, "plain", 5) != 0))
		return err_set(e, "the flag behind the port must be tls or plain");
	if (flag && decode_flag(&c.endpoint, flag + 1, strlen(flag + 1), e) < 0)
		return -1;
	for (size_t i = 0; i < o->channel_count; i++)
		if (o->channels[i].fd == c.fd)
			return err_set(e, "descriptor %d already is another channel", c.fd);
	o->channels[o->channel_count++] = c;
	return 0;
}

static int decode_control(struct options *o, const char *text, struct err *e)
{
	return decode_fd(text, strlen(text), &o->control_fd, e);
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
static int decode_proxy(struct options *o, char *text, struct err *e)
{
	static const char *const schemes[] = {"http://", "socks5://", "socks5h://"};
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		if (strncmp(text, schemes[i], strlen(schemes[i])) == 0 &&
			text[strlen(schemes[i])]) {
			o->proxy = text;
			return 0;
		}
	return err_set(e, "expected http://, socks5:// or socks5h:// and PROXY:PORT");
}

static int decode_option(struct options *o, const char *name, char *value, struct err *e)
{
	if (strcmp(name, "--channel") == 0)
		return decode_channel(o, value, e);
	if (strcmp(name, "--control") == 0)
		return decode_control(o, value, e);
	if (strcmp(name, "--max-bytes") == 0)
		return decode_max_bytes(o, value, e);
	if (strcmp(name, "--upstream-proxy") == 0)
		return decode_proxy(o, value, e);
	return err_set(e, "there is no such option");
}

int options_decode(struct options *o, int argc, char **argv, struct err *e)
{
	*o = (struct options){.control_fd = -1, .max_bytes = UINT64_MAX};
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
	if (o->channel_count == 0)
		return err_set(e, "--channel is missing: there is nothing to do");
	for (size_t i = 0; i < o->channel_count; i++)
		if (o->channels[i].fd == o->control_fd)
			return err_set(
				e, "descriptor %d is both a channel and --control", o->control_fd);
	return 0;
}
