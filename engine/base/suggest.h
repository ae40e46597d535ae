/*
 * "Did you mean": the known word that a misspelt one is most likely meant to be.
 */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H
#include <stddef.h>

/* The name at the smallest edit distance (insert, delete, replace, swap of neighbours), if that is
 * at most a third of the word, or it is the one letter that a word of two lacks; else NULL. NULL
 * entries are skipped. Words over 64 bytes match nothing. */
const char *suggest_name(const char *word, const char *const *names, size_t count);
/* The same among words that are agent6's own: first the one that is called `word` elsewhere
 * ("integer", "success"), whatever its case. */
const char *suggest_word(const char *word, const char *const *names, size_t count);
#endif
