/* The ClientHello parser: split anywhere, spread over records, hostile. */
#include "broker/parse/client_hello.h"
#include "tests/kit/tap.h"
#include "tests/unit/hello_bytes.h"

static enum hello_answer decode(const struct hello_bytes *bytes, struct client_hello *out)
{
	return client_hello_decode(bytes->data, bytes->len, out);
}

static struct hello_bytes with_extensions(const struct hello_bytes *extensions, size_t record_bytes)
{
	struct hello_bytes message = {.len = 0}, out = {.len = 0};
	put_message(&message, extensions);
	put_records(&out, &message, record_bytes);
	return out;
}

static void test_split(void)
{
	struct hello_bytes h = hello_for("api.example.com");
	struct client_hello found;
	bool held = true;
	for (size_t len = 0; len < h.len; len++)
		held &= client_hello_decode(h.data, len, &found) == HELLO_MORE;
	ok(held, "every prefix of a hello asks for more");
	is(decode(&h, &found), HELLO_WHOLE, "the whole hello");
	is_str(found.server_name, "api.example.com", "its name");
	is(found.name_count, 1, "one name");
	ok(!found.encrypted, "not encrypted");
	is(found.bytes, h.len, "all of it was taken");
	put(&h, 23, 1);
	is(decode(&h, &found), HELLO_WHOLE, "bytes behind it do not matter");
	is(found.bytes, h.len - 1, "and are not taken");
}

static void test_records(void)
{
	struct hello_bytes extensions = {.len = 0};
	struct client_hello found;
	put_name(&extensions, "api.example.com");
	bool whole = true, more = true;
	for (size_t record_bytes = 1; record_bytes < 200; record_bytes++) {
		struct hello_bytes h = with_extensions(&extensions, record_bytes);
		whole &= decode(&h, &found) == HELLO_WHOLE && found.bytes == h.len &&
			 strcmp(found.server_name, "api.example.com") == 0;
		for (size_t len = 0; len < h.len; len++)
			more &= client_hello_decode(h.data, len, &found) == HELLO_MORE;
	}
	ok(whole, "a hello in records of 1 to 199 bytes");
	ok(more, "and every prefix of each asks for more");
}

static void test_names(void)
{
	static const char *const two[] = {"api.example.com", "evil.example"};
	struct hello_bytes extensions = {.len = 0}, twice = {.len = 0};
	struct client_hello found;
	put_names(&extensions, two, 2);
	struct hello_bytes h = with_extensions(&extensions, 16384);
	is(decode(&h, &found), HELLO_WHOLE, "two names in one extension");
	is(found.name_count, 2, "are counted");
	put_name(&twice, "api.example.com");
	put_name(&twice, "evil.example");
	h = with_extensions(&twice, 16384);
	decode(&h, &found);
	is(found.name_count, 2, "so are two extensions");
	is_str(found.server_name, "api.example.com", "the first one is told");
	h = hello_for(NULL);
	is(decode(&h, &found), HELLO_WHOLE, "no name at all");
	is(found.name_count, 0, "counts none");
	h = hello_for("api.example.com.");
	decode(&h, &found);
	is_str(found.server_name, "api.example.com.", "a trailing dot is kept for the pin to see");
}

static void test_hidden_names(void)
{
	static const uint16_t types[] = {0xfe0d, 0xfe0a, 0xfe08, 0xff02, 0xffce};
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		struct hello_bytes extensions = {.len = 0};
		struct client_hello found = {.encrypted = false};
		put_name(&extensions, "api.example.com");
		put_extension(&extensions, types[i], "\0", 1);
		struct hello_bytes h = with_extensions(&extensions, 16384);
		decode(&h, &found);
		ok(found.encrypted, "extension %04x hides a name", types[i]);
	}
}

/* RFC 8701's sixteen reserved values, 0x0a0a to 0xfafa, wherever a client may put one: version,
 * cipher (put_message has one), group, signature, key share, ALPN, an empty and a filled extension.
 */
static struct hello_bytes greased(size_t value, bool name_first)
{
	struct hello_bytes e = {.len = 0}, list = {.len = 0};
	if (name_first)
		put_name(&e, "api.example.com");
	put_extension(&e, value, "", 0);
	put(&list, 2, 2);
	put(&list, value, 2);
	put_extension(&e, 10, list.data, list.len); /* supported_groups */
	put_extension(&e, 13, list.data, list.len); /* signature_algorithms */
	put_extension(&e, 16, "\x00\x03\x02\x0a\x0a", 5);
	put_extension(&e, 43, "\x02\x5a\x5a", 3); /* supported_versions */
	list.len = 0;
	put(&list, 5, 2);
	put(&list, value, 2);
	put(&list, 1, 2);
	put(&list, 0, 1);
	put_extension(&e, 51, list.data, list.len); /* key_share */
	put_extension(&e, value ^ 0xf0f0, "\0", 1);
	if (!name_first)
		put_name(&e, "api.example.com");
	return e;
}

static void test_grease(void)
{
	unsigned whole = 0, more = 0, cuts = 0;
	for (size_t value = 0x0a0a; value <= 0xfafa; value += 0x1010)
		for (size_t record_bytes = 1; record_bytes <= 16384; record_bytes *= 128) {
			struct hello_bytes e = greased(value, record_bytes == 128);
			struct hello_bytes h = with_extensions(&e, record_bytes);
			struct client_hello found = {.name_count = 0};
			whole += decode(&h, &found) == HELLO_WHOLE && !found.encrypted &&
				 found.name_count == 1 && found.bytes == h.len &&
				 strcmp(found.server_name, "api.example.com") == 0;
			for (size_t len = 0; len < h.len; len++, cuts++)
				more += client_hello_decode(h.data, len, &found) == HELLO_MORE;
		}
	is(whole, 16 * 3, "every GREASE value at every place, in records of 1, 128 and 16384");
	is(more, cuts, "and cut at every byte of each");
}

/* Checks that the broker refuses a client without a key for an encrypted hello (GREASE ECH): by
 * design it cannot be told from one with a key. */
static void test_grease_hidden(void)
{
	static uint8_t content[300] = {0, 0, 1, 0, 1, 42, 0, 32};
	struct hello_bytes extensions = {.len = 0};
	struct client_hello found = {.encrypted = false};
	content[41] = 194; /* the payload behind the 32 bytes of enc */
	put_name(&extensions, "api.example.com");
	put_extension(&extensions, 0xfe0d, content, 42 + 194);
	struct hello_bytes h = with_extensions(&extensions, 16384);
	is(decode(&h, &found), HELLO_WHOLE, "a well-formed encrypted hello, GREASE or not");
	ok(found.encrypted, "is told as one");
	put_extension(&extensions, 0xfe0d, "\1", 1); /* the inner hello's mark */
	h = with_extensions(&extensions, 1);
	decode(&h, &found);
	ok(found.encrypted, "byte by byte too");
}

static void refuse(const char *bytes, size_t len, const char *name)
{
	struct client_hello found;
	is(client_hello_decode((const uint8_t *)bytes, len, &found), HELLO_BAD, "refused: %s",
		name);
}

static void test_garbage(void)
{
	refuse("G", 1, "a first byte that opens no handshake record");
	refuse("\x17\x03\x03", 3, "application data");
	refuse("\x16\x02\x00\x00\x01", 5, "SSL 2");
	refuse("\x16\x03\x01\x00\x00", 5, "an empty record");
	refuse("\x16\x03\x01\x40\x01", 5, "a record over 16 KiB");
	refuse("\x16\x03\x01\x00\x04\x02\x00\x00\x00", 9, "a ServerHello");
	refuse("\x16\x03\x01\x00\x04\x02", 6, "one, as soon as it is known");
	refuse("\x16\x03\x01\x00\x04\x01\x00\x40\x00", 9, "a message over 16 KiB");
	refuse("\x16\x03\x01\x00\x04\x01\x00\x00\x00", 9, "an empty message");
}

/* A hello without names whose fields are as long as said; `left_out`: of an extension block that is
 * announced and not there. */
static enum hello_answer odd(size_t version, size_t session, size_t ciphers, size_t left_out)
{
	static const uint8_t zeros[64];
	struct hello_bytes message = {.len = 0}, h = {.len = 0};
	struct client_hello found;
	put(&message, 1, 1);
	put(&message, 2 + 32 + 1 + session + 2 + ciphers + 2 + (left_out ? 2 : 0), 3);
	put(&message, version, 2);
	put_bytes(&message, zeros, 32);
	put(&message, session, 1);
	put_bytes(&message, zeros, session);
	put(&message, ciphers, 2);
	put_bytes(&message, zeros, ciphers);
	put(&message, 0x0100, 2);
	if (left_out)
		put(&message, left_out, 2);
	put_records(&h, &message, 16384);
	return decode(&h, &found);
}

static void test_fields(void)
{
	is(odd(0x0303, 32, 2, 0), HELLO_WHOLE, "a hello of nothing but what must be there");
	is(odd(0x0203, 32, 2, 0), HELLO_BAD, "another protocol's version");
	is(odd(0x0303, 33, 2, 0), HELLO_BAD, "a session id of 33 bytes");
	is(odd(0x0303, 0, 0, 0), HELLO_BAD, "no cipher");
	is(odd(0x0303, 0, 3, 0), HELLO_BAD, "a cipher and a half");
	is(odd(0x0303, 0, 2, 5), HELLO_BAD, "extensions that are announced and not there");
	char name[257];
	memset(name, 'a', sizeof(name) - 1);
	name[256] = '\0';
	struct client_hello found;
	struct hello_bytes h = hello_for(name), other = {.len = 0}, extensions = {.len = 0};
	is(decode(&h, &found), HELLO_BAD, "a name of 256 bytes");
	h = hello_for(name + 1);
	is(decode(&h, &found), HELLO_WHOLE, "one of 255");
	is_str(found.server_name, name + 1, "is told whole");
	put_extension(&other, 0, "\0\6\1\0\3api", 8);
	h = with_extensions(&other, 16384);
	is(decode(&h, &found), HELLO_WHOLE, "a name of another type than a host's");
	is_str(found.server_name, "", "is not taken for one");
	is(found.name_count, 1, "and is counted");
	other.len = 0;
	put_extension(&other, 0, "\0\0", 2);
	h = with_extensions(&other, 16384);
	is(decode(&h, &found), HELLO_BAD, "an empty list of names");
	other.len = 0;
	put_extension(&other, 0, "\0\6\0\0\3api\0", 9);
	h = with_extensions(&other, 16384);
	is(decode(&h, &found), HELLO_BAD, "a byte behind the list of names");
	other.len = 0;
	put_extension(&other, 0, "\0\7\0\0\4api\0", 9);
	h = with_extensions(&other, 16384);
	is(decode(&h, &found), HELLO_BAD, "a name that would be told only up to its zero byte");
	struct hello_bytes message = {.len = 0}, longer = {.len = 0};
	put_message(&message, &extensions);
	message.data[3]++;
	put(&message, 0, 1);
	put_records(&longer, &message, 16384);
	is(decode(&longer, &found), HELLO_BAD, "a byte behind the extensions");
	message.len = longer.len = 0;
	put(&message, 0x01000028, 4);
	put(&message, 0x0303, 2);
	put_bytes(&message, (const uint8_t[32]){0}, 32);
	put(&message, 0, 1);
	put(&message, 0x00021301, 4);
	put(&message, 0, 1);
	put_records(&longer, &message, 16384);
	is(decode(&longer, &found), HELLO_BAD, "no compression, not even none");
}

/* Each byte of a hello, one off in both directions: what is compared with something else must be
 * noticed; what is not, by offset, may be anything. */
static void test_damage(void)
{
	static const struct {
		size_t first, last;
	} open[] = {{2, 2}, /* the record's minor version */
		{10, 42},   /* the hello's, and the random bytes */
		{44, 75},   /* the session id */
		{78, 81},   /* the ciphers */
		{83, 83},   /* the compression */
		{86, 87},   /* the GREASE extension's type */
		{114, 115}, /* supported_versions' */
		{118, 122}, /* and its content */
		{SIZE_MAX, SIZE_MAX}};
	struct hello_bytes good = hello_for("api.example.com");
	struct client_hello found;
	unsigned wrong = 0;
	for (size_t at = 0, range = 0; at < good.len; at++) {
		range += at > open[range].last;
		for (int by = -1; by <= 1; by += 2) {
			struct hello_bytes h = good;
			h.data[at] = (uint8_t)(h.data[at] + by);
			bool kept = decode(&h, &found) == HELLO_WHOLE && found.name_count == 1 &&
				    strcmp(found.server_name, "api.example.com") == 0;
			if (kept != (at >= open[range].first) && ++wrong)
				diag("byte %zu, %+d: %s", at, by, kept ? "not noticed" : "refused");
		}
	}
	is(good.len, 123, "a hello of so many bytes");
	is(wrong, 0, "one byte changed is noticed where it is compared, and only there");
	struct hello_bytes h = good;
	h.data[4]++; /* the record is one byte longer than the message in it */
	put(&h, 0, 1);
	is(decode(&h, &found), HELLO_BAD, "a second message in the hello's record");
}

static void test_size(void)
{
	static uint8_t padding[16384];
	struct hello_bytes extensions = {.len = 0};
	struct client_hello found;
	put_name(&extensions, "api.example.com");
	put_extension(&extensions, 21, padding, 16000);
	struct hello_bytes h = with_extensions(&extensions, 16384);
	is(decode(&h, &found), HELLO_WHOLE, "a hello of %zu bytes", h.len);
	h = with_extensions(&extensions, 100);
	is(decode(&h, &found), HELLO_BAD, "the same in records whose headers are too many");
	h = with_extensions(&extensions, 1);
	is(client_hello_decode(h.data, CLIENT_HELLO_MAX_BYTES, &found), HELLO_BAD,
		"16 KiB of tiny records that are not a whole hello");
	put_extension(&extensions, 21, padding, 400);
	h = with_extensions(&extensions, 16384);
	is(decode(&h, &found), HELLO_BAD, "a hello of %zu bytes", h.len);
}

int main(void)
{
	test_split();
	test_records();
	test_names();
	test_hidden_names();
	test_grease();
	test_grease_hidden();
	test_garbage();
	test_fields();
	test_damage();
	test_size();
	return tap_done();
}
