#include "rehearse/json_lines.h"

#include <string.h>

static bool is_blank(const char *line, size_t len)
{
	size_t i = 0;
	while (i < len && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r'))
		i++;
	return i == len;
}

bool json_lines_next(struct json_lines *lines)
{
	while (lines->at < lines->len) {
		const char *line = lines->text + lines->at;
		size_t left = lines->len - lines->at;
		const char *newline = memchr(line, '\n', left);
		lines->line = line;
		lines->line_len = newline ? (size_t)(newline - line) : left;
		lines->at += lines->line_len + (newline != NULL);
		lines->number++;
		if (!is_blank(line, lines->line_len))
			return true;
	}
	return false;
}
