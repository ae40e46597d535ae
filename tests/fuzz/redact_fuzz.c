/*
 * Any text with secrets in it: nothing of a secret that is known is left, wherever something begins
 * or ends that only looks like one, or the text is cut, and what is put in its place is bounded.
 *
 * The secrets alone are made of Q, J and Z, which no placeholder has and which are taken out of the
 * input; what is common in texts stands between them. A byte above 0x7f puts one there.
 */
#include "agent/policy/redact.h"
#include <stdint.h>
#include <string.h>

enum { CAP_BYTES = 4 * 1024 * 1024, TEXT_BYTES = 64 * 1024, GROWTH = 5, CUTS = 7 };

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

/* The alphabet is the secrets' own. */
static bool is_clean(const struct buf *out)
{
	for (size_t i = 0; i < out->len; i++)
		if (memchr("QJZ", out->data[i], 3))
			return false;
	return true;
}

static void check_cut(const struct redact *redact, const struct buf *text, size_t at)
{
	struct buf out;
	buf_init(&out, CAP_BYTES);
	size_t head = redact_cut(redact, text->data, text->len, at, false),
	       tail = redact_cut(redact, text->data, text->len, at, true);
	if (head > at || tail < at || tail > text->len ||
		redact_text(redact, text->data, head, &out, NULL) ||
		redact_text(redact, text->data + tail, text->len - tail, &out, NULL) ||
		!is_clean(&out))
		abort();
	buf_done(&out);
}

static void check(const struct redact *redact, redact_fn *how, const struct buf *text)
{
	struct redact_tally tally = {0};
	struct buf out;
	buf_init(&out, CAP_BYTES);
	if (how(redact, text->data, text->len, &out, &tally))
		abort();
	if (out.len > GROWTH * text->len)
		abort();
	if (!is_clean(&out))
		abort();
	size_t found = 0;
	for (size_t i = 0; i < REDACT_KIND_COUNT; i++)
		found += tally.of[i];
	/* Text without a found secret must not change. */
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
	for (size_t i = 0; i < CUTS; i++)
		check_cut(&r, &text, i * text.len / CUTS);
	redact_done(&r);
	buf_done(&text);
	return 0;
}
