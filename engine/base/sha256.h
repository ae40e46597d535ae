/*
 * SHA-256 (FIPS 180-4): the journal's chain and the bundle's digest.
 *
 * Own code because every library on the link lines lacks it or would bring a whole TLS stack into
 * the supervisor; tested against the FIPS vectors.
 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H
#include <stddef.h>
#include <stdint.h>

struct sha256 {
	uint32_t h[8];
	uint64_t bytes;
	unsigned char block[64];
};

enum { SHA256_BYTES = 32, SHA256_HEX = 64 };

void sha256_init(struct sha256 *sha256);
void sha256_add(struct sha256 *sha256, const void *bytes, size_t len);
void sha256_end(struct sha256 *sha256, unsigned char out[SHA256_BYTES]);
/* Ends `sha256` and writes 64 lower-case hex digits and a NUL. */
void sha256_end_hex(struct sha256 *sha256, char out[SHA256_HEX + 1]);
/* Writes the hex digest of `len` bytes. */
void sha256_hex(const void *bytes, size_t len, char out[SHA256_HEX + 1]);
#endif
