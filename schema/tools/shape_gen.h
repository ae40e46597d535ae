/*
 * The shared part of the two halves of the shape generator.
 */
#ifndef SCHEMA_TOOLS_SHAPE_GEN_H
#define SCHEMA_TOOLS_SHAPE_GEN_H
#include "base/cleanup.h"

/* The prefix of every table's name. */
extern const char *prefix;

/* Ends the build; `place` is the place in the schema. */
void fail(const char *place, const char *format, ...) PRINTF(2, 3) __attribute__((noreturn));
/* Writes the table PREFIX_pattern_ID for the regular expression `text`. */
void emit_pattern(const char *text, int id, const char *place);
#endif
