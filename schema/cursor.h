/*
 * A place in a document's text that knows its line and column, for our own readers.
 *
 * Columns are counted from the last place asked for, so asking in source order is linear however
 * long the line is.
 */
#ifndef SCHEMA_CURSOR_H
#define SCHEMA_CURSOR_H
#include "base/utf8.h"
#include "schema/doc.h"

struct cursor {
	const char *at, *end;
	const char *counted; /* `column` belongs to this place */
	uint32_t line, column;
};

static inline void cursor_init(struct cursor *cursor, const struct doc *doc)
{
	*cursor = (struct cursor){doc->text, doc->text + doc->len, doc->text, 1, 1};
}

/* Steps over the line break at the cursor: \n, \r\n or \r. */
static inline void cursor_newline(struct cursor *cursor)
{
	cursor->at += cursor->at[0] == '\r' && cursor->at[1] == '\n' ? 2 : 1;
	cursor->counted = cursor->at;
	cursor->line++;
	cursor->column = 1;
}

/* Returns the position of the cursor, one column wide. */
static inline struct doc_pos cursor_pos(struct cursor *cursor)
{
	cursor->column +=
		(uint32_t)utf8_count(cursor->counted, (size_t)(cursor->at - cursor->counted));
	cursor->counted = cursor->at;
	return (struct doc_pos){cursor->line, cursor->column, cursor->line, cursor->column + 1};
}

/* Ends `pos` at the cursor. */
static inline void cursor_end(struct cursor *cursor, struct doc_pos *pos)
{
	struct doc_pos here = cursor_pos(cursor);
	pos->end_line = here.line;
	pos->end_column = here.column;
}

/* Reads `count` hex digits, four or eight, and steps over them. Returns -1 if there are fewer. */
static inline int cursor_hex(struct cursor *cursor, int count, uint32_t *out)
{
	uint32_t value = 0;
	for (int i = 0; i < count; i++, cursor->at++) {
		char h = *cursor->at, lower = (char)(h | 0x20);
		if (h >= '0' && h <= '9')
			value = value << 4 | (uint32_t)(h - '0');
		else if (lower >= 'a' && lower <= 'f')
			value = value << 4 | (uint32_t)(lower - 'a' + 10);
		else
			return -1;
	}
	*out = value;
	return 0;
}
#endif
