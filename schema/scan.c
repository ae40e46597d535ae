#include "base/utf8.h"
#include "schema/build.h"
#include <string.h>

enum { CONTROLS_SHOWN_MAX = 20 };

/* Returns the next line break, `end` if there is none. Most files have no \r at all (`cr` NULL). */
static const char *line_end(const char *p, const char *end, const char **cr)
{
	const char *lf = memchr(p, '\n', (size_t)(end - p));
	if (*cr && *cr < p)
		*cr = memchr(p, '\r', (size_t)(end - p));
	if (*cr && (!lf || *cr < lf))
		return *cr;
	return lf ? lf : end;
}

/* Returns the place after the line break at `p`. */
static const char *line_next(const char *p, const char *end)
{
	return p + (p + 1 < end && p[0] == '\r' && p[1] == '\n' ? 2 : 1);
}

static void index_lines(struct doc *doc)
{
	const char *end = doc->text + doc->len, *cr = memchr(doc->text, '\r', doc->len);
	AUTO_FREE uint32_t *found = NULL;
	size_t room = 0;
	uint32_t count = 0;
	for (const char *p = doc->text;; p = line_next(p, end)) {
		found = own_room(found, count, &room, sizeof(*found));
		found[count++] = (uint32_t)(p - doc->text);
		p = line_end(p, end, &cr);
		if (p == end)
			break;
	}
	uint32_t *lines = arena_array(&doc->arena, count, sizeof(*lines));
	memcpy(lines, found, count * sizeof(*lines));
	doc->lines = lines;
	doc->line_count = count;
}

static struct doc_pos pos_at(const struct doc *doc, size_t offset)
{
	uint32_t low = 0, high = doc->line_count;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (doc->lines[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	size_t columns = utf8_count(doc->text + doc->lines[low], offset - doc->lines[low]);
	uint32_t line = low + 1, column = (uint32_t)columns + 1;
	return (struct doc_pos){line, column, line, column + 1};
}

/* Reports whether eight bytes are all within 0x20..0x7e. */
static bool plain_word(const char *p)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t w;
	memcpy(&w, p, sizeof(w));
	return !(((w - ones * 0x20) | (w + ones) | w) & ones * 0x80);
}

/* Returns the first place at or after `at` that is neither plain printable ASCII nor a line
 * break. */
static size_t skip_plain(const struct doc *doc, size_t at)
{
	while (at < doc->len) {
		if (at + 8 <= doc->len && plain_word(doc->text + at)) {
			at += 8;
			continue;
		}
		unsigned char c = (unsigned char)doc->text[at];
		if (c >= 0x7f || (c < 0x20 && c != '\n' && c != '\t' && c != '\r'))
			break;
		at++;
	}
	return at;
}

static bool refused(uint32_t code)
{
	return utf8_is_false(code) || code == 0xfffe || code == 0xffff;
}

static int scan_text(struct doc *doc, struct findings *findings)
{
	int controls = 0;
	for (size_t at = skip_plain(doc, 0); at < doc->len; at = skip_plain(doc, at)) {
		uint32_t code = 0;
		size_t n = utf8_step(doc->text + at, doc->len - at, &code);
		if (!n) {
			struct finding *it = finding_at(findings, RULE_INVALID_UTF8, doc,
				pos_at(doc, at), "the byte 0x%02X is not valid UTF-8 here",
				(unsigned char)doc->text[at]);
			finding_help(findings, it, "save the file as UTF-8");
			return -1;
		}
		if (refused(code)) {
			struct finding *it =
				finding_at(findings, RULE_CONTROL_CHARACTER, doc, pos_at(doc, at),
					"the character U+%04X must not stand in the text", code);
			if (!code)
				finding_help(findings, it,
					"save the file as UTF-8; this is UTF-16, or no text");
			if (!code || ++controls == CONTROLS_SHOWN_MAX)
				return -1;
		}
		at += n;
	}
	return controls ? -1 : 0;
}

int doc_scan(
	struct doc *doc, const char *file, const char *text, size_t len, struct findings *findings)
{
	*doc = (struct doc){0};
	arena_init(&doc->arena);
	doc->file = arena_copy(&doc->arena, file, strlen(file));
	doc->text = "";
	if (len > DOC_BYTES_MAX) {
		finding_at(findings, RULE_TOO_LARGE, doc, (struct doc_pos){0},
			"the file has %zu bytes, more than the limit of %d", len, DOC_BYTES_MAX);
		return -1;
	}
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		text += 3;
		len -= 3;
	}
	doc->text = arena_copy(&doc->arena, text, len);
	doc->len = len;
	index_lines(doc);
	return scan_text(doc, findings);
}
