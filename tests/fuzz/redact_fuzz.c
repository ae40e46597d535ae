/*
 * Any text with secrets in it: nothing of a secret that is known is left, wherever something begins
 * or ends that only looks like one, and what is put in its place is bounded.
 *
 * The secrets alone are made of Q, J and Z, which no placeholder has and which are taken out of the
 * input; what is common in texts stands between them. A byte above 0x7f puts one there.
 */
#include "agent/policy/redact.h"
#include <stdint.h>
#include <string.h>

enum { CAP_BYTES = 4 * 1024 * 1024, TEXT_BYTES = 64 * 1024, GROWTH = 5 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char *const secrets[] = {"QJZQJZQJ", "QJZQJZQJZZ", "Q;J@Z:Q=J Z'Q\"J",
	"Q/J://Z:Q@J\nZQJ_KEY=Z", "JZ\nQ\nJQ\nZJJ", "Q..J%Z[QJZ"};

static void build(const uint8_t *data, size_t len, struct buf *text)
{
	for (size_t i = 0; i < len && text->len < TEXT_BYTES; i++) {
		if (data[i] >= 0x80)
			buf_adds(text, secrets[data[i] % ARRAY_LEN(secrets)]);
		else if (!memchr("QJZ", data[i], 3))
			buf_addc(text, (char)data[i]);
	}
}

static void check(const struct redact *r, redact_fn *how, const struct buf *text)
{
	struct redact_tally tally = {0};
	struct buf out;
	buf_init(&out, CAP_BYTES);
	if (how(r, text->data, text->len, &out, &tally))
		abort();
	if (out.len > GROWTH * text->len)
		abort();
	for (size_t i = 0; i < out.len; i++)
		if (memchr("QJZ", out.data[i], 3))
			abort();
	size_t found = 0;
	for (size_t i = 0; i < REDACT_KIND_COUNT; i++)
		found += tally.of[i];
	/* What was not found is as it was. */
	if (!found && (out.len != text->len || memcmp(out.data, text->data, text->len) != 0))
		abort();
	if (found && !redact_is_marked(out.data) && strlen(out.data) == out.len)
		abort();
	buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct redact r = {0};
	struct buf text;
	buf_init(&text, CAP_BYTES);
	buf_adds(&text, "");
	build(data, len, &text);
	for (size_t i = 0; i < ARRAY_LEN(secrets); i++)
		if (redact_add(&r, secrets[i]))
			abort();
	check(&r, redact_text, &text);
	check(&r, redact_known, &text);
	redact_done(&r);
	buf_done(&text);
	return 0;
}
