#include "broker/parse/options.h"

#include "base/num.h"
#include <string.h>

const char options_usage[] =
	"usage: agent6-broker --channel FD=HOST:PORT,tls|plain[,local|private] ...\n"
	"                     [--control FD] [--max-bytes N] [--upstream-proxy URL]\n"
	"       agent6-broker --proxy FD=HOST:PORT[,HOST:PORT ...] [--private HOST[,HOST ...]] "
	"...\n\n"
	"Connects a confined agent to fixed endpoints. FD is one end of an AF_UNIX stream\n"
	"socketpair: a byte sent on the other end brings a descriptor that leads to HOST:PORT.\n\n"
	"  --channel         an endpoint; local: on loopback, private: perhaps a private address\n"
	"  --proxy           one listening socket comes over FD: while FD is open, it serves HTTP\n"
	"                    CONNECT, http:// requests and SOCKS5 to these HOST:PORT (\"*.NAME\":\n"
	"                    its subdomains)\n"
	"  --private         names among them that may resolve to private or loopback addresses\n"
	"  --control         one JSON line per closed connection is written to FD\n"
	"  --max-bytes       at most N bytes leave, over all channels\n"
	"  --upstream-proxy  connect through http://, socks5:// or socks5h:// PROXY:PORT\n";

bool options_names(const struct options *options, int fd)
{
	for (size_t i = 0; i < options->fd_count; i++)
		if (options->fds[i] == fd)
			return true;
	return false;
}

static int decode_fd(struct options *options, const char *text, int *out, struct err *e)
{
	int64_t number;
	if (num_int(text, strlen(text), &number) < 0 || number < 0 || number > FD_MAX)
		return err_set(e, "expected the number of an open descriptor, %d at most", FD_MAX);
	if (options_names(options, (int)number))
		return err_set(e, "descriptor %s is given twice", text);
	if (options->fd_count == FDS_MAX)
		return err_set(e, "there are more than %d descriptors", FDS_MAX);
	*out = options->fds[options->fd_count++] = (int)number;
	return 0;
}

static int decode_channel(struct options *options, char *value, struct err *e)
{
	struct channel_option *c = &options->channels[options->channel_count];
	struct endpoint *p = &c->endpoint;
	char *fd = strsep(&value, "="), *at = strsep(&value, ","), *mode = strsep(&value, ",");
	bool local = value && strcmp(value, "local") == 0;
	if (!mode)
		return err_set(e, "expected FD=HOST:PORT,tls or FD=HOST:PORT,plain");
	if (decode_fd(options, fd, &c->fd, e) < 0 || endpoint_decode(p, at, false, e) < 0)
		return -1;
	p->tls = strcmp(mode, "tls") == 0;
	if (!p->tls && strcmp(mode, "plain") != 0)
		return err_set(e, "the flag after the port must be tls or plain");
	if (value && !local && strcmp(value, "private") != 0)
		return err_set(e, "the second flag must be local or private");
	/* The reach of a literal address follows from the address. */
	if (value && (local || !p->at.address.family))
		p->reach = local ? REACH_LOCAL : REACH_PRIVATE;
	options->channel_count++;
	return 0;
}

static int decode_rules(struct options *options, char *value, struct err *e)
{
	char *fd = strsep(&value, "="), *at;
	if (!value)
		return err_set(e, "expected FD=HOST:PORT[,HOST:PORT ...]");
	if (options->proxy_fd >= 0)
		return err_set(e, "there can be one proxy only");
	if (decode_fd(options, fd, &options->proxy_fd, e) < 0)
		return -1;
	while ((at = strsep(&value, ","))) {
		if (options->rule_count == RULES_MAX)
			return err_set(e, "there are more than %d hosts", RULES_MAX);
		if (endpoint_decode(&options->rules[options->rule_count++], at, true, e) < 0)
			return err_wrap(e, "%s", at);
	}
	return 0;
}

static int decode_near(struct options *options, char *value, struct err *e)
{
	char *name;
	while ((name = strsep(&value, ","))) {
		if (options->near_count == RULES_MAX)
			return err_set(e, "there are more than %d names", RULES_MAX);
		if (host_name_rule_decode(&options->near[options->near_count++], name, e) < 0)
			return err_wrap(e, "%s", name);
	}
	return 0;
}

/* Decodes the upstream proxy. An https:// proxy is refused: the broker takes the socket out of
 * libcurl and could not keep the TLS session with the proxy. */
static int decode_upstream(struct options *options, const char *value, struct err *e)
{
	bool known = strncmp(value, "http://", 7) == 0 || strncmp(value, "socks5://", 9) == 0 ||
		     strncmp(value, "socks5h://", 10) == 0;
	const char *port = known ? strrchr(value, ':') + 1 : "";
	if (num_port(port, strcspn(port, "/"), &options->ports[1]) < 0)
		return err_set(e, "expected http://, socks5:// or socks5h:// and PROXY:PORT");
	options->upstream_proxy = strdup(value);
	options->port_count = 2;
	return options->upstream_proxy ? 0 : err_set(e, "out of memory");
}

static int decode_option(struct options *options, const char *name, char *value, struct err *e)
{
	if (strcmp(name, "--channel") == 0)
		return decode_channel(options, value, e);
	if (strcmp(name, "--proxy") == 0)
		return decode_rules(options, value, e);
	if (strcmp(name, "--private") == 0)
		return decode_near(options, value, e);
	if (strcmp(name, "--control") == 0)
		return decode_fd(options, value, &options->control_fd, e);
	if (strcmp(name, "--upstream-proxy") == 0)
		return decode_upstream(options, value, e);
	if (strcmp(name, "--max-bytes") != 0)
		return err_set(e, "there is no such option");
	bool fits =
		num_int(value, strlen(value), &options->max_bytes) == 0 && options->max_bytes >= 0;
	return fits ? 0 : err_set(e, "expected a number of bytes");
}

/* Decodes `--name value` or `--name=value`. A missing value is empty, which no option accepts. */
int options_decode(struct options *options, int argc, char **argv, struct err *e)
{
	*options = (struct options){.control_fd = -1,
		.proxy_fd = -1,
		.max_bytes = INT64_MAX,
		.ports = {DNS_PORT},
		.port_count = 1};
	for (int i = 1; i < argc; i++) {
		char *value = strncmp(argv[i], "--", 2) == 0 ? argv[i] : NULL;
		const char *name = value ? strsep(&value, "=") : argv[i];
		value = value ? value : i + 1 < argc ? argv[++i] : strchr(argv[i], '\0');
		AUTO_FREE char *own = strdup(value);
		/* The URL may hold a password, and anyone may read a command line. */
		if (strcmp(name, "--upstream-proxy") == 0)
			explicit_bzero(value, strlen(value));
		if (!own || decode_option(options, name, own, e) < 0)
			return err_wrap(e, "%.32s%s%s", name, *value ? " " : "", value);
	}
	if (options->channel_count == 0 && options->proxy_fd < 0)
		return err_set(e, "--channel or --proxy is missing: there is nothing to do");
	/* With an upstream proxy we connect to that, whatever destination it is told. */
	for (size_t i = 0; !options->upstream_proxy && i < options->channel_count; i++)
		options->ports[options->port_count++] = options->channels[i].endpoint.at.port;
	for (size_t i = 0; !options->upstream_proxy && i < options->rule_count; i++)
		options->ports[options->port_count++] = options->rules[i].at.port;
	return 0;
}
