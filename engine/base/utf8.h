/*
 * UTF-8 as RFC 3629 defines it: shortest form, no surrogates, at most U+10FFFF.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the bytes of the well-formed sequence at `text` (1..4), 0 if there is none within `len`.
 * Sets `code`, if given, to the code point. */
size_t utf8_step(const char *text, size_t len, uint32_t *code);
/* Returns the length of the longest well-formed prefix; `len` if all of it is. */
size_t utf8_prefix(const char *text, size_t len);
/* Return where to cut `text` so that characters stay whole: after up to three bytes less than
 * `len`, or up to three bytes after `at`. Text that is not UTF-8 is cut at the given place. */
size_t utf8_cut_end(const char *text, size_t len);
size_t utf8_cut_start(const char *text, size_t len, size_t at);
/* Copies text into `size` bytes, cut at a character's end, always NUL-terminated. A run of bytes
 * that are no character, as after a cut, becomes one '?', or nothing at the end. `to` may be
 * `from`. */
void utf8_copy(char *to, size_t size, const char *from);
/* Appends bytes as text: each byte that is no character, and NUL, becomes U+FFFD. Returns whether
 * there was none. */
bool utf8_add(struct buf *out, const char *bytes, size_t len);
/* Reports whether the character at `at` makes a build service read a command in its log: the second
 * # of "##word[", or the first : of a word "::word". */
bool utf8_is_order(const char *text, size_t len, size_t at);
/* Appends text that can control neither the terminal on which it is shown nor a service that keeps
 * it. A character that is `odd` or makes a command becomes \xHH or, from U+0080 on, \u{HHHH}; a
 * byte that is no character becomes \xHH. */
void utf8_escape(struct buf *out, const char *text, size_t len, bool (*odd)(uint32_t code));
/* Reports whether a character can make a text look like another one: a control character, a line
 * break for some readers only, a change of direction, or a tag, which spells words that nobody
 * sees. No document may hold one. */
bool utf8_is_false(uint32_t code);
/* Reports whether a character is false, or takes no place on a screen, except joiners of letters
 * and pictures (U+200C, U+200D) and selectors of their look (U+FE0E, U+FE0F). No line for people
 * shows one. */
bool utf8_is_odd(uint32_t code);
/* Appends a path or name with every character that could confuse a reader written as \xHH. */
void utf8_show(struct buf *out, const char *name);
/* Counts the code points in well-formed text. */
size_t utf8_count(const char *text, size_t len);
/* Writes `code` (not a surrogate) as 1..4 bytes and returns their number. */
size_t utf8_put(uint32_t code, char out[4]);
/* Reports whether this is a control character that no document, name or terminal line may contain:
 * C0 except \t \n \r, DEL, C1. */
bool utf8_is_control(uint32_t code);
/* Returns the columns of a printable character on a terminal: 2 for East Asian wide ones and
 * pictures, 0 for combining marks, else 1. */
unsigned utf8_columns(uint32_t code);
/* Returns the columns of a text; a byte that is no character takes one. */
size_t utf8_width(const char *text, size_t len);
#endif
