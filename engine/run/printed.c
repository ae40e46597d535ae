#include "run/printed.h"

#include "base/buf.h"
#include "base/utf8.h"

#include <string.h>

enum { FACT_EDGE_BYTES = 32 * 1024 };

json_t *printed_text(const char *bytes, size_t len, bool *clean)
{
	AUTO_BUF text = BUF_INIT(4 * len + 16);
	*clean = utf8_add(&text, bytes, len);
	return json_stringn(text.data, text.len);
}

json_t *printed_tail(const struct output *c, size_t most)
{
	size_t at = c->len > most ? utf8_cut_start(c->bytes, c->len, c->len - most) : 0;
	bool clean;
	return printed_text(c->len ? c->bytes + at : "", c->len - at, &clean);
}

/* Nothing can be captured from output over the cap, so its edges are enough for the journal. */
static json_t *edges(const struct output *c, uint64_t *left_out, bool *clean)
{
	size_t first = c->head < FACT_EDGE_BYTES ? c->head : FACT_EDGE_BYTES;
	size_t last = c->len - c->head < FACT_EDGE_BYTES ? c->len - c->head : FACT_EDGE_BYTES;
	size_t head = utf8_cut_end(c->bytes, first);
	size_t tail = utf8_cut_start(c->bytes, c->len, c->len - last);
	AUTO_BUF text = BUF_INIT(3 * FACT_EDGE_BYTES);
	*left_out = c->dropped + (tail - head);
	buf_add(&text, c->bytes, head);
	buf_addf(&text, "\n[%llu bytes left out]\n", (unsigned long long)*left_out);
	buf_add(&text, c->bytes + tail, c->len - tail);
	return printed_text(text.data, text.len, clean);
}

void printed_fact(const struct output *c, const struct sha256 *whole, json_t *fact)
{
	bool clean;
	if (!c->dropped) {
		json_object_set_new(
			fact, "stdout", printed_text(c->len ? c->bytes : "", c->len, &clean));
	} else {
		uint64_t left_out = 0;
		char hex[SHA256_HEX + 1];
		struct sha256 hash = *whole;
		sha256_end_hex(&hash, hex);
		json_object_set_new(fact, "stdout", edges(c, &left_out, &clean));
		json_object_set_new(fact, "stdout_dropped", json_integer((json_int_t)left_out));
		json_object_set_new(fact, "stdout_sha256", json_string(hex));
	}
	if (!clean)
		json_object_set_new(fact, "not_utf8", json_true());
}
