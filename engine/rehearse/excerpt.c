#include "rehearse/excerpt.h"

#include "base/json.h"
#include "base/utf8.h"
#include <string.h>

enum { SHOWN_BYTES = 400, BEFORE_BYTES = 120 };

/* Returns for each length of a beginning of `wanted` its longest shorter beginning that is also
 * its end (Knuth, Morris, Pratt). Heap; NULL: out of memory. */
static size_t *borders_of(const char *wanted, size_t len)
{
	size_t *borders = calloc(len + 1, sizeof(*borders));
	for (size_t i = 1, border = 0; borders && i < len; i++) {
		while (border && wanted[i] != wanted[border])
			border = borders[border];
		border += wanted[i] == wanted[border];
		borders[i + 1] = border;
	}
	return borders;
}

size_t excerpt_longest(const char *wanted, const char *got, size_t *end)
{
	size_t len = strlen(wanted), best = 0, matched = 0;
	AUTO_FREE size_t *borders = borders_of(wanted, len);
	*end = 0;
	for (size_t i = 0; borders && got[i] && best < len; i++) {
		while (matched && got[i] != wanted[matched])
			matched = borders[matched];
		matched += got[i] == wanted[matched];
		if (matched > best) {
			best = matched;
			*end = i + 1;
		}
	}
	return best;
}

size_t excerpt_common(const char *left, const char *right)
{
	size_t at = 0;
	while (left[at] && left[at] == right[at])
		at++;
	return utf8_cut_start(left, strlen(left), at);
}

void excerpt_show(const char *text, size_t at, bool quoted, char out[EXCERPT_BYTES])
{
	size_t len = strlen(text), from = 0;
	char part[SHOWN_BYTES + 1];
	AUTO_BUF shown = BUF_INIT(EXCERPT_BYTES);
	if (len > SHOWN_BYTES && at > BEFORE_BYTES)
		from = utf8_cut_start(text, len, at - BEFORE_BYTES);
	if (len > SHOWN_BYTES && from + SHOWN_BYTES > len)
		from = utf8_cut_start(text, len, len - SHOWN_BYTES);
	utf8_copy(part, sizeof(part), text + from);
	if (quoted)
		json_write_string(&shown, part, strlen(part));
	else
		buf_adds(&shown, part);
	snprintf(out, EXCERPT_BYTES, "%s%s%s", from ? "..." : "",
		shown.failed || !shown.data ? "" : shown.data,
		from + strlen(part) < len ? "..." : "");
}
