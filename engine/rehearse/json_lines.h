/*
 * The lines of a file with one JSON text each. Blank lines are passed over, and counted.
 */
#ifndef REHEARSE_JSON_LINES_H
#define REHEARSE_JSON_LINES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begin with the text and its length. Everything is borrowed. */
struct json_lines {
	const char *text;
	size_t len, at;
	const char *line; /* the present line, without its newline */
	size_t line_len;
	uint32_t number; /* of that line, from 1 */
};

/* Goes on to the next line that is not blank. Returns false at the end. */
bool json_lines_next(struct json_lines *lines);
#endif
