#include "provider/sse.h"

static const char bom[3] = {'\xef', '\xbb', '\xbf'};

void sse_init(struct sse *s, size_t cap_bytes, sse_event_fn *event, void *context)
{
	*s = (struct sse){.event = event, .context = context, .cap_bytes = cap_bytes};
	buf_init(&s->line, cap_bytes);
	buf_init(&s->data, cap_bytes);
}

void sse_done(struct sse *s)
{
	buf_done(&s->line);
	buf_done(&s->data);
}

static int too_long(const struct sse *s, struct err *e)
{
	return err_set(e, "an event of the stream is longer than %zu bytes", s->cap_bytes);
}

static int dispatch(struct sse *s, struct err *e)
{
	if (!s->has_data)
		return 0;
	s->has_data = false;
	int rc = s->event(s->context, s->data.data, s->data.len, e);
	buf_clear(&s->data);
	return rc;
}

static int end_line(struct sse *s, struct err *e)
{
	bool comment = s->comment;
	s->comment = false;
	if (comment)
		return 0;
	if (!s->line.len)
		return dispatch(s, e);
	const char *text = s->line.data;
	size_t len = s->line.len;
	if (len >= 4 && !memcmp(text, "data", 4) && (len == 4 || text[4] == ':')) {
		size_t skip = len == 4 ? 4 : len > 5 && text[5] == ' ' ? 6 : 5;
		if (memchr(text, 0, len))
			return err_set(e, "the stream holds a NUL byte");
		if (s->has_data)
			buf_addc(&s->data, '\n');
		if (buf_add(&s->data, text + skip, len - skip))
			return too_long(s, e);
		s->has_data = true;
	}
	buf_clear(&s->line);
	return 0;
}

int sse_end(struct sse *s, struct err *e)
{
	return s->line.len && end_line(s, e) ? -1 : dispatch(s, e);
}

/* Bytes up to the next line end, at least one; a comment's text is not kept. */
static size_t take_run(struct sse *s, const char *bytes, size_t len)
{
	size_t n = 0;
	if (!s->line.len && !s->comment && bytes[0] == ':')
		s->comment = true;
	while (n < len && bytes[n] != '\n' && bytes[n] != '\r')
		n++;
	if (!s->comment)
		buf_add(&s->line, bytes, n);
	return n;
}

/* Bytes of a leading mark, which may arrive split. A partial one was text after all. */
static size_t skip_bom(struct sse *s, const char *bytes, size_t len)
{
	size_t n = 0;
	while (n < len && s->bom_bytes < 3 && bytes[n] == bom[s->bom_bytes]) {
		n++;
		s->bom_bytes++;
	}
	if (n < len && s->bom_bytes < 3) {
		buf_add(&s->line, bom, s->bom_bytes);
		s->bom_bytes = 3;
	}
	return n;
}

int sse_feed(struct sse *s, const char *bytes, size_t len, struct err *e)
{
	size_t at = s->bom_bytes < 3 ? skip_bom(s, bytes, len) : 0;
	while (at < len) {
		char c = bytes[at];
		bool lf_of_crlf = c == '\n' && s->after_cr;
		s->after_cr = c == '\r';
		if (lf_of_crlf)
			at++;
		else if (c != '\n' && c != '\r')
			at += take_run(s, bytes + at, len - at);
		else if (at++, end_line(s, e))
			return -1;
		if (s->line.failed)
			return too_long(s, e);
	}
	return 0;
}
