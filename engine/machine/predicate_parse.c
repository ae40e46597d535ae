#include "base/num.h"
#include "machine/predicate_node.h"
#include <string.h>

struct parser {
	struct predicate_lexer *l;
	struct token token; /* the next one, not yet taken */
	int depth;
};

static struct node *parse_or(struct parser *p);
static struct node *parse_sum(struct parser *p);

static void advance(struct parser *p)
{
	p->token = predicate_token(p->l);
}

static bool token_is(const struct parser *p, enum token_kind kind, const char *text)
{
	const struct token *t = &p->token;
	return t->kind == kind && t->len == strlen(text) &&
	       memcmp(p->l->text + t->at, text, t->len) == 0;
}

static bool word(const struct parser *p, const char *text)
{
	return token_is(p, TOKEN_NAME, text);
}

static bool sign(const struct parser *p, const char *text)
{
	return token_is(p, TOKEN_SIGN, text);
}

static struct node *new_node(struct parser *p, enum node_kind kind, size_t at)
{
	struct node *n = arena_alloc(p->l->scope->arena, sizeof(*n));
	n->kind = kind;
	n->at = (uint32_t)at;
	return n;
}

static struct node *close_node(struct node *n, size_t end)
{
	n->len = (uint32_t)(end - n->at);
	return n;
}

static size_t end_of(const struct node *n)
{
	return (size_t)n->at + n->len;
}

/* What authors of other languages write, and what to write here. */
static const struct {
	const char *text;
	enum rule rule;
	const char *help;
} foreign[] = {
	{"+", RULE_PREDICATE_ARITHMETIC, NULL},
	{"-", RULE_PREDICATE_ARITHMETIC, NULL},
	{"*", RULE_PREDICATE_ARITHMETIC, NULL},
	{"/", RULE_PREDICATE_ARITHMETIC, NULL},
	{"%", RULE_PREDICATE_ARITHMETIC, NULL},
	{"**", RULE_PREDICATE_ARITHMETIC, NULL},
	{"//", RULE_PREDICATE_ARITHMETIC, NULL},
	{"&", RULE_PREDICATE_ARITHMETIC, NULL},
	{"|", RULE_PREDICATE_ARITHMETIC, NULL},
	{"^", RULE_PREDICATE_ARITHMETIC, NULL},
	{"~", RULE_PREDICATE_ARITHMETIC, NULL},
	{"<<", RULE_PREDICATE_ARITHMETIC, NULL},
	{">>", RULE_PREDICATE_ARITHMETIC, NULL},
	{"@", RULE_PREDICATE_ARITHMETIC, NULL},
	{"=", RULE_PREDICATE_ASSIGNMENT, "compare with =="},
	{":=", RULE_PREDICATE_ASSIGNMENT, "compare with =="},
	{"&&", RULE_PREDICATE_SYNTAX, "write `and`"},
	{"||", RULE_PREDICATE_SYNTAX, "write `or`"},
	{"AND", RULE_PREDICATE_SYNTAX, "write `and`"},
	{"OR", RULE_PREDICATE_SYNTAX, "write `or`"},
	{"!", RULE_PREDICATE_SYNTAX, "write `not`"},
	{"===", RULE_PREDICATE_SYNTAX, "write =="},
	{"!==", RULE_PREDICATE_SYNTAX, "write !="},
	{"<>", RULE_PREDICATE_SYNTAX, "write !="},
	{"=>", RULE_PREDICATE_SYNTAX, "write >="},
	{"=<", RULE_PREDICATE_SYNTAX, "write <="},
	{"?", RULE_PREDICATE_SYNTAX, "write one clause for each case"},
	{"{{", RULE_PREDICATE_SYNTAX, "in a condition a name is written bare, without braces"},
	{"$", RULE_PREDICATE_SYNTAX, "in a condition a name is written bare, without `$`"},
	{"is", RULE_PREDICATE_SYNTAX, "write ==, or has(name.field) to ask whether a field is set"},
	{"if", RULE_PREDICATE_SYNTAX, "write one clause for each case"},
	{"contains", RULE_PREDICATE_SYNTAX, "write `item in list`"},
	{"matches", RULE_PREDICATE_SYNTAX, "there are no patterns; let a tool match"},
	{"=~", RULE_PREDICATE_SYNTAX, "there are no patterns; let a tool match"},
};

static void arithmetic(struct parser *p)
{
	struct finding *f = predicate_fail(p->l, RULE_PREDICATE_ARITHMETIC, p->token.at,
		p->token.len, "conditions have no arithmetic, so `%.*s` is refused",
		(int)p->token.len, p->l->text + p->token.at);
	site_help(p->l->site, f, "compute the value in a tool and capture the result");
}

/* The token at hand does not fit. `wanted`: what would. */
static struct node *unexpected(struct parser *p, const char *wanted)
{
	const struct token *t = &p->token;
	const char *text = p->l->text + t->at;
	int shown = t->len > 60 ? 60 : (int)t->len;
	if (t->kind == TOKEN_END) {
		predicate_fail(p->l, RULE_PREDICATE_SYNTAX, t->at, 0,
			"the condition ends where %s should follow", wanted);
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_LEN(foreign); i++) {
		if (strlen(foreign[i].text) != t->len || memcmp(foreign[i].text, text, t->len) != 0)
			continue;
		if (foreign[i].rule == RULE_PREDICATE_ARITHMETIC) {
			arithmetic(p);
			return NULL;
		}
		struct finding *f = predicate_fail(p->l, foreign[i].rule, t->at, t->len,
			"`%.*s` is not an operator of conditions", shown, text);
		site_help(p->l->site, f, "%s", foreign[i].help);
		return NULL;
	}
	predicate_fail(p->l, RULE_PREDICATE_SYNTAX, t->at, t->len, "expected %s, found %.*s",
		wanted, shown, text);
	return NULL;
}

static int deeper(struct parser *p)
{
	if (++p->depth <= PREDICATE_DEPTH_MAX)
		return 0;
	struct finding *f = predicate_fail(p->l, RULE_PREDICATE_LIMIT, p->token.at, p->token.len,
		"the condition nests deeper than %d levels", PREDICATE_DEPTH_MAX);
	site_help(p->l->site, f, "split it into several clauses or branch states");
	return -1;
}

static int expect(struct parser *p, const char *text)
{
	if (!sign(p, text)) {
		char wanted[] = "`?`";
		wanted[1] = text[0];
		unexpected(p, wanted);
		return -1;
	}
	advance(p);
	return 0;
}

/* The number token, with a minus in front of it or not. */
static int read_number(struct parser *p, bool negative, struct value *out)
{
	char text[64];
	size_t len = p->token.len;
	const char *digits = p->l->text + p->token.at;
	bool whole =
		!memchr(digits, '.', len) && !memchr(digits, 'e', len) && !memchr(digits, 'E', len);
	if (len > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') {
		predicate_fail(p->l, RULE_PREDICATE_SYNTAX, p->token.at, len,
			"numbers have no leading zeros");
		return -1;
	}
	text[0] = '-';
	if (len < sizeof(text))
		memcpy(text + 1, digits, len);
	const char *from = text + !negative;
	size_t from_len = len + negative;
	out->kind = whole ? VALUE_INT : VALUE_FLOAT;
	int bad = len >= sizeof(text) ? -1
		  : whole             ? num_int(from, from_len, &out->integer)
				      : num_float(from, from_len, &out->number);
	if (bad)
		predicate_fail(p->l, RULE_PREDICATE_LIMIT, p->token.at, len, "%s",
			whole ? "this integer does not fit into 64 bits"
			      : "this float is too large or too long");
	return bad;
}

static struct node *number_node(struct parser *p, size_t at, bool negative)
{
	struct node *n = new_node(p, NODE_LITERAL, at);
	if (read_number(p, negative, &n->value))
		return NULL;
	close_node(n, p->token.at + p->token.len);
	advance(p);
	return n;
}

/* The constants true, false and null in both spellings. */
static bool constant_word(const struct parser *p, struct value *out)
{
	static const struct {
		const char *text;
		struct value value;
	} table[] = {
		{"true", {.kind = VALUE_BOOL, .boolean = true}},
		{"True", {.kind = VALUE_BOOL, .boolean = true}},
		{"false", {.kind = VALUE_BOOL, .boolean = false}},
		{"False", {.kind = VALUE_BOOL, .boolean = false}},
		{"null", {.kind = VALUE_NULL}},
		{"None", {.kind = VALUE_NULL}},
	};
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (word(p, table[i].text)) {
			*out = table[i].value;
			return true;
		}
	return false;
}

static void append(struct node *parent, struct node *child)
{
	struct node **end = &parent->first;
	/* `parent->next` is free while the parent is being built: it points at the last child. */
	if (parent->next)
		end = &parent->next->next;
	*end = child;
	parent->next = child;
	parent->count++;
}

static struct node *finish(struct node *parent)
{
	struct node *last = parent->next;
	parent->next = NULL;
	return close_node(parent, last ? end_of(last) : parent->at);
}

/* Items after the first; the closing bracket is `closing`. */
static struct node *parse_items(struct parser *p, struct node *list, const char *closing)
{
	while (sign(p, ",")) {
		advance(p);
		if (sign(p, closing))
			break;
		struct node *item = parse_sum(p);
		if (!item)
			return NULL;
		append(list, item);
	}
	for (const struct node *n = list->first; n; n = n->next)
		if (n->kind != NODE_LITERAL) {
			predicate_fail(p->l, RULE_PREDICATE_SYNTAX, n->at, n->len,
				"a list in a condition holds literals only");
			return NULL;
		}
	size_t end = p->token.at + p->token.len;
	if (expect(p, closing))
		return NULL;
	return close_node(finish(list), end);
}

static struct node *parse_list(struct parser *p)
{
	struct node *list = new_node(p, NODE_LIST, p->token.at);
	advance(p);
	size_t end = p->token.at + p->token.len;
	if (sign(p, "]")) {
		advance(p);
		return close_node(list, end);
	}
	struct node *item = parse_sum(p);
	if (!item)
		return NULL;
	append(list, item);
	return parse_items(p, list, "]");
}

static struct node *parse_brackets(struct parser *p)
{
	size_t at = p->token.at;
	advance(p);
	struct node *inner = parse_or(p);
	if (!inner)
		return NULL;
	if (sign(p, ",")) {
		struct node *list = new_node(p, NODE_LIST, at);
		append(list, inner);
		return parse_items(p, list, ")");
	}
	return expect(p, ")") ? NULL : inner;
}

static struct node *call_refused(struct parser *p, const struct token *name)
{
	struct finding *f = predicate_fail(p->l, RULE_PREDICATE_CALL, name->at, name->len,
		"`%.*s()` cannot be called; conditions know only len() and has()",
		(int)(name->len > 60 ? 60 : name->len), p->l->text + name->at);
	site_help(p->l->site, f, "compute the value in a tool and capture the result");
	return NULL;
}

/* A name that nothing is like, alone, was most likely meant as a text, unless it is a shouted word
 * of the language. */
static void help_unquoted(struct parser *p, const struct token *name)
{
	struct findings *all = p->l->site->findings;
	struct finding *f = all->count ? &all->items[all->count - 1] : NULL;
	if (!f || f->rule != RULE_UNKNOWN_VARIABLE || f->help || name->len >= 60)
		return;
	static const char *const words[] = {"not", "true", "false", "null"};
	const char *text = p->l->text + name->at;
	for (size_t i = 0; i < ARRAY_LEN(words) && !f->help; i++)
		if (strlen(words[i]) == name->len && !strncasecmp(text, words[i], name->len))
			site_help(p->l->site, f, "write `%s`", words[i]);
	if (!f->help)
		site_help(p->l->site, f, "a text needs quotes: \"%.*s\"", (int)name->len, text);
}

static struct node *ref_node(struct parser *p, const struct token *name, enum node_kind kind)
{
	struct node *n = new_node(p, kind, name->at);
	if (!p->l->failed)
		n->ref = ref_compile(p->l->scope, p->l->site, name->at, name->len);
	if (!p->l->failed && !n->ref)
		help_unquoted(p, name);
	p->l->failed |= !n->ref;
	return n->ref ? close_node(n, name->at + name->len) : NULL;
}

static struct node *parse_has(struct parser *p, size_t at)
{
	advance(p);
	struct token name = p->token;
	if (name.kind != TOKEN_NAME)
		return unexpected(p, "a name such as verdict.label");
	advance(p);
	struct node *n = sign(p, ")") ? ref_node(p, &name, NODE_HAS) : NULL;
	if (!n)
		return p->l->failed ? NULL : unexpected(p, "`)` behind the one name of has()");
	n->at = (uint32_t)at;
	close_node(n, p->token.at + p->token.len);
	advance(p);
	return n;
}

static struct node *parse_len(struct parser *p, size_t at)
{
	advance(p);
	struct node *n = new_node(p, NODE_LEN, at), *inner = parse_or(p);
	if (!inner)
		return NULL;
	append(n, inner);
	size_t end = p->token.at + p->token.len;
	if (expect(p, ")"))
		return NULL;
	return close_node(finish(n), end);
}

static struct node *parse_name(struct parser *p)
{
	static const char *const words[] = {"and", "or", "not", "in"};
	struct token name = p->token;
	struct value constant = {0};
	bool is_constant = constant_word(p, &constant);
	bool is_len = word(p, "len"), is_has = word(p, "has");
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (word(p, words[i]))
			return unexpected(p, "a value");
	advance(p);
	if (is_constant) {
		struct node *n = new_node(p, NODE_LITERAL, name.at);
		n->value = constant;
		return close_node(n, name.at + name.len);
	}
	if (sign(p, "("))
		return is_len   ? parse_len(p, name.at)
		       : is_has ? parse_has(p, name.at)
				: call_refused(p, &name);
	if (is_len || is_has)
		return unexpected(p, is_len ? "`(` behind len" : "`(` behind has");
	return ref_node(p, &name, NODE_REF);
}

static struct node *parse_atom(struct parser *p)
{
	if (p->token.kind == TOKEN_NAME)
		return parse_name(p);
	if (p->token.kind == TOKEN_NUMBER)
		return number_node(p, p->token.at, false);
	if (p->token.kind == TOKEN_STRING) {
		struct node *n = new_node(p, NODE_LITERAL, p->token.at);
		n->value = p->token.value;
		close_node(n, p->token.at + p->token.len);
		advance(p);
		return n;
	}
	if (sign(p, "["))
		return parse_list(p);
	if (sign(p, "("))
		return parse_brackets(p);
	return unexpected(p, "a value");
}

static struct node *parse_signed(struct parser *p)
{
	size_t at = p->token.at;
	bool negative = sign(p, "-");
	advance(p);
	if (p->token.kind == TOKEN_NUMBER)
		return number_node(p, at, negative);
	struct node *n = new_node(p, negative ? NODE_NEGATE : NODE_PLUS, at), *inner = parse_sum(p);
	if (!inner)
		return NULL;
	append(n, inner);
	return finish(n);
}

static struct node *parse_sum(struct parser *p)
{
	bool is_signed = sign(p, "-") || sign(p, "+");
	bool holds = is_signed || sign(p, "(") || sign(p, "[") || word(p, "len");
	if (holds && deeper(p))
		return NULL;
	struct node *n = is_signed ? parse_signed(p) : parse_atom(p);
	p->depth -= holds;
	if (!n || !sign(p, "["))
		return n;
	struct finding *f = predicate_fail(
		p->l, RULE_PREDICATE_INDEX, p->token.at, 1, "conditions have no indexing");
	site_help(p->l->site, f, "let a tool put the item into a variable or field of its own");
	return NULL;
}

/* The comparison operator at hand, taken; false: none. */
static bool take_compare(struct parser *p, enum compare_op *op)
{
	static const char *const signs[] = {[OP_EQ] = "==",
		[OP_NE] = "!=",
		[OP_LT] = "<",
		[OP_LE] = "<=",
		[OP_GT] = ">",
		[OP_GE] = ">="};
	for (enum compare_op i = OP_EQ; i <= OP_GE; i++)
		if (sign(p, signs[i])) {
			*op = i;
			advance(p);
			return true;
		}
	*op = word(p, "not") ? OP_NOT_IN : OP_IN;
	if (*op == OP_NOT_IN)
		advance(p);
	else if (!word(p, "in"))
		return false;
	if (word(p, "in"))
		advance(p);
	else
		unexpected(p, "`in` behind `not`");
	return true;
}

static struct node *parse_compare(struct parser *p)
{
	struct node *first = parse_sum(p), *chain = NULL;
	enum compare_op op;
	while (first && !p->l->failed && take_compare(p, &op)) {
		if (!chain) {
			chain = new_node(p, NODE_COMPARE, first->at);
			append(chain, first);
		}
		struct node *operand = p->l->failed ? NULL : parse_sum(p);
		if (!operand)
			return NULL;
		operand->op = op;
		append(chain, operand);
	}
	return chain ? finish(chain) : first;
}

static struct node *parse_not(struct parser *p)
{
	if (!word(p, "not"))
		return parse_compare(p);
	if (deeper(p))
		return NULL;
	struct node *n = new_node(p, NODE_NOT, p->token.at);
	advance(p);
	struct node *inner = parse_not(p);
	p->depth--;
	if (!inner)
		return NULL;
	append(n, inner);
	return finish(n);
}

/* One `below`, or several joined by `joint`. */
static struct node *parse_joined(struct parser *p, const char *joint, enum node_kind kind,
	struct node *(*below)(struct parser *))
{
	struct node *first = below(p), *joined = NULL;
	while (first && word(p, joint)) {
		if (!joined) {
			joined = new_node(p, kind, first->at);
			append(joined, first);
		}
		advance(p);
		struct node *operand = below(p);
		if (!operand)
			return NULL;
		append(joined, operand);
	}
	return joined ? finish(joined) : first;
}

static struct node *parse_and(struct parser *p)
{
	return parse_joined(p, "and", NODE_AND, parse_not);
}

static struct node *parse_or(struct parser *p)
{
	return parse_joined(p, "or", NODE_OR, parse_and);
}

struct node *predicate_parse(struct predicate_lexer *l)
{
	struct parser p = {.l = l};
	if (l->len > PREDICATE_BYTES_MAX) {
		predicate_fail(l, RULE_PREDICATE_LIMIT, 0, 0,
			"the condition has %zu bytes, more than the limit of %d", l->len,
			PREDICATE_BYTES_MAX);
		return NULL;
	}
	advance(&p);
	struct node *root = parse_or(&p);
	if (!root || l->failed)
		return NULL;
	return p.token.kind == TOKEN_END ? root : unexpected(&p, "an operator or the end");
}
