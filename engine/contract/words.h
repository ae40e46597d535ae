/*
 * Lists of words that cross a border between modules or programs: one X-macro list
 * gives an enum, the word of each member, and the member of each word.
 *
 * A list is `#define LIST(X) X(NAME, "word") ...`. The enum beside it ends with a count;
 * WORDS_FUNCTIONS declares the two functions of the enum, words.c defines them.
 */
#ifndef CONTRACT_WORDS_H
#define CONTRACT_WORDS_H
#include <stddef.h>

/* Returns the place of `text` among `count` words; `count` when it is none of them, or NULL. */
size_t words_find(const char *const words[], size_t count, const char *text);

#define WORDS_TEXT(name, text) text,

/* kind_name returns the word, "?" for a number that is no member; kind_find returns the count for a
 * text that is none of the words, and for NULL. */
#define WORDS_FUNCTIONS(kind)                                                                      \
	const char *kind##_name(enum kind word);                                                   \
	enum kind kind##_find(const char *text)

#define WORDS_DEFINE(kind, LIST, count)                                                            \
	static const char *const kind##_words[] = {LIST(WORDS_TEXT)};                              \
	const char *kind##_name(enum kind word)                                                    \
	{                                                                                          \
		return (size_t)word < (count) ? kind##_words[word] : "?";                          \
	}                                                                                          \
	enum kind kind##_find(const char *text)                                                    \
	{                                                                                          \
		return (enum kind)words_find(kind##_words, count, text);                           \
	}
#endif
