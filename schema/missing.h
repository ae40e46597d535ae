/*
 * What a map lacks: the findings about keys that it needs and does not have.
 */
#ifndef SCHEMA_MISSING_H
#define SCHEMA_MISSING_H
#include "schema/finding.h"
#include "schema/table.h"

/* A map that lacks something. */
struct lacking {
	struct findings *f;
	const struct doc *d;
	const struct doc_node *map, *where; /* `where`: what findings point at */
	const char *place;                  /* its name, as messages give it */
};

/* Nothing is said of a map that was not read to its end. */
void missing_key(const struct lacking *lacking, const char *name, const struct shape *shape);
/* The keys of `shape` in `missing`, a bit each: what is to be said of several alike is said once.
 */
void missing_keys(const struct lacking *lacking, const struct shape *shape, uint64_t missing);
#endif
