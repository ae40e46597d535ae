/* Tests the requests to the proxy, cut anywhere, and bytes that are no request. */
#include "broker/parse/proxy_request.h"
#include "tests/kit/tap.h"

/* The step that `bytes` come to, with every shorter part of them asking for more. */
static enum proxy_step decode(struct proxy_request *request, const char *bytes, size_t len)
{
	struct proxy_request before = *request;
	for (size_t part = 0; part < len; part++) {
		*request = before;
		if (proxy_request_decode(request, bytes, part) != PROXY_MORE || request->bytes)
			return diag("%zu of %zu bytes do not ask for more", part, len), PROXY_MORE;
	}
	*request = before;
	return proxy_request_decode(request, bytes, len);
}

static void http(const char *text, enum proxy_step want, const char *target)
{
	struct proxy_request r = {.bytes = 0};
	is(decode(&r, text, strlen(text)), want, "HTTP asks for %s",
		*target ? target : "what is not served");
	is_str(r.target, target, "as it may be shown");
	is(r.bytes, want == PROXY_BAD ? 0 : strlen(text), "and takes so many bytes");
}

static void test_connect(void)
{
	http("CONNECT a.test:443 HTTP/1.1\r\n\r\n", PROXY_CONNECT, "a.test:443");
	http("CONNECT a.test:443 HTTP/1.0\r\nHost: b.test\r\n\r\n", PROXY_CONNECT, "a.test:443");
	http("CONNECT a\x01\x7f\xff:1 HTTP/1.1\r\n\r\n", PROXY_CONNECT, "a???:1");
	http("CONNECT a.test:443 HTTP/2.0\r\n\r\n", PROXY_BAD, "");
	http("CONNECT a.test:443 XTTP/1.1\r\n\r\n", PROXY_BAD, "");
	http("CONNECT a.test:443 HTTP/1.10\r\n\r\n", PROXY_BAD, "");
	http("CONNECT a.test:443 HTTP/1.1 x\r\n\r\n", PROXY_BAD, "");
	http("CONNECT a.test:443\r\n\r\n", PROXY_BAD, "");
	http("CONNECTS a.test:443 HTTP/1.1\r\n\r\n", PROXY_BAD, "");
}

static void test_urls(void)
{
	http("GET http://b.test/ HTTP/1.1\r\n\r\n", PROXY_FORWARD, "b.test:80");
	http("PUT HTTP://b.test:81/x?key=1 HTTP/1.0\r\nHost: b.test:81\r\n\r\n", PROXY_FORWARD,
		"b.test:81");
	http("GET http://[::1]/ HTTP/1.1\r\n\r\n", PROXY_FORWARD, "[::1]:80");
	http("GET http://[::1]:81/ HTTP/1.1\r\n\r\n", PROXY_FORWARD, "[::1]:81");
	http("GET http:///x HTTP/1.1\r\n\r\n", PROXY_FORWARD, ":80");
	http("GET http://me:word@b.test/ HTTP/1.1\r\n\r\n", PROXY_BAD, "b.test:80");
	http("GET http://b.test HTTP/1.1\r\n\r\n", PROXY_BAD, "b.test:80");
	http("GET http://b.test?x HTTP/1.1\r\n\r\n", PROXY_BAD, "b.test:80");
	http("GET https://b.test/ HTTP/1.1\r\n\r\n", PROXY_BAD, "b.test:80");
	http("GET /http://b.test/ HTTP/1.1\r\n\r\n", PROXY_BAD, "b.test:80");
	http("GET /x HTTP/1.1\r\n\r\n", PROXY_BAD, "");
	http("GET http://b.test/ HTTP/2.0\r\n\r\n", PROXY_BAD, "");
}

static void forwards(const char *from, const char *to)
{
	static char out[PROXY_HEAD_BYTES];
	struct proxy_request r = {.bytes = 0};
	is(proxy_request_decode(&r, from, strlen(from)), PROXY_FORWARD, "%.40s", from);
	size_t len = proxy_request_forward(from, r.bytes, out);
	out[len] = '\0';
	is_str(out, to, "is sent on as the server is to see it");
}

static void test_forward(void)
{
	forwards("GET http://b.test/ HTTP/1.1\r\n\r\n",
		"GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
	forwards("POST http://b.test:81/a//b?u=http://c.test/ HTTP/1.1\r\nHost: b.test:81\r\n"
		 "Content-Length: 4\r\n\r\nbody",
		"POST /a//b?u=http://c.test/ HTTP/1.1\r\nHost: b.test:81\r\nContent-Length: "
		"4\r\nConnection: close\r\n\r\n");
	forwards("GET http://b.test/ HTTP/1.1\r\nproxy-connection: Keep-Alive\r\nConnection: "
		 "keep-alive\r\nProxy-Authorization: Basic QTpC\r\nKeep-Alive: 5\r\n"
		 "Connections: 1\r\nHost: b.test\r\n\r\n",
		"GET / HTTP/1.1\r\nConnections: 1\r\nHost: b.test\r\nConnection: "
		"close\r\n\r\n");
	/* The pin refuses these. */
	forwards("GET http://b.test/ HTTP/1.1\r\nConnection: a\r\n b\r\n\r\n",
		"GET / HTTP/1.1\r\n b\r\nConnection: close\r\n\r\n");
	forwards("GET http://b.test/ HTTP/1.1\r\nConnection: a\n\r\nX: y\r\n\r\n",
		"GET / HTTP/1.1\r\nConnection: a\n\r\nX: y\r\nConnection: close\r\n\r\n");
	forwards("GET http://b.test/ HTTP/1.\n\r\n\r\n",
		"GET / HTTP/1.\n\r\nConnection: close\r\n\r\n");
}

static void test_neither(void)
{
	static char endless[PROXY_REQUEST_MAX_BYTES];
	struct proxy_request r = {.bytes = 0};
	is(proxy_request_decode(&r, "\x16\x03\x01", 3), PROXY_BAD,
		"TLS is known by its first byte");
	is(proxy_request_decode(&r, "\x04\x01", 2), PROXY_BAD, "and SOCKS4");
	memset(endless, 'A', sizeof(endless));
	is(proxy_request_decode(&r, endless, sizeof(endless) - 1), PROXY_MORE,
		"a head that is not too long is waited for");
	is(proxy_request_decode(&r, endless, sizeof(endless)), PROXY_BAD, "one that is, is not");
}

static void socks(const char *bytes, size_t len, enum proxy_step want, const char *target)
{
	struct proxy_request r = {.socks = true, .greeted = true};
	is(decode(&r, bytes, len), want, "SOCKS asks for %s",
		*target ? target : "what is not served");
	is_str(r.target, target, "as it may be shown");
	is(r.bytes, want == PROXY_CONNECT ? len : 0, "and takes so many bytes");
}

static void test_socks(void)
{
	struct proxy_request r = {.bytes = 0};
	is(decode(&r, "\5\2\2\0", 4), PROXY_GREET, "a greeting that offers no authentication");
	ok(r.socks && r.greeted && r.bytes == 4, "is answered");
	is(proxy_request_decode(&r, "CONNECT a.test:1 HTTP/1.1\r\n\r\n", 29), PROXY_BAD,
		"and HTTP comes too late then");
	r = (struct proxy_request){.bytes = 0};
	is(decode(&r, "\5\1\2", 3), PROXY_BAD, "one that offers a password only");
	socks("\5\1\0\1\1\2\3\4\1\xbb", 10, PROXY_CONNECT, "1.2.3.4:443");
	socks("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\x50", 22, PROXY_CONNECT, "[::1]:80");
	socks("\5\1\0\3\6a.test\0\x50", 13, PROXY_CONNECT, "a.test:80");
	socks("\5\1\0\3\6a.te t\0\x50", 13, PROXY_CONNECT, "a.te?t:80");
	socks("\5\2\0\1", 4, PROXY_BAD, "");
	socks("\5\1\0\2", 4, PROXY_BAD, "");
	socks("\4\1\0\1", 4, PROXY_BAD, "");
}

int main(void)
{
	test_connect();
	test_urls();
	test_forward();
	test_neither();
	test_socks();
	return tap_done();
}
