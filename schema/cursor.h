/*
 * A place in a document's text that knows its line and column; for the readers we write ourselves.
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
	const char *counted; /* column belongs to this place */
	uint32_t line, column;
};

static inline void cursor_init(struct cursor *c, const struct doc *d)
{
	*c = (struct cursor){d->text, d->text + d->len, d->text, 1, 1};
}

/* Steps over the line break at the cursor: \n, \r\n or \r. */
static inline void cursor_newline(struct cursor *c)
{
	c->at += c->at[0] == '\r' && c->at[1] == '\n' ? 2 : 1;
	c->counted = c->at;
	c->line++;
	c->column = 1;
}

/* The position of the cursor, one column wide. */
static inline struct doc_pos cursor_pos(struct cursor *c)
{
	c->column += (uint32_t)utf8_count(c->counted, (size_t)(c->at - c->counted));
	c->counted = c->at;
	return (struct doc_pos){c->line, c->column, c->line, c->column + 1};
}

/* Ends `pos` at the cursor. */
static inline void cursor_end(struct cursor *c, struct doc_pos *pos)
{
	struct doc_pos here = cursor_pos(c);
	pos->end_line = here.line;
	pos->end_column = here.column;
}

/* Four or eight hex digits at the cursor; steps over them. -1: not that many. */
static inline int cursor_hex(struct cursor *c, int count, uint32_t *out)
{
	uint32_t value = 0;
	for (int i = 0; i < count; i++, c->at++) {
		char h = *c->at, lower = (char)(h | 0x20);
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
