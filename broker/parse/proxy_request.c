#include "broker/parse/proxy_request.h"

#include "broker/parse/octets.h"
#include "broker/parse/pin.h"
#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

enum { SOCKS_VERSION = 5, SOCKS5_CONNECT = 0x050100 }; /* VER CMD RSV */
enum { SOCKS_IPV4 = 1, SOCKS_NAME = 3, SOCKS_IPV6 = 4 };

/* Decodes VER, methods. */
static enum proxy_step decode_greeting(struct proxy_request *request, struct octets *octets)
{
	octets_number(octets, 1);
	struct octets methods = octets_vector(octets, 1);
	if (octets->bad)
		return PROXY_MORE;
	request->greeted = memchr(methods.at, 0, octets_left(&methods)); /* 0: no authentication */
	return request->greeted ? PROXY_GREET : PROXY_BAD;
}

/* Decodes VER CMD RSV ATYP address port. */
static enum proxy_step decode_socks(struct proxy_request *request, struct octets *octets)
{
	char host[256] = "";
	size_t command = octets_number(octets, 3), type = octets_number(octets, 1);
	bool ipv4 = type == SOCKS_IPV4, ipv6 = type == SOCKS_IPV6, named = type == SOCKS_NAME;
	if (!octets->bad && (command != SOCKS5_CONNECT || !(ipv4 || ipv6 || named)))
		return PROXY_BAD;
	size_t len = ipv4 ? 4 : ipv6 ? 16 : octets_number(octets, 1);
	const uint8_t *address = octets_take(octets, len);
	size_t port = octets_number(octets, 2);
	if (octets->bad)
		return PROXY_MORE;
	if (named)
		memcpy(host, address, len);
	else
		inet_ntop(ipv4 ? AF_INET : AF_INET6, address, host, sizeof(host));
	snprintf(
		request->target, sizeof(request->target), ipv6 ? "[%s]:%zu" : "%s:%zu", host, port);
	return PROXY_CONNECT;
}

/* Takes the host and port of a URL, and nothing before or after them, since a fact shows them.
 * Reports whether the URL may be forwarded. */
static bool take_url(struct proxy_request *request, const char *url)
{
	const char *host = strstr(url, "//");
	if (!host)
		return false;
	host += 2;
	size_t len = strcspn(host, "/?#");
	const char *user = memrchr(host, '@', len);
	if (user) {
		len -= (size_t)(user + 1 - host);
		host = user + 1;
	}
	bool has_port = len > 0 && host[len - 1] != ']' && memrchr(host, ':', len);
	int used = snprintf(request->target, sizeof(request->target), "%.*s%s", (int)len, host,
		has_port ? "" : ":80");
	return !user && host[len] == '/' && used < (int)sizeof(request->target) &&
	       strncasecmp(url, "http://", strlen("http://")) == 0;
}

/* Decodes METHOD target HTTP/1.x. Its headers do not matter here; those of a forwarded request pass
 * the pin. */
static enum proxy_step decode_http(struct proxy_request *request, struct octets *octets)
{
	char line[PROXY_REQUEST_MAX_BYTES];
	size_t len = octets_left(octets);
	const uint8_t *end = memmem(octets->at, len, "\r\n\r\n", 4);
	if (!end || (size_t)(end - octets->at) >= sizeof(line))
		return len < PROXY_REQUEST_MAX_BYTES && octets->at[0] >= 'A' ? PROXY_MORE
									     : PROXY_BAD;
	snprintf(line, sizeof(line), "%.*s", (int)(end - octets->at), (const char *)octets->at);
	char *version = line, *method = strsep(&version, " "), *target = strsep(&version, " ");
	bool connects = strcmp(method, "CONNECT") == 0;
	if (!version || strcspn(version, "\r") != 8 || strncmp(version, "HTTP/1.", 7) != 0)
		return PROXY_BAD;
	octets->at = end + 4;
	request->forwards = !connects && take_url(request, target);
	if (connects)
		snprintf(request->target, sizeof(request->target), "%s", target);
	return connects ? PROXY_CONNECT : request->forwards ? PROXY_FORWARD : PROXY_BAD;
}

/* Reports whether a field is for one hop only. One that ends in a bare line feed stays, so that the
 * pin refuses it: without it the head might end earlier. */
static bool is_hop_field(const char *line, size_t len)
{
	if (len < 2 || line[len - 2] != '\r')
		return false;
	static const char *const names[] = {
		"connection", "proxy-connection", "proxy-authorization", "keep-alive"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t name = strlen(names[i]);
		if (len > name && line[name] == ':' && strncasecmp(line, names[i], name) == 0)
			return true;
	}
	return false;
}

size_t proxy_request_forward(const char *bytes, size_t len, char out[PROXY_HEAD_BYTES])
{
	static const char closing[] = "Connection: close\r\n\r\n";
	const char *target = (const char *)memchr(bytes, ' ', len) + 1, *end = bytes + len - 2;
	const char *path = memchr(target + strlen("http://"), '/', (size_t)(end - target));
	size_t used = (size_t)(target - bytes);
	memcpy(out, bytes, used);
	for (const char *at = path, *next; at < end; at = next) {
		next = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
		if (at != path && is_hop_field(at, (size_t)(next - at)))
			continue;
		memcpy(out + used, at, (size_t)(next - at));
		used += (size_t)(next - at);
	}
	memcpy(out + used, closing, sizeof(closing) - 1);
	return used + sizeof(closing) - 1;
}

enum proxy_step proxy_request_decode(struct proxy_request *request, const char *bytes, size_t len)
{
	struct octets c = octets_over(bytes, len);
	request->bytes = 0;
	if (len == 0)
		return PROXY_MORE;
	if (!request->greeted)
		request->socks = bytes[0] == SOCKS_VERSION;
	enum proxy_step step = !request->socks    ? decode_http(request, &c)
			       : request->greeted ? decode_socks(request, &c)
						  : decode_greeting(request, &c);
	if (step != PROXY_MORE && step != PROXY_BAD)
		request->bytes = len - octets_left(&c);
	/* The text ends up in a fact, even if it is no host name. */
	for (char *p = request->target; *p; p++)
		if (*p <= ' ' || *p > '~')
			*p = '?';
	return step;
}

/* Most clients show the status line, some the body. */
#define REFUSAL "agent6 refused: %s; see allow_network"

/* Writes the answer. SOCKS: 0 succeeded, 2 not allowed by ruleset, 4 host unreachable; nobody uses
 * the bound address. Before the greeting is answered the second byte is a method: 255, none. */
size_t proxy_answer(
	const struct proxy_request *request, const char *refused, char out[PROXY_REPLY_BYTES])
{
	bool dead = refused && strcmp(refused, REFUSED_DIAL) == 0;
	if (request->socks) {
		const uint8_t code = !refused ? 0 : !request->greeted ? 255 : dead ? 4 : 2;
		memcpy(out, (const uint8_t[10]){SOCKS_VERSION, code, 0, SOCKS_IPV4}, 10);
		return 10;
	}
	if (!refused)
		return (size_t)snprintf(out, PROXY_REPLY_BYTES, "HTTP/1.1 200 OK\r\n\r\n");
	return (size_t)snprintf(out, PROXY_REPLY_BYTES,
		"HTTP/1.1 %d " REFUSAL "\r\nConnection: close\r\n\r\n" REFUSAL "\n",
		dead ? 502 : 403, refused, refused);
}
