#include "provider/sse.h"

static const char bom[3] = {'\xef', '\xbb', '\xbf'};

void sse_init(struct sse *sse, size_t cap_bytes, sse_event_fn *event, void *context)
{
	*sse = (struct sse){.event = event, .context = context, .cap_bytes = cap_bytes};
	buf_init(&sse->line, cap_bytes);
	buf_init(&sse->data, cap_bytes);
}

void sse_done(struct sse *sse)
{
	buf_done(&sse->line);
	buf_done(&sse->data);
}

static int too_long(const struct sse *sse, struct err *e)
{
	return err_set(e, "an event of the stream is longer than %zu bytes", sse->cap_bytes);
}

static int dispatch(struct sse *sse, struct err *e)
{
	if (!sse->has_data)
		return 0;
	sse->has_data = false;
	int rc = sse->event(sse->context, sse->data.data, sse->data.len, e);
	buf_clear(&sse->data);
	return rc;
}

static int end_line(struct sse *sse, struct err *e)
{
	bool comment = sse->comment;
	sse->comment = false;
	if (comment)
		return 0;
	if (!sse->line.len)
		return dispatch(sse, e);
	const char *text = sse->line.data;
	size_t len = sse->line.len;
	if (len >= 4 && !memcmp(text, "data", 4) && (len == 4 || text[4] == ':')) {
		size_t skip = len == 4 ? 4 : len > 5 && text[5] == ' ' ? 6 : 5;
		if (memchr(text, 0, len))
			return err_set(e, "the stream holds a NUL byte");
		if (sse->has_data)
			buf_addc(&sse->data, '\n');
		if (buf_add(&sse->data, text + skip, len - skip))
			return too_long(sse, e);
		sse->has_data = true;
	}
	buf_clear(&sse->line);
	return 0;
}

int sse_end(struct sse *sse, struct err *e)
{
	return sse->line.len && end_line(sse, e) ? -1 : dispatch(sse, e);
}

/* Returns the bytes up to the next line end, at least one. The text of a comment is not kept. */
static size_t take_run(struct sse *sse, const char *bytes, size_t len)
{
	size_t n = 0;
	if (!sse->line.len && !sse->comment && bytes[0] == ':')
		sse->comment = true;
	while (n < len && bytes[n] != '\n' && bytes[n] != '\r')
		n++;
	if (!sse->comment)
		buf_add(&sse->line, bytes, n);
	return n;
}

/* Skips a leading byte-order mark, which may arrive in parts. A partial one turns out to be
 * text. */
static size_t skip_bom(struct sse *sse, const char *bytes, size_t len)
{
	size_t n = 0;
	while (n < len && sse->bom_bytes < 3 && bytes[n] == bom[sse->bom_bytes]) {
		n++;
		sse->bom_bytes++;
	}
	if (n < len && sse->bom_bytes < 3) {
		buf_add(&sse->line, bom, sse->bom_bytes);
		sse->bom_bytes = 3;
	}
	return n;
}

int sse_feed(struct sse *sse, const char *bytes, size_t len, struct err *e)
{
	size_t at = sse->bom_bytes < 3 ? skip_bom(sse, bytes, len) : 0;
	while (at < len) {
		char c = bytes[at];
		bool lf_of_crlf = c == '\n' && sse->after_cr;
		sse->after_cr = c == '\r';
		if (lf_of_crlf)
			at++;
		else if (c != '\n' && c != '\r')
			at += take_run(sse, bytes + at, len - at);
		else if (at++, end_line(sse, e))
			return -1;
		if (sse->line.failed)
			return too_long(sse, e);
	}
	return 0;
}
