#include "agent/policy/shell_lex.h"

#include "base/utf8.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

int sh_fail(struct sh_reader *r, const char *what)
{
	return err_set(r->e, "shell text: %s at byte %zu", what, r->at);
}

bool sh_looking_at(const struct sh_reader *r, const char *text)
{
	size_t n = strlen(text);
	return r->len - r->at >= n && !memcmp(r->text + r->at, text, n);
}

bool sh_take(struct sh_reader *r, const char *token)
{
	if (!sh_looking_at(r, token))
		return false;
	r->at += strlen(token);
	return true;
}

bool sh_is_meta(char c)
{
	return c == '\0' || strchr(" \t\n;&|<>()", c);
}

bool sh_hides_delimiter(
	const struct sh_reader *r, const char *line, size_t len, const char *delimiter)
{
	size_t whole = strlen(delimiter), slashes = 0;
	for (const char *at = line - 1; at > r->text && at[-1] == '\\'; at--)
		slashes++;
	for (; len && *line == '\t'; len--)
		line++;
	return slashes % 2 && len <= whole && !memcmp(line, delimiter + whole - len, len);
}

size_t sh_joined(const struct sh_reader *r, size_t at)
{
	while (r->len - at > 1 && !memcmp(r->text + at, "\\\n", 2))
		at += 2;
	return at;
}

void sh_skip_blank(struct sh_reader *r)
{
	while (r->at < r->len) {
		char c = r->text[r->at];
		if (c == ' ' || c == '\t')
			r->at++;
		else if (sh_looking_at(r, "\\\n"))
			r->at += 2;
		else if (c == '#' && (r->at == 0 || sh_is_meta(r->text[r->at - 1])))
			while (r->at < r->len && r->text[r->at] != '\n')
				r->at++;
		else
			break;
	}
}

static void put(struct draft *d, char c, bool quoted)
{
	buf_addc(&d->text, c);
	buf_addc(&d->mask, quoted ? 'q' : 'u');
	d->any = true;
}

static void put_quoted(struct draft *d, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		put(d, text[i], true);
}

/* An expansion, as it is left in the text. */
static void put_expansion(struct draft *d, const char *text)
{
	buf_addc(&d->text, *text);
	buf_addc(&d->mask, 'x');
	put_quoted(d, text + 1, strlen(text + 1));
	d->any = d->dynamic = true;
}

/* What a bracket's partner is looked for in: double quotes, where a single one is a letter;
 * arithmetic, where << shifts and # is a base. */
enum { QUOTED = 1, ARITHMETIC = 2 };

/* Behind the body of the here-document whose "<<" is at `at`; a body begins at the next line.
 * `len`: it has no end. */
static size_t behind_document(const struct sh_reader *r, size_t at)
{
	const char *text = r->text;
	char name[64] = "";
	size_t n = 0, line = at + 2;
	bool strip = line < r->len && text[line] == '-', quoted = false;
	for (line += strip; line < r->len && strchr(" \t", text[line]); line++)
		;
	for (; line < r->len && !sh_is_meta(text[line]) && n < sizeof(name) - 1; line++)
		if (!strchr("'\"\\", text[line]))
			name[n++] = text[line];
		else
			quoted = true;
	const char *end = memchr(text + line, '\n', r->len - line);
	while (end) {
		const char *begin = end + 1;
		end = memchr(begin, '\n', r->len - (size_t)(begin - text));
		size_t length = (end ? (size_t)(end - text) : r->len) - (size_t)(begin - text);
		if (!quoted && sh_hides_delimiter(r, begin, length, name))
			return r->len;
		for (; strip && length && *begin == '\t'; length--)
			begin++;
		if (length == n && !memcmp(begin, name, n))
			return (size_t)(begin - text) + n;
	}
	return r->len;
}

/* The place of `close`, as a shell finds it: quotes, comments, here-documents and what is nested
 * are stepped over. `len`: there is none. */
static size_t find_end(const struct sh_reader *r, size_t at, char close, unsigned where, int depth)
{
	const char *text = r->text;
	size_t len = r->len;
	const char *end;
	bool command = close == ')' && !(where & ARITHMETIC);
	for (size_t i = at; i < len && depth < SHELL_DEPTH_MAX; i++) {
		char c = text[i], next = i + 1 < len ? text[i + 1] : '\0';
		bool ansi = c == '$' && next == '\'' && !(where & QUOTED) && !r->posix;
		if (c == close) {
			return i;
		} else if (c == '\\') {
			i++;
		} else if (c == '`' || ansi) {
			for (i += 1 + ansi; i < len && text[i] != (ansi ? '\'' : '`'); i++)
				i += text[i] == '\\';
		} else if (c == '$' && (next == '(' || next == '{')) {
			bool doubled = i + 2 < len && text[i + 2] == '(';
			i = next == '{' ? find_end(r, i + 2, '}', where & QUOTED, depth + 1)
					: find_end(r, i + 2, ')', doubled * ARITHMETIC, depth + 1);
		} else if (c == '"') {
			i = find_end(r, i + 1, '"', QUOTED, depth + 1);
		} else if (c == '\'' && (!(where & QUOTED) || close == '}')) {
			/* bash and dash disagree about one in "${x:-'}". */
			size_t stop = strcspn(text + i + 1, "'}\"$`\\");
			end = memchr(text + i + 1, c, len - i - 1);
			bool plain = !(where & QUOTED) || end == text + i + 1 + stop;
			i = end && plain ? (size_t)(end - text) : len;
		} else if (c == '(' && close == ')') {
			unsigned inner = where | (next == '(') * (unsigned)ARITHMETIC;
			i = find_end(r, i + 1, ')', inner, depth + 1);
		} else if (c == '#' && command && (i == at || sh_is_meta(text[i - 1]))) {
			end = memchr(text + i, '\n', len - i);
			i = end ? (size_t)(end - text) : len;
		} else if (c == '<' && next == '<' && command) {
			bool string = i + 2 < len && text[i + 2] == '<';
			i = (string ? i + 3 : behind_document(r, i)) - 1;
		}
	}
	return len;
}

static int find_close(struct sh_reader *r, char close, unsigned where, size_t *len)
{
	size_t end = find_end(r, r->at, close, where, 0);
	*len = end - r->at;
	return end < r->len ? 0 : sh_fail(r, "an unclosed bracket");
}

bool shell_in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

bool sh_is_arithmetic(const struct sh_reader *r, size_t *len)
{
	size_t end = find_end(r, r->at, ')', ARITHMETIC, 0);
	*len = end - r->at;
	return end + 1 < r->len && r->text[end + 1] == ')';
}

/* Adds a parsed substitution to the current command. */
static int add_sub(struct sh_reader *r, const char *text, size_t len)
{
	struct sh_reader inner = {.text = text,
		.len = len,
		.depth = r->depth + 1,
		.posix = r->posix,
		.words = r->words,
		.arena = r->arena,
		.e = r->e};
	if (inner.depth > SHELL_DEPTH_MAX)
		return sh_fail(r, "nesting too deep");
	struct sh_node *list = sh_read_list(&inner);
	r->words = inner.words;
	if (!list)
		return -1;
	list->next = r->subs;
	r->subs = list;
	return 0;
}

static int put_sub(struct sh_reader *r, struct draft *d, const char *text, size_t len)
{
	if (add_sub(r, text, len))
		return -1;
	put_expansion(d, sh_prints_numbers(r->subs) ? "$#" : "$()");
	return 0;
}

int sh_add_eval(struct sh_reader *r)
{
	static const char eval[] = "eval \"$x\"";
	return add_sub(r, eval, strlen(eval));
}

void sh_add_assign(struct sh_reader *r, const char *name, size_t len, const char *value)
{
	struct sh_node *n = arena_alloc(r->arena, sizeof(*n));
	size_t bytes = len + strlen(value) + 2;
	char *text = arena_alloc(r->arena, bytes);
	snprintf(text, bytes, "%.*s=%s", (int)len, name, value);
	n->assigns = arena_alloc(r->arena, sizeof(*n->assigns));
	n->assigns->text = text;
	n->next = r->subs;
	r->subs = n;
}

void sh_add_names(struct sh_reader *r, const char *text, size_t len)
{
	for (size_t at = 0, n; at < len; at += n + !n) {
		for (n = 0; at + n < len && shell_in_name(text[at + n]);)
			n++;
		size_t op = at + n;
		while (op < len && strchr(" \t+-*/%&|^<>", text[op]))
			op++;
		if (n && op + 1 < len && text[op] == '=' && text[op + 1] != '=')
			sh_add_assign(r, text + at, n, "$#");
	}
}

/* `...` with its own backslash rules. */
static int read_backticks(struct sh_reader *r, struct draft *d)
{
	size_t stop = r->at + 1, n = 0;
	while (stop < r->len && r->text[stop] != '`')
		stop += r->text[stop] == '\\' ? 2 : 1;
	if (stop >= r->len)
		return sh_fail(r, "an unclosed backtick");
	char *code = arena_alloc(r->arena, stop - r->at);
	for (r->at++; r->at < stop; r->at++) {
		if (r->text[r->at] == '\\' && strchr("`\\$", r->text[r->at + 1]))
			r->at++;
		code[n++] = r->text[r->at];
	}
	r->at++;
	return put_sub(r, d, code, n);
}

int sh_read_inside(struct sh_reader *r, const char *text, size_t len)
{
	struct sh_reader inner = *r;
	struct draft scratch = {.any = false};
	buf_init(&scratch.text, SHELL_CAP_BYTES);
	buf_init(&scratch.mask, SHELL_CAP_BYTES);
	inner.text = text;
	inner.len = len;
	int rc = 0;
	for (inner.at = 0; !rc && inner.at < len;) {
		size_t n;
		if (text[inner.at] == '\\') {
			inner.at += 2;
		} else if (sh_looking_at(&inner, "$\\\n")) {
			rc = sh_fail(&inner, "a line's end behind a $");
		} else if (text[inner.at] == '`') {
			rc = read_backticks(&inner, &scratch);
		} else if (sh_looking_at(&inner, "$(")) {
			inner.at += 2;
			rc = find_close(&inner, ')', sh_looking_at(&inner, "(") * ARITHMETIC, &n) ||
			     add_sub(&inner, text + inner.at, n);
			inner.at += rc ? 0 : n + 1;
		} else {
			inner.at++;
		}
	}
	buf_done(&scratch.text);
	buf_done(&scratch.mask);
	r->subs = inner.subs;
	r->words = inner.words;
	return rc ? -1 : 0;
}

/* Behind "$(": a command, or arithmetic when doubled. */
static int read_parenthesis(struct sh_reader *r, struct draft *d)
{
	size_t n;
	const char *text = r->text + r->at;
	if (sh_looking_at(r, "(")) {
		r->at++;
		if (sh_is_arithmetic(r, &n)) {
			put_expansion(d, "$#");
			r->at += n + 2;
			sh_add_names(r, text + 1, n);
			return sh_read_inside(r, text + 1, n);
		}
		r->at--;
	}
	if (find_close(r, ')', 0, &n))
		return -1;
	r->at += n + 1;
	return put_sub(r, d, text, n);
}

/* ${...}: kept as written; what it may run is looked at. */
static int read_braced(struct sh_reader *r, struct draft *d, bool quoted)
{
	size_t n;
	const char *text = r->text + r->at;
	if (find_close(r, '}', quoted * QUOTED, &n))
		return -1;
	bool prompt = n > 2 && !memcmp(text + n - 2, "@P", 2);
	bool indirect = n > 1 && *text == '!' && !strchr("@*", text[n - 1]) &&
			memcmp(text + n - 2, "@]", 2) && memcmp(text + n - 2, "*]", 2);
	bool flags = n && *text == '('; /* of zsh, where (e) evaluates */
	if ((prompt || indirect || flags) && sh_add_eval(r))
		return -1;
	size_t name = 0;
	while (name < n && shell_in_name(text[name]))
		name++;
	if (name && name < n && text[name + (text[name] == ':')] == '=')
		sh_add_assign(r, text, name, "$()");
	if (name < n && strchr(":[", text[name])) /* an offset, a subscript */
		sh_add_names(r, text + name, n - name);
	r->at += n + 1;
	bool splits = !quoted && n == 3 && !memcmp(text, "IFS", 3);
	d->split = d->split || splits;
	d->splits = d->splits || (n && *text == '@') || memmem(text, n, "[@]", 3);
	bool dynamic = d->dynamic || !splits;
	put_expansion(d, "${");
	d->dynamic = dynamic;
	put_quoted(d, text, n);
	put(d, '}', true);
	return sh_read_inside(r, text, n);
}

/* $[...], the older $((...)), where nothing in it needs a closer look. */
static int read_bracketed(struct sh_reader *r, struct draft *d)
{
	const char *text = r->text + r->at + 1;
	size_t left = r->len - r->at - 1, n = 0;
	while (n < left && !strchr("]\n#;|&()<>[\"'\\`{", text[n]))
		n++;
	if (n == left || text[n] != ']')
		return sh_fail(r, "a $[ that is not understood");
	sh_add_names(r, text, n);
	put_expansion(d, "$#");
	r->at += n + 2;
	return 0;
}

static int read_dollar(struct sh_reader *r, struct draft *d, bool quoted)
{
	r->at++;
	if (sh_looking_at(r, "\\\n"))
		return sh_fail(r, "a line's end behind a $");
	if (!r->posix && sh_looking_at(r, "["))
		return read_bracketed(r, d);
	if (sh_looking_at(r, "(")) {
		r->at++;
		return read_parenthesis(r, d);
	}
	if (sh_looking_at(r, "{")) {
		r->at++;
		return read_braced(r, d, quoted);
	}
	size_t n = 0;
	const char *name = r->text + r->at;
	size_t left = r->len - r->at;
	while (n < left && shell_in_name(name[n]))
		n++;
	if (!n && left && strchr("@*#?$!-", name[0]))
		n = 1;
	bool splits = !quoted && n == 3 && !memcmp(name, "IFS", 3);
	d->split = d->split || splits;
	d->splits = d->splits || (n && *name == '@');
	d->dollar = d->dollar || !n;
	if (n && !splits)
		put_expansion(d, "$");
	else
		put(d, '$', true);
	put_quoted(d, name, n);
	r->at += n;
	return 0;
}

/* Puts the number's digits into `*out`; 0: there is none. */
static size_t take_digits(struct sh_reader *r, size_t max, unsigned base, unsigned *out)
{
	static const char all[] = "0123456789abcdef";
	const char *digit;
	size_t n = 0;
	for (*out = 0; n < max && r->at < r->len; n++, r->at++) {
		digit = memchr(all, tolower((unsigned char)r->text[r->at]), base);
		if (!digit)
			break;
		*out = *out * base + (unsigned)(digit - all);
	}
	return n;
}

/* What stands behind a backslash in $'...', as bytes. Returns how many. */
static size_t read_escape(struct sh_reader *r, char out[4])
{
	static const char from[] = "abefnrtvE", to[] = "\a\b\033\f\n\r\t\v\033";
	char c = r->text[r->at++];
	const char *named = c ? strchr(from, c) : NULL;
	bool braced = c == 'x' && sh_looking_at(r, "{"), wide = c == 'u' || c == 'U';
	bool octal = !wide && c != 'x';
	size_t most = c == 'U' ? 8 : c == 'u' ? 4 : braced ? r->len : octal ? 3 : 2;
	unsigned code;
	out[0] = named ? to[named - from] : c;
	if (named || strchr("\\'\"?", c))
		return 1;
	r->at += braced;
	r->at -= octal;
	size_t digits = take_digits(r, most, octal ? 8 : 16, &code);
	r->at += braced && sh_looking_at(r, "}");
	if (!digits && !braced) { /* no escape: both stay */
		r->at += octal;
		out[0] = '\\';
		out[1] = c;
		return 2;
	}
	out[0] = (char)code;
	/* What is no character is some bytes all the same, and never the end of the text. */
	bool fits = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
	return wide && code ? utf8_put(fits ? code : 0xfffd, out) : 1;
}

/* $'...'; a NUL ends it early. */
static int read_ansi(struct sh_reader *r, struct draft *d)
{
	bool ended = false;
	while (r->at < r->len && r->text[r->at] != '\'') {
		if (sh_looking_at(r, "\\c"))
			return sh_fail(r, "a control character");
		char bytes[4] = {r->text[r->at++]};
		size_t n = bytes[0] == '\\' && r->at < r->len ? read_escape(r, bytes) : 1;
		ended = ended || !bytes[0];
		put_quoted(d, bytes, ended ? 0 : n);
	}
	d->any = true;
	if (r->at >= r->len)
		return sh_fail(r, "an unclosed quote");
	r->at++;
	return 0;
}

static int read_double(struct sh_reader *r, struct draft *d)
{
	d->any = true;
	while (r->at < r->len && r->text[r->at] != '"') {
		char c = r->text[r->at];
		if (c == '\\' && r->at + 1 < r->len) {
			char next = r->text[r->at + 1];
			if (!strchr("$`\"\\\n", next))
				put(d, c, true);
			if (next != '\n')
				put(d, next, true);
			r->at += 2;
		} else if (c == '$' ? read_dollar(r, d, true) : c == '`' && read_backticks(r, d)) {
			return -1;
		} else if (c != '$' && c != '`') {
			put(d, c, true);
			r->at++;
		}
	}
	if (r->at >= r->len)
		return sh_fail(r, "an unclosed quote");
	r->at++;
	return 0;
}

static int read_single(struct sh_reader *r, struct draft *d)
{
	const char *end = memchr(r->text + r->at, '\'', r->len - r->at);
	if (!end)
		return sh_fail(r, "an unclosed quote");
	d->any = true;
	put_quoted(d, r->text + r->at, (size_t)(end - r->text) - r->at);
	r->at = (size_t)(end - r->text) + 1;
	return 0;
}

/* <(...) and >(...) */
static int read_process(struct sh_reader *r, struct draft *d)
{
	size_t n;
	r->at += 2;
	const char *text = r->text + r->at;
	if (find_close(r, ')', 0, &n))
		return -1;
	r->at += n + 1;
	put_quoted(d, "/dev/fd/", 8);
	put_expansion(d, "$()");
	return add_sub(r, text, n);
}

static int read_piece(struct sh_reader *r, struct draft *d)
{
	char c = r->text[r->at];
	if (sh_looking_at(r, "<(") || sh_looking_at(r, ">("))
		return read_process(r, d);
	if (!r->posix && sh_looking_at(r, "$'"))
		return r->at += 2, read_ansi(r, d);
	if (sh_looking_at(r, "$\""))
		return r->at += 2, read_double(r, d);
	d->splits = d->splits || c == '$' || c == '`';
	if (c == '$')
		return read_dollar(r, d, false);
	if (c == '`')
		return read_backticks(r, d);
	r->at++;
	if (c == '"')
		return read_double(r, d);
	if (c == '\'')
		return read_single(r, d);
	if (c == '\\') {
		/* One at the very end stands for itself. */
		if (r->at == r->len)
			put(d, c, true);
		else if (r->text[r->at] != '\n')
			put(d, r->text[r->at], true);
		r->at += r->at < r->len;
		return 0;
	}
	d->globbed = d->globbed || strchr("*?[", c);
	put(d, c, false);
	return 0;
}

/* The word from `at` to where the reader is, as it is written, before anything in it is expanded:
 * nothing of the name is quoted. */
static bool is_assignment(const struct sh_reader *r, size_t at)
{
	at = sh_joined(r, at);
	bool named =
		at < r->at && !isdigit((unsigned char)r->text[at]) && shell_in_name(r->text[at]);
	while (at < r->at && shell_in_name(r->text[at]))
		at = sh_joined(r, at + 1);
	if (at < r->at && r->text[at] == '[')
		while (at < r->at && r->text[at] != '=')
			at++;
	if (at < r->at && r->text[at] == '+')
		at = sh_joined(r, at + 1);
	return named && at < r->at && r->text[at] == '=';
}

int sh_read_word(struct sh_reader *r, struct sh_word **out)
{
	struct draft d = {.any = false};
	buf_init(&d.text, SHELL_CAP_BYTES);
	buf_init(&d.mask, SHELL_CAP_BYTES);
	int rc = 0;
	size_t begun = r->at;
	while (!rc && r->at < r->len &&
		(!sh_is_meta(r->text[r->at]) || sh_looking_at(r, "<(") || sh_looking_at(r, ">(")))
		rc = read_piece(r, &d);
	*out = NULL;
	if (!rc && (d.text.failed || ++r->words > SHELL_WORDS_MAX))
		rc = sh_fail(r, "too many words");
	if (!rc && !d.any)
		rc = sh_fail(r, "a word is missing");
	d.assigns = is_assignment(r, begun);
	d.dynamic = d.dynamic || (d.split && d.dollar); /* bash does not split such a one */
	rc = rc ? rc : sh_expand(r, &d, out);
	buf_done(&d.text);
	buf_done(&d.mask);
	return rc || !*out ? -1 : 0;
}
