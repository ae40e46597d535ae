/*
 * The shared part of the files of the shape generator.
 */
#ifndef SCHEMA_TOOLS_SHAPE_GEN_H
#define SCHEMA_TOOLS_SHAPE_GEN_H
#include "base/cleanup.h"
#include <jansson.h>
#include <stdbool.h>

/* The whole schema. */
extern json_t *root;
/* The prefix of every table's name. */
extern const char *prefix;

/* Ends the build; `place` is the place in the schema. */
void fail(const char *place, const char *format, ...) PRINTF(2, 3) __attribute__((noreturn));
/* Writes the table PREFIX_pattern_ID for the regular expression `text`. */
void emit_pattern(const char *text, int id, const char *place);
/* Returns the schema of a $ref, or the schema itself. */
const json_t *resolve(const json_t *schema, const char *place);
/* Returns the kinds; 0: any. */
unsigned kinds_of(const json_t *schema, const char *place);
/* Reports whether a list is a command. No keyword of JSON Schema says so, and an annotation of our
 * own would be refused by strict validators. */
bool is_command(const json_t *schema);
/* Reports whether a property must be there once the machine's defaults have been filled in, which
 * an editor that looks at one state cannot know. The annotation stands beside a $ref, too. */
bool is_filled(const json_t *property);
/* Checks that each keyword belongs to this kind of schema. */
void check_keywords(const json_t *schema, const char *place);
#endif
