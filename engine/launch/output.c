#include "launch/output.h"

#include <stdlib.h>
#include <string.h>

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
}

void output_redact(struct output *c, const char *secret)
{
	size_t n = strlen(secret);
	char *at = c->bytes;
	if (!c->len || !n)
		return;
	while ((at = memmem(at, c->len - (size_t)(at - c->bytes), secret, n))) {
		memset(at, '*', n);
		at += n;
	}
	size_t cut = c->cap_bytes / 2, near = n - 1 < cut ? n - 1 : cut;
	if (c->dropped)
		memset(c->bytes + cut - near, '*', 2 * near);
}
