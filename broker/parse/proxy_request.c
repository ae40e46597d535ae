#include "broker/parse/proxy_request.h"

#include <arpa/inet.h>
#include <string.h>

enum { SOCKS_VERSION = 5, SOCKS_CONNECT = 1, SOCKS_IPV4 = 1, SOCKS_NAME = 3, SOCKS_IPV6 = 4 };

static enum proxy_step decode_greeting(struct proxy_request *r, const char *bytes, size_t len)
{
	if (len < 2 || len < 2 + (size_t)(unsigned char)bytes[1])
		return PROXY_MORE;
	size_t methods = (unsigned char)bytes[1];
	if (!memchr(bytes + 2, 0, methods)) /* 0: no authentication */
		return PROXY_BAD;
	r->bytes = 2 + methods;
	r->greeted = true;
	return PROXY_GREET;
}

/* VER CMD RSV ATYP address port */
static enum proxy_step decode_socks(struct proxy_request *r, const char *bytes, size_t len)
{
	char host[256];
	if (len < 5)
		return PROXY_MORE;
	const unsigned char *b = (const unsigned char *)bytes;
	if (b[0] != SOCKS_VERSION || b[1] != SOCKS_CONNECT || b[2] != 0)
		return PROXY_BAD;
	size_t address = b[3] == SOCKS_IPV4 ? 4 : b[3] == SOCKS_IPV6 ? 16 : 1 + (size_t)b[4];
	if (b[3] != SOCKS_IPV4 && b[3] != SOCKS_IPV6 && b[3] != SOCKS_NAME)
		return PROXY_BAD;
	if (len < 4 + address + 2)
		return PROXY_MORE;
	if (b[3] == SOCKS_NAME)
		snprintf(host, sizeof(host), "%.*s", (int)b[4], bytes + 5);
	else
		inet_ntop(b[3] == SOCKS_IPV4 ? AF_INET : AF_INET6, b + 4, host, sizeof(host));
	unsigned port = (unsigned)(b[4 + address] << 8 | b[5 + address]);
	snprintf(
		r->target, sizeof(r->target), b[3] == SOCKS_IPV6 ? "[%s]:%u" : "%s:%u", host, port);
	r->bytes = 4 + address + 2;
	return PROXY_CONNECT;
}

/* The headers say nothing that matters: where to is in the request line. */
static enum proxy_step decode_connect(struct proxy_request *r, const char *bytes, size_t len)
{
	static const char method[] = "CONNECT ";
	size_t method_len = sizeof(method) - 1, seen = len < method_len ? len : method_len;
	if (memcmp(bytes, method, seen) != 0)
		return PROXY_BAD;
	const char *end = memmem(bytes, len, "\r\n\r\n", 4);
	if (!end)
		return len < PROXY_REQUEST_MAX_BYTES ? PROXY_MORE : PROXY_BAD;
	const char *target = bytes + method_len;
	const char *line_end = memmem(bytes, len, "\r\n", 2), *space;
	space = memchr(target, ' ', (size_t)(line_end - target));
	if (!space || (size_t)(space - target) >= sizeof(r->target) ||
		memchr(target, '\0', (size_t)(space - target)) || line_end - space != 9 ||
		memcmp(space, " HTTP/1.", 8) != 0)
		return PROXY_BAD;
	snprintf(r->target, sizeof(r->target), "%.*s", (int)(space - target), target);
	r->bytes = (size_t)(end + 4 - bytes);
	return PROXY_CONNECT;
}

/* It ends up in a fact, even when it is no host name at all. */
static enum proxy_step clean(struct proxy_request *r, enum proxy_step step)
{
	for (char *c = r->target; *c; c++)
		if (*c <= ' ' || *c > '~')
			*c = '?';
	return step;
}

enum proxy_step proxy_request_decode(struct proxy_request *r, const char *bytes, size_t len)
{
	if (len == 0)
		return PROXY_MORE;
	if (!r->greeted)
		r->socks = bytes[0] == SOCKS_VERSION;
	if (!r->socks)
		return clean(r, decode_connect(r, bytes, len));
	return r->greeted ? clean(r, decode_socks(r, bytes, len)) : decode_greeting(r, bytes, len);
}

size_t proxy_answer(
	const struct proxy_request *r, const char *refused, char out[PROXY_REPLY_MAX_BYTES])
{
	if (r->socks) {
		/* 0: succeeded, 2: not allowed by ruleset; the bound address is of no use to anyone
		 */
		memcpy(out, "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00", 10);
		out[1] = refused ? 2 : 0;
		return 10;
	}
	if (!refused)
		return (size_t)snprintf(out, PROXY_REPLY_MAX_BYTES, "HTTP/1.1 200 OK\r\n\r\n");
	return (size_t)snprintf(out, PROXY_REPLY_MAX_BYTES,
		"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
		"Connection: close\r\n\r\nagent6: refused: %s\n",
		strlen(refused) + 18, refused);
}
