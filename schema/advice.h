/*
 * Advice for findings about a document's shape: the word, key or value that was meant.
 */
#ifndef SCHEMA_ADVICE_H
#define SCHEMA_ADVICE_H
#include "schema/shape.h"

struct shape_pattern;

/* Names a letter of `word` that only looks like the intended one, with the corrected word. Returns
 * false if there is none. */
bool advise_letters(struct findings *findings, struct finding *it, const char *word);
/* Advises like advise_word when `near` is the intended word; NULL: none is near. */
void advise_near(struct findings *findings, struct finding *it, const char *near,
	const char *const *names, size_t count);
/* Adds "did you mean `x`?", or all known words if they are few. */
void advise_word(struct findings *findings, struct finding *it, const char *word,
	const char *const *names, size_t count);
/* Writes `[...]` with the parts of `text` between the separators, in a form that every syntax
 * reads. Returns whether the text is plain enough for that. */
bool advice_list(const char *text, const char *separators, struct buf *out);
/* Advises how to spell a text so that `pattern` matches it, or tells why that is impossible. */
void advise_spelling(struct findings *findings, struct finding *it,
	const struct shape_pattern *pattern, const char *text);
/* Advises what to write for a missing key: `on: {nonzero: ..., ok: ..., timeout: ...}`, or its
 * possible values. */
void advise_key(
	struct findings *findings, struct finding *it, const char *name, const struct shape *shape);
/* Advises how to write the value at `node` in the right type. `key`: its key; NULL: it has none. */
void advise_type(struct findings *findings, struct finding *it, const struct shape *shape,
	const struct doc_node *node, const char *key);
/* Reports whether a text in place of one of `words` or of `list` is rather an item of the list: no
 * word has a dot or a colon, as hosts do. */
bool advice_is_item(
	const struct shape *list, const struct shape *words, const struct doc_node *text);
/* Reports whether the key that `map` (`place`, in words) needs is nested too deep, inside another
 * of its keys. If so, says that instead of the earlier finding about it there. */
bool advise_nested(struct findings *findings, const struct doc *doc, const struct doc_node *map,
	const char *place, const char *key);
#endif
