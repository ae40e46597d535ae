/*
 * TOML's unquoted scalars: numbers, booleans, dates.
 */
#ifndef SCHEMA_TOML_SCALAR_H
#define SCHEMA_TOML_SCALAR_H
#include "schema/doc.h"
#include "schema/rules.h"

/* Reads the scalar `text[0..len)` into `node` (kind and value; DOC_BROKEN if it is understood but
 * refused, with the reason in *refused). Returns -1 if it is no scalar of TOML 1.0. */
int toml_scalar(const char *text, size_t len, struct doc_node *node, enum rule *refused);
/* Reports whether this is YYYY-MM-DD and nothing else, whatever the digits: a time may follow after
 * a space. */
bool toml_is_date(const char *text, size_t len);
#endif
