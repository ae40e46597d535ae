/*
 * Any text as an address of a provider or a host: what is accepted is where libcurl would go with
 * the same text, and what is kept of it reads again as itself.
 */
#include "config/url.h"
#include <curl/curl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(bool held)
{
	if (!held)
		abort();
}

static void check_again(const struct host_port *host_port)
{
	struct host_port again;
	require(!host_port_decode(&again, host_port->text, NULL) &&
		!strcmp(again.text, host_port->text));
	require(!strcmp(again.host, host_port->host) && again.port == host_port->port &&
		host_port->port);
	require(again.address.family == host_port->address.family);
	again.wildcard = host_port->wildcard;
	require(host_rule_covers(host_port, &again) && host_rule_covers(&again, host_port));
}

/* Without a port libcurl has the one of the scheme. */
static void check_curl(const char *text, const struct url *url)
{
	char *host = NULL, *port = NULL, *scheme = NULL, *user = NULL;
	CURLU *theirs = curl_url();
	struct host_port same;
	char whole[2 * HOST_PORT_BYTES];
	require(theirs && !curl_url_set(theirs, CURLUPART_URL, text, 0));
	require(!curl_url_get(theirs, CURLUPART_SCHEME, &scheme, 0));
	require(!strcmp(scheme, url->tls ? "https" : "http"));
	require(curl_url_get(theirs, CURLUPART_USER, &user, 0) == CURLUE_NO_USER);
	require(!curl_url_get(theirs, CURLUPART_HOST, &host, 0));
	require(!curl_url_get(theirs, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT));
	snprintf(whole, sizeof(whole), "%s:%s", host, port);
	require(!host_port_decode(&same, whole, NULL) && !strcmp(same.text, url->at.text));
	curl_free(host);
	curl_free(port);
	curl_free(scheme);
	curl_url_cleanup(theirs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = strndup((const char *)data, len);
	struct host_port p;
	struct url u;
	if (!text)
		abort();
	if (!host_port_decode(&p, text, NULL))
		check_again(&p);
	if (!host_rule_decode(&p, text, NULL))
		check_again(&p);
	if (!url_parse_host(text, &u, NULL))
		check_again(&u.at);
	if (!url_parse(text, &u, NULL))
		check_curl(text, &u);
	free(text);
	return 0;
}
