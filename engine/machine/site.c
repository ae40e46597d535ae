#include "machine/site.h"

#include "base/suggest.h"
#include "base/utf8.h"
#include "schema/advice.h"
#include "schema/lookalike.h"
#include <stdarg.h>
#include <string.h>

enum { MESSAGE_BYTES = 1024, SUGGESTIONS_MAX = 100, NARROW_LINES = 200, KNOWN_MAX = 12 };

struct finding *site_report(const struct site *site, enum rule rule, const char *format, ...)
{
	char text[MESSAGE_BYTES];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	struct finding *f = finding_add(site->findings, rule, site->doc, site->node, "%s", text);
	f->state = site->state;
	return f;
}

/* Points `node` at `len` bytes of text at `hit` in line `number`. */
static void point(
	struct doc_node *node, uint32_t number, const char *source, const char *hit, size_t len)
{
	node->pos.line = node->pos.end_line = number;
	node->pos.column = (uint32_t)utf8_count(source, (size_t)(hit - source)) + 1;
	node->pos.end_column = node->pos.column + (uint32_t)utf8_count(hit, len);
}

/* Narrows the node to bytes [at, at + len) of its text, if the source line that should hold them
 * does: the node's own line for a scalar on one line, the k-th below for line k of a block. */
static bool narrow_by_line(const struct doc *doc, struct doc_node *node, size_t at, size_t len)
{
	const char *text = node->text, *line = text;
	uint32_t number = node->pos.line;
	for (const char *nl; (nl = memchr(line, '\n', (size_t)(text + at - line))); line = nl + 1)
		number++;
	size_t width = strcspn(line, "\n"), column = (size_t)(text + at - line);
	size_t from = number == node->pos.line ? node->pos.column - 1 : 0;
	for (uint32_t n = number; n <= number + 1 && n <= node->pos.end_line; n++, from = 0) {
		size_t source_len;
		const char *source = doc_line(doc, n, &source_len);
		if (from > source_len)
			continue;
		const char *hit = memmem(source + from, source_len - from, line, width);
		if (!hit)
			continue;
		point(node, n, source, hit + column, len < width - column ? len : width - column);
		return true;
	}
	return false;
}

/* Returns the byte offset of a column. */
static size_t offset_of(const char *source, size_t len, uint32_t column)
{
	size_t at = 0;
	while (at < len && --column) {
		size_t n = utf8_step(source + at, len - at, NULL);
		at += n ? n : 1;
	}
	return at;
}

bool site_ends_at_comment(const struct site *site)
{
	size_t len;
	const struct doc_node *n = site->node;
	const char *source = doc_line(site->doc, n->pos.end_line, &len);
	size_t end = offset_of(source, len, n->pos.end_column);
	size_t blanks = strspn(source + end, " \t");
	/* A quoted text ends with its quote. */
	bool plain = end && n->count && source[end - 1] == n->text[n->count - 1];
	return plain && blanks && source[end + blanks] == '#';
}

/* Narrows the node in folded or escaped text: to the bytes themselves, if they occur just once. */
static void narrow_by_word(const struct doc *doc, struct doc_node *node, size_t at, size_t len)
{
	struct doc_node found = *node;
	uint32_t hits = 0, last = node->pos.line + NARROW_LINES;
	for (uint32_t n = node->pos.line; len && n <= node->pos.end_line && n <= last; n++) {
		size_t end;
		const char *source = doc_line(doc, n, &end), *hit;
		size_t from = n == node->pos.line ? offset_of(source, end, node->pos.column) : 0;
		if (n == node->pos.end_line)
			end = offset_of(source, end, node->pos.end_column);
		for (; from < end &&
			(hit = memmem(source + from, end - from, node->text + at, len));
			hits++) {
			point(&found, n, source, hit, len);
			from = (size_t)(hit - source) + 1;
		}
	}
	if (hits == 1)
		*node = found;
}

struct finding *site_report_at(
	const struct site *site, enum rule rule, size_t at, size_t len, const char *format, ...)
{
	struct doc_node node = *site->node;
	if (node.kind == DOC_STR && node.pos.line && at + len <= node.count &&
		!narrow_by_line(site->doc, &node, at, len))
		narrow_by_word(site->doc, &node, at, len);
	char text[MESSAGE_BYTES];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	struct finding *f = finding_add(site->findings, rule, site->doc, &node, "%s", text);
	f->state = site->state;
	return f;
}

void site_help(const struct site *site, struct finding *finding, const char *format, ...)
{
	if (!finding)
		return;
	char text[MESSAGE_BYTES];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	finding_help(site->findings, finding, "%s", text);
}

void site_did_you_mean(const struct site *site, struct finding *finding, const char *word,
	const char *const *names, size_t count)
{
	struct lookalike letter = lookalike_find(word, NULL);
	if (letter.code && finding && finding->message) {
		advise_letters(site->findings, finding, word);
		return;
	}
	/* Looking for the nearest name is expensive, and nobody reads the hundredth suggestion. */
	const char *near =
		site->findings->errors > SUGGESTIONS_MAX ? NULL : suggest_word(word, names, count);
	if (near)
		finding_help(site->findings, finding, "did you mean \"%s\"?", near);
}

void site_say_known(
	const struct site *site, struct finding *finding, const char *const *names, size_t count)
{
	AUTO_BUF all = BUF_INIT(1024);
	for (size_t i = 0; i < count && count <= KNOWN_MAX; i++)
		buf_addf(&all, "%s\"%s\"", i ? ", " : "", names[i]);
	if (finding && finding->message && !finding->help && all.len && !all.failed)
		finding_help(
			site->findings, finding, count > 1 ? "use one of %s" : "use %s", all.data);
}
