#include "launch/output.h"

#include "base/buf.h"
#include <string.h>

static const char mark[] = "[REDACTED:key]";

void output_init(struct output *c, size_t cap_bytes)
{
	*c = (struct output){.cap_bytes = cap_bytes};
}

void output_done(struct output *c)
{
	free(c->bytes);
	c->bytes = NULL;
}

static void drop_middle(struct output *c)
{
	size_t head = c->cap_bytes / 2, tail = c->cap_bytes - head;
	if (c->len <= c->cap_bytes)
		return;
	memmove(c->bytes + head, c->bytes + c->len - tail, tail);
	c->dropped += c->len - c->cap_bytes;
	c->len = c->cap_bytes;
	c->head = head;
}

void output_take(void *ctx, const char *bytes, size_t len)
{
	struct output *c = ctx;
	c->total += len;
	while (len) {
		if (c->len == 2 * c->cap_bytes)
			drop_middle(c);
		size_t n = 2 * c->cap_bytes - c->len;
		if (n > len)
			n = len;
		char *grown = c->no_memory ? NULL : realloc(c->bytes, c->len + n);
		if (!grown) {
			c->no_memory = true;
			c->dropped += len;
			return;
		}
		c->bytes = grown;
		memcpy(c->bytes + c->len, bytes, n);
		c->len += n;
		bytes += n;
		len -= n;
	}
}

void output_close(struct output *c)
{
	drop_middle(c);
	c->head = c->head ? c->head : c->len;
}

/* Where one secret begins in another they have one mark. */
static void add_redacted(
	struct buf *out, const char *text, size_t len, const struct secrets *secrets)
{
	size_t begun = 0, at = 0;
	while (at < len) {
		size_t found = secrets_match(secrets, text + at, len - at);
		if (!found) {
			at++;
			continue;
		}
		buf_add(out, text + begun, at - begun);
		buf_adds(out, mark);
		begun = at = secrets_end(secrets, text, len, at, at + found);
	}
	buf_add(out, text + begun, len - begun);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void drop_all(struct output *c)
{
	free(c->bytes);
	c->bytes = NULL;
	c->dropped += c->len;
	c->head = c->len = 0;
}

void output_redact(struct output *c, const struct secrets *secrets)
{
	if (!secrets)
		drop_all(c);
	if (!c->len || !secrets->count)
		return;
	size_t near = c->dropped ? secrets->longest - 1 : 0;
	size_t most = c->dropped ? c->cap_bytes / 2 : SIZE_MAX;
	AUTO_BUF head = BUF_INIT(c->len * sizeof(mark) + 1), tail = BUF_INIT(head.cap_bytes);
	add_redacted(&head, c->bytes, c->head, secrets);
	add_redacted(&tail, c->bytes + c->head, c->len - c->head, secrets);
	if (head.failed || tail.failed) {
		drop_all(c);
		return;
	}
	size_t first = least(head.len - least(near, head.len), most);
	size_t kept = least(tail.len - least(near, tail.len), most);
	c->dropped += head.len - first + tail.len - kept;
	c->head = head.len = first;
	buf_add(&head, tail.data + tail.len - kept, kept);
	char *joined = buf_take(&head, NULL);
	if (!joined) {
		drop_all(c);
		return;
	}
	free(c->bytes);
	c->bytes = joined;
	c->len = first + kept;
	drop_middle(c);
}
