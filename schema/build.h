/*
 * The builder: readers give it nodes in source order, and it makes the tree.
 *
 * Everything common to all syntaxes is here: the limits, the refusal of duplicate and non-string
 * keys, the index of large maps. Nodes wait on one stack until their list or map closes and then
 * move into the arena, so a document costs its nodes once.
 */
#ifndef SCHEMA_BUILD_H
#define SCHEMA_BUILD_H
#include "schema/finding.h"

struct doc_open {
	size_t start; /* where its children begin on the stack */
	enum doc_kind kind;
	struct doc_pos pos;
};

struct doc_build {
	struct doc *doc;
	struct findings *findings;
	struct doc_node *stack;
	size_t count, room;
	struct doc_open open[DOC_DEPTH_MAX];
	int depth;
	uint32_t bare_line; /* line of the last {{ }} without quotes, which has been reported */
};

/* Copies the text, strips a byte order mark, indexes lines; checks size, UTF-8 and control
 * characters. Returns -1 with a finding if the text must not be parsed. Always fills `doc`. */
int doc_scan(
	struct doc *doc, const char *file, const char *text, size_t len, struct findings *findings);

void doc_build_init(struct doc_build *doc_build, struct doc *doc, struct findings *findings);
void doc_build_done(struct doc_build *doc_build);
/* Return -1 if a limit is crossed, which has been reported: stop reading. */
int doc_build_open(struct doc_build *doc_build, enum doc_kind kind, struct doc_pos pos);
int doc_build_close(struct doc_build *doc_build, uint32_t end_line, uint32_t end_column);
int doc_build_add(struct doc_build *doc_build, struct doc_node node);
/* Reports whether the next node added will be a map's key. */
bool doc_build_at_key(const struct doc_build *doc_build);
/* Returns a DOC_STR node whose text is copied. */
struct doc_node doc_build_string(
	struct doc_build *doc_build, const char *text, size_t len, struct doc_pos pos);
/* Reports characters that only an escape can have put into a string, and breaks the string: NUL,
 * and, if `lone`, half of a surrogate pair. */
void doc_check_string(
	struct doc_node *node, bool lone, const struct doc *doc, struct findings *findings);
/* Finishes: the one node left becomes the root. */
void doc_build_root(struct doc_build *doc_build);

/* Larger maps have an index after their pairs: slots sorted by hash, then key. */
enum { MAP_LINEAR_MAX = 8 };
struct map_slot {
	uint32_t hash, index;
};
uint32_t map_hash(const char *key, size_t len);
#endif
