#include "broker/parse/proxy_request.h"

#include "broker/parse/cursor.h"
#include <arpa/inet.h>
#include <string.h>

enum { SOCKS_VERSION = 5, SOCKS_CONNECT = 1, SOCKS_IPV4 = 1, SOCKS_NAME = 3, SOCKS_IPV6 = 4 };

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
	struct cursor address = {.bad = false};
	if (!c->bad && command != (SOCKS_VERSION << 16 | SOCKS_CONNECT << 8))
		return PROXY_BAD;
	if (type == SOCKS_NAME)
		address = cursor_vector(c, 1);
	else if (type == SOCKS_IPV4 || type == SOCKS_IPV6)
		address.at = cursor_take(c, type == SOCKS_IPV4 ? 4 : 16);
	else if (!c->bad)
		return PROXY_BAD;
	size_t port = cursor_number(c, 2);
	if (c->bad)
		return PROXY_MORE;
	if (type == SOCKS_NAME)
		memcpy(host, address.at, cursor_left(&address));
	else
		inet_ntop(type == SOCKS_IPV4 ? AF_INET : AF_INET6, address.at, host, sizeof(host));
	snprintf(r->target, sizeof(r->target), type == SOCKS_IPV6 ? "[%s]:%zu" : "%s:%zu", host,
		port);
	return PROXY_CONNECT;
}

/* The headers say nothing that matters: where to is in the request line. */
static enum proxy_step decode_connect(struct proxy_request *r, struct cursor *c)
{
	static const char method[] = "CONNECT ";
	size_t len = cursor_left(c), method_len = sizeof(method) - 1;
	if (memcmp(c->at, method, len < method_len ? len : method_len) != 0)
		return PROXY_BAD;
	const uint8_t *end = memmem(c->at, len, "\r\n\r\n", 4);
	if (!end)
		return len < PROXY_REQUEST_MAX_BYTES ? PROXY_MORE : PROXY_BAD;
	const uint8_t *target = c->at + method_len, *line_end = memmem(c->at, len, "\r\n", 2);
	c->at = end + 4;
	const uint8_t *space = memchr(target, ' ', (size_t)(line_end - target));
	size_t target_len = space ? (size_t)(space - target) : sizeof(r->target);
	if (target_len >= sizeof(r->target) || memchr(target, '\0', target_len) ||
		line_end - space != 9 || memcmp(space, " HTTP/1.", 8) != 0)
		return PROXY_BAD;
	memcpy(r->target, target, target_len);
	return PROXY_CONNECT;
}

enum proxy_step proxy_request_decode(struct proxy_request *r, const char *bytes, size_t len)
{
	struct cursor c = {(const uint8_t *)bytes, (const uint8_t *)bytes + len, false};
	if (len == 0)
		return PROXY_MORE;
	if (!r->greeted)
		r->socks = bytes[0] == SOCKS_VERSION;
	enum proxy_step step = !r->socks    ? decode_connect(r, &c)
			       : r->greeted ? decode_socks(r, &c)
					    : decode_greeting(r, &c);
	r->bytes = (size_t)(c.at - (const uint8_t *)bytes);
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
