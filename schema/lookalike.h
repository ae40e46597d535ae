/*
 * Letters that look like ASCII ones: Cyrillic, Greek, full-width; and blanks without width.
 */
#ifndef SCHEMA_LOOKALIKE_H
#define SCHEMA_LOOKALIKE_H
#include "base/buf.h"
#include <stdint.h>

struct lookalike {
	uint32_t code; /* the first one in the text; 0: there is none */
	char like;     /* the ASCII letter; '\0': it is invisible */
	char bytes[5]; /* itself */
};

/* Finds the first one, and writes the text to `plain` (may be NULL) with all of them in ASCII. */
struct lookalike lookalike_find(const char *text, struct buf *plain);
#endif
