/*
 * What libyaml says of a text that is no YAML, as a person is told it: what is wrong, and what they
 * most likely did.
 */
#ifndef SCHEMA_YAML_COMPLAINT_H
#define SCHEMA_YAML_COMPLAINT_H
#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

struct yaml_complaint {
	const char *message;
	const char *help;  /* NULL: none */
	bool from_context; /* the fault is where it began, not where it was noticed */
};

/* Of a parser that failed; `before` bytes of the line stand before the fault. */
struct yaml_complaint yaml_complaint_of(
	const yaml_parser_t *parser, const char *line, size_t len, size_t before);
#endif
