/*
 * Letters that are drawn like ASCII ones and are none: Cyrillic, Greek, full-width, and blanks that
 * take no room.
 */
#ifndef SCHEMA_LOOKALIKE_H
#define SCHEMA_LOOKALIKE_H
#include "base/buf.h"
#include <stdint.h>

struct lookalike {
	uint32_t code; /* of the first one in the text; 0: there is none */
	char like;     /* what it looks like; '\0': nothing at all is seen of it */
	char bytes[5]; /* itself */
};

/* Finds the first, and writes the text to `plain` with all of them in ASCII; NULL: not wanted. */
struct lookalike lookalike_find(const char *text, struct buf *plain);
#endif
