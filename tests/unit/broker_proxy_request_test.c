/* What a client asks of the proxy, cut anywhere, and what is no such request. */
#include "broker/parse/proxy_request.h"
#include "tests/kit/tap.h"

/* The step that `bytes` come to, with every shorter part of them asking for more. */
static enum proxy_step decode(struct proxy_request *r, const char *bytes, size_t len)
{
	struct proxy_request before = *r;
	for (size_t part = 0; part < len; part++) {
		*r = before;
		if (proxy_request_decode(r, bytes, part) != PROXY_MORE || r->bytes)
			return diag("%zu of %zu bytes do not ask for more", part, len), PROXY_MORE;
	}
	*r = before;
	return proxy_request_decode(r, bytes, len);
}

static void http(const char *text, enum proxy_step want, const char *target)
{
	struct proxy_request r = {.bytes = 0};
	is(decode(&r, text, strlen(text)), want, "HTTP asks for %s",
		*target ? target : "what is not served");
	is_str(r.target, target, "as it may be shown");
	is(r.bytes, want == PROXY_CONNECT ? strlen(text) : 0, "and takes so many bytes");
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
	http("GET http://b.test/ HTTP/1.1\r\n\r\n", PROXY_BAD, "b.test");
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
	test_neither();
	test_socks();
	return tap_done();
}
