/*
 * JSON for input and output, on jansson: bounded reading and one canonical spelling.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H
#include "base/buf.h"
#include "base/err.h"
#include <jansson.h>
#include <stdint.h>

/* JSON_VALUES_MAX: these take up to 90 MB, where 10 MiB of `{},` would take 800. */
enum { JSON_DEPTH_MAX = 64, JSON_VALUES_MAX = 512 * 1024 };

/* Reads one JSON text: any type at the top, at most `cap_bytes`, nested at most JSON_DEPTH_MAX
 * deep, with at most JSON_VALUES_MAX values. Refuses duplicate keys, NUL in strings, lone
 * surrogates, invalid UTF-8, integers outside 64 bits, floats that overflow, and anything after the
 * value. The message names line and column. */
json_t *json_read(const char *text, size_t len, size_t cap_bytes, struct err *e);

/* Reads with the caller's own limits: for an envelope around values that were already checked. */
struct json_cap {
	size_t bytes, depth;
	size_t values; /* SIZE_MAX: any number */
};
json_t *json_read_nested(const char *text, size_t len, struct json_cap cap, struct err *e);

/* Reports whether json_read would refuse the text for too many values. */
bool json_too_many(const char *text, size_t len);

/* Appends `value` compactly: keys sorted by code point, non-ASCII as it is, floats by
 * num_float_text. The same value always gives the same bytes; they are hashed, journaled and
 * rendered. */
int json_write(struct buf *out, const json_t *value);
/* Returns the same as heap text; NULL if out of memory. */
char *json_text(const json_t *value);
/* Appends a string of `len` bytes of UTF-8 in the same spelling. */
int json_write_string(struct buf *out, const char *text, size_t len);

/* Returns the string at `key`, which lives as long as the object; "": there is none. */
const char *json_get_text(const json_t *object, const char *key);
/* Returns the integer at `key`; 0: there is none. */
json_int_t json_get_int(const json_t *object, const char *key);
/* Adds to the integer at `key` as num_add does. */
void json_add_int(json_t *object, const char *key, json_int_t more);
/* Counts the code points, items or members. Returns -1 if the value has no length. */
int json_length(const json_t *value, int64_t *out);
#endif
