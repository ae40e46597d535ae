/*
 * Findings about keys that a map needs and does not have.
 */
#ifndef SCHEMA_MISSING_H
#define SCHEMA_MISSING_H
#include "schema/finding.h"
#include "schema/table.h"

/* A map without some of its keys. */
struct lacking {
	struct findings *f;
	const struct doc *d;
	const struct doc_node *map, *where; /* `where`: the place of findings */
	const char *place;                  /* its name in messages */
};

/* Reports a missing key, unless the map was not read to its end. */
void missing_key(const struct lacking *lacking, const char *name, const struct shape *shape);
/* Reports the keys of `shape` in `missing`, a bit each; several alike get one finding. */
void missing_keys(const struct lacking *lacking, const struct shape *shape, uint64_t missing);
#endif
