/*
 * A positioned document: the contents of a YAML, JSON or TOML file, with their places.
 *
 * A reader (read.h) turns bytes into one tree of nodes. Every node knows its source range, so that
 * later findings can point at the offending key or value. The document owns its text, its nodes and
 * all strings (one arena); nodes are immutable after reading.
 *
 * Limits: 8 MiB of text, 64 levels, 1,000,000 nodes.
 */
#ifndef SCHEMA_DOC_H
#define SCHEMA_DOC_H
#include "base/arena.h"
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { DOC_BYTES_MAX = 8 * 1024 * 1024, DOC_DEPTH_MAX = 64, DOC_NODES_MAX = 1000000 };

/* DOC_BROKEN: a value that the reader has already reported (an integer out of range, an alias);
 * checks accept it silently, so that one mistake is never reported twice. */
enum doc_kind { DOC_NULL, DOC_BOOL, DOC_INT, DOC_FLOAT, DOC_STR, DOC_LIST, DOC_MAP, DOC_BROKEN };

/* 1-based; columns count code points, as in an editor. `end_*` is the first position after the
 * node. */
struct doc_pos {
	uint32_t line, column, end_line, end_column;
};

struct doc_node {
	enum doc_kind kind : 8;
	bool partial;   /* a map some of whose pairs were refused: do not report missing keys */
	bool filled;    /* a key that stands in the machine's defaults, and not in this map */
	uint32_t count; /* bytes of a string, items of a list, pairs of a map */
	struct doc_pos pos;
	union {
		bool boolean; /* of a null: it was written out, not an empty value */
		int64_t integer;
		double number;
		const char *text; /* NUL-terminated UTF-8; holds no NUL itself */
		const struct doc_node *items;
		const struct doc_pair *pairs; /* in source order; keys are DOC_STR, distinct */
	};
};

struct doc_pair {
	struct doc_node key, value;
};

struct doc {
	struct arena arena;
	const char *file; /* its name in findings */
	const char *text; /* the source without a byte order mark, NUL-terminated */
	size_t len;
	const uint32_t *lines; /* where each line starts; a line ends at \n, \r\n or \r */
	uint32_t line_count;
	const struct doc_node *root; /* NULL when the text could not be read */
	size_t nodes;
};

void doc_done(struct doc *doc);

/* Returns the pair named `key` of a map, NULL if there is none or `map` is no map. Logarithmic at
 * worst, whatever the keys. */
const struct doc_pair *doc_pair(const struct doc_node *map, const char *key);
/* Returns its value, NULL if there is none. */
const struct doc_node *doc_get(const struct doc_node *map, const char *key);
/* Makes `out` a copy of a map with `more` pairs after its own, whose keys it does not have. Returns
 * the pairs, whose values may be changed. */
struct doc_pair *doc_map_with(const struct doc_node *map, const struct doc_pair *more,
	uint32_t count, struct arena *arena, struct doc_node *out);
/* Compares two strings, or two integers, as strcmp does; nodes of other kinds by their kinds. */
int doc_order(const struct doc_node *a, const struct doc_node *b);
/* Returns "a string", "an integer", ... for messages. */
const char *doc_kind_name(enum doc_kind kind);
/* Returns the value for jansson, without positions. New reference; NULL: out of memory. */
json_t *doc_json(const struct doc_node *node);
/* Returns the name that findings give the file `path` beside the document's own. Heap; NULL: out of
 * memory. */
char *doc_beside(const struct doc *doc, const char *path);
/* Returns the source line `line` (1-based) without its newline. */
const char *doc_line(const struct doc *doc, uint32_t line, size_t *len);
/* Returns the number of bytes of the first `columns` characters. */
size_t doc_bytes(const char *text, size_t len, uint32_t columns);
#endif
