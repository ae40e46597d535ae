#include "schema/finding.h"

#include "base/utf8.h"
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

void findings_init(struct findings *findings)
{
	*findings = (struct findings){0};
	arena_init(&findings->arena);
}

void findings_done(struct findings *findings)
{
	free(findings->items);
	arena_done(&findings->arena);
	*findings = (struct findings){0};
}

/* Keeps a file's name; consecutive findings nearly always have the same one. */
static const char *keep_file(struct findings *findings, const char *file)
{
	if (findings->count && !strcmp(findings->items[findings->count - 1].file, file))
		return findings->items[findings->count - 1].file;
	return arena_copy(&findings->arena, file, strlen(file));
}

static const char *PRINTF(2, 0)
	keep_text(struct findings *findings, const char *format, va_list args)
{
	char text[1024] = "";
	vsnprintf(text, sizeof(text), format, args);
	/* A value in the text may have been cut inside a character. */
	utf8_copy(text, sizeof(text), text);
	return arena_copy(&findings->arena, text, strlen(text));
}

static struct finding *next_item(struct findings *findings)
{
	if (findings->count == FINDINGS_MAX) {
		findings->dropped++;
		findings->spare = (struct finding){0};
		return &findings->spare;
	}
	findings->items = own_room(
		findings->items, findings->count, &findings->room, sizeof(*findings->items));
	findings->items[findings->count] = (struct finding){.order = findings->count};
	return &findings->items[findings->count];
}

static struct finding *add(
	struct findings *findings, enum rule rule, const struct doc *doc, struct doc_pos pos)
{
	struct finding *it = next_item(findings);
	it->rule = rule;
	it->severity = rule_info(rule)->severity;
	it->pos = pos;
	findings->errors += it->severity == SEVERITY_ERROR;
	findings->warnings += it->severity == SEVERITY_WARNING;
	if (it != &findings->spare) {
		it->file = keep_file(findings, doc ? doc->file : "");
		findings->count++;
	}
	return it;
}

struct finding *finding_add(struct findings *findings, enum rule rule, const struct doc *doc,
	const struct doc_node *node, const char *format, ...)
{
	struct finding *it = add(findings, rule, doc, node ? node->pos : (struct doc_pos){0});
	va_list args;
	va_start(args, format);
	if (it != &findings->spare)
		it->message = keep_text(findings, format, args);
	va_end(args);
	return it;
}

struct finding *finding_at(struct findings *findings, enum rule rule, const struct doc *doc,
	struct doc_pos pos, const char *format, ...)
{
	struct finding *it = add(findings, rule, doc, pos);
	va_list args;
	va_start(args, format);
	if (it != &findings->spare)
		it->message = keep_text(findings, format, args);
	va_end(args);
	return it;
}

void finding_whole(struct findings *findings, struct finding *item, const char *text)
{
	if (item != &findings->spare)
		item->message = arena_copy(&findings->arena, text, strlen(text));
}

static bool is_toml(const char *file)
{
	size_t len = file ? strlen(file) : 0;
	return len > 5 && !strcmp(file + len - 5, ".toml");
}

/* The state while scanning a text that may have YAML between backticks. */
struct snippet {
	bool code, value; /* between backticks; after a key there */
	char quote, before;
};

static void step(struct snippet *snippet, char c)
{
	snippet->code ^= c == '`';
	snippet->value = snippet->value && snippet->code;
	if (!snippet->code)
		snippet->quote = '\0';
	else if (snippet->quote ? c == snippet->quote : c == '"' || c == '\'')
		snippet->quote = snippet->quote ? '\0' : c;
}

static bool ends_key(const struct snippet *snippet, const char *at)
{
	return snippet->code && !snippet->quote && *at == ':' && (at[1] == ' ' || at[1] == '`') &&
	       snippet->before &&
	       (isalnum((unsigned char)snippet->before) || strchr("_-\"'", snippet->before));
}

/* Returns the length of a word that is a text in YAML, and in TOML only with quotes; 0: there is
 * none here. */
static size_t bare_word(const struct snippet *snippet, const char *at)
{
	size_t len =
		strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");
	bool begins = snippet->value && !snippet->quote &&
		      (snippet->before == ' ' || snippet->before == '[') &&
		      (isalpha((unsigned char)*at) || *at == '_');
	bool ends = at[len] && strchr("`,]}", at[len]);
	return begins && ends && strncmp(at, "true", len) && strncmp(at, "false", len) ? len : 0;
}

/* Returns a text with `key: value` between backticks turned into `key = "value"`, which means the
 * same in TOML, also in inline tables. */
static const char *in_toml(struct findings *findings, const char *text)
{
	AUTO_BUF out = BUF_INIT(2048);
	struct snippet s = {.code = false};
	for (const char *at = text; *at; s.before = *at++) {
		size_t word = bare_word(&s, at);
		step(&s, *at);
		if (word) {
			buf_addf(&out, "\"%.*s\"", (int)word, at);
			at += word - 1;
		} else if (ends_key(&s, at)) {
			buf_adds(&out, " =");
			s.value = true;
		} else {
			buf_addc(&out, *at);
		}
	}
	return out.failed || !out.len ? text : arena_copy(&findings->arena, out.data, out.len);
}

void finding_help(struct findings *findings, struct finding *item, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (item != &findings->spare)
		item->help = keep_text(findings, format, args);
	va_end(args);
	if (item != &findings->spare && is_toml(item->file))
		item->help = in_toml(findings, item->help);
}

/* Reports whether a finding's rule is one about an undeclared name. */
static bool is_repeatable(const struct finding *it)
{
	return it->rule == RULE_UNKNOWN_VARIABLE || it->rule == RULE_UNKNOWN_STATE ||
	       it->rule == RULE_UNKNOWN_SCHEMA || it->rule == RULE_UNKNOWN_TYPE ||
	       it->rule == RULE_UNKNOWN_FIELD;
}

static bool is_before(const struct doc_pos *a, const struct doc_pos *b)
{
	return a->line != b->line ? a->line < b->line : a->column < b->column;
}

static bool is_within(const struct doc_pos *at, const struct doc_pos *stretch)
{
	struct doc_pos end = {.line = stretch->end_line, .column = stretch->end_column};
	return !is_before(at, stretch) && is_before(at, &end);
}

size_t findings_drop(
	struct findings *findings, const struct doc *doc, const struct doc_pos *stretch)
{
	enum { LATELY = 500 };
	size_t count = findings->count, kept = count > LATELY ? count - LATELY : 0;
	for (size_t i = kept; i < count; i++) {
		const struct finding *it = &findings->items[i];
		if (strcmp(it->file, doc->file) != 0 || !is_within(&it->pos, stretch)) {
			findings->items[kept++] = *it;
			continue;
		}
		findings->errors -= it->severity == SEVERITY_ERROR;
		findings->warnings -= it->severity == SEVERITY_WARNING;
	}
	findings->count = kept;
	return count - kept;
}

/* Returns a file's rank: where it was first mentioned. */
static size_t file_rank(const struct finding *items, const char *file)
{
	size_t i = 0;
	while (strcmp(items[i].file, file))
		i++;
	return i;
}

struct ranked {
	struct finding item;
	size_t rank;
};

static int by_place(const void *a_, const void *b_)
{
	const struct ranked *a = a_, *b = b_;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->item.pos.line != b->item.pos.line)
		return a->item.pos.line < b->item.pos.line ? -1 : 1;
	if (a->item.pos.column != b->item.pos.column)
		return a->item.pos.column < b->item.pos.column ? -1 : 1;
	return a->item.order < b->item.order ? -1 : 1;
}

static void sort_items(struct finding *items, size_t count)
{
	AUTO_FREE struct ranked *ranked = calloc(count + 1, sizeof(*ranked));
	if (!ranked)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct ranked *before = i ? &ranked[i - 1] : NULL;
		bool same = before && !strcmp(before->item.file, items[i].file);
		ranked[i].item = items[i];
		ranked[i].rank = same ? before->rank : file_rank(items, items[i].file);
	}
	qsort(ranked, count, sizeof(*ranked), by_place);
	for (size_t i = 0; i < count; i++)
		items[i] = ranked[i].item;
}

void findings_sort(struct findings *findings)
{
	if (findings->count)
		sort_items(findings->items, findings->count);
}

/* Merges the repetitions of item `at` into it. */
static void merge_into(struct findings *findings, size_t at)
{
	enum { LINES_BYTES_MAX = 60 };
	struct finding *first = &findings->items[at];
	uint32_t last = first->pos.line;
	size_t kept = at + 1;
	AUTO_BUF lines = BUF_INIT(LINES_BYTES_MAX);
	for (size_t i = at + 1; i < findings->count; i++) {
		struct finding *it = &findings->items[i];
		bool same = it->rule == first->rule && !strcmp(it->message, first->message) &&
			    !strcmp(it->file, first->file);
		if (!same) {
			findings->items[kept++] = *it;
			continue;
		}
		if (it->pos.line != last)
			buf_addf(&lines, "%s%u", lines.len ? ", " : "", it->pos.line);
		last = it->pos.line;
		findings->errors--;
	}
	findings->count = kept;
	if (!lines.len)
		return;
	finding_help(findings, first, "%s%snamed again on line %s%s",
		first->help ? first->help : "", first->help ? "; " : "", lines.data,
		lines.failed ? ", ..." : "");
}

void findings_merge(struct findings *findings, size_t from)
{
	enum { MERGED_MAX = 500 };
	if (from < findings->count)
		sort_items(findings->items + from, findings->count - from);
	for (size_t i = from; i < findings->count && i < from + MERGED_MAX; i++)
		if (is_repeatable(&findings->items[i]))
			merge_into(findings, i);
}
