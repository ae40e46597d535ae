#include "cli/literals.h"

#include "agent/policy/redact.h"
#include "base/utf8.h"
#include <ctype.h>
#include <string.h>

enum { LINE_BYTES_MAX = 4 * BUNDLE_MEMBER_BYTES_MAX };

static const char message[] = "a key stands here for everybody who reads the bundle";

static bool in_token(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* The shortest token has as many bytes in a row: other texts need no closer look, which would cost
 * more than all the rest of a check. Each stretch is read from its end, so that most are left at
 * once. */
static bool may_hold_key(const char *text, size_t len)
{
	enum { TOKEN_BYTES_MIN = 20 };
	for (size_t from = 0; from + TOKEN_BYTES_MIN <= len;) {
		size_t at = from + TOKEN_BYTES_MIN;
		while (at > from && in_token(text[at - 1]))
			at--;
		if (at == from)
			return true;
		from = at;
	}
	return len >= TOKEN_BYTES_MIN && memmem(text, len, "-----BEGIN", 10);
}

/* `out` is the text without it. */
static bool holds_key(const char *text, size_t len, struct buf *out)
{
	struct redact_tally tally = {0};
	buf_init(out, LINE_BYTES_MAX);
	return !redact_known(NULL, text, len, out, &tally) &&
	       (tally.of[REDACT_TOKEN] || tally.of[REDACT_PEM]);
}

static void check_literal(const struct doc *doc, const struct doc_node *node, struct findings *f)
{
	AUTO_BUF out;
	if (holds_key(node->text, node->count, &out))
		finding_help(f, finding_add(f, RULE_LITERAL_SECRET, doc, node, "%s", message),
			"withdraw it; a tool gets the next one by its name in `secrets`, from a "
			"variable that the operator names in sandbox.secrets");
}

static void check_node(const struct doc *doc, const struct doc_node *node, struct findings *f)
{
	if (node->kind == DOC_STR && may_hold_key(node->text, node->count))
		check_literal(doc, node, f);
	for (uint32_t i = 0; node->kind == DOC_LIST && i < node->count; i++)
		check_node(doc, &node->items[i], f);
	for (uint32_t i = 0; node->kind == DOC_MAP && i < node->count; i++)
		check_node(doc, &node->pairs[i].value, f);
}

/* The finding is from the first byte that gave way to the last. */
static void check_line(
	const struct doc *file, uint32_t line, const char *text, size_t len, struct findings *f)
{
	AUTO_BUF out;
	if (!holds_key(text, len, &out))
		return;
	size_t from = 0, behind = 0, least = len < out.len ? len : out.len;
	while (from < least && text[from] == out.data[from])
		from++;
	while (behind < least - from && text[len - 1 - behind] == out.data[out.len - 1 - behind])
		behind++;
	struct doc_pos pos = {line, (uint32_t)utf8_count(text, from) + 1, line,
		(uint32_t)utf8_count(text, len - behind) + 1};
	finding_help(f, finding_at(f, RULE_LITERAL_SECRET, file, pos, "%s", message),
		"withdraw it, and take it out of the file");
}

static void check_text(const struct doc *file, const char *text, size_t len, struct findings *f)
{
	uint32_t line = 1;
	for (size_t at = 0; at < len; line++) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t bytes = end ? (size_t)(end - text) - at : len - at;
		if (may_hold_key(text + at, bytes))
			check_line(file, line, text + at, bytes, f);
		at += bytes + 1;
	}
}

/* What cannot be read any more, a run refuses. */
static void check_member(const struct loaded *l, const struct member *m, struct findings *f)
{
	struct err e = ERR_NONE;
	AUTO_FREE char *text = NULL, *label = doc_beside(&l->doc, m->path);
	size_t len;
	if (!label || bundle_read(l->bundle, m->path, &text, &len, &e))
		return;
	if (!memchr(text, 0, len) && utf8_prefix(text, len) == len)
		check_text(&(struct doc){.file = label}, text, len, f);
}

void literals_check(const struct loaded *l, struct findings *f)
{
	const struct bundle *b = l->bundle;
	check_node(&l->doc, l->doc.root, f);
	for (size_t i = 0; i < b->count; i++)
		if (&b->members[i] != b->machine)
			check_member(l, &b->members[i], f);
}
