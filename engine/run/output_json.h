/*
 * A command's output in the form that facts have: JSON strings, whatever its bytes are.
 */
#ifndef RUN_OUTPUT_JSON_H
#define RUN_OUTPUT_JSON_H
#include "base/sha256.h"
#include "contract/fact.h"
#include "launch/output.h"
#include <jansson.h>

/* Returns the bytes as a JSON string; each byte that is not UTF-8, and NUL, becomes U+FFFD. *clean:
 * nothing was replaced. */
json_t *output_json_text(const char *bytes, size_t len, bool *clean);
/* Returns the last `most` bytes, from the start of a character on; fewer if a part before them was
 * dropped. */
json_t *output_json_tail(const struct output *output, size_t most);
/* Adds a closed output to a fact: stdout, and where they apply stdout_dropped, stdout_tail_bytes,
 * stdout_sha256 and not_utf8. `whole` has hashed all of it, kept or not, and is not finished yet.
 */
void output_json_fact(const struct output *output, const struct sha256 *whole, struct fact *fact);
#endif
