#include "agent/policy/scrub.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static const char *const markers[] = {
	"ignore previous instructions",
	"ignore all previous",
	"disregard previous",
	"you are now",
	"new system prompt",
	"important:",
	"critical:",
	"from the developer",
	"admin override",
	"system message:",
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Returns how many bytes of `text` spell `marker`; 0: it does not. */
static size_t spells(const char *marker, const char *text, size_t len)
{
	size_t at = 0;
	for (; *marker; marker++) {
		if (*marker == ' ') {
			size_t blanks = 0;
			while (at + blanks < len && is_blank(text[at + blanks]))
				blanks++;
			if (!blanks)
				return 0;
			at += blanks;
		} else if (at >= len || tolower((unsigned char)text[at]) != *marker) {
			return 0;
		} else {
			at++;
		}
	}
	return at;
}

static size_t marker_at(const char *text, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(markers); i++) {
		size_t n = spells(markers[i], text, len);
		if (n)
			return n;
	}
	return 0;
}

size_t scrub_count(const char *text, size_t len)
{
	size_t count = 0;
	for (size_t i = 0; i < len;) {
		size_t n = marker_at(text + i, len - i);
		count += n > 0;
		i += n ? n : 1;
	}
	return count;
}

int scrub_text(const char *text, size_t len, struct buf *out, size_t *count)
{
	size_t begun = 0;
	for (size_t i = 0; i < len;) {
		size_t n = marker_at(text + i, len - i);
		if (!n) {
			i++;
			continue;
		}
		buf_add(out, text + begun, i - begun);
		buf_adds(out, SCRUB_MARK);
		++*count;
		begun = i += n;
	}
	return buf_add(out, text + begun, len - begun);
}
