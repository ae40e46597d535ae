#include "run/output.h"

#include "base/buf.h"
#include "base/utf8.h"

#include <string.h>

enum { FACT_EDGE_BYTES = 32 * 1024 };

void output_init(struct output *c, size_t cap_bytes)
{
	*c = (struct output){.cap_bytes = cap_bytes};
	sha256_init(&c->hash);
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
	sha256_add(&c->hash, bytes, len);
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

json_t *output_text(const char *bytes, size_t len, bool *clean)
{
	AUTO_BUF text;
	buf_init(&text, 4 * len + 16);
	*clean = true;
	while (len) {
		const char *nul = memchr(bytes, '\0', len);
		size_t run = utf8_prefix(bytes, nul ? (size_t)(nul - bytes) : len);
		buf_add(&text, bytes, run);
		bytes += run;
		len -= run;
		if (!len)
			break;
		buf_adds(&text, "\xef\xbf\xbd");
		*clean = false;
		bytes++;
		len--;
	}
	return json_stringn(text.len ? text.data : "", text.len);
}

json_t *output_tail(const struct output *c, size_t most)
{
	size_t at = c->len > most ? utf8_cut_start(c->bytes, c->len, c->len - most) : 0;
	bool clean;
	return output_text(c->len ? c->bytes + at : "", c->len - at, &clean);
}

/* Nothing can be captured from output over the cap, so its edges are enough for the journal. */
static json_t *edges(const struct output *c, uint64_t *left_out, bool *clean)
{
	size_t edge = c->len < 2 * FACT_EDGE_BYTES ? c->len / 2 : FACT_EDGE_BYTES;
	size_t head = utf8_cut_end(c->bytes, edge);
	size_t tail = utf8_cut_start(c->bytes, c->len, c->len - edge);
	AUTO_BUF text;
	buf_init(&text, 3 * FACT_EDGE_BYTES);
	*left_out = c->total - head - (c->len - tail);
	buf_add(&text, c->bytes, head);
	buf_addf(&text, "\n[%llu bytes left out]\n", (unsigned long long)*left_out);
	buf_add(&text, c->bytes + tail, c->len - tail);
	return output_text(text.data, text.len, clean);
}

void output_fact(struct output *c, json_t *fact)
{
	bool clean;
	if (!c->dropped) {
		json_object_set_new(
			fact, "stdout", output_text(c->len ? c->bytes : "", c->len, &clean));
	} else {
		uint64_t left_out = 0;
		char hex[SHA256_HEX + 1];
		struct sha256 hash = c->hash;
		sha256_end_hex(&hash, hex);
		json_object_set_new(fact, "stdout", edges(c, &left_out, &clean));
		json_object_set_new(fact, "stdout_dropped", json_integer((json_int_t)left_out));
		json_object_set_new(fact, "stdout_sha256", json_string(hex));
	}
	if (!clean)
		json_object_set_new(fact, "not_utf8", json_true());
}
