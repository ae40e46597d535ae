#include "broker/parse/proxy_request.h"

#include "broker/parse/cursor.h"
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

/* CONNECT target HTTP/1.x. The headers say nothing that matters. */
static enum proxy_step decode_connect(struct proxy_request *r, struct cursor *c)
{
	static const char method[] = "CONNECT ";
	char line[sizeof("CONNECT  HTTP/1.x") + HOST_PORT_BYTES - 1];
	size_t len = cursor_left(c), method_len = sizeof(method) - 1;
	if (memcmp(c->at, method, len < method_len ? len : method_len) != 0)
		return PROXY_BAD;
	const uint8_t *end = memmem(c->at, len, "\r\n\r\n", 4);
	if (!end)
		return len < PROXY_REQUEST_MAX_BYTES ? PROXY_MORE : PROXY_BAD;
	const uint8_t *line_end = memmem(c->at, len, "\r\n", 2);
	snprintf(line, sizeof(line), "%.*s", (int)(line_end - c->at), (const char *)c->at);
	c->at = end + 4;
	char *version = line + method_len, *target = strsep(&version, " ");
	if (!version || strlen(version) != 8 || strncmp(version, "HTTP/1.", 7) != 0)
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

/* SOCKS, 0: succeeded, 2: not allowed by ruleset; the bound address is of no use to anyone. */
size_t proxy_answer(
	const struct proxy_request *r, const char *refused, char out[PROXY_REPLY_MAX_BYTES])
{
	if (r->socks) {
		const char reply[10] = {5, refused ? 2 : 0, 0, 1};
		memcpy(out, reply, sizeof(reply));
		return sizeof(reply);
	}
	if (!refused)
		return (size_t)snprintf(out, PROXY_REPLY_MAX_BYTES, "HTTP/1.1 200 OK\r\n\r\n");
	return (size_t)snprintf(out, PROXY_REPLY_MAX_BYTES,
		"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
		"Connection: close\r\n\r\nagent6: refused: %s\n",
		strlen(refused) + 18, refused);
}
