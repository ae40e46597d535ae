/*
 * Strict numbers: text to int64 and double and back, without locale, rounding or silent overflow.
 *
 * The document's number syntax (YAML core schema, TOML, JSON) is decided by its reader; these
 * take a run of bytes that the reader already recognised as a number.
 */
#ifndef BASE_NUM_H
#define BASE_NUM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads `text[0..len)` as a whole signed decimal integer. Returns -1 if it is none, or outside 64
 * bits. */
int num_int(const char *text, size_t len, int64_t *out);
/* Reads an integer such as 0x1F or 0o17, without a sign of its own; `negative`: a minus stands
 * before it. Returns -1 if it is none, or outside 64 bits. */
int num_based_int(const char *text, size_t len, bool negative, int64_t *out);
/* Reads a port number, 1 to 65535, in at most five digits. Returns -1 if it is none. */
int num_port(const char *text, size_t len, uint16_t *out);
/* Reads a decimal float in the C locale's syntax without hexadecimal, inf or nan. Returns -1 if it
 * is none, or overflows to infinity. */
int num_float(const char *text, size_t len, double *out);

enum { NUM_FLOAT_BYTES = 32 };
/* Writes the shortest decimal that reads back as `value`, always with a '.' or an exponent: 1.0,
 * 0.1, 1e+16, 1.5e-07. Uses exponents below 1e-4 and from 1e16. Returns the length. */
size_t num_float_text(double value, char out[NUM_FLOAT_BYTES]);

/* Returns the sum, or the nearest limit if it does not fit 64 bits. */
int64_t num_add(int64_t a, int64_t b);

/* Returns a non-negative amount of USD in millionths: the nearest number, or the largest. An amount
 * that would round to 0 becomes 1, since a limit of 0 means something else. */
int64_t num_microusd(double usd);
#endif
