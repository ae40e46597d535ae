#include "report/html.h"

#include "base/utf8.h"
#include "report/text.h"
#include <string.h>

enum { TERM_BYTES_MAX = 4000 };

static const char *entity(uint32_t code)
{
	switch (code) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	default: return NULL;
	}
}

void html_text(struct buf *out, const char *text, size_t limit)
{
	size_t len = strlen(text);
	for (size_t at = 0; at < len;) {
		uint32_t code = 0;
		size_t step = utf8_step(text + at, len - at, &code);
		if (at >= limit) {
			buf_adds(out, "\xe2\x80\xa6");
			return;
		}
		step = step ? step : 1;
		if (entity(code))
			buf_adds(out, entity(code));
		else
			utf8_escape(out, text + at, step, utf8_is_odd);
		at += step;
	}
}

void html_block(struct buf *out, const char *text, size_t limit)
{
	size_t len = strlen(text);
	buf_adds(out, "<pre>");
	html_text(out, text, limit);
	buf_adds(out, "</pre>");
	if (len <= limit)
		return;
	buf_adds(out, "<p class=\"more\">");
	text_bytes(out, (int64_t)(len - limit));
	buf_adds(out, " more in the journal</p>");
}

void html_term(struct buf *out, const char *term, const char *text)
{
	if (!*text)
		return;
	buf_addf(out, "<dt>%s</dt><dd>", term);
	html_text(out, text, TERM_BYTES_MAX);
	buf_adds(out, "</dd>\n");
}

char *html_json(const json_t *value)
{
	char *text =
		value ? json_dumps(value, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_ENCODE_ANY) : NULL;
	return text ? text : strdup("");
}
