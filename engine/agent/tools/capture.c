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
		if (step && (code == '\n' || code == '\t' || !utf8_is_control(code)) && code)
			buf_add(out, text + i, step);
		else if (!step || code != '\r')
			buf_adds(out, "\xef\xbf\xbd");
		step = step ? step : 1;
	}
}

void capture_text(const struct capture *c, struct buf *out)
{
	uint64_t behind = c->total_bytes - c->head.len;
	size_t kept = behind < CAPTURE_TAIL_BYTES ? (size_t)behind : CAPTURE_TAIL_BYTES;
	char *straight = malloc(kept + 1);
	for (size_t i = 0; straight && i < kept; i++)
		straight[i] = c->tail[(behind - kept + i) % CAPTURE_TAIL_BYTES];
	add_clean(out, c->head.data ? c->head.data : "", c->head.len);
	if (behind > kept)
		buf_addf(out, "\n[... %llu bytes dropped here ...]\n",
			(unsigned long long)(behind - kept));
	if (straight)
		add_clean(out, straight, kept);
	free(straight);
}
