#include "schema/advice.h"

#include "base/clock.h"
#include "base/num.h"
#include "base/suggest.h"
#include "schema/lookalike.h"
#include "schema/table.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

bool advise_letters(struct findings *findings, struct finding *it, const char *word)
{
	AUTO_BUF plain = BUF_INIT(256);
	struct lookalike letter = lookalike_find(word, &plain);
	if (!letter.code || plain.failed)
		return false;
	if (letter.like)
		finding_help(findings, it,
			"`%s` in it is U+%04X, which only looks like `%c`: write `%s`",
			letter.bytes, (unsigned)letter.code, letter.like, plain.data);
	else
		finding_help(findings, it, "U+%04X is in it, which is not seen: write `%s`",
			(unsigned)letter.code, plain.len ? plain.data : "");
	return true;
}

void advise_word(struct findings *findings, struct finding *it, const char *word,
	const char *const *names, size_t count)
{
	if (it->message &&
		!advise_letters(findings, it, word)) /* else it was not kept: nobody will read it */
		advise_near(findings, it, suggest_word(word, names, count), names, count);
}

void advise_near(struct findings *findings, struct finding *it, const char *near,
	const char *const *names, size_t count)
{
	if (near) {
		finding_help(findings, it, "did you mean `%s`?", near);
		return;
	}
	char all[400] = "";
	size_t used = 0;
	for (size_t i = 0; i < count && used < sizeof(all); i++)
		used += (size_t)snprintf(
			all + used, sizeof(all) - used, "%s`%s`", i ? ", " : "", names[i]);
	if (count && used < sizeof(all))
		finding_help(findings, it, count > 1 ? "use one of %s" : "use %s", all);
}

/* Advises "Judge It" as `judge_it`, if that is a name, and could not be a name in capitals. An
 * address belongs elsewhere, and may hold a password. */
static void advise_name(struct findings *findings, struct finding *it,
	const struct shape_pattern *pattern, const char *text)
{
	enum { NAME_BYTES = 65 };
	char name[NAME_BYTES];
	bool dashes = shape_pattern_matches(pattern, "a-", 2);
	size_t len = 0;
	for (; text[len] && len + 1 < sizeof(name); len++) {
		char c = text[len];
		bool upper = c >= 'A' && c <= 'Z';
		bool kept =
			(c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c == '-' && dashes);
		name[len] = upper ? (char)(c + 'a' - 'A') : kept ? c : '_';
	}
	name[len] = '\0';
	if (!text[len] && !strpbrk(text, ":@") && shape_pattern_matches(pattern, name, len) &&
		!shape_pattern_matches(pattern, "A", 1))
		finding_help(findings, it, "write `%s`", name);
}

void advise_spelling(struct findings *findings, struct finding *it,
	const struct shape_pattern *pattern, const char *text)
{
	if (strstr(text, "{{"))
		finding_help(
			findings, it, "it is taken as it stands here: no template is filled in");
	else if (!advise_letters(findings, it, text))
		advise_name(findings, it, pattern, text);
}

static void advise_one_of(struct findings *findings, struct finding *it, const char *name,
	const struct shape_group *group)
{
	AUTO_BUF keys = BUF_INIT(512);
	for (size_t i = 0; i < group->count; i++)
		buf_addf(&keys, "%s`%s: {%s: ...}`",
			!i                     ? ""
			: i + 1 < group->count ? ", "
					       : " or ",
			name, group->keys[i]);
	if (!keys.failed)
		finding_help(findings, it, "write %s", keys.data);
}

void advise_key(
	struct findings *findings, struct finding *it, const char *name, const struct shape *shape)
{
	AUTO_BUF keys = BUF_INIT(256);
	for (size_t i = 0; i < shape->key_count; i++)
		if (shape->keys[i].required)
			buf_addf(&keys, "%s%s: ...", keys.len ? ", " : "", shape->keys[i].name);
	const struct shape_group *g = shape->group_count ? &shape->groups[0] : NULL;
	if (keys.len && !keys.failed)
		finding_help(findings, it, "write `%s: {%s}`", name, keys.data);
	else if (g && g->exactly_one)
		advise_one_of(findings, it, name, g);
	else if (shape->value_count)
		advise_word(findings, it, "", shape->values, shape->value_count);
	else if (shape->title)
		finding_help(findings, it, "`%s` takes %s", name, shape->title);
}

/* Reads "2g", "512 MB" or "10KiB" as bytes; all units are powers of 1024, as for memory. */
static int size_of(const char *text, int64_t *bytes)
{
	static const char prefixes[] = "kmgt";
	size_t len = strspn(text, "0123456789.");
	double number;
	if (num_float(text, len, &number))
		return -1;
	text += len + strspn(text + len, " ");
	const char *prefix = *text ? strchr(prefixes, tolower((unsigned char)*text)) : NULL;
	for (const char *p = prefixes; prefix && p <= prefix; p++)
		number *= 1024;
	text += prefix ? 1 : 0;
	if (*text && strcasecmp(text, "b") && (!prefix || strcasecmp(text, "ib")))
		return -1;
	*bytes = number < 1e18 ? (int64_t)number : -1;
	return *bytes < 0 ? -1 : 0;
}

static int megabytes_of(const char *text, int64_t *mb)
{
	int64_t bytes;
	if (size_of(text, &bytes) || bytes % (1024 * 1024))
		return -1;
	*mb = bytes / (1024 * 1024);
	return 0;
}

static bool ends_in(const char *key, const char *ending)
{
	size_t len = strlen(key), n = strlen(ending);
	return len > n && !strcmp(key + len - n, ending);
}

/* Reads an amount in another spelling, by the unit in the end of the key's name. */
static int amount_of(const char *key, const char *text, int64_t *amount)
{
	static const struct {
		const char *ending;
		int (*read)(const char *text, int64_t *amount);
	} units[] = {{"_secs", clock_length}, {"_mb", megabytes_of}, {"_bytes", size_of}};
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (ends_in(key, units[i].ending))
			return units[i].read(text, amount);
	return -1;
}

/* Removes the currency of "$0.50" or "0.50 USD". Returns the length; 0: it is no amount of
 * dollars. */
static size_t dollars_in(const char **text)
{
	double number;
	*text += strspn(*text, "$ ");
	size_t len = strspn(*text, "0123456789."), blanks = strspn(*text + len, " ");
	const char *unit = *text + len + blanks;
	return num_float(*text, len, &number) || (*unit && strcasecmp(unit, "usd")) ? 0 : len;
}

/* Reads "1_000", "1,000", "64k" as integers. */
static int count_of(const char *text, int64_t *count)
{
	char digits[24];
	size_t used = 0;
	for (; used < sizeof(digits) - 4; text++) {
		bool separator = used && (*text == '_' || *text == ',');
		if (separator && strspn(text + 1, "0123456789") != 3)
			return -1;
		if (!separator && !isdigit((unsigned char)*text))
			break;
		if (!separator)
			digits[used++] = *text;
	}
	size_t zeros = !*text ? 0 : !strcasecmp(text, "k") ? 3 : !strcasecmp(text, "m") ? 6 : 9;
	if (zeros > 6 || used + zeros >= sizeof(digits))
		return -1;
	memset(digits + used, '0', zeros);
	return num_int(digits, used + zeros, count);
}

/* Reports whether this is a number with a decimal comma, "1,5". With three digits behind it,
 * "1,500", the comma may separate thousands. */
static bool has_decimal_comma(const char *text)
{
	size_t whole = strspn(text, "0123456789");
	size_t fraction = whole && text[whole] == ',' ? strspn(text + whole + 1, "0123456789") : 0;
	return fraction && fraction != 3 && !text[whole + 1 + fraction];
}

/* Advises on `text` in place of a number. */
static void advise_number(struct findings *findings, struct finding *it, const struct shape *shape,
	const struct doc_node *text, const char *key)
{
	int64_t integer;
	double number;
	const char *amount = text->text;
	size_t len;
	if (key && shape->minimum == shape->maximum)
		finding_help(findings, it, "write `%s: %jd`", key, (intmax_t)shape->minimum);
	else if (!num_int(text->text, text->count, &integer) ||
		 !num_float(text->text, text->count, &number))
		finding_help(findings, it, "write it without quotes");
	else if (key &&
		 (!amount_of(key, amount, &integer) ||
			 (shape->kinds == 1u << DOC_INT && !count_of(amount, &integer))) &&
		 (double)integer >= shape->minimum && (double)integer <= shape->maximum)
		finding_help(findings, it, "write `%s: %jd`", key, (intmax_t)integer);
	else if (key && shape->kinds & 1u << DOC_FLOAT && has_decimal_comma(amount))
		finding_help(findings, it, "a decimal number has a point: write `%s: %.*s.%s`", key,
			(int)strcspn(amount, ","), amount, strchr(amount, ',') + 1);
	else if (key && ends_in(key, "_usd") && (len = dollars_in(&amount)))
		finding_help(findings, it, "write `%s: %.*s`", key, (int)len, amount);
	else if (key && ends_in(key, "_secs"))
		finding_help(findings, it, "write the seconds as a number, such as 300");
	else
		finding_help(findings, it, "write the number alone");
}

/* Finds the next item of a list that was written as one text: up to a blank (or a comma, unless
 * items are arguments), templates whole. Returns false if there is none. */
static bool next_item(const char **at, const char *separators, const char **item, size_t *len)
{
	const char *end = *item = *at + strspn(*at, separators);
	while (*end && !strchr(separators, *end)) {
		const char *close = strncmp(end, "{{", 2) ? NULL : strstr(end, "}}");
		end = close ? close + 2 : end + 1;
	}
	*len = (size_t)(end - *item);
	*at = end;
	return *len > 0;
}

bool advice_list(const char *text, const char *separators, struct buf *out)
{
	const char *item;
	size_t len;
	if (strpbrk(text, "\n'\"\\[]"))
		return false;
	while (next_item(&text, separators, &item, &len))
		buf_addf(out, "%s\"%.*s\"", out->len ? ", " : "[", (int)len, item);
	if (out->len)
		buf_adds(out, "]");
	return out->len && !out->failed;
}

/* Advises on a list written as one text. A text that needs a shell to split it gets no list. */
static void advise_list(struct findings *findings, struct finding *it, const struct shape *shape,
	const struct doc_node *node)
{
	AUTO_BUF list = BUF_INIT(1024);
	if (shape->command && strpbrk(node->text, "|&;<>$`()*?#\n'\"\\"))
		finding_help(findings, it,
			"no shell reads it: write a list, `[...]`, each item by itself, and what "
			"needs a shell as a script below scripts/");
	else if ((shape->command || !strchr(node->text, '{')) &&
		 advice_list(node->text, shape->command ? " " : ", ", &list))
		finding_help(findings, it, "write `%s`", list.data);
	else
		finding_help(findings, it, "write a list, `[...]`, each item by itself");
}

bool advice_is_item(
	const struct shape *list, const struct shape *words, const struct doc_node *text)
{
	return list->kinds == 1u << DOC_LIST && text->kind == DOC_STR && words->value_count &&
	       strpbrk(text->text, ".:");
}

/* Returns the shape among those of `shape` whose words a text must be one of; NULL: there is
 * none. */
static const struct shape *words_of(const struct shape *shape)
{
	for (size_t i = 0; shape->choice && !shape->choice->selector && i < shape->choice->count;
		i++)
		if (shape->choice->branches[i]->value_count)
			return shape->choice->branches[i];
	return shape->value_count && shape->kinds & 1u << DOC_STR ? shape : NULL;
}

static bool is_whole(const struct doc_node *node)
{
	return node->kind == DOC_FLOAT && node->number > -1e15 && node->number < 1e15 &&
	       node->number == (double)(int64_t)node->number;
}

void advise_type(struct findings *findings, struct finding *it, const struct shape *shape,
	const struct doc_node *node, const char *key)
{
	const unsigned numbers = 1u << DOC_INT | 1u << DOC_FLOAT;
	const unsigned kinds = shape->kinds & ~(1u << DOC_NULL);
	const struct shape *words = words_of(shape);
	bool text = node->kind == DOC_STR;
	if (text && kinds & numbers)
		advise_number(findings, it, shape, node, key);
	else if (text && kinds & 1u << DOC_LIST)
		advise_list(findings, it, shape, node);
	else if (words)
		advise_word(findings, it,
			node->kind != DOC_BOOL ? ""
			: node->boolean        ? "true"
					       : "false",
			words->values, words->value_count);
	else if (kinds == 1u << DOC_LIST && node->kind == DOC_MAP && key && shape->items &&
		 shape->items->kinds == 1u << DOC_MAP)
		finding_help(
			findings, it, "write a list, `%s: [{...}, ...]`, each item a map", key);
	else if (kinds == 1u << DOC_STR && (1u << node->kind & (numbers | 1u << DOC_BOOL)))
		finding_help(findings, it, "put it in quotes");
	else if (kinds == 1u << DOC_STR && node->kind == DOC_MAP && node->count == 1)
		finding_help(findings, it, "put a text that holds `: ` in quotes");
	else if ((kinds & numbers) == 1u << DOC_INT && key && is_whole(node))
		finding_help(findings, it, "write `%s: %jd`", key, (intmax_t)node->number);
	else if (kinds == 1u << DOC_BOOL && shape->boolean == 1 && key)
		finding_help(findings, it, "write `%s: true`", key);
	else if (node->kind == DOC_NULL && kinds != shape->kinds)
		finding_help(findings, it, "write `null` if nothing is meant");
	else if (kinds & 1u << DOC_MAP && key)
		advise_key(findings, it, key, shape);
}

/* Returns the pair `key` inside the value of one of the map's pairs, if there is a finding about
 * it; else NULL. */
static const struct doc_pair *nested(struct findings *findings, const struct doc *doc,
	const struct doc_node *map, const char *key, const char **inside)
{
	for (uint32_t i = 0; i < map->count; i++) {
		const struct doc_pair *pair = doc_pair(&map->pairs[i].value, key);
		struct doc_pos all = pair ? pair->key.pos : (struct doc_pos){0};
		*inside = map->pairs[i].key.text;
		if (!pair)
			continue;
		all.end_line = pair->value.pos.end_line;
		all.end_column = pair->value.pos.end_column;
		if (findings_drop(findings, doc, &all))
			return pair;
	}
	return NULL;
}

bool advise_nested(struct findings *findings, const struct doc *doc, const struct doc_node *map,
	const char *place, const char *key)
{
	const char *inside;
	const struct doc_pair *pair = nested(findings, doc, map, key, &inside);
	if (!pair)
		return false;
	struct finding *it = finding_add(findings, RULE_MISSING_KEY, doc, &pair->key,
		"%s needs the key `%s`, which stands inside `%.64s`", place, key, inside);
	finding_help(findings, it,
		map == doc->root ? "move it out of `%.64s`, to the top of the file"
				 : "move it out, beside `%.64s`",
		inside);
	return true;
}
