/*
 * UTF-8 as RFC 3629 defines it: shortest form, no surrogates, at most U+10FFFF.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the well-formed sequence at `text` (1..4), 0 when there is none within `len`.
 * `code`, when given, receives the code point. */
size_t utf8_step(const char *text, size_t len, uint32_t *code);
/* Length of the longest well-formed prefix; == len when all of it is. */
size_t utf8_prefix(const char *text, size_t len);
/* Where a cut of `text` after `len` bytes, or before the byte `at`, leaves characters whole: up to
 * three bytes less, or more. What is no UTF-8 is cut where it was to be. */
size_t utf8_cut_end(const char *text, size_t len);
size_t utf8_cut_start(const char *text, size_t len, size_t at);
/* Copies text into `size` bytes, cut where a character ends, always NUL-terminated. Bytes that are
 * no character, as a cut leaves them, become one '?', or nothing at the end. `to` may be `from`. */
void utf8_copy(char *to, size_t size, const char *from);
/* Appends bytes as text: what is no character, and NUL, becomes U+FFFD. Whether nothing did. */
bool utf8_add(struct buf *out, const char *bytes, size_t len);
/* Whether what a build service that reads its log takes for an order hangs on the character at
 * `at`: the second # of "##word[", or the first : of a word "::word". */
bool utf8_is_order(const char *text, size_t len, size_t at);
/* Appends text that must drive neither the terminal it is shown on nor the service that keeps it: a
 * character that is `odd` or makes an order becomes \xHH or, from U+0080 on, \u{HHHH}, and a byte
 * that is none \xHH. */
void utf8_escape(struct buf *out, const char *text, size_t len, bool (*odd)(uint32_t code));
/* What makes a text look like another to a person: a control character, what some readers take for
 * a line break, what turns text around, and tags, which spell words that nobody sees. No document
 * may hold one. */
bool utf8_is_false(uint32_t code);
/* That, and whatever else takes no place on a screen, but for what joins letters and pictures
 * (U+200C, U+200D) or says which look they have (U+FE0E, U+FE0F): no line for people shows one. */
bool utf8_is_odd(uint32_t code);
/* Appends a path or name with everything that could confuse a reader written as \xHH. */
void utf8_show(struct buf *out, const char *name);
/* Code points in well-formed text. */
size_t utf8_count(const char *text, size_t len);
/* Writes `code` (not a surrogate) as 1..4 bytes and returns how many. */
size_t utf8_put(uint32_t code, char out[4]);
/* Control characters that no document, name or terminal line may carry: C0 but \t \n \r, DEL, C1.
 */
bool utf8_is_control(uint32_t code);
/* The columns that a printable character takes on a terminal: 2 for East Asian wide ones and
 * pictures, 0 for marks that combine with what stands before, else 1. */
unsigned utf8_columns(uint32_t code);
/* Those of a text; a byte that is no character takes one. */
size_t utf8_width(const char *text, size_t len);
#endif
