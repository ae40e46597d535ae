/* The words of shell text: quotes, escapes, expansions, brace lists. */
#include "agent/policy/shell_reader.h"

#include "base/buf.h"
#include "base/utf8.h"
#include <ctype.h>
#include <string.h>

/* A word while it grows. The mask has one byte per byte of the text: u unquoted, q quoted, b where
 * an unquoted $IFS separates two words. */
struct draft {
	struct buf text, mask;
	size_t first_quote; /* the place of the first quoted byte */
	bool quoted, computed, globbed, splits, broken, listed;
};

/* An attempt at arithmetic counts as words: nested ones would double with each level. */
enum { ATTEMPT_WORDS = 16, LIST_WORDS_MAX = 256 };

#define AUTO_DRAFT __attribute__((cleanup(draft_done))) struct draft

static void draft_done(struct draft *draft)
{
	buf_done(&draft->text);
	buf_done(&draft->mask);
}

static void draft_init(struct draft *draft)
{
	*draft = (struct draft){.quoted = false};
	buf_init(&draft->text, SHELL_CAP_BYTES);
	buf_init(&draft->mask, SHELL_CAP_BYTES);
}

static void put(struct draft *draft, char c, char mask)
{
	buf_addc(&draft->text, c);
	buf_addc(&draft->mask, mask);
}

static void put_text(struct draft *draft, const char *text, size_t len, char mask)
{
	for (size_t i = 0; i < len; i++)
		put(draft, text[i], mask);
}

static void begin_quote(struct draft *draft)
{
	if (!draft->quoted)
		draft->first_quote = draft->text.len;
	draft->quoted = true;
}

static void put_expansion(struct draft *draft, const char *text, size_t len)
{
	put_text(draft, text, len, 'q');
	draft->computed = true;
}

bool shell_in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Adds a substitution that was read to the current command. */
static int add_sub(struct shell_reader *reader, struct shell_node *list)
{
	if (!list)
		return -1;
	list->next = reader->subs;
	reader->subs = list;
	return 0;
}

static int read_dollar(struct shell_reader *reader, struct draft *draft, bool quoted);

/* Reads `...`, which has backslash rules of its own. */
static int read_backticks(struct shell_reader *reader, struct draft *draft)
{
	size_t stop = reader->at + 1, count = 0;
	while (stop < reader->len && reader->text[stop] != '`')
		stop += reader->text[stop] == '\\' ? 2 : 1;
	if (stop >= reader->len)
		return reader_fail(reader, "an unclosed backtick");
	char *code = arena_alloc(reader->arena, stop - reader->at);
	for (size_t i = reader->at + 1; i < stop; i++) {
		i += reader->text[i] == '\\' && strchr("`\\$", reader->text[i + 1]);
		code[count++] = reader->text[i];
	}
	reader->at = stop + 1;
	put_expansion(draft, "$()", 3);
	struct shell_reader inner = *reader;
	inner.text = code;
	inner.len = count;
	inner.at = 0;
	inner.subs = NULL;
	inner.awaiting = NULL;
	struct shell_node *list = reader_list(&inner, "");
	reader->words = inner.words;
	return add_sub(reader, list);
}

static int read_double(struct shell_reader *reader, struct draft *draft)
{
	begin_quote(draft);
	while (reader->at < reader->len && reader->text[reader->at] != '"') {
		char c = reader->text[reader->at];
		if (c == '\\' && reader->at + 1 < reader->len) {
			char next = reader->text[reader->at + 1];
			if (!strchr("$`\"\\\n", next))
				put(draft, c, 'q');
			if (next != '\n')
				put(draft, next, 'q');
			reader->at += 2;
		} else if (c == '$' || c == '`') {
			if (c == '$' ? read_dollar(reader, draft, true)
				     : read_backticks(reader, draft))
				return -1;
		} else {
			put(draft, c, 'q');
			reader->at++;
		}
	}
	return reader_take(reader, "\"") ? 0 : reader_fail(reader, "an unclosed quote");
}

static int read_single(struct shell_reader *reader, struct draft *draft)
{
	const char *begin = reader->text + reader->at;
	const char *end = memchr(begin, '\'', reader->len - reader->at);
	begin_quote(draft);
	if (!end)
		return reader_fail(reader, "an unclosed quote");
	put_text(draft, begin, (size_t)(end - begin), 'q');
	reader->at += (size_t)(end - begin) + 1;
	return 0;
}

/* Reads up to `most` digits of `base` into `code`. Returns how many there are. */
static size_t take_digits(struct shell_reader *reader, size_t most, unsigned base, unsigned *code)
{
	static const char digits[] = "0123456789abcdef";
	size_t count = 0;
	for (*code = 0; count < most && reader->at < reader->len; count++, reader->at++) {
		int c = tolower((unsigned char)reader->text[reader->at]);
		const char *digit = memchr(digits, c, base);
		if (!digit)
			break;
		*code = *code * base + (unsigned)(digit - digits);
	}
	return count;
}

/* Decodes \xHH, \uHHHH or an octal number of $'..'; without digits both bytes stay. */
static void read_coded(struct shell_reader *reader, struct draft *draft, char kind)
{
	bool wide = kind == 'u' || kind == 'U', octal = kind >= '0' && kind <= '7';
	bool braced = kind == 'x' && reader_take(reader, "{");
	size_t most = braced ? reader->len : kind == 'U' ? 8 : kind == 'u' ? 4 : octal ? 3 : 2;
	char bytes[4];
	unsigned code;
	reader->at -= octal;
	size_t digits = take_digits(reader, most, octal ? 8 : 16, &code);
	if (braced)
		reader_take(reader, "}");
	if (!digits && !braced) {
		put(draft, '\\', 'q');
		put(draft, kind, 'q');
		return;
	}
	bool fits = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
	bytes[0] = (char)code;
	size_t count = wide && code ? utf8_put(fits ? code : 0xfffd, bytes) : 1;
	put_text(draft, bytes, count, 'q');
}

/* Reads $'...' after its opening; a NUL ends the text early. */
static int read_ansi(struct shell_reader *reader, struct draft *draft)
{
	static const char from[] = "abefnrtvE\\'\"?", to[] = "\a\b\033\f\n\r\t\v\033\\'\"?";
	size_t begun = draft->text.len;
	begin_quote(draft);
	while (reader->at < reader->len && reader->text[reader->at] != '\'') {
		char c = reader->text[reader->at++];
		if (c != '\\' || reader->at == reader->len) {
			put(draft, c, 'q');
			continue;
		}
		c = reader->text[reader->at++];
		const char *named = c ? strchr(from, c) : NULL;
		if (c == 'c')
			return reader_fail(reader, "a control character");
		if (named)
			put(draft, to[named - from], 'q');
		else
			read_coded(reader, draft, c);
	}
	const char *end = memchr(draft->text.data + begun, '\0', draft->text.len - begun);
	size_t extra = end ? (size_t)(draft->text.data + draft->text.len - end) : 0;
	draft->text.len -= extra;
	draft->mask.len -= extra;
	return reader_take(reader, "'") ? 0 : reader_fail(reader, "an unclosed quote");
}

int reader_arithmetic(struct shell_reader *reader, const char *close)
{
	static const char plain[] = " \t\n+-*/%<>=!&|,?:^~#_@";
	struct shell_reader begun = *reader;
	int depth = 0;
	AUTO_DRAFT unused;
	draft_init(&unused);
	while (reader->at < reader->len) {
		char c = reader->text[reader->at];
		if (!depth && reader_take(reader, close)) {
			size_t len = reader->at - strlen(close) - begun.at;
			reader_note(reader, SHELL_ARITHMETIC, begun.text + begun.at, len);
			return 1;
		}
		if (c == '$') {
			if (read_dollar(reader, &unused, true))
				return -1;
			continue;
		}
		depth += (c == '(' || c == '[') - (c == ')' || c == ']');
		if (depth < 0 || (!strchr("()[]", c) && !strchr(plain, c) && !shell_in_name(c)))
			break;
		reader->at++;
	}
	size_t spent = reader->words + ATTEMPT_WORDS;
	*reader = begun;
	reader->words = spent;
	return 0;
}

/* Reads $(...) or $((...)) after its dollar. */
static int read_parenthesis(struct shell_reader *reader, struct draft *draft)
{
	if (reader_take(reader, "((")) {
		int arithmetic = reader_arithmetic(reader, "))");
		if (arithmetic)
			put_expansion(draft, "$()", 3);
		if (arithmetic)
			return arithmetic < 0 ? -1 : 0;
		reader->at -= 2;
	}
	reader->at++;
	struct shell_node *outer = reader->subs;
	reader->subs = NULL;
	struct shell_node *list = reader_list(reader, ")");
	reader->subs = outer;
	put_expansion(draft, "$()", 3);
	return add_sub(reader, list);
}

/* Notes what ${TEXT} evaluates or sets. */
static void note_braced(struct shell_reader *reader, const char *text, size_t len)
{
	bool lists = len > 1 && (strchr("@*", text[len - 1]) || !memcmp(text + len - 2, "@]", 2) ||
					!memcmp(text + len - 2, "*]", 2));
	bool prompts = len > 2 && !memcmp(text + len - 2, "@P", 2);
	bool flags = len && *text == '('; /* zsh: (e) evaluates */
	if (prompts || flags || (len > 1 && *text == '!' && !lists))
		reader_note(reader, SHELL_EVALUATION, text, len);
	reader_note(reader, SHELL_ARITHMETIC, text, len);
}

/* Reads one piece inside ${...}; its bytes stay as written. */
static int read_braced_piece(struct shell_reader *reader, struct draft *unused, bool quoted)
{
	char c = reader->text[reader->at];
	if (c == '`')
		return read_backticks(reader, unused);
	if (c == '$')
		return read_dollar(reader, unused, quoted);
	if (c == '\'' && quoted)
		return reader_fail(reader, "a quote that shells read differently");
	if (reader_looks_at(reader, "<(") || reader_looks_at(reader, ">("))
		return reader_fail(reader, "a process substitution in braces");
	reader->at += c == '\\' && reader->at + 1 < reader->len ? 2 : 1;
	if (c == '"')
		return read_double(reader, unused);
	return c == '\'' ? read_single(reader, unused) : 0;
}

static int read_braced(struct shell_reader *reader, struct draft *draft, bool quoted)
{
	size_t begun = reader->at;
	AUTO_DRAFT unused;
	draft_init(&unused);
	while (reader->at < reader->len && reader->text[reader->at] != '}')
		if (read_braced_piece(reader, &unused, quoted))
			return -1;
	const char *text = reader->text + begun;
	size_t len = reader->at - begun;
	if (!reader_take(reader, "}"))
		return reader_fail(reader, "an unclosed brace");
	if (!quoted && len == 3 && !memcmp(text, "IFS", 3)) {
		put(draft, ' ', 'b');
		draft->broken = true;
		return 0;
	}
	draft->splits = draft->splits || (len && *text == '@') || memmem(text, len, "[@]", 3);
	put_expansion(draft, text - 2, len + 3);
	note_braced(reader, text, len);
	return 0;
}

/* Reads $NAME or a special parameter after its dollar; another dollar is a letter. */
static void read_name(struct shell_reader *reader, struct draft *draft, bool quoted)
{
	const char *text = reader->text + reader->at;
	size_t left = reader->len - reader->at, len = 0;
	while (len < left && shell_in_name(text[len]) &&
		!(len == 1 && isdigit((unsigned char)*text)))
		len++;
	if (!len && left && *text && strchr("@*#?$!-", *text))
		len = 1;
	reader->at += len;
	if (!len) {
		put(draft, '$', 'q');
	} else if (!quoted && len == 3 && !memcmp(text, "IFS", 3)) {
		put(draft, ' ', 'b');
		draft->broken = true;
	} else {
		draft->splits = draft->splits || *text == '@';
		put_expansion(draft, text - 1, len + 1);
	}
}

static int read_expansion(struct shell_reader *reader, struct draft *draft, bool quoted)
{
	if (reader_looks_at(reader, "("))
		return read_parenthesis(reader, draft);
	if (reader_take(reader, "{"))
		return read_braced(reader, draft, quoted);
	if (!quoted && reader_take(reader, "'"))
		return read_ansi(reader, draft);
	if (!quoted && reader_take(reader, "\""))
		return read_double(reader, draft);
	if (reader_take(reader, "[")) {
		put_expansion(draft, "$()", 3);
		int arithmetic = reader_arithmetic(reader, "]");
		return arithmetic ? (arithmetic < 0 ? -1 : 0)
				  : reader_fail(reader, "a $[ that is not understood");
	}
	read_name(reader, draft, quoted);
	return 0;
}

static int read_dollar(struct shell_reader *reader, struct draft *draft, bool quoted)
{
	reader->at++;
	draft->splits = draft->splits || !quoted;
	if (reader_looks_at(reader, "\\\n"))
		return reader_fail(reader, "a line's end after a $");
	if (++reader->depth > SHELL_DEPTH_MAX || reader->words > SHELL_WORDS_MAX)
		return reader_fail(reader, "nesting too deep");
	int rc = read_expansion(reader, draft, quoted);
	reader->depth--;
	return rc;
}

/* Reads <(...) or >(...). */
static int read_process(struct shell_reader *reader, struct draft *draft)
{
	struct shell_node *outer = reader->subs;
	reader->at += 2;
	reader->subs = NULL;
	struct shell_node *list = reader_list(reader, ")");
	reader->subs = outer;
	put_expansion(draft, "/dev/fd/$()", 11);
	return add_sub(reader, list);
}

static int read_piece(struct shell_reader *reader, struct draft *draft)
{
	char c = reader->text[reader->at];
	if (reader_looks_at(reader, "<(") || reader_looks_at(reader, ">("))
		return read_process(reader, draft);
	if (c == '$')
		return read_dollar(reader, draft, false);
	draft->splits = draft->splits || c == '`';
	if (c == '`')
		return read_backticks(reader, draft);
	reader->at++;
	if (c == '"')
		return read_double(reader, draft);
	if (c == '\'')
		return read_single(reader, draft);
	if (c != '\\') {
		draft->globbed = draft->globbed || strchr("*?[", c);
		put(draft, c, 'u');
		return 0;
	}
	begin_quote(draft);
	if (reader_looks_at(reader, "\n"))
		return reader_fail(reader, "a line's end inside a word");
	/* A backslash at the very end stands for itself. */
	put(draft, reader->at < reader->len ? reader->text[reader->at++] : c, 'q');
	return 0;
}

/* Reports whether the draft begins with NAME=, NAME+= or NAME[..]= without a quote. */
static bool is_assignment(const struct draft *draft)
{
	const char *text = draft->text.data, *mask = draft->mask.data;
	size_t end = draft->quoted ? draft->first_quote : draft->text.len, at = 0;
	while (at < end && mask[at] == 'u' && shell_in_name(text[at]))
		at++;
	if (!at || isdigit((unsigned char)*text))
		return false;
	if (at < end && text[at] == '[')
		while (at < draft->text.len && (text[at] != ']' || mask[at] != 'u'))
			at++, end = draft->text.len;
	at += at < end && text[at] == ']';
	at += at < end && text[at] == '+';
	return at < end && text[at] == '=' && mask[at] == 'u';
}

static void add_word(struct shell_reader *reader, const struct draft *draft, const char *text,
	size_t len, struct shell_word ***tail)
{
	struct shell_word *word = arena_alloc(reader->arena, sizeof(*word));
	word->text = arena_copy(reader->arena, text, len);
	word->computed = draft->computed;
	word->splits = draft->splits;
	word->globbed = draft->globbed;
	word->assigns = is_assignment(draft);
	**tail = word;
	*tail = &word->next;
	reader->words++;
}

/* Finds the first unquoted {A,B}; a sequence {1..9} makes the word computed. Returns the place of
 * its brace, or -1 if there is none. */
static long find_list(struct draft *draft, size_t *end)
{
	const char *text = draft->text.data, *mask = draft->mask.data;
	for (size_t open = 0; open < draft->text.len; open++) {
		int depth = 0;
		bool listed = false;
		if (text[open] != '{' || mask[open] != 'u')
			continue;
		for (size_t i = open; i < draft->text.len; i++) {
			depth += mask[i] == 'u' ? (text[i] == '{') - (text[i] == '}') : 0;
			listed = listed || (depth == 1 && text[i] == ',' && mask[i] == 'u');
			draft->computed = draft->computed || !strncmp(text + i, "..", 2);
			*end = i;
			if (!depth)
				break;
		}
		if (listed && !depth)
			return (long)open;
	}
	return -1;
}

static int expand(struct shell_reader *reader, struct draft *draft, struct shell_word ***tail);

/* Makes a word of each item of the list between the braces at `open` and `close`. */
static int expand_list(struct shell_reader *reader, const struct draft *draft, size_t open,
	size_t close, struct shell_word ***tail)
{
	const char *text = draft->text.data, *mask = draft->mask.data;
	int depth = 0;
	for (size_t i = open, begun = open + 1; i <= close; i++) {
		depth += mask[i] == 'u' ? (text[i] == '{') - (text[i] == '}') : 0;
		if (i != close && !(depth == 1 && text[i] == ',' && mask[i] == 'u'))
			continue;
		AUTO_DRAFT one;
		draft_init(&one);
		one.computed = draft->computed;
		one.splits = draft->splits;
		one.globbed = draft->globbed;
		one.quoted = one.listed = true; /* so it is no assignment */
		for (size_t k = 0; k < draft->text.len; k++)
			if (k < open || (k >= begun && k < i) || k > close)
				put(&one, text[k], mask[k]);
		begun = i + 1;
		if (reader->words > SHELL_WORDS_MAX || expand(reader, &one, tail))
			return -1;
	}
	return 0;
}

/* Adds the words that the draft makes: one, or as many as its lists and breaks say. An empty item
 * of a list makes none. */
static int expand(struct shell_reader *reader, struct draft *draft, struct shell_word ***tail)
{
	size_t close, len = draft->text.len;
	long open = is_assignment(draft) ? -1 : find_list(draft, &close);
	if (open >= 0 && draft->broken)
		return reader_fail(reader, "a list and an IFS in one word");
	if (open >= 0)
		return expand_list(reader, draft, (size_t)open, close, tail);
	for (size_t i = 0, begun = 0; draft->broken && i <= len; i++) {
		if (i < len && draft->mask.data[i] != 'b')
			continue;
		if (i > begun)
			add_word(reader, draft, draft->text.data + begun, i - begun, tail);
		begun = i + 1;
	}
	if (!draft->broken && (len || !draft->listed))
		add_word(reader, draft, draft->text.data, len, tail);
	return 0;
}

int reader_word(struct shell_reader *reader, struct shell_word **out)
{
	size_t begun = reader->at, words;
	AUTO_DRAFT draft;
	draft_init(&draft);
	*out = NULL;
	while (reader->at < reader->len &&
		(!reader_is_meta(reader->text[reader->at]) || reader_looks_at(reader, "<(") ||
			reader_looks_at(reader, ">(")))
		if (read_piece(reader, &draft))
			return -1;
	if (reader->at == begun)
		return reader_fail(reader, "a word is missing");
	if (draft.broken && memchr(draft.mask.data, 'u', draft.mask.len) &&
		memchr(draft.text.data, '{', draft.text.len))
		return reader_fail(reader, "a brace and an IFS in one word");
	words = reader->words;
	if (expand(reader, &draft, &out))
		return -1;
	if (draft.text.failed || reader->words > SHELL_WORDS_MAX ||
		reader->words - words > LIST_WORDS_MAX)
		return reader_fail(reader, "too many words");
	return 0;
}

int reader_document(struct shell_reader *reader, const char *body)
{
	struct shell_reader inner = *reader;
	AUTO_DRAFT unused;
	draft_init(&unused);
	inner.text = body;
	inner.len = strlen(body);
	inner.awaiting = NULL;
	for (inner.at = 0; inner.at < inner.len;) {
		char c = body[inner.at];
		if (c == '\\' && body[inner.at + 1] == '\n')
			return reader_fail(reader, "a line that goes on in a here-document");
		if (c != '$' && c != '`')
			inner.at += c == '\\' ? 2 : 1;
		else if (c == '$' ? read_dollar(&inner, &unused, true)
				  : read_backticks(&inner, &unused))
			return -1;
	}
	reader->subs = inner.subs;
	reader->words = inner.words;
	return 0;
}
