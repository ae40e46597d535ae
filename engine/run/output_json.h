/*
 * What a command has printed, as facts have it: JSON strings, whatever its bytes are.
 */
#ifndef RUN_OUTPUT_JSON_H
#define RUN_OUTPUT_JSON_H
#include "base/sha256.h"
#include "launch/output.h"
#include <jansson.h>

/* Bytes as a JSON string: what is not UTF-8, and NUL, becomes U+FFFD. *clean: nothing was replaced.
 */
json_t *output_json_text(const char *bytes, size_t len, bool *clean);
/* The last `most` bytes, from a character's start. */
json_t *output_json_tail(const struct output *output, size_t most);
/* Adds stdout (and stdout_dropped, stdout_sha256, not_utf8 where they apply) of a closed output to
 * a fact. `whole` has taken all of it, kept or not, and is not ended. */
void output_json_fact(const struct output *output, const struct sha256 *whole, json_t *fact);
#endif
