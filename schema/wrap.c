#include "schema/wrap.h"

#include "base/utf8.h"
#include <string.h>

size_t wrap_width(const char *at, size_t len)
{
	const char *end = at + len, *colour;
	size_t columns = 0;
	for (; at < end && (colour = memchr(at, '\033', (size_t)(end - at))); at = colour) {
		columns += utf8_width(at, (size_t)(colour - at));
		colour += strcspn(colour, "m") + 1;
	}
	return columns + (at < end ? utf8_width(at, (size_t)(end - at)) : 0);
}

/* Returns the column after the last line break. */
static size_t last_column(const struct buf *out)
{
	const char *nl = out->len ? memrchr(out->data, '\n', out->len) : NULL;
	const char *at = nl ? nl + 1 : out->data;
	return out->len ? wrap_width(at, (size_t)(out->data + out->len - at)) : 0;
}

void wrap_text(struct buf *out, const char *text, size_t indent, size_t columns)
{
	if (columns == WRAP_NEVER) { /* a line may be as long as a file */
		buf_adds(out, text);
		return;
	}
	for (bool first = true; *text; first = false) {
		bool blank = *text == ' ' && !first, broken = *text == '\n';
		text += blank || broken;
		size_t len = strcspn(text, " \n"), column = last_column(out);
		if (broken ||
			(blank && column > indent && column + 1 + wrap_width(text, len) > columns))
			buf_addf(out, "\n%*s", broken ? 0 : (int)indent, "");
		else if (blank)
			buf_addc(out, ' ');
		buf_add(out, text, len);
		text += len;
	}
}
