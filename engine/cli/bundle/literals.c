#include "cli/bundle/literals.h"

#include "agent/policy/redact.h"
#include "base/utf8.h"
#include <ctype.h>
#include <string.h>

enum {
	LINE_BYTES_MAX = 4 * BUNDLE_MEMBER_BYTES_MAX,
	BODY_BYTES_MIN = 40,
	BODY_WITHIN_BYTES = 1024
};

static const char message[] = "a key stands here for everybody who reads the bundle";

static bool in_token(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* Reports whether a text has a run of bytes as long as the shortest token. Most texts have none and
 * need no closer look, which would cost more than the rest of a check. Each run is read from its
 * end, which rules most of them out at once. */
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

/* A line of `len` bytes, or a text treated as one, and the text after it. */
struct source_line {
	const char *text;
	size_t len, more;
};

/* The first redacted byte, and the one after the last. */
struct span {
	size_t from, to;
};

static bool in_body(char c)
{
	return isalnum((unsigned char)c) || c == '+' || c == '/';
}

/* Reports whether a key's body follows its first line. Programs that read keys, and pages about
 * them, contain only the first line. */
static bool has_body(const struct source_line *line)
{
	static const char head[] = "PRIVATE KEY";
	size_t run = 0, until = 0, n = sizeof(head) - 1, whole = line->len + line->more;
	for (size_t at = 0; at < whole && (at < line->len || at < until); at++) {
		if (at > line->len && whole - at > 5 && !memcmp(line->text + at, "-----", 5))
			break; /* the end, or another first line */
		bool begins = line->len > at + n && !memcmp(line->text + at, head, n);
		until = begins ? at + BODY_WITHIN_BYTES : until;
		run = !begins && in_body(line->text[at]) ? run + 1 : 0;
		if (at < until && run >= BODY_BYTES_MIN)
			return true;
	}
	return false;
}

static struct span gone(const struct buf *text, const struct buf *without)
{
	size_t from = 0, behind = 0, least = text->len < without->len ? text->len : without->len;
	while (from < least && text->data[from] == without->data[from])
		from++;
	while (behind < least - from &&
		text->data[text->len - 1 - behind] == without->data[without->len - 1 - behind])
		behind++;
	return (struct span){from, text->len - behind};
}

/* Blanks the keys of AWS's own pages, which end in this way. A real key does so once in 36 to the
 * 7th. */
static void blank_examples(char *text, size_t len)
{
	static const char end[] = "EXAMPLE";
	size_t n = sizeof(end) - 1;
	for (size_t at = 0, to; at < len; at = to + 1) {
		bool word = true;
		for (to = at; to < len && in_token(text[to]) && text[to] != '.'; to++)
			word = word && isalnum((unsigned char)text[to]);
		if (word && to - at > n && !memcmp(text + to - n, end, n))
			memset(text + at, ' ', to - at);
	}
}

static bool holds_key(const struct source_line *line, struct span *where)
{
	struct redact_tally tally = {0};
	AUTO_BUF text = BUF_INIT(LINE_BYTES_MAX);
	AUTO_BUF without = BUF_INIT(LINE_BYTES_MAX);
	if (buf_add(&text, line->text, line->len))
		return false;
	blank_examples(text.data, text.len);
	if (redact_known(NULL, text.data, text.len, &without, &tally))
		return false;
	*where = gone(&text, &without);
	return tally.of[REDACT_TOKEN] || (tally.of[REDACT_PEM] && has_body(line));
}

static void check_literal(
	const struct doc *doc, const struct doc_node *node, struct findings *findings)
{
	struct span where;
	if (holds_key(&(struct source_line){node->text, node->count, 0}, &where))
		finding_help(findings,
			finding_add(findings, RULE_LITERAL_SECRET, doc, node, "%s", message),
			"withdraw it; a tool gets the next one by its name in `secrets`, from a "
			"variable that the operator names in sandbox.secrets");
}

static void check_node(
	const struct doc *doc, const struct doc_node *node, struct findings *findings)
{
	if (node->kind == DOC_STR && may_hold_key(node->text, node->count))
		check_literal(doc, node, findings);
	for (uint32_t i = 0; node->kind == DOC_LIST && i < node->count; i++)
		check_node(doc, &node->items[i], findings);
	for (uint32_t i = 0; node->kind == DOC_MAP && i < node->count; i++)
		check_node(doc, &node->pairs[i].value, findings);
}

static void check_line(const struct doc *file, uint32_t line, const struct source_line *l,
	struct findings *findings)
{
	struct span where;
	if (!holds_key(l, &where))
		return;
	struct doc_pos pos = {line, (uint32_t)utf8_count(l->text, where.from) + 1, line,
		(uint32_t)utf8_count(l->text, where.to) + 1};
	finding_help(findings, finding_at(findings, RULE_LITERAL_SECRET, file, pos, "%s", message),
		"withdraw it, and take it out of the file");
}

static void check_text(
	const struct doc *file, const char *text, size_t len, struct findings *findings)
{
	uint32_t line = 1;
	for (size_t at = 0; at < len; line++) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t bytes = end ? (size_t)(end - text) - at : len - at;
		if (may_hold_key(text + at, bytes))
			check_line(file, line,
				&(struct source_line){text + at, bytes, len - at - bytes},
				findings);
		at += bytes + 1;
	}
}

/* Checks a member. One that cannot be read any more is refused by a run. */
static void check_member(
	const struct loaded *loaded, const struct member *member, struct findings *findings)
{
	struct err e = ERR_NONE;
	AUTO_FREE char *text = NULL, *label = doc_beside(&loaded->doc, member->path);
	size_t len;
	if (!label || bundle_read(loaded->bundle, member->path, &text, &len, &e))
		return;
	if (!memchr(text, 0, len) && utf8_prefix(text, len) == len)
		check_text(&(struct doc){.file = label}, text, len, findings);
}

void literals_check(const struct loaded *loaded, struct findings *findings)
{
	const struct bundle *b = loaded->bundle;
	check_node(&loaded->doc, loaded->doc.root, findings);
	for (size_t i = 0; i < b->count; i++)
		if (&b->members[i] != b->machine)
			check_member(loaded, &b->members[i], findings);
}
