/*
 * What a finding about a document's shape advises: the word, key or value that was meant.
 */
#ifndef SCHEMA_ADVICE_H
#define SCHEMA_ADVICE_H
#include "schema/shape.h"

struct shape_pattern;

/* "did you mean `x`?", or all that is known when that is little. */
/* Names a letter of `word` that only looks like the one that is meant, with the word as it would
 * be; false: there is none. */
bool advise_letters(struct findings *findings, struct finding *it, const char *word);
/* advise_word, where `near` is the word that is meant; NULL: none is near. */
void advise_near(struct findings *findings, struct finding *it, const char *near,
	const char *const *names, size_t count);
void advise_word(struct findings *findings, struct finding *it, const char *word,
	const char *const *names, size_t count);
/* `[...]` of what stands between the separators in `text`, in a form that every syntax reads, or
 * nothing where that is not plain. Whether it is there. */
bool advice_list(const char *text, const char *separators, struct buf *out);
/* How a text that `pattern` does not match would be spelled so that it does, or why it cannot. */
void advise_spelling(struct findings *findings, struct finding *it,
	const struct shape_pattern *pattern, const char *text);
/* What to write for a key that is missing: `on: {nonzero: ..., ok: ..., timeout: ...}`, or what its
 * value may be. */
void advise_key(
	struct findings *findings, struct finding *it, const char *name, const struct shape *shape);
/* How what stands at `node` would be written as what belongs there. `key`: whose value it is, NULL:
 * none's. */
void advise_type(struct findings *findings, struct finding *it, const struct shape *shape,
	const struct doc_node *node, const char *key);
/* Whether a text where one of `words` belongs, or `list`, is rather an item of that: no word holds
 * a dot or a colon, as hosts do. */
bool advice_is_item(
	const struct shape *list, const struct shape *words, const struct doc_node *text);
/* Whether the key that `map` (`place`, in words) needs stands too far in, inside another of its
 * keys: then that is said instead of whatever was said about it there. */
bool advise_nested(struct findings *findings, const struct doc *doc, const struct doc_node *map,
	const char *place, const char *key);
#endif
