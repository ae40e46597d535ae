/* The Host pin: heads split anywhere, later requests on the same connection, smuggling. */
#include "broker/parse/pin.h"
#include "tests/kit/tap.h"

#define GET(host) "GET / HTTP/1.1\r\nHost: " host "\r\n\r\n"

static struct endpoint endpoint;

/* Feeds `text` in pieces of `piece` bytes as a relay would. -1: refused; else how many bytes
 * passed. */
static ssize_t feed(const char *text, size_t len, size_t piece)
{
	struct pin p;
	size_t passed = 0, offered = 0;
	pin_init(&p, &endpoint);
	while (offered < len) {
		offered = offered + piece < len ? offered + piece : len;
		passed += pin_take(&p, text + passed, offered - passed);
		if (p.refused)
			return -1;
	}
	return (ssize_t)passed;
}

static void passes(const char *text, const char *name)
{
	size_t len = strlen(text);
	bool held = true;
	for (size_t piece = 1; piece <= len; piece++)
		held &= feed(text, len, piece) == (ssize_t)len;
	ok(held, "passes: %s", name);
}

static void refused(const char *text, const char *name)
{
	size_t len = strlen(text);
	bool held = true;
	for (size_t piece = 1; piece <= len; piece++)
		held &= feed(text, len, piece) < 0;
	ok(held, "refused: %s", name);
}

/* Neither passed as a whole nor refused: held back. */
static void waits(const char *text, const char *name)
{
	ok(feed(text, strlen(text), 1) == 0, "held: %s", name);
}

static void test_first(void)
{
	passes(GET("api.test:8080"), "the endpoint's host and port");
	passes(GET("api.test"), "without the port");
	passes(GET("API.Test:8080"), "in another case");
	passes("POST /v1?x=http://a HTTP/1.0\r\nA: b\r\nhost:api.test\t\r\n\r\n", "HTTP/1.0, tabs");
	passes("OPTIONS * HTTP/1.1\r\nHost: api.test\r\n\r\n", "the server itself as target");
	refused(GET("evil.test"), "another host");
	refused(GET("api.test:80"), "another port");
	refused(GET("api.test:8080x"), "a port that is no number");
	refused(GET("api.test."), "a trailing dot");
	refused(GET("user@api.test"), "a user");
	refused(GET("api.test, evil.test"), "a list");
	refused(GET(""), "an empty host");
	refused("GET / HTTP/1.1\r\nA: b\r\n\r\n", "no host");
	refused("GET / HTTP/1.1\r\nHost: api.test\r\nHost: api.test\r\n\r\n", "the host twice");
	refused("GET http://api.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n", "an absolute target");
	refused("CONNECT evil.test:443 HTTP/1.1\r\nHost: api.test\r\n\r\n", "CONNECT");
	refused("GET / HTTP/2.0\r\nHost: api.test\r\n\r\n", "another version");
	refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/2 with prior knowledge");
	refused("GET / HTTP/1.1\nHost: api.test\n\n", "bare line feeds");
	refused("GET / HTTP/1.1\r\nHost: api.test\r\n evil.test\r\n\r\n", "a folded line");
	refused("GET / HTTP/1.1\r\nHost: api.test\r\nx\n\r\n", "a line of one letter, as if empty");
	refused("GET / HTTP/1.1\r\nHost: api.test\r\n: evil.test\r\n\r\n",
		"a header without a name");
	passes("GET / HTTP/1.1\r\nDate: x\r\nHost: api.test\r\nReferer: y\r\n\r\n",
		"names as long as those that matter");
	refused("GET / HTTP/1.1\r\nHost : api.test\r\n\r\n", "a blank before the colon");
	refused("GET / HTTP/1.1\r\nHost: api.test\rHost: b\r\n\r\n", "a bare carriage return");
	refused("GET / HTTP/1.1\r\nHost: api.test\r\nA: b\rHost: evil.test\r\n\r\n",
		"one within another header");
	refused("GET / HTTP/1.1\r\nHost: api.test\r\nA: b\n\r\n",
		"a header before a bare line feed");
	refused("GET / HTTP/1.1\nHost: api.test\r\n\r\n", "a request line before one");
	refused("GET / HTTP/1.1\r\nHost: api.test\r\nHost\t: evil.test\r\n\r\n",
		"a header's name with a tab behind it");
	refused("GET /\t HTTP/1.1\r\nHost: api.test\r\n\r\n", "a tab in a target");
	refused("GET /\x7f HTTP/1.1\r\nHost: api.test\r\n\r\n", "a delete character in one");
	refused("ABCDEFGHABCDEFGHABCDEFGHABCDEFGHA / HTTP/1.1\r\nHost: api.test\r\n\r\n",
		"a method of 33 letters");
	refused("GET  / HTTP/1.1\r\nHost: api.test\r\n\r\n", "two blanks");
	refused("\r\nGET / HTTP/1.1\r\nHost: api.test\r\n\r\n", "a leading empty line");
	refused("\rGET / HTTP/1.1\r\nHost: api.test\r\n\r\n", "a leading carriage return");
	refused("GET /\r\n\r\n", "HTTP/0.9");
	refused("\x16\x03\x01\x02", "a TLS record");
	refused("GET / HTTP/1.1\r\nHost: api.test\r\nUpgrade: h2c\r\n\r\n", "an upgrade");
	waits("GET / HTTP/1.1\r\nHost: api.test\r\n", "an unfinished head");
	waits("POS", "an unfinished method");
	char nul[] = "GET / HTTP/1.1\r\nHost: api.test\r\nA: \0\r\n\r\n";
	ok(feed(nul, sizeof(nul) - 1, 7) < 0, "refused: a NUL in a header");
	char behind[] = "GET / HTTP/1.1\r\0\0\0\nHost: api.test\r\n\r\n";
	ok(feed(behind, sizeof(behind) - 1, 7) < 0, "refused: a NUL behind a request line");
}

static void test_framing(void)
{
	passes("POST / HTTP/1.1\r\nHost: api.test\r\nContent-Length: 5\r\n\r\nhello" GET(
		       "api.test"),
		"a second request behind a body");
	refused("POST / HTTP/1.1\r\nHost: api.test\r\nContent-Length: 5\r\n\r\nhello" GET(
			"evil.test"),
		"another host behind a body");
	passes("POST / HTTP/1.1\r\nHost: api.test\r\nContent-Length: 36\r\n\r\n" GET("evil.test"),
		"a body that looks like a request");
	refused(GET("api.test") GET("evil.test"), "another host in a pipelined request");
	refused(GET("api.test") "\r\n\r\n" GET("evil.test"), "another host behind empty lines");
	passes(GET("api.test") "\r\n" GET("api.test") GET("api.test"), "three requests");
	refused(GET("api.test") "GET http://evil.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n",
		"a later absolute target");
	refused(GET("api.test") " GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
		"a later request behind a blank");
	refused(GET("api.test") "get / http/1.1\nHost: evil.test\n\n", "a later lax request");
	refused(GET("api.test") "x\rGET / HTTP/1.1\rHost: evil.test\r\r", "bare carriage returns");
	refused(GET("api.test") "GET http://evil.test/\r\n",
		"another host in a request of HTTP/0.9");
	refused(GET("api.test") "GET /\r\n", "the same without a host");
	refused(GET("api.test") "\rGET http://evil.test/\n", "and as lax servers read it");
	refused(GET("api.test") "G\rET / HTTP/1.1\r\nHost: api.test\r\n\r\n",
		"a carriage return within a method");
	refused(GET("api.test") "get hHTTP/1.1\r\nHost: evil.test\r\n\r\n",
		"a version behind a letter of its own");
	refused(GET("api.test") "M-POST /\r\nHost: evil.test\r\n\r\n", "no version, but headers");
	refused(GET("api.test") "OPTIONS *\r\nHost: evil.test\r\n\r\n",
		"the server itself as target");
	refused(GET("api.test") "CONNECT evil.test:80\r\n\r\n", "and a host with a port");
	static const char cut[] = GET("api.test") "GET /secret HTTP/1.1\r\nA: b\r\n";
	for (size_t piece = 1; piece < sizeof(cut); piece *= 2)
		is(feed(cut, sizeof(cut) - 1, piece), strlen(GET("api.test") "GET "),
			"a later head is held: some servers answer half of one at the end");
	passes(GET("api.test") "POST mortem\n", "a word that is also a method");
	passes(GET("api.test") "A b: c/d\n", "and a line that begins with none");
	passes(GET("api.test") "ping", "bytes behind a request that are no request");
	passes(GET("api.test") "ping\nGET / is not at the start of the line: HTTP is lost here\n",
		"and what follows them");
	refused("POST / HTTP/1.1\r\nHost: api.test\r\nContent-Length: 5\r\nContent-Length: "
		"6\r\n\r\n",
		"two lengths");
	refused("POST / HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n\r\n"
		"5\r\nhello\r\n0\r\n\r\n",
		"chunks: their end is one more boundary to disagree on");
	refused("POST / HTTP/1.1\r\nHost: api.test\r\ntransfer-encoding: identity\r\n\r\n",
		"any other encoding");
	waits("", "nothing");
	refused("POST / HTTP/1.1\r\nHost: api.test\r\nContent-Length: -1\r\n\r\n",
		"a negative length");
	refused("POST / HTTP/1.1\r\nHost: api.test\r\nContent-Length: \r\n\r\n", "no length");
	refused("POST / HTTP/1.1\r\nHost: api.test\r\nContent-Length: 0x5\r\n\r\n", "a hex length");
}

static void test_limits(void)
{
	static char text[2 * 1024 * 1024];
	memset(text, 'a', sizeof(text));
	memcpy(text, "GET /", 5);
	ok(feed(text, HTTP_HEAD_MAX_BYTES + 2, 4096) < 0, "refused: an endless first line");
	size_t head = strlen(GET("api.test"));
	memcpy(text, GET("api.test"), head);
	memset(text + head, 'x', sizeof(text) - head);
	is(feed(text, sizeof(text), 65536), (int64_t)sizeof(text),
		"an endless line of nothing passes");
	memcpy(text + head, "G /", 3);
	is(feed(text, sizeof(text), 65536), (int64_t)sizeof(text), "whatever it begins with");
	memcpy(text + head, "GET /", 5);
	ok(feed(text, sizeof(text), 65536) < 0, "refused: an endless request line");
	int at = snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: api.test\r\nA: ");
	memset(text + at, 'b', 20000);
	ok(feed(text, (size_t)at + 20000, 1000) < 0, "refused: an endless head");
}

static void test_ipv6(void)
{
	struct err e = ERR_NONE;
	if (endpoint_decode(&endpoint, "[fd00::1]:80", false, &e) < 0)
		bail("%s", e.text);
	passes(GET("[fd00::1]"), "an IPv6 host without a port");
	passes(GET("[FD00::1]:80"), "and with one");
	refused(GET("fd00::1"), "without brackets");
	refused(GET("[fd00::2]"), "another address");
}

int main(void)
{
	struct err e = ERR_NONE;
	if (endpoint_decode(&endpoint, "api.test:8080", false, &e) < 0)
		bail("%s", e.text);
	test_first();
	test_framing();
	test_limits();
	test_ipv6();
	return tap_done();
}
