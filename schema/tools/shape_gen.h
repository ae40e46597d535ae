/*
 * What the two halves of the shape generator share.
 */
#ifndef SCHEMA_TOOLS_SHAPE_GEN_H
#define SCHEMA_TOOLS_SHAPE_GEN_H
#include "base/cleanup.h"

/* The name that every table begins with. */
extern const char *prefix;

/* Ends the build; `place` is where in the schema. */
void fail(const char *place, const char *format, ...) PRINTF(2, 3) __attribute__((noreturn));
/* Writes the table PREFIX_pattern_ID for the regular expression `text`. */
void emit_pattern(const char *text, int id, const char *place);
#endif
