#include "cli/html.h"

#include "base/utf8.h"
#include <string.h>

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
		bool shown = step && (!utf8_is_control(code) || code == '\n' || code == '\t');
		if (!shown)
			buf_adds(out, "\xef\xbf\xbd");
		else if (entity(code))
			buf_adds(out, entity(code));
		else
			buf_add(out, text + at, step);
		at += step ? step : 1;
	}
}
