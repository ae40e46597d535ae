#include "machine/site.h"

#include "base/near.h"
#include "base/utf8.h"
#include <stdarg.h>
#include <string.h>

enum { MESSAGE_BYTES = 1024, SUGGESTIONS_MAX = 100 };

struct site site_for(const struct site *s, const struct doc_node *node)
{
	struct site other = *s;
	other.node = node;
	return other;
}

struct finding *site_report(const struct site *s, enum rule rule, const char *format, ...)
{
	char text[MESSAGE_BYTES];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	struct finding *f = finding_add(s->findings, rule, s->doc, s->node, "%s", text);
	f->state = s->state;
	return f;
}

/* Narrows `node` to bytes [at, at + len) of its text, if the source line that should hold them
 * does: the node's own line for a scalar on one line, the k-th below for line k of a block. */
static void narrow(const struct doc *d, struct doc_node *node, size_t at, size_t len)
{
	const char *text = node->text, *line = text;
	uint32_t number = node->pos.line;
	for (const char *nl; (nl = memchr(line, '\n', (size_t)(text + at - line))); line = nl + 1)
		number++;
	size_t width = strcspn(line, "\n"), column = (size_t)(text + at - line);
	bool first = number == node->pos.line;
	size_t from = first ? node->pos.column - 1 : 0;
	for (uint32_t n = number; n <= number + 1 && n <= node->pos.end_line; n++, from = 0) {
		size_t source_len;
		const char *source = doc_line(d, n, &source_len);
		if (!source || from > source_len)
			continue;
		const char *hit = memmem(source + from, source_len - from, line, width);
		if (!hit)
			continue;
		if (len > width - column)
			len = width - column;
		size_t before =
			utf8_count(source, (size_t)(hit - source)) + utf8_count(line, column);
		node->pos.line = node->pos.end_line = n;
		node->pos.column = (uint32_t)before + 1;
		node->pos.end_column = node->pos.column + (uint32_t)utf8_count(line + column, len);
		return;
	}
}

struct finding *site_report_at(
	const struct site *s, enum rule rule, size_t at, size_t len, const char *format, ...)
{
	struct doc_node node = *s->node;
	if (node.kind == DOC_STR && node.pos.line && at <= node.count)
		narrow(s->doc, &node, at, len);
	char text[MESSAGE_BYTES];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	struct finding *f = finding_add(s->findings, rule, s->doc, &node, "%s", text);
	f->state = s->state;
	return f;
}

void site_help(const struct site *s, struct finding *f, const char *format, ...)
{
	if (!f)
		return;
	char text[MESSAGE_BYTES];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	finding_help(s->findings, f, "%s", text);
}

void site_did_you_mean(const struct site *s, struct finding *f, const char *word,
	const char *const *names, size_t count)
{
	/* Looking for the nearest name is dear, and nobody reads the hundredth suggestion. */
	const char *near =
		s->findings->errors > SUGGESTIONS_MAX ? NULL : near_name(word, names, count);
	if (near)
		finding_help(s->findings, f, "did you mean \"%s\"?", near);
}
