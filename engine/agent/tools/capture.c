#include "agent/tools/capture.h"

#include "base/utf8.h"
#include <string.h>

int capture_init(struct capture *c)
{
	*c = (struct capture){.tail = malloc(CAPTURE_TAIL_BYTES)};
	buf_init(&c->head, CAPTURE_HEAD_BYTES + 1);
	return c->tail ? 0 : -1;
}

void capture_done(struct capture *c)
{
	buf_done(&c->head);
	free(c->tail);
	c->tail = NULL;
}

void capture_add(struct capture *c, const char *bytes, size_t len)
{
	size_t room = CAPTURE_HEAD_BYTES - c->head.len;
	size_t first = len < room ? len : room;
	buf_add(&c->head, bytes, first);
	c->total_bytes += first;
	for (size_t i = first; i < len; i++, c->total_bytes++)
		c->tail[(c->total_bytes - CAPTURE_HEAD_BYTES) % CAPTURE_TAIL_BYTES] = bytes[i];
}

/* A terminal's own language and broken characters would confuse whoever reads the text. */
static void add_clean(struct buf *out, const char *text, size_t len)
{
	for (size_t i = 0, step; i < len; i += step) {
		uint32_t code;
		step = utf8_step(text + i, len - i, &code);
		if (!step || utf8_is_control(code))
			buf_adds(out, "\xef\xbf\xbd");
		else if (code != '\r')
			buf_add(out, text + i, step);
		step = step ? step : 1;
	}
}

void capture_text(const struct capture *c, struct buf *out)
{
	uint64_t behind = c->total_bytes - c->head.len;
	size_t kept = behind < CAPTURE_TAIL_BYTES ? (size_t)behind : CAPTURE_TAIL_BYTES;
	size_t from = (size_t)((behind - kept) % CAPTURE_TAIL_BYTES);
	size_t turn = CAPTURE_TAIL_BYTES - from;
	bool whole = behind == kept;
	AUTO_BUF straight;
	buf_init(&straight, CAPTURE_HEAD_BYTES + CAPTURE_TAIL_BYTES);
	/* A character may lie on the seam, where there is one. */
	if (whole)
		buf_add(&straight, c->head.data ? c->head.data : "", c->head.len);
	buf_add(&straight, c->tail + from, kept < turn ? kept : turn);
	if (kept > turn)
		buf_add(&straight, c->tail, kept - turn);
	if (!whole) {
		add_clean(out, c->head.data, c->head.len);
		buf_addf(out, "\n[... %llu bytes dropped here ...]\n",
			(unsigned long long)(behind - kept));
	}
	add_clean(out, straight.data ? straight.data : "", straight.len);
	out->failed = out->failed || straight.failed;
}
