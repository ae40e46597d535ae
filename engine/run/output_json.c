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
	size_t from = output->dropped ? output->head : 0;
	if (output->len - from > most)
		from = output->len - most;
	size_t at = from ? utf8_cut_start(output->bytes, output->len, from) : 0;
	bool clean;
	return output_json_text(output->len ? output->bytes + at : "", output->len - at, &clean);
}

static const char *held(struct fact *fact, json_t *text)
{
	return json_string_value(fact_hold(fact, text));
}

/* Adds the first and last bytes of an output over the cap: nothing can be captured from it. */
static void add_edges(const struct output *output, struct fact *fact, bool *clean)
{
	bool clean_tail;
	size_t first = output->head < FACT_EDGE_BYTES ? output->head : FACT_EDGE_BYTES;
	size_t last = output->len - output->head < FACT_EDGE_BYTES ? output->len - output->head
								   : FACT_EDGE_BYTES;
	size_t head = utf8_cut_end(output->bytes, first);
	size_t tail = utf8_cut_start(output->bytes, output->len, output->len - last);
	AUTO_BUF text = BUF_INIT(3 * FACT_EDGE_BYTES);
	uint64_t left_out = output->dropped + (tail - head);
	buf_add(&text, output->bytes, head);
	buf_addf(&text, "\n[%llu bytes left out]\n", (unsigned long long)left_out);
	buf_add(&text, output->bytes + tail, output->len - tail);
	fact->tool.output = held(fact, output_json_text(text.data, text.len, clean));
	fact->tool.output_dropped = (int64_t)left_out;
	json_auto_t *end = output_json_text(output->bytes + tail, output->len - tail, &clean_tail);
	fact->tool.output_tail_bytes = (struct fact_number){true, (int64_t)json_string_length(end)};
}

void output_json_fact(const struct output *output, const struct sha256 *whole, struct fact *fact)
{
	bool clean;
	if (!output->dropped) {
		fact->tool.output = held(fact,
			output_json_text(output->len ? output->bytes : "", output->len, &clean));
	} else {
		char hex[SHA256_HEX + 1];
		struct sha256 hash = *whole;
		sha256_end_hex(&hash, hex);
		add_edges(output, fact, &clean);
		fact->tool.output_sha256 = fact_text(fact, hex);
	}
	fact->tool.not_utf8 = !clean;
}
