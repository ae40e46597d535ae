/*
 * Fuzzes a command's output with a secret in it: however the bytes arrive, the capture is the same
 * and stays within its cap; redacted, it has nothing of the secret, whole or cut; and the fact made
 * of it is text that tells when something is missing.
 *
 * First byte: the cap; second: how the bytes are cut. A byte above 0x7f stands for the secret.
 */
#include "base/json.h"
#include "run/output_json.h"
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char secret[] = "QJZQJJZZJQJ";

static void require(bool held)
{
	if (!held)
		abort();
}

static void spell(const uint8_t *data, size_t len, struct buf *out)
{
	for (size_t i = 0; i < len; i++)
		if (data[i] >= 0x80)
			buf_adds(out, secret);
		else if (!memchr("QJZ", data[i], 3))
			buf_addc(out, (char)data[i]);
}

static void capture(struct output *output, const struct buf *text, size_t cap, size_t step)
{
	output_init(output, cap);
	for (size_t at = 0; at < text->len; at += step)
		output_take(output, text->data + at, text->len - at < step ? text->len - at : step);
	output_close(output);
	require(output->total == text->len && output->len + output->dropped == output->total);
	require(output->len <= cap && output->head <= output->len &&
		(output->dropped || output->head == output->len));
}

static void check_edges(const struct output *output, const struct buf *text)
{
	size_t tail = output->len - output->head;
	require(!memcmp(output->bytes, text->data, output->head));
	require(!memcmp(output->bytes + output->head, text->data + text->len - tail, tail));
}

/* Its letters come from nowhere else, so none of a part that was cut is left beside the gap. */
static void check_redacted(const struct output *output, size_t cap)
{
	require(output->len <= cap && output->head <= output->len);
	for (size_t i = 0; i < output->len; i++)
		require(!memchr("QJZ", output->bytes[i], 3));
}

static void check_fact(const struct output *output, const struct buf *text)
{
	struct sha256 whole;
	AUTO_FACT fact = {.kind = FACT_TOOL};
	sha256_init(&whole);
	sha256_add(&whole, text->data, text->len);
	output_json_fact(output, &whole, &fact);
	require(fact.tool.output);
	require(!!fact.tool.output_dropped == !!output->dropped);
	json_auto_t *tail = output_json_tail(output, 16);
	require(json_is_string(tail) && json_string_length(tail) <= 3 * 16 + 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct output whole, cut;
	struct secrets secrets = {0};
	AUTO_BUF text;
	buf_init(&text, 1 << 24);
	if (len > 2)
		spell(data + 2, len - 2, &text);
	if (!text.len)
		return 0;
	size_t cap = 2 + data[0], step = 1 + data[1] % 64;
	capture(&whole, &text, cap, text.len);
	capture(&cut, &text, cap, step);
	require(cut.len == whole.len && cut.head == whole.head);
	require(!memcmp(cut.bytes, whole.bytes, whole.len));
	check_edges(&whole, &text);
	require(!secrets_add(&secrets, secret));
	output_redact(&whole, &secrets);
	check_redacted(&whole, cap);
	check_fact(&whole, &text);
	secrets_done(&secrets);
	output_done(&whole);
	output_done(&cut);
	return 0;
}
