/*
 * Shapes: what keys and values a document may have, compiled from the published JSON Schemas.
 *
 * schema/NAME.schema.json is the normative description that editors use; the build turns it into
 * tables (gen/NAME_shape.h) and this walks a document against them. A keyword that the tables
 * cannot carry stops the build, so the published schema and the reader cannot disagree.
 */
#ifndef SCHEMA_SHAPE_H
#define SCHEMA_SHAPE_H
#include "schema/finding.h"

struct shape;

extern const struct shape *const shape_machine; /* a machine file */
extern const struct shape *const shape_config;  /* an operator configuration file */
extern const struct shape *const shape_tools;   /* a line of rehearsal/NAME/tools.jsonl */
extern const struct shape *const shape_case;    /* rehearsal/NAME/case.yaml */
extern const struct shape *const shape_secrets; /* secrets.yaml */

/* The defaults that config.schema.json declares, as one JSON document; below "*" those of entries
 * whose names are free. */
extern const char *const shape_config_defaults;

/* Reports every way in which `node` differs from `shape`: each mistake once, at the key (unknown)
 * or value (wrong) or, for a missing key, at the map's own key. Returns 0 when there is none, else
 * -1. What was reported is skipped by later checks simply by looking for the kinds they need. */
int shape_check(const struct shape *shape, const struct doc *doc, const struct doc_node *node,
	struct findings *findings);
#endif
