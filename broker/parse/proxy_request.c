#include "broker/parse/proxy_request.h"

#include "broker/parse/cursor.h"
#include "broker/parse/pin.h"
#include <arpa/inet.h>
#include <string.h>

enum { SOCKS_VERSION = 5, SOCKS5_CONNECT = 0x050100 }; /* VER CMD RSV */
enum { SOCKS_IPV4 = 1, SOCKS_NAME = 3, SOCKS_IPV6 = 4 };

/* VER, methods */
static enum proxy_step decode_greeting(struct proxy_request *r, struct cursor *c)
{
	cursor_number(c, 1);
	struct cursor methods = cursor_vector(c, 1);
	if (c->bad)
		return PROXY_MORE;
	r->greeted = memchr(methods.at, 0, cursor_left(&methods)); /* 0: no authentication */
	return r->greeted ? PROXY_GREET : PROXY_BAD;
}

/* VER CMD RSV ATYP address port */
static enum proxy_step decode_socks(struct proxy_request *r, struct cursor *c)
{
	char host[256] = "";
	size_t command = cursor_number(c, 3), type = cursor_number(c, 1);
	bool ipv4 = type == SOCKS_IPV4, ipv6 = type == SOCKS_IPV6, named = type == SOCKS_NAME;
	if (!c->bad && (command != SOCKS5_CONNECT || !(ipv4 || ipv6 || named)))
		return PROXY_BAD;
	size_t len = ipv4 ? 4 : ipv6 ? 16 : cursor_number(c, 1);
	const uint8_t *address = cursor_take(c, len);
	size_t port = cursor_number(c, 2);
	if (c->bad)
		return PROXY_MORE;
	if (named)
		memcpy(host, address, len);
	else
		inet_ntop(ipv4 ? AF_INET : AF_INET6, address, host, sizeof(host));
	snprintf(r->target, sizeof(r->target), ipv6 ? "[%s]:%zu" : "%s:%zu", host, port);
	return PROXY_CONNECT;
}

/* CONNECT target HTTP/1.x. The headers say nothing that matters. Of a plain request for an http://
 * URL, which is refused, the host is kept: for the fact. */
static enum proxy_step decode_connect(struct proxy_request *r, struct cursor *c)
{
	char line[sizeof("CONNECT  HTTP/1.x") + HOST_PORT_BYTES - 1];
	size_t len = cursor_left(c);
	const uint8_t *end = memmem(c->at, len, "\r\n\r\n", 4);
	if (!end)
		return len < PROXY_REQUEST_MAX_BYTES && c->at[0] >= 'A' ? PROXY_MORE : PROXY_BAD;
	snprintf(line, sizeof(line), "%.*s", (int)(end - c->at), (const char *)c->at);
	c->at = end + 4;
	char *version = line, *method = strsep(&version, " "), *target = strsep(&version, " ");
	const char *url = target ? strstr(target, "//") : NULL;
	if (url)
		snprintf(r->target, HOST_BYTES, "%.*s", (int)strcspn(url + 2, "/:@"), url + 2);
	if (strcmp(method, "CONNECT") != 0 || !version || strcspn(version, "\r") != 8 ||
		strncmp(version, "HTTP/1.", 7) != 0)
		return PROXY_BAD;
	snprintf(r->target, sizeof(r->target), "%s", target);
	return PROXY_CONNECT;
}

enum proxy_step proxy_request_decode(struct proxy_request *r, const char *bytes, size_t len)
{
	struct cursor c = cursor_over(bytes, len);
	r->bytes = 0;
	if (len == 0)
		return PROXY_MORE;
	if (!r->greeted)
		r->socks = bytes[0] == SOCKS_VERSION;
	enum proxy_step step = !r->socks    ? decode_connect(r, &c)
			       : r->greeted ? decode_socks(r, &c)
					    : decode_greeting(r, &c);
	if (step == PROXY_GREET || step == PROXY_CONNECT)
		r->bytes = len - cursor_left(&c);
	/* It ends up in a fact, even when it is no host name at all. */
	for (char *p = r->target; *p; p++)
		if (*p <= ' ' || *p > '~')
			*p = '?';
	return step;
}

/* Most clients show the status line, some the body. */
#define REFUSAL "agent6 refused: %s; see allow_network, and http:// goes by CONNECT only"

/* SOCKS, 0: succeeded, 2: not allowed by ruleset, 4: host unreachable; the bound address is of no
 * use to anyone. Before the greeting is answered the second byte says a method: 255, none. */
size_t proxy_answer(const struct proxy_request *r, const char *refused, char out[PROXY_REPLY_BYTES])
{
	bool dead = refused && strcmp(refused, REFUSED_DIAL) == 0;
	if (r->socks) {
		const uint8_t code = !refused ? 0 : !r->greeted ? 255 : dead ? 4 : 2;
		memcpy(out, (const uint8_t[10]){SOCKS_VERSION, code, 0, SOCKS_IPV4}, 10);
		return 10;
	}
	if (!refused)
		return (size_t)snprintf(out, PROXY_REPLY_BYTES, "HTTP/1.1 200 OK\r\n\r\n");
	return (size_t)snprintf(out, PROXY_REPLY_BYTES,
		"HTTP/1.1 %d " REFUSAL "\r\nConnection: close\r\n\r\n" REFUSAL "\n",
		dead ? 502 : 403, refused, refused);
}
