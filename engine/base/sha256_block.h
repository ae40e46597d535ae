/*
 * SHA-256's compression of whole blocks: in C, and by the processor where it can.
 */
#ifndef BASE_SHA256_BLOCK_H
#define BASE_SHA256_BLOCK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const uint32_t sha256_k[64];

void sha256_blocks_c(uint32_t h[8], const unsigned char *p, size_t count);

/* The functions for the SHA extensions of x86-64; `sha256_has_x86` returns false elsewhere and on
 * processors without them. */
bool sha256_has_x86(void);
void sha256_blocks_x86(uint32_t h[8], const unsigned char *p, size_t count);
#endif
