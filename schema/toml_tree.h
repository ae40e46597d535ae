/*
 * The tables of a TOML document while it is read: headers and dotted keys may add to them in any
 * order.
 *
 * The rules are in toml.io/en/v1.0.0, "Table" and "Inline Table"; they are applied here, apart from
 * the text. A table's children hang in an AA tree by name as well as in source order, so that no
 * choice of keys makes reading slow.
 */
#ifndef SCHEMA_TOML_TREE_H
#define SCHEMA_TOML_TREE_H
#include "schema/build.h"

enum toml_kind {
	TOML_VALUE,     /* a scalar in `node` */
	TOML_LIST,      /* an array written as a value */
	TOML_TABLE,     /* a map */
	TOML_TABLE_LIST /* [[...]] */
};

/* The origin of a table, which decides what may still be added to it. */
enum toml_origin {
	TOML_IMPLICIT, /* named on the way to another header */
	TOML_HEADER,   /* has its own header, or is an element of [[...]] */
	TOML_DOTTED,   /* made by a dotted key */
	TOML_INLINE    /* {...}: complete */
};

struct toml {
	struct doc_node key, node; /* `node` holds a value's content, and a position in any case */
	struct toml *next;         /* in source order */
	struct toml *left, *right; /* in the tree of the parent's children */
	enum toml_kind kind : 8;
	enum toml_origin origin : 8;
	unsigned level : 8;
	bool twice; /* defined again: it is unknown which one counts, and has been reported */
	/* A TOML_VALUE ends here, which saves memory: most nodes are values. */
	struct toml *first, *last, *root; /* the children, and their tree */
};

/* A name of several parts, as written: a.b."c d". */
struct toml_path {
	struct doc_node parts[DOC_DEPTH_MAX];
	size_t count;
};

struct toml_tree {
	struct doc *doc;
	struct findings *findings;
	struct arena arena;
	struct toml top;
	size_t nodes;
};

void toml_tree_init(struct toml_tree *toml_tree, struct doc *doc, struct findings *findings);
void toml_tree_done(struct toml_tree *toml_tree);
/* Makes a node without a parent. NULL: the document has too many (reported). */
struct toml *toml_new(struct toml_tree *toml_tree, enum toml_kind kind, struct doc_pos pos);
void toml_append(struct toml *list, struct toml *item);
/* Returns the table that the header [path] or [[path]] opens. One that may not be opened is
 * reported, and a table that belongs to nothing is returned, so that reading goes on. NULL: too
 * many nodes. */
struct toml *toml_open_header(struct toml_tree *toml_tree, const struct toml_path *path, bool list);
/* Puts `value` at a dotted key below `table`; a second one is reported and dropped. Returns -1: too
 * many nodes. */
int toml_set(struct toml_tree *toml_tree, struct toml *table, const struct toml_path *path,
	struct toml *value);
/* Gives the whole tree to the builder. Returns -1 if a limit was crossed (reported). */
int toml_build(struct doc_build *doc_build, const struct toml *table);
#endif
