/*
 * JSON at the edges, on jansson: bounded reading and one canonical spelling.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H
#include "base/buf.h"
#include "base/err.h"
#include <jansson.h>
#include <stdint.h>

/* JSON_VALUES_MAX: as many take up to 90 MB, where 10 MiB of `{},` would take 800. */
enum { JSON_DEPTH_MAX = 64, JSON_VALUES_MAX = 512 * 1024 };

/* One JSON text, any type at the top, at most `cap_bytes`, nested at most JSON_DEPTH_MAX deep, with
 * at most JSON_VALUES_MAX values.
 * Refused: duplicate keys, NUL in strings, lone surrogates, invalid UTF-8, integers outside 64
 * bits, floats that overflow, anything behind the value. The message names line and column. */
json_t *json_read(const char *text, size_t len, size_t cap_bytes, struct err *e);

/* The same with the caller's own limits: an envelope around values that were already checked. */
struct json_cap {
	size_t bytes, depth;
	size_t values; /* SIZE_MAX: any number */
};
json_t *json_read_nested(const char *text, size_t len, struct json_cap cap, struct err *e);

/* Whether json_read would say that the text holds too many values. */
bool json_too_many(const char *text, size_t len);

/* Appends `value` compactly: keys sorted by code point, non-ASCII as is, floats by num_float_text.
 * The same value always yields the same bytes; this is what is hashed, journaled and rendered. */
int json_write(struct buf *out, const json_t *value);
/* The same as heap text; NULL when out of memory. */
char *json_text(const json_t *value);
/* Appends a string of `len` bytes of UTF-8 in the same spelling. */
int json_write_string(struct buf *out, const char *text, size_t len);

/* The string at `key`, which lives as long as it does; "" where there is none. */
const char *json_get_text(const json_t *object, const char *key);
/* The integer at `key`; 0 where there is none. */
json_int_t json_get_int(const json_t *object, const char *key);
/* Adds to it as num_add does. */
void json_add_int(json_t *object, const char *key, json_int_t more);
/* How many code points, items or members it has. -1: it has no length. */
int json_length(const json_t *value, int64_t *out);
#endif
