/* The pin: one name, and the same name again when the server asks for a second hello. */
#include "broker/parse/pin.h"
#include "tests/kit/tap.h"
#include "tests/unit/hello_bytes.h"

static const unsigned char retry_random[] =
	"\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
	"\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c";

static struct endpoint endpoint_of(const char *text, bool tls)
{
	struct endpoint p;
	struct err e = ERR_NONE;
	if (endpoint_decode(&p, text, false, &e) < 0)
		bail("%s", e.text);
	p.tls = tls;
	return p;
}

static const char *offer(struct pin *pin, const struct hello_bytes *bytes, size_t *passed)
{
	*passed = pin_take(pin, (const char *)bytes->data, bytes->len);
	return pin->refused;
}

static void one(const char *endpoint, const char *name, const char *want)
{
	struct endpoint at = endpoint_of(endpoint, true);
	struct hello_bytes h = hello_for(name);
	struct pin p;
	size_t passed;
	pin_init(&p, &at);
	is_str(offer(&p, &h, &passed), want, "%s asked for %s", endpoint, name ? name : "nothing");
	is(passed, want ? 0 : h.len, "and as much passes");
}

static void test_names(void)
{
	one("api.test:443", "api.test", NULL);
	one("api.test:443", "API.Test", NULL);
	one("api.test:443", "evil.test", REFUSED_SNI);
	one("api.test:443", "api.test.", REFUSED_SNI);
	one("api.test:443", "api.test.evil", REFUSED_SNI);
	one("api.test:443", "xapi.test", REFUSED_SNI);
	one("api.test:443", NULL, REFUSED_SNI);
	one("10.0.0.7:443", NULL, NULL);
	one("10.0.0.7:443", "evil.test", REFUSED_SNI);
}

static void test_more_names(void)
{
	static const char *const names[] = {"api.test", "api.test"};
	struct endpoint at = endpoint_of("api.test:443", true);
	struct hello_bytes two = {.len = 0}, hidden = {.len = 0}, message = {.len = 0},
			   h = {.len = 0};
	struct pin p;
	size_t passed;
	put_names(&two, names, 2);
	put_message(&message, &two);
	put_records(&h, &message, 16384);
	pin_init(&p, &at);
	is_str(offer(&p, &h, &passed), REFUSED_SNI, "the right name twice");
	put_name(&hidden, "api.test");
	put_extension(&hidden, 0xfe0d, "\0\0", 2);
	message.len = h.len = 0;
	put_message(&message, &hidden);
	put_records(&h, &message, 16384);
	pin_init(&p, &at);
	is_str(offer(&p, &h, &passed), REFUSED_SNI, "the right name with another one hidden");
}

/* A ServerHello's first bytes; `retry` asks for a second hello. */
static struct hello_bytes answer(bool retry)
{
	struct hello_bytes h = {.len = 0};
	put(&h, 22, 1);
	put(&h, 0x0303, 2);
	put(&h, 90, 2);
	put(&h, 2, 1);
	put(&h, 86, 3);
	put(&h, 0x0303, 2);
	put_bytes(&h,
		retry ? retry_random : (const unsigned char *)"01234567890123456789012345678901",
		32);
	put(&h, 0, 8);
	return h;
}

static void second(bool retry, const char *name, const char *want)
{
	struct endpoint at = endpoint_of("api.test:443", true);
	struct hello_bytes first = hello_for("api.test"), again = {.len = 0}, back = answer(retry);
	struct hello_bytes more = hello_for(name);
	struct pin p;
	size_t passed;
	pin_init(&p, &at);
	offer(&p, &first, &passed);
	put_bytes(&again, "\x14\x03\x03\x00\x01\x01", 6); /* ChangeCipherSpec for old middleboxes */
	put_bytes(&again, more.data, more.len);
	is_str(offer(&p, &again, &passed), NULL, "a second hello ahead of the answer");
	is(passed, 6, "waits");
	for (size_t i = 0; i < back.len; i++)
		pin_reply(&p, (const char *)back.data + i, 1);
	is_str(offer(&p, &more, &passed), want, "%s for %s", retry ? "asked again" : "not asked",
		name);
	is(passed, want ? 0 : more.len, "and as much passes");
	pin_reply(&p, (const char *)back.data, back.len);
	is(p.state, want ? PIN_SECOND : PIN_OPEN, "whatever the server says then");
}

static void test_second(void)
{
	second(true, "api.test", NULL);
	second(true, "evil.test", REFUSED_SNI);
	second(false, "evil.test", NULL);
}

/* Bytes that are no TLS at all pass as soon as the first hello has. */
static void test_opaque(void)
{
	struct endpoint at = endpoint_of("api.test:443", true);
	struct hello_bytes first = hello_for("api.test");
	struct pin p;
	size_t passed;
	pin_init(&p, &at);
	ok(pin_holds_all(&p), "nothing flows before the hello");
	for (size_t i = 0; i < first.len; i++)
		if (pin_take(&p, (const char *)first.data, i) > 0 || p.refused)
			bail("a part of the hello passed");
	offer(&p, &first, &passed);
	ok(!pin_holds_all(&p), "everything may flow after it");
	is(pin_take(&p, "ping", 4), 4, "other bytes pass");
	pin_init(&p, &at);
	offer(&p, &first, &passed);
	is(pin_take(&p, "\x16\x02", 2), 2, "and what begins as a record and is none");
}

/* The first bytes decide what a client of the proxy speaks, and what it failed at. */
static void test_unfinished(void)
{
	struct endpoint tls = endpoint_of("api.test:443", true),
			plain = endpoint_of("api.test:80", false), listed = plain;
	struct pin p;
	listed.sniffed = true;
	pin_init(&p, &tls);
	is_str(pin_unfinished(&p), REFUSED_HELLO, "half a hello");
	pin_init(&p, &plain);
	is_str(pin_unfinished(&p), REFUSED_HOST, "half a request");
	pin_init(&p, &listed);
	is(pin_take(&p, "\x16\x03", 2), 0, "a listed host's hello is held");
	is_str(pin_unfinished(&p), REFUSED_HELLO, "and half of it is half a hello");
}

static void test_early_data(void)
{
	struct endpoint at = endpoint_of("api.test:443", true);
	struct hello_bytes first = hello_for("api.test");
	struct pin p;
	size_t passed, total = 0;
	pin_init(&p, &at);
	offer(&p, &first, &passed);
	static const char early[] = "\x17\x03\x03\x00\x04"
				    "abcd"
				    "\x17\x03\x03\x00\x02"
				    "ef";
	size_t len = sizeof(early) - 1;
	for (size_t i = 1; i <= len; i++)
		total += pin_take(&p, early + total, i - total);
	is(total, len, "early data passes byte by byte");
	is(pin_take(&p, early, 6), 6, "a record's header and one byte of it");
	is(p.passing, 3, "the rest of it passes unseen");
	is(pin_take(&p, "\x16\x03\x01", 3), 3, "and is counted, whatever it is");
	is(p.passing, 0, "the next record is looked at");
	ok(p.state == PIN_REPLY, "and the answer is still awaited");
}

/* Checks that no byte passes unread that must still be examined. */
static void test_unseen(void)
{
	struct endpoint tls = endpoint_of("api.test:443", true),
			plain = endpoint_of("api.test:80", 0);
	struct hello_bytes first = hello_for("api.test"), back = answer(false);
	static const char put[] = "PUT / HTTP/1.1\r\nHost: api.test\r\nContent-Length: 9\r\n\r\n";
	struct pin p;
	size_t passed;
	pin_init(&p, &tls);
	ok(p.passing == 0 && p.state == PIN_HELLO, "a hello is looked at");
	offer(&p, &first, &passed);
	ok(p.passing == 0 && p.state == PIN_REPLY,
		"and so is what comes before the server's answer");
	pin_reply(&p, (const char *)back.data, back.len);
	ok(p.state == PIN_OPEN, "what comes after it is not");
	pin_init(&p, &plain);
	pin_take(&p, put, sizeof(put) - 1);
	is(p.passing, 9, "a body is passed unseen, as long as it is");
	is(pin_take(&p, "GET / HTT", 9), 9, "and counted, whatever it is");
	ok(p.passing == 0 && p.state == PIN_LINE, "the next request is looked at");
	pin_reply(&p, (const char *)back.data, back.len);
	is(p.state, PIN_LINE, "whatever the server has answered");
}

int main(void)
{
	test_unseen();
	test_names();
	test_more_names();
	test_second();
	test_opaque();
	test_early_data();
	test_unfinished();
	return tap_done();
}
