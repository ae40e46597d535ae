/*
 * Suggestions, "did you mean": finds the known word that a misspelt one most likely means.
 */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H
#include <stddef.h>

/* Returns the name at the smallest edit distance (insert, delete, replace, swap of neighbours), if
 * that is at most a third of the word, or one letter missing from a word of two; else NULL. NULL
 * entries are skipped. Words over 64 bytes match nothing. */
const char *suggest_name(const char *word, const char *const *names, size_t count);
/* Does the same among agent6's own words. A word of another tool with that meaning ("integer",
 * "success"), in any case, comes first. */
const char *suggest_word(const char *word, const char *const *names, size_t count);
#endif
