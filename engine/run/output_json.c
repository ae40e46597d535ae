#include "run/output_json.h"

#include "base/buf.h"
#include "base/utf8.h"

#include <string.h>

enum { FACT_EDGE_BYTES = 32 * 1024 };

json_t *output_json_text(const char *bytes, size_t len, bool *clean)
{
	AUTO_BUF text = BUF_INIT(4 * len + 16);
	*clean = utf8_add(&text, bytes, len);
	return json_stringn(text.data, text.len);
}

json_t *output_json_tail(const struct output *output, size_t most)
{
	size_t at = output->len > most
			    ? utf8_cut_start(output->bytes, output->len, output->len - most)
			    : 0;
	bool clean;
	return output_json_text(output->len ? output->bytes + at : "", output->len - at, &clean);
}

/* Returns the first and last bytes of an output over the cap: nothing can be captured from it. */
static json_t *edges(const struct output *output, uint64_t *left_out, bool *clean)
{
	size_t first = output->head < FACT_EDGE_BYTES ? output->head : FACT_EDGE_BYTES;
	size_t last = output->len - output->head < FACT_EDGE_BYTES ? output->len - output->head
								   : FACT_EDGE_BYTES;
	size_t head = utf8_cut_end(output->bytes, first);
	size_t tail = utf8_cut_start(output->bytes, output->len, output->len - last);
	AUTO_BUF text = BUF_INIT(3 * FACT_EDGE_BYTES);
	*left_out = output->dropped + (tail - head);
	buf_add(&text, output->bytes, head);
	buf_addf(&text, "\n[%llu bytes left out]\n", (unsigned long long)*left_out);
	buf_add(&text, output->bytes + tail, output->len - tail);
	return output_json_text(text.data, text.len, clean);
}

static const char *held(struct fact *fact, json_t *text)
{
	return json_string_value(fact_hold(fact, text));
}

void output_json_fact(const struct output *output, const struct sha256 *whole, struct fact *fact)
{
	bool clean;
	if (!output->dropped) {
		fact->tool.output = held(fact,
			output_json_text(output->len ? output->bytes : "", output->len, &clean));
	} else {
		uint64_t left_out = 0;
		char hex[SHA256_HEX + 1];
		struct sha256 hash = *whole;
		sha256_end_hex(&hash, hex);
		fact->tool.output = held(fact, edges(output, &left_out, &clean));
		fact->tool.output_dropped = (int64_t)left_out;
		fact->tool.output_sha256 = fact_text(fact, hex);
	}
	fact->tool.not_utf8 = !clean;
}
