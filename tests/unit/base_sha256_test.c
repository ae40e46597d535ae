/* base: SHA-256 against the examples of FIPS 180-4 and the NIST CAVP byte vectors. */
#include "base/sha256.h"
#include "base/sha256_block.h"
#include "tests/kit/tap.h"
#include <string.h>

static void expect_digest(const char *text, size_t len, size_t step, const char *hex)
{
	struct sha256 s;
	char got[SHA256_HEX + 1];
	sha256_init(&s);
	for (size_t at = 0; at < len; at += step)
		sha256_add(&s, text + at, len - at < step ? len - at : step);
	sha256_end_hex(&s, got);
	is_str(got, hex, "%zu bytes in steps of %zu", len, step);
}

/* Both ways of compressing a block agree. */
static void test_both_ways(void)
{
	static unsigned char text[64 * 50];
	uint32_t a[8], b[8], bits = 1;
	size_t differ = 0;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (unsigned char)((bits = bits * 1664525 + 1013904223) >> 24);
	for (size_t count = 0; count < 50; count++) {
		for (int i = 0; i < 8; i++)
			a[i] = b[i] = bits + (uint32_t)i * 0x9e3779b9u;
		sha256_blocks_c(a, text, count);
		if (sha256_has_x86())
			sha256_blocks_x86(b, text, count);
		else
			sha256_blocks_c(b, text, count);
		differ += memcmp(a, b, sizeof(a)) != 0;
	}
	is(differ, 0, "in C and by the processor%s", sha256_has_x86() ? "" : " (which cannot)");
}

int main(void)
{
	static const struct {
		const char *text, *hex;
	} cases[] = {
		{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
			"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
		{"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqk"
		 "lmnopqrl"
		 "mnopqrsmnopqrstnopqrstu",
			"cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
		{"\xd3", "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		for (size_t step = 1; step < 130; step = step * 2 + 1)
			expect_digest(cases[i].text, strlen(cases[i].text), step, cases[i].hex);
	static char million[1000000];
	memset(million, 'a', sizeof(million));
	expect_digest(million, sizeof(million), 977,
		"cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	/* Every length around the padding's edges must be distinct from its neighbours. */
	char before[SHA256_HEX + 1] = "", hex[SHA256_HEX + 1];
	for (size_t n = 50; n < 135; n++) {
		struct sha256 s;
		sha256_init(&s);
		sha256_add(&s, million, n);
		sha256_end_hex(&s, hex);
		ok(strcmp(hex, before) != 0, "%zu bytes differ from %zu", n, n - 1);
		memcpy(before, hex, sizeof(hex));
	}
	expect_digest(million, 55, 55,
		"9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
	expect_digest(million, 64, 13,
		"ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
	test_both_ways();
	return tap_done();
}
