/*
 * Strict numbers: text to int64 and double and back, without locale, rounding or silent overflow.
 *
 * The document's number syntax (YAML core schema, TOML, JSON) is decided by its reader; these
 * take a run of bytes that the reader already recognised as decimal.
 */
#ifndef BASE_NUM_H
#define BASE_NUM_H
#include <stddef.h>
#include <stdint.h>

/* `text[0..len)` as a signed decimal integer, whole. -1: not one, or outside 64 bits. */
int num_int(const char *text, size_t len, int64_t *out);
/* The number of a port, 1 to 65535, in at most five digits. -1: not one. */
int num_port(const char *text, size_t len, uint16_t *out);
/* A decimal float in the C locale's syntax without hexadecimal, inf or nan. -1: not one, or it
 * overflows to infinity. */
int num_float(const char *text, size_t len, double *out);

enum { NUM_FLOAT_BYTES = 32 };
/* The shortest decimal that reads back as `value`, always with a '.' or an exponent: 1.0, 0.1,
 * 1e+16, 1.5e-07. Exponents are used below 1e-4 and from 1e16. Returns the length. */
size_t num_float_text(double value, char out[NUM_FLOAT_BYTES]);

/* The sum, or the outermost number where 64 bits do not hold it. */
int64_t num_add(int64_t a, int64_t b);

/* An amount of USD that is not negative, in millionths: the nearest, the largest for what is more,
 * and one for what would round to nothing, since a limit of 0 means something else. */
int64_t num_microusd(double usd);
#endif
