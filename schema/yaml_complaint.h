/*
 * Complaints about a text that is no YAML, in words for a person: what is wrong, and the most
 * likely cause.
 */
#ifndef SCHEMA_YAML_COMPLAINT_H
#define SCHEMA_YAML_COMPLAINT_H
#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

struct yaml_complaint {
	const char *message;
	const char *help;  /* NULL: none */
	bool from_context; /* the fault is where the construct began, not where it was noticed */
};

/* Returns the complaint of a parser that failed; `before` bytes of the line precede the fault. */
struct yaml_complaint yaml_complaint_of(
	const yaml_parser_t *parser, const char *line, size_t len, size_t before);
#endif
