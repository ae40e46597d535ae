#include "launch/output.h"

#include "base/buf.h"
#include <string.h>

static const char mark[] = "[REDACTED:key]";

void output_init(struct output *output, size_t cap_bytes)
{
	*output = (struct output){.cap_bytes = cap_bytes};
}

void output_done(struct output *output)
{
	free(output->bytes);
	output->bytes = NULL;
}

static void drop_middle(struct output *output)
{
	size_t head = output->cap_bytes / 2, tail = output->cap_bytes - head;
	if (output->len <= output->cap_bytes)
		return;
	memmove(output->bytes + head, output->bytes + output->len - tail, tail);
	output->dropped += output->len - output->cap_bytes;
	output->len = output->cap_bytes;
	output->head = head;
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

void output_close(struct output *output)
{
	drop_middle(output);
	output->head = output->head ? output->head : output->len;
}

/* Replaces secrets. Overlapping ones share one mark. */
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

static void drop_all(struct output *output)
{
	free(output->bytes);
	output->bytes = NULL;
	output->dropped += output->len;
	output->head = output->len = 0;
}

void output_redact(struct output *output, const struct secrets *secrets)
{
	if (!secrets)
		drop_all(output);
	if (!output->len || !secrets->count)
		return;
	size_t near = output->dropped ? secrets->longest - 1 : 0;
	size_t most = output->dropped ? output->cap_bytes / 2 : SIZE_MAX;
	AUTO_BUF head = BUF_INIT(output->len * sizeof(mark) + 1), tail = BUF_INIT(head.cap_bytes);
	add_redacted(&head, output->bytes, output->head, secrets);
	add_redacted(&tail, output->bytes + output->head, output->len - output->head, secrets);
	if (head.failed || tail.failed) {
		drop_all(output);
		return;
	}
	size_t first = least(head.len - least(near, head.len), most);
	size_t kept = least(tail.len - least(near, tail.len), most);
	output->dropped += head.len - first + tail.len - kept;
	output->head = head.len = first;
	buf_add(&head, tail.data + tail.len - kept, kept);
	char *joined = buf_take(&head, NULL);
	if (!joined) {
		drop_all(output);
		return;
	}
	free(output->bytes);
	output->bytes = joined;
	output->len = first + kept;
	drop_middle(output);
}
