/* The grammar of shell text: pipelines, compound commands, functions, redirections. */
#include "agent/policy/shell_reader.h"

#include "base/cleanup.h"
#include <ctype.h>
#include <string.h>

static struct shell_node *read_command(struct shell_reader *reader);

int reader_fail(struct shell_reader *reader, const char *what)
{
	return err_set(reader->e, "shell text: %s at byte %zu", what, reader->at);
}

bool reader_looks_at(const struct shell_reader *reader, const char *text)
{
	size_t len = strlen(text);
	return reader->len - reader->at >= len && !memcmp(reader->text + reader->at, text, len);
}

bool reader_take(struct shell_reader *reader, const char *token)
{
	bool ahead = reader_looks_at(reader, token);
	reader->at += ahead ? strlen(token) : 0;
	return ahead;
}

bool reader_is_meta(char c)
{
	return c == '\0' || strchr(" \t\n;&|<>()", c);
}

/* Moves past blanks, line continuations and comments. */
static void skip_blank(struct shell_reader *reader)
{
	while (reader->at < reader->len) {
		const char *text = reader->text + reader->at;
		bool begins = reader->at == 0 || reader_is_meta(text[-1]);
		if (*text == ' ' || *text == '\t')
			reader->at++;
		else if (begins && reader_looks_at(reader, "\\\n"))
			reader->at += 2;
		else if (begins && *text == '#')
			while (reader->at < reader->len && reader->text[reader->at] != '\n')
				reader->at++;
		else
			break;
	}
}

void reader_note(struct shell_reader *reader, enum shell_kind kind, const char *text, size_t len)
{
	struct shell_node *node = arena_alloc(reader->arena, sizeof(*node));
	node->kind = kind;
	node->name = arena_copy(reader->arena, text, len);
	node->next = reader->subs;
	reader->subs = node;
}

static struct shell_node *make(struct shell_reader *reader, enum shell_kind kind)
{
	struct shell_node *node = arena_alloc(reader->arena, sizeof(*node));
	node->kind = kind;
	return node;
}

static void append(struct shell_node **tail, struct shell_node *node)
{
	while (*tail)
		tail = &(*tail)->next;
	*tail = node;
}

static void append_words(struct shell_word **tail, struct shell_word *word)
{
	while (*tail)
		tail = &(*tail)->next;
	*tail = word;
}

/* --- here-documents and redirections ------------------------------------------------------- */

/* Reads the body of one here-document at the beginning of a line. */
static int read_body(struct shell_reader *reader, struct shell_redirect *document)
{
	size_t begun = reader->at, last = strlen(document->target);
	while (reader->at < reader->len) {
		const char *line = reader->text + reader->at;
		const char *end = memchr(line, '\n', reader->len - reader->at);
		size_t len = end ? (size_t)(end - line) : reader->len - reader->at;
		size_t body = reader->at - begun;
		reader->at += len + (end != NULL);
		for (; document->strip && len && *line == '\t'; len--)
			line++;
		if (len != last || memcmp(line, document->target, len))
			continue;
		document->body = arena_copy(reader->arena, reader->text + begun, body);
		return document->plain ? 0 : reader_document(reader, document->body);
	}
	return reader_fail(reader, "a here-document without its end");
}

/* Moves past blank lines and the bodies of here-documents that begin there. */
static int skip_lines(struct shell_reader *reader)
{
	for (skip_blank(reader); reader_take(reader, "\n"); skip_blank(reader)) {
		for (struct shell_redirect *r = reader->awaiting; r; r = r->awaiting)
			if (read_body(reader, r))
				return -1;
		reader->awaiting = NULL;
	}
	return 0;
}

/* Returns the bytes of digits or {name} directly before < or >, or 0. */
static size_t redirect_prefix(const struct shell_reader *reader)
{
	const char *text = reader->text + reader->at;
	size_t left = reader->len - reader->at, i = 0;
	bool named = left && *text == '{';
	for (i += named;
		i < left && (named ? shell_in_name(text[i]) : isdigit((unsigned char)text[i]));)
		i++;
	i += named && i < left && text[i] == '}';
	return i < left && (text[i] == '<' || text[i] == '>') ? i : 0;
}

static bool at_redirect(const struct shell_reader *reader)
{
	if (reader_looks_at(reader, "<(") || reader_looks_at(reader, ">("))
		return false;
	return redirect_prefix(reader) || reader_looks_at(reader, "<") ||
	       reader_looks_at(reader, ">") || reader_looks_at(reader, "&>");
}

static const struct {
	const char *token;
	enum shell_redirect_kind kind;
} operators[] = {{"<<<", SHELL_FED}, {"<<-", SHELL_FED}, {"<<", SHELL_FED}, {"<&", SHELL_DUP},
	{"<>", SHELL_WRITE}, {"<", SHELL_READ}, {"&>>", SHELL_APPEND}, {"&>", SHELL_WRITE},
	{">>", SHELL_APPEND}, {">&", SHELL_DUP}, {">|", SHELL_WRITE}, {">", SHELL_WRITE}};

static int await_body(struct shell_reader *reader, struct shell_redirect *redirect, size_t begun)
{
	for (size_t i = begun; i < reader->at; i++)
		redirect->plain = redirect->plain || strchr("'\"\\", reader->text[i]);
	struct shell_redirect **last = &reader->awaiting;
	while (*last)
		last = &(*last)->awaiting;
	*last = redirect;
	return 0;
}

static int read_redirect(struct shell_reader *reader, struct shell_node *node)
{
	struct shell_redirect *r = arena_alloc(reader->arena, sizeof(*r));
	struct shell_word *target;
	size_t prefix = redirect_prefix(reader), row = 0;
	if (prefix && reader->text[reader->at] == '{') {
		reader_note(reader, SHELL_ARITHMETIC, "", 0);
		char *name = arena_copy(reader->arena, reader->text + reader->at + 1, prefix - 1);
		name[prefix - 2] = '='; /* {NAME}> sets NAME */
		reader->subs->name = name;
	}
	reader->at += prefix;
	while (!reader_take(reader, operators[row].token))
		row++;
	r->kind = operators[row].kind;
	r->strip = !strcmp(operators[row].token, "<<-");
	skip_blank(reader);
	size_t begun = reader->at;
	if (reader_word(reader, &target) || !target)
		return -1;
	r->target = target->text;
	/* >&FILE redirects both streams; >&2, >&2- and >&- duplicate one. */
	const char *behind = r->target + strspn(r->target, "0123456789");
	if (r->kind == SHELL_DUP && *behind && strcmp(behind, "-"))
		r->kind = SHELL_WRITE;
	struct shell_redirect **tail = &node->redirects;
	while (*tail)
		tail = &(*tail)->next;
	*tail = r;
	if (r->kind != SHELL_FED)
		return 0;
	if (!strcmp(operators[row].token, "<<<"))
		r->body = r->target;
	return r->body ? 0 : await_body(reader, r, begun);
}

/* --- reserved words ------------------------------------------------------------------------ */

/* Moves past the reserved word `word` if it is ahead. */
static bool take_word(struct shell_reader *reader, const char *word)
{
	size_t len = strlen(word);
	skip_blank(reader);
	if (!reader_looks_at(reader, word))
		return false;
	if (reader->at + len < reader->len && !reader_is_meta(reader->text[reader->at + len]))
		return false;
	reader->at += len;
	return true;
}

static bool at_end(struct shell_reader *reader)
{
	static const char *const words[] = {
		"then", "do", "done", "fi", "elif", "else", "esac", "}"};
	size_t at = reader->at;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (take_word(reader, words[i])) {
			reader->at = at;
			return true;
		}
	return reader->at >= reader->len || reader_looks_at(reader, ")") ||
	       reader_looks_at(reader, ";;") || reader_looks_at(reader, ";&");
}

static int expect(struct shell_reader *reader, const char *word)
{
	bool found = !skip_lines(reader) &&
		     (*word == ')' ? reader_take(reader, word) : take_word(reader, word));
	return found ? 0 : reader_fail(reader, "a reserved word is missing");
}

/* --- commands ------------------------------------------------------------------------------ */

static struct shell_node *read_pipeline(struct shell_reader *reader)
{
	struct shell_node *pipeline = make(reader, SHELL_PIPELINE);
	while (take_word(reader, "!") || take_word(reader, "time"))
		while (take_word(reader, "-p") || take_word(reader, "--"))
			;
	for (;;) {
		struct shell_node *stage = read_command(reader);
		if (!stage)
			return NULL;
		append(&pipeline->children, stage);
		skip_blank(reader);
		if (reader_looks_at(reader, "||") || !reader_take(reader, "|"))
			return pipeline;
		reader_take(reader, "&");
		if (skip_lines(reader))
			return NULL;
	}
}

/* Reads pipelines up to a reserved word, a closing bracket or the end. */
static struct shell_node *read_items(struct shell_reader *reader)
{
	struct shell_node *list = make(reader, SHELL_LIST);
	for (;;) {
		if (skip_lines(reader))
			return NULL;
		if (at_end(reader))
			return list;
		struct shell_node *item = read_pipeline(reader);
		if (!item)
			return NULL;
		append(&list->children, item);
		skip_blank(reader);
		bool ends = reader_looks_at(reader, ";;") || reader_looks_at(reader, ";&");
		if (reader_take(reader, "&&") || reader_take(reader, "||")) {
			if (skip_lines(reader) || at_end(reader)) {
				reader_fail(reader, "a command is missing");
				return NULL;
			}
		} else if (!ends && reader_take(reader, "&")) {
			item->background = true;
		} else if (!ends && !reader_take(reader, ";") && !reader_looks_at(reader, "\n") &&
			   !at_end(reader)) {
			reader_fail(reader, "an unexpected character");
			return NULL;
		}
	}
}

struct shell_node *reader_list(struct shell_reader *reader, const char *close)
{
	if (++reader->depth > SHELL_DEPTH_MAX || reader->words > SHELL_WORDS_MAX) {
		reader_fail(reader, "nesting too deep");
		return NULL;
	}
	struct shell_redirect *outer = reader->awaiting;
	reader->awaiting = NULL;
	struct shell_node *outer_subs = reader->subs, *list;
	reader->subs = NULL;
	list = read_items(reader);
	bool closed = list && (*close ? reader_take(reader, close) : reader->at >= reader->len);
	if (list && (!closed || reader->awaiting)) {
		reader_fail(reader, "an unexpected end");
		return NULL;
	}
	if (list)
		append(&list->subs, reader->subs);
	reader->subs = outer_subs;
	reader->awaiting = outer;
	reader->depth--;
	return list;
}

static int add_body(struct shell_reader *reader, struct shell_node *node)
{
	struct shell_node *body = read_items(reader);
	if (!body)
		return -1;
	append(&node->children, body);
	return 0;
}

/* Notes that the word may be the value of a variable: NAME=WORD. */
static void note_value(struct shell_reader *reader, const char *name, const struct shell_word *word)
{
	size_t len = strcspn(name, "=+["), bytes = strlen(word->text) + len + 2;
	struct shell_node *node = make(reader, SHELL_SIMPLE);
	struct shell_word *assign = arena_alloc(reader->arena, sizeof(*assign));
	char *text = arena_alloc(reader->arena, bytes);
	snprintf(text, bytes, "%.*s=%s", (int)len, name, word->text);
	*assign = (struct shell_word){.text = text, .computed = word->computed, .assigns = true};
	node->assigns = assign;
	node->next = reader->subs;
	reader->subs = node;
}

static int read_do(struct shell_reader *reader, struct shell_node *node)
{
	skip_blank(reader);
	reader_take(reader, ";");
	return expect(reader, "do") || add_body(reader, node) ? -1 : expect(reader, "done");
}

/* Reads for ((...)), for NAME in WORDS and select. */
static int read_for(struct shell_reader *reader, struct shell_node *node)
{
	struct shell_word *name, *word;
	skip_blank(reader);
	if (reader_take(reader, "((")) {
		const char *begin = reader->text + reader->at, *end = strstr(begin, "))");
		const char *odd = strpbrk(begin, "$`'\"\\");
		if (!end || (odd && odd < end))
			return reader_fail(reader, "a for loop that is not understood");
		reader_note(reader, SHELL_ARITHMETIC, begin, (size_t)(end - begin));
		reader->at += (size_t)(end - begin) + 2;
		return read_do(reader, node);
	}
	if (reader_word(reader, &name) || !name || skip_lines(reader))
		return -1;
	bool listed = take_word(reader, "in");
	note_value(reader, name->text, &(struct shell_word){.text = "", .computed = !listed});
	if (!listed)
		return read_do(reader, node);
	for (skip_blank(reader); !reader_looks_at(reader, ";") && !reader_looks_at(reader, "\n");
		skip_blank(reader)) {
		if (reader_word(reader, &word))
			return -1;
		for (; word; word = word->next)
			note_value(reader, name->text, word);
	}
	return read_do(reader, node);
}

static int read_case(struct shell_reader *reader, struct shell_node *node)
{
	struct shell_word *word;
	skip_blank(reader);
	if (reader_word(reader, &word) || expect(reader, "in"))
		return -1;
	for (;;) {
		if (skip_lines(reader))
			return -1;
		if (take_word(reader, "esac"))
			return 0;
		reader_take(reader, "(");
		do {
			skip_blank(reader);
			if (reader_word(reader, &word))
				return -1;
			skip_blank(reader);
		} while (reader_take(reader, "|"));
		if (expect(reader, ")") || add_body(reader, node))
			return -1;
		if (!reader_take(reader, ";;&") && !reader_take(reader, ";;") &&
			!reader_take(reader, ";&"))
			return expect(reader, "esac");
	}
}

/* Reads [[ ... ]]: words and operators, of which a word may be evaluated. */
static int read_test(struct shell_reader *reader)
{
	struct shell_word *word;
	for (;;) {
		if (skip_lines(reader))
			return -1;
		if (take_word(reader, "]]"))
			return 0;
		if (reader->at >= reader->len)
			return reader_fail(reader, "an unclosed [[");
		bool process = reader_looks_at(reader, "<(") || reader_looks_at(reader, ">(");
		if (strchr("<>()&|;", reader->text[reader->at]) && !process) {
			reader->at++;
			continue;
		}
		if (reader_word(reader, &word))
			return -1;
		for (; word; word = word->next)
			reader_note(reader, SHELL_ARITHMETIC, word->text, strlen(word->text));
	}
}

static int read_if(struct shell_reader *reader, struct shell_node *node)
{
	do {
		if (add_body(reader, node) || expect(reader, "then") || add_body(reader, node))
			return -1;
	} while (take_word(reader, "elif"));
	if (take_word(reader, "else") && add_body(reader, node))
		return -1;
	return expect(reader, "fi");
}

/* Reads a compound command into `node`. Returns 1, or 0 if there is none, or -1. */
static int read_compound(struct shell_reader *reader, struct shell_node *node)
{
	node->kind = SHELL_LIST;
	if (reader_take(reader, "((")) {
		int arithmetic = reader_arithmetic(reader, "))");
		if (arithmetic)
			return arithmetic;
		reader->at -= 2;
	}
	if (reader_take(reader, "("))
		return add_body(reader, node) || expect(reader, ")") ? -1 : 1;
	if (take_word(reader, "{"))
		return add_body(reader, node) || expect(reader, "}") ? -1 : 1;
	if (take_word(reader, "[["))
		return read_test(reader) ? -1 : 1;
	if (take_word(reader, "if"))
		return read_if(reader, node) ? -1 : 1;
	if (take_word(reader, "while") || take_word(reader, "until"))
		return add_body(reader, node) || read_do(reader, node) ? -1 : 1;
	if (take_word(reader, "for") || take_word(reader, "select"))
		return read_for(reader, node) ? -1 : 1;
	if (take_word(reader, "case"))
		return read_case(reader, node) ? -1 : 1;
	node->kind = SHELL_SIMPLE;
	return 0;
}

/* --- simple commands ----------------------------------------------------------------------- */

/* Reads NAME=(...) after its bracket. */
static int read_array(struct shell_reader *reader, const char *name)
{
	struct shell_word *word;
	for (;;) {
		if (skip_lines(reader))
			return -1;
		if (reader_take(reader, ")"))
			break;
		if (reader_word(reader, &word))
			return -1;
		for (; word; word = word->next)
			note_value(reader, name, word);
	}
	bool ends = reader->at == reader->len || reader_is_meta(reader->text[reader->at]);
	return ends ? 0 : reader_fail(reader, "a word that touches an array");
}

static int add_word(struct shell_reader *reader, struct shell_node *node)
{
	struct shell_word *word;
	if (reader_word(reader, &word))
		return -1;
	if (!word)
		return 0;
	append_words(!node->words && word->assigns ? &node->assigns : &node->words, word);
	size_t len = strlen(word->text);
	bool array = word->assigns && word->text[len - 1] == '=' && reader_take(reader, "(");
	return array ? read_array(reader, word->text) : 0;
}

static bool ends_command(const struct shell_reader *reader)
{
	return reader->at >= reader->len || strchr("\n;|)", reader->text[reader->at]) ||
	       (reader_looks_at(reader, "&") && !reader_looks_at(reader, "&>"));
}

static int read_tail(struct shell_reader *reader, struct shell_node *node)
{
	for (skip_blank(reader); !ends_command(reader); skip_blank(reader)) {
		if (reader_looks_at(reader, "("))
			return reader_fail(reader, "an unexpected bracket");
		if (at_redirect(reader) ? read_redirect(reader, node) : add_word(reader, node))
			return -1;
	}
	return 0;
}

static bool take_brackets(struct shell_reader *reader)
{
	size_t before = reader->at;
	skip_blank(reader);
	if (reader_take(reader, "(")) {
		skip_blank(reader);
		if (reader_take(reader, ")"))
			return true;
	}
	reader->at = before;
	return false;
}

static struct shell_node *read_function(struct shell_reader *reader, const char *name)
{
	struct shell_node *function = make(reader, SHELL_FUNCTION), *body;
	function->name = name;
	if (skip_lines(reader) || !(body = read_command(reader)))
		return NULL;
	append(&function->children, body);
	return function;
}

static struct shell_node *read_simple(struct shell_reader *reader, struct shell_node *node)
{
	struct shell_word *name;
	if (take_word(reader, "function")) {
		skip_blank(reader);
		if (reader_word(reader, &name) || !name)
			return NULL;
		take_brackets(reader);
		return read_function(reader, name->text);
	}
	if (take_word(reader, "coproc"))
		return read_command(reader);
	size_t begun = reader->at;
	if (!at_redirect(reader) && !ends_command(reader)) {
		if (add_word(reader, node))
			return NULL;
		if (node->words && !node->words->next && take_brackets(reader))
			return read_function(reader, node->words->text);
	}
	if (read_tail(reader, node))
		return NULL;
	if (reader->at == begun) {
		reader_fail(reader, "a command is missing");
		return NULL;
	}
	return node;
}

static struct shell_node *read_command(struct shell_reader *reader)
{
	struct shell_node *node = make(reader, SHELL_SIMPLE), *outer = reader->subs;
	reader->subs = NULL;
	if (++reader->depth > SHELL_DEPTH_MAX) {
		reader_fail(reader, "nesting too deep");
		return NULL;
	}
	skip_blank(reader);
	int compound = read_compound(reader, node);
	if (compound < 0 || (compound && read_tail(reader, node)))
		return NULL;
	if (compound && node->words) {
		reader_fail(reader, "words after a compound command");
		return NULL;
	}
	if (!compound && !(node = read_simple(reader, node)))
		return NULL;
	reader->depth--;
	append(&node->subs, reader->subs);
	reader->subs = outer;
	return node;
}

struct shell_node *shell_parse(const char *text, size_t len, struct arena *arena, struct err *e)
{
	struct shell_reader reader = {.text = text, .len = len, .arena = arena, .e = e};
	if (len > SHELL_CAP_BYTES || memchr(text, 0, len)) {
		err_set(e, "shell text: over %d bytes, or with a NUL", SHELL_CAP_BYTES);
		return NULL;
	}
	return reader_list(&reader, "");
}
