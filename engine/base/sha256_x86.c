/* Intel SHA Extensions (Intel Software Developer's Manual, volume 2: SHA256RNDS2, SHA256MSG1,
 * SHA256MSG2): a bundle's digest costs as much as reading it, not ten times that. */
#include "base/sha256_block.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>

bool sha256_has_x86(void)
{
	unsigned a, b, c, d;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) || !(c & bit_SSE4_1))
		return false;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}

#define X86_SHA __attribute__((target("sha,sse4.1,ssse3")))

/* Computes the 64 rounds, four at a time; `m` holds the last sixteen words of the schedule. */
X86_SHA static void rounds(__m128i *abef, __m128i *cdgh, __m128i m[4])
{
	__m128i s0 = *abef, s1 = *cdgh;
#pragma GCC unroll 16
	for (int i = 0; i < 16; i++) {
		__m128i *m0 = &m[i & 3], *m1 = &m[(i + 1) & 3];
		__m128i *m2 = &m[(i + 2) & 3], *m3 = &m[(i + 3) & 3];
		__m128i sum = _mm_add_epi32(*m0, _mm_loadu_si128((const void *)&sha256_k[4 * i]));
		s1 = _mm_sha256rnds2_epu32(s1, s0, sum);
		s0 = _mm_sha256rnds2_epu32(s0, s1, _mm_shuffle_epi32(sum, 0x0e));
		*m0 = _mm_add_epi32(_mm_sha256msg1_epu32(*m0, *m1), _mm_alignr_epi8(*m3, *m2, 4));
		*m0 = _mm_sha256msg2_epu32(*m0, *m3);
	}
	*abef = _mm_add_epi32(*abef, s0);
	*cdgh = _mm_add_epi32(*cdgh, s1);
}

X86_SHA void sha256_blocks_x86(uint32_t h[8], const unsigned char *p, size_t count)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	__m128i dcba = _mm_loadu_si128((const void *)&h[0]);
	__m128i hgfe = _mm_loadu_si128((const void *)&h[4]);
	__m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
	__m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
	for (; count; count--, p += 64) {
		__m128i m[4];
		for (int i = 0; i < 4; i++)
			m[i] = _mm_shuffle_epi8(_mm_loadu_si128((const void *)(p + 16 * i)), swap);
		rounds(&abef, &cdgh, m);
	}
	__m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
	_mm_storeu_si128((void *)&h[0], _mm_blend_epi16(feba, dchg, 0xf0));
	_mm_storeu_si128((void *)&h[4], _mm_alignr_epi8(dchg, feba, 8));
}
#else
bool sha256_has_x86(void)
{
	return false;
}

void sha256_blocks_x86(uint32_t h[8], const unsigned char *p, size_t count)
{
	sha256_blocks_c(h, p, count);
}
#endif
