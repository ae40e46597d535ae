#include "base/sha256.h"

#include "base/sha256_block.h"
#include <string.h>

const uint32_t sha256_k[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b,
	0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6,
	0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d,
	0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
	0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585,
	0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa,
	0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t ror(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

/* One round. The standard's a..h are eight places that change roles: instead of moving values, the
 * next round is called with the places shifted by one. */
/* NOLINTBEGIN(bugprone-macro-parentheses): each argument is the name of a place */
#define ROUND(a, b, c, d, e, f, g, h, n)                                                           \
	do {                                                                                       \
		uint32_t t = h + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) + (g ^ (e & (f ^ g))) +     \
			     sha256_k[n] + w[n];                                                   \
		d += t;                                                                            \
		h = t + (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) + ((a & b) | (c & (a | b)));         \
	} while (0)
/* NOLINTEND(bugprone-macro-parentheses) */

static void block(uint32_t state[8], const unsigned char *p)
{
	uint32_t w[64];
	for (int i = 0; i < 16; i++, p += 4)
		w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	for (int i = 16; i < 64; i++) {
		uint32_t x = w[i - 15], y = w[i - 2];
		w[i] = w[i - 16] + w[i - 7] + (ror(x, 7) ^ ror(x, 18) ^ x >> 3) +
		       (ror(y, 17) ^ ror(y, 19) ^ y >> 10);
	}
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
	uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
	for (int i = 0; i < 64; i += 8) {
		ROUND(a, b, c, d, e, f, g, h, i);
		ROUND(h, a, b, c, d, e, f, g, i + 1);
		ROUND(g, h, a, b, c, d, e, f, i + 2);
		ROUND(f, g, h, a, b, c, d, e, i + 3);
		ROUND(e, f, g, h, a, b, c, d, i + 4);
		ROUND(d, e, f, g, h, a, b, c, i + 5);
		ROUND(c, d, e, f, g, h, a, b, i + 6);
		ROUND(b, c, d, e, f, g, h, a, i + 7);
	}
	const uint32_t added[8] = {a, b, c, d, e, f, g, h};
	for (int i = 0; i < 8; i++)
		state[i] += added[i];
}

void sha256_blocks_c(uint32_t h[8], const unsigned char *p, size_t count)
{
	for (; count; count--, p += 64)
		block(h, p);
}

static void blocks(uint32_t h[8], const unsigned char *p, size_t count)
{
	static int x86 = -1;
	if (x86 < 0)
		x86 = sha256_has_x86();
	if (x86)
		sha256_blocks_x86(h, p, count);
	else
		sha256_blocks_c(h, p, count);
}

void sha256_init(struct sha256 *sha256)
{
	*sha256 = (struct sha256){.h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
					  0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(struct sha256 *sha256, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	size_t fill = sha256->bytes % 64;
	sha256->bytes += len;
	while (len) {
		if (!fill && len >= 64) {
			blocks(sha256->h, p, len / 64);
			p += len / 64 * 64;
			len %= 64;
			continue;
		}
		size_t n = 64 - fill < len ? 64 - fill : len;
		memcpy(sha256->block + fill, p, n);
		fill = (fill + n) % 64;
		p += n;
		len -= n;
		if (!fill)
			blocks(sha256->h, sha256->block, 1);
	}
}

void sha256_end(struct sha256 *sha256, unsigned char out[SHA256_BYTES])
{
	uint64_t bits = sha256->bytes * 8;
	static const unsigned char pad[64] = {0x80};
	sha256_add(sha256, pad, 1 + (119 - sha256->bytes % 64) % 64);
	unsigned char tail[8];
	for (int i = 0; i < 8; i++)
		tail[i] = (unsigned char)(bits >> (56 - 8 * i));
	sha256_add(sha256, tail, sizeof(tail));
	for (int i = 0; i < SHA256_BYTES; i++)
		out[i] = (unsigned char)(sha256->h[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_end_hex(struct sha256 *sha256, char out[SHA256_HEX + 1])
{
	unsigned char raw[SHA256_BYTES];
	sha256_end(sha256, raw);
	for (int i = 0; i < SHA256_BYTES; i++) {
		out[2 * i] = "0123456789abcdef"[raw[i] >> 4];
		out[2 * i + 1] = "0123456789abcdef"[raw[i] & 15];
	}
	out[SHA256_HEX] = '\0';
}

void sha256_hex(const void *bytes, size_t len, char out[SHA256_HEX + 1])
{
	struct sha256 s;
	sha256_init(&s);
	sha256_add(&s, bytes, len);
	sha256_end_hex(&s, out);
}
