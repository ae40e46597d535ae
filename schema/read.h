/*
 * Readers: the bytes of a YAML, JSON or TOML file become one positioned document.
 *
 * A reader collects findings; a document that could not be read has a NULL root and at least one
 * error. `doc` is initialised here and always needs doc_done. The text is copied into the document;
 * `file` is too.
 */
#ifndef SCHEMA_READ_H
#define SCHEMA_READ_H
#include "schema/finding.h"

/* Chooses the syntax by the suffix of `file` (.yaml .yml .json .toml). Returns 0, or -1 when there
 * is no tree. */
int doc_read(
	struct doc *doc, const char *file, const char *text, size_t len, struct findings *findings);

int doc_read_yaml(
	struct doc *doc, const char *file, const char *text, size_t len, struct findings *findings);
int doc_read_json(
	struct doc *doc, const char *file, const char *text, size_t len, struct findings *findings);
int doc_read_toml(
	struct doc *doc, const char *file, const char *text, size_t len, struct findings *findings);
#endif
