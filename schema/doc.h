/*
 * A positioned document: what a YAML, JSON or TOML file says and where it says it.
 *
 * A reader (read.h) turns bytes into one tree of nodes; every node knows its
 * source range, so that any later finding can point at the offending key or value. The document
 * owns its text, its nodes and all strings (one arena); nodes are immutable after reading.
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

/* 1-based; columns count code points, as an editor shows them. `end_*` is the first position behind
 * the node. */
struct doc_pos {
	uint32_t line, column, end_line, end_column;
};

struct doc_node {
	enum doc_kind kind : 8;
	bool partial;   /* a map of which pairs were refused: what is missing has been said */
	uint32_t count; /* bytes of a string, items of a list, pairs of a map */
	struct doc_pos pos;
	union {
		bool boolean; /* of a null: it was written, and is not what nothing is */
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
	const char *file; /* as it is named in findings */
	const char *text; /* the source without a byte order mark, NUL-terminated */
	size_t len;
	const uint32_t *lines; /* where each line starts; a line ends at \n, \r\n or \r */
	uint32_t line_count;
	const struct doc_node *root; /* NULL when the text could not be read */
	size_t nodes;
};

void doc_done(struct doc *doc);

/* The pair named `key` of a map, NULL when absent or `map` is no map. Logarithmic at worst,
 * whatever the keys. */
const struct doc_pair *doc_pair(const struct doc_node *map, const char *key);
/* Its value, NULL when absent. */
const struct doc_node *doc_get(const struct doc_node *map, const char *key);
/* "a string", "an integer", ... for messages. */
const char *doc_kind_name(enum doc_kind kind);
/* The same value for jansson, positions gone. New reference; NULL when out of memory. */
json_t *doc_json(const struct doc_node *node);
/* The file `path` beside the document's own, as findings name it. Heap; NULL when out of memory. */
char *doc_beside(const struct doc *doc, const char *path);
/* The source line `line` (1-based) without its newline, for carets. */
const char *doc_line(const struct doc *doc, uint32_t line, size_t *len);
/* The bytes of its first `columns` characters. */
size_t doc_bytes(const char *text, size_t len, uint32_t columns);
#endif
