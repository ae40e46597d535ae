#include "agent/transcript.h"

#include "base/utf8.h"
#include <string.h>

/* A cut through a secret would hide it from both halves: both are redacted with a margin longer
 * than any secret, and then the rest of the margin is removed. */
enum {
	END_BYTES = TRANSCRIPT_END_BYTES,
	MARGIN_BYTES = 64 * 1024,
	REDACTED_CAP_BYTES = 16 * 1024 * 1024
};

static int add_head(const struct redact *redact, const char *text, struct buf *out)
{
	AUTO_BUF head = BUF_INIT(REDACTED_CAP_BYTES);
	if (redact_text(redact, text, utf8_cut_end(text, END_BYTES + MARGIN_BYTES), &head, NULL))
		return -1;
	size_t len = head.len > MARGIN_BYTES ? head.len - MARGIN_BYTES : 0;
	return buf_add(out, head.data, utf8_cut_end(head.data, len));
}

static int add_tail(const struct redact *redact, const char *text, size_t len, struct buf *out)
{
	AUTO_BUF tail = BUF_INIT(REDACTED_CAP_BYTES);
	size_t from = utf8_cut_start(text, len, len - END_BYTES - MARGIN_BYTES);
	if (redact_text(redact, text + from, len - from, &tail, NULL))
		return -1;
	size_t at = tail.len < MARGIN_BYTES ? tail.len : MARGIN_BYTES;
	at = utf8_cut_start(tail.data, tail.len, at);
	return buf_add(out, tail.data + at, tail.len - at);
}

json_t *transcript_text(const struct redact *redact, const char *text)
{
	size_t len = strlen(text);
	AUTO_BUF out = BUF_INIT(REDACTED_CAP_BYTES);
	int failed;
	if (len <= 2 * END_BYTES + 2 * MARGIN_BYTES)
		failed = redact_text(redact, text, len, &out, NULL);
	else
		failed = add_head(redact, text, &out) ||
			 buf_addf(&out, "\n[%zu bytes are not kept here]\n",
				 len - 2 * (size_t)END_BYTES) ||
			 add_tail(redact, text, len, &out);
	return failed ? NULL : json_stringn(out.data, out.len);
}
