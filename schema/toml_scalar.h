/*
 * TOML's unquoted scalars: numbers, booleans, dates.
 */
#ifndef SCHEMA_TOML_SCALAR_H
#define SCHEMA_TOML_SCALAR_H
#include "schema/doc.h"
#include "schema/rules.h"

/* What `text[0..len)` is, into `node` (kind and value; DOC_BROKEN for what is understood but
 * refused, with the reason in *refused). -1: no scalar of TOML 1.0. */
int toml_scalar(const char *text, size_t len, struct doc_node *node, enum rule *refused);
/* YYYY-MM-DD and nothing else, whatever the digits: a time may follow behind a space. */
bool toml_is_date(const char *text, size_t len);
#endif
