#include "base/num.h"
#include "machine/predicate_node.h"
#include <string.h>

struct parser {
	struct predicate_lexer *l;
	struct predicate_token token; /* the next one, not yet taken */
	int depth;
};

static struct node *parse_or(struct parser *parser);
static struct node *parse_sum(struct parser *parser);

static void advance(struct parser *parser)
{
	parser->token = predicate_token(parser->l);
}

static bool token_is(const struct parser *parser, enum token_kind kind, const char *text)
{
	const struct predicate_token *t = &parser->token;
	return t->kind == kind && t->len == strlen(text) &&
	       memcmp(parser->l->text + t->at, text, t->len) == 0;
}

static bool word(const struct parser *parser, const char *text)
{
	return token_is(parser, TOKEN_NAME, text);
}

static bool sign(const struct parser *parser, const char *text)
{
	return token_is(parser, TOKEN_SIGN, text);
}

static struct node *new_node(struct parser *parser, enum node_kind kind, size_t at)
{
	struct node *n = arena_alloc(parser->l->scope->arena, sizeof(*n));
	n->kind = kind;
	n->at = (uint32_t)at;
	return n;
}

static struct node *close_node(struct node *node, size_t end)
{
	node->len = (uint32_t)(end - node->at);
	return node;
}

static size_t end_of(const struct node *node)
{
	return (size_t)node->at + node->len;
}

/* Habits from other languages, and the advice for each. */
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

static void arithmetic(struct parser *parser)
{
	struct finding *f = predicate_fail(parser->l, RULE_PREDICATE_ARITHMETIC, parser->token.at,
		parser->token.len, "conditions have no arithmetic, so `%.*s` is refused",
		(int)parser->token.len, parser->l->text + parser->token.at);
	site_help(parser->l->site, f, "compute the value in a tool and capture the result");
}

/* Reports that the current token does not fit. `wanted`: the expected one. */
static struct node *unexpected(struct parser *parser, const char *wanted)
{
	const struct predicate_token *t = &parser->token;
	const char *text = parser->l->text + t->at;
	int shown = t->len > 60 ? 60 : (int)t->len;
	if (t->kind == TOKEN_END) {
		predicate_fail(parser->l, RULE_PREDICATE_SYNTAX, t->at, 0,
			"the condition ends where %s should follow", wanted);
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_LEN(foreign); i++) {
		if (strlen(foreign[i].text) != t->len || memcmp(foreign[i].text, text, t->len) != 0)
			continue;
		if (foreign[i].rule == RULE_PREDICATE_ARITHMETIC) {
			arithmetic(parser);
			return NULL;
		}
		struct finding *f = predicate_fail(parser->l, foreign[i].rule, t->at, t->len,
			"`%.*s` is not an operator of conditions", shown, text);
		site_help(parser->l->site, f, "%s", foreign[i].help);
		return NULL;
	}
	predicate_fail(parser->l, RULE_PREDICATE_SYNTAX, t->at, t->len, "expected %s, found %.*s",
		wanted, shown, text);
	return NULL;
}

static int deeper(struct parser *parser)
{
	if (++parser->depth <= PREDICATE_DEPTH_MAX)
		return 0;
	struct finding *f =
		predicate_fail(parser->l, RULE_PREDICATE_LIMIT, parser->token.at, parser->token.len,
			"the condition nests deeper than %d levels", PREDICATE_DEPTH_MAX);
	site_help(parser->l->site, f, "split it into several clauses or branch states");
	return -1;
}

static int expect(struct parser *parser, const char *text)
{
	if (!sign(parser, text)) {
		char wanted[] = "`?`";
		wanted[1] = text[0];
		unexpected(parser, wanted);
		return -1;
	}
	advance(parser);
	return 0;
}

/* Reads the number token, with or without a minus in front of it. */
static int read_number(struct parser *parser, bool negative, struct value *out)
{
	char text[64];
	size_t len = parser->token.len;
	const char *digits = parser->l->text + parser->token.at;
	bool based = len > 1 && (digits[1] == 'x' || digits[1] == 'o');
	bool whole = based || (!memchr(digits, '.', len) && !memchr(digits, 'e', len) &&
				      !memchr(digits, 'E', len));
	if (len > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') {
		predicate_fail(parser->l, RULE_PREDICATE_SYNTAX, parser->token.at, len,
			"numbers have no leading zeros");
		return -1;
	}
	text[0] = '-';
	if (len < sizeof(text))
		memcpy(text + 1, digits, len);
	const char *from = text + !negative;
	size_t from_len = len + negative;
	out->kind = whole ? VALUE_INT : VALUE_FLOAT;
	int bad = based                 ? num_based_int(digits, len, negative, &out->integer)
		  : len >= sizeof(text) ? -1
		  : whole               ? num_int(from, from_len, &out->integer)
					: num_float(from, from_len, &out->number);
	if (bad)
		predicate_fail(parser->l, RULE_PREDICATE_LIMIT, parser->token.at, len, "%s",
			whole ? "this integer does not fit into 64 bits"
			      : "this float is too large or too long");
	return bad;
}

static struct node *number_node(struct parser *parser, size_t at, bool negative)
{
	struct node *n = new_node(parser, NODE_LITERAL, at);
	if (read_number(parser, negative, &n->value))
		return NULL;
	close_node(n, parser->token.at + parser->token.len);
	advance(parser);
	return n;
}

/* Takes the constants true, false and null in both spellings. */
static bool constant_word(const struct parser *parser, struct value *out)
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
		if (word(parser, table[i].text)) {
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

/* Reads the items after the first; the closing bracket is `closing`. */
static struct node *parse_items(struct parser *parser, struct node *list, const char *closing)
{
	while (sign(parser, ",")) {
		advance(parser);
		if (sign(parser, closing))
			break;
		struct node *item = parse_sum(parser);
		if (!item)
			return NULL;
		append(list, item);
	}
	for (const struct node *n = list->first; n; n = n->next)
		if (n->kind != NODE_LITERAL) {
			predicate_fail(parser->l, RULE_PREDICATE_SYNTAX, n->at, n->len,
				"a list in a condition holds literals only");
			return NULL;
		}
	size_t end = parser->token.at + parser->token.len;
	if (expect(parser, closing))
		return NULL;
	return close_node(finish(list), end);
}

static struct node *parse_list(struct parser *parser)
{
	struct node *list = new_node(parser, NODE_LIST, parser->token.at);
	advance(parser);
	size_t end = parser->token.at + parser->token.len;
	if (sign(parser, "]")) {
		advance(parser);
		return close_node(list, end);
	}
	struct node *item = parse_sum(parser);
	if (!item)
		return NULL;
	append(list, item);
	return parse_items(parser, list, "]");
}

static struct node *parse_brackets(struct parser *parser)
{
	size_t at = parser->token.at;
	advance(parser);
	struct node *inner = parse_or(parser);
	if (!inner)
		return NULL;
	if (sign(parser, ",")) {
		struct node *list = new_node(parser, NODE_LIST, at);
		append(list, inner);
		return parse_items(parser, list, ")");
	}
	return expect(parser, ")") ? NULL : inner;
}

static struct node *call_refused(struct parser *parser, const struct predicate_token *name)
{
	struct finding *f = predicate_fail(parser->l, RULE_PREDICATE_CALL, name->at, name->len,
		"`%.*s()` cannot be called; conditions know only len() and has()",
		(int)(name->len > 60 ? 60 : name->len), parser->l->text + name->at);
	site_help(parser->l->site, f, "compute the value in a tool and capture the result");
	return NULL;
}

/* Helps with an unknown lone name that resembles no variable: it was most likely meant as a text,
 * unless it is a word of the language in capitals. */
static void help_unquoted(struct parser *parser, const struct predicate_token *name)
{
	struct findings *all = parser->l->site->findings;
	struct finding *f = all->count ? &all->items[all->count - 1] : NULL;
	if (!f || f->rule != RULE_UNKNOWN_VARIABLE || f->help || name->len >= 60)
		return;
	static const char *const words[] = {"not", "true", "false", "null"};
	const char *text = parser->l->text + name->at;
	for (size_t i = 0; i < ARRAY_LEN(words) && !f->help; i++)
		if (strlen(words[i]) == name->len && !strncasecmp(text, words[i], name->len))
			site_help(parser->l->site, f, "write `%s`", words[i]);
	if (!f->help)
		site_help(
			parser->l->site, f, "a text needs quotes: \"%.*s\"", (int)name->len, text);
}

static struct node *ref_node(
	struct parser *parser, const struct predicate_token *name, enum node_kind kind)
{
	struct node *n = new_node(parser, kind, name->at);
	if (!parser->l->failed)
		n->ref = ref_compile(parser->l->scope, parser->l->site, name->at, name->len);
	if (!parser->l->failed && !n->ref)
		help_unquoted(parser, name);
	parser->l->failed |= !n->ref;
	return n->ref ? close_node(n, name->at + name->len) : NULL;
}

static struct node *parse_has(struct parser *parser, size_t at)
{
	advance(parser);
	struct predicate_token name = parser->token;
	if (name.kind != TOKEN_NAME)
		return unexpected(parser, "a name such as verdict.label");
	advance(parser);
	struct node *n = sign(parser, ")") ? ref_node(parser, &name, NODE_HAS) : NULL;
	if (!n)
		return parser->l->failed ? NULL
					 : unexpected(parser, "`)` after the one name of has()");
	n->at = (uint32_t)at;
	close_node(n, parser->token.at + parser->token.len);
	advance(parser);
	return n;
}

static struct node *parse_len(struct parser *parser, size_t at)
{
	advance(parser);
	struct node *n = new_node(parser, NODE_LEN, at), *inner = parse_or(parser);
	if (!inner)
		return NULL;
	append(n, inner);
	size_t end = parser->token.at + parser->token.len;
	if (expect(parser, ")"))
		return NULL;
	return close_node(finish(n), end);
}

static struct node *parse_name(struct parser *parser)
{
	static const char *const words[] = {"and", "or", "not", "in"};
	struct predicate_token name = parser->token;
	struct value constant = {0};
	bool is_constant = constant_word(parser, &constant);
	bool is_len = word(parser, "len"), is_has = word(parser, "has");
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (word(parser, words[i]))
			return unexpected(parser, "a value");
	advance(parser);
	if (is_constant) {
		struct node *n = new_node(parser, NODE_LITERAL, name.at);
		n->value = constant;
		return close_node(n, name.at + name.len);
	}
	if (sign(parser, "("))
		return is_len   ? parse_len(parser, name.at)
		       : is_has ? parse_has(parser, name.at)
				: call_refused(parser, &name);
	if (is_len || is_has)
		return unexpected(parser, is_len ? "`(` after len" : "`(` after has");
	return ref_node(parser, &name, NODE_REF);
}

static struct node *parse_atom(struct parser *parser)
{
	if (parser->token.kind == TOKEN_NAME)
		return parse_name(parser);
	if (parser->token.kind == TOKEN_NUMBER)
		return number_node(parser, parser->token.at, false);
	if (parser->token.kind == TOKEN_STRING) {
		struct node *n = new_node(parser, NODE_LITERAL, parser->token.at);
		n->value = parser->token.value;
		close_node(n, parser->token.at + parser->token.len);
		advance(parser);
		return n;
	}
	if (sign(parser, "["))
		return parse_list(parser);
	if (sign(parser, "("))
		return parse_brackets(parser);
	return unexpected(parser, "a value");
}

static struct node *parse_signed(struct parser *parser)
{
	size_t at = parser->token.at;
	bool negative = sign(parser, "-");
	advance(parser);
	if (parser->token.kind == TOKEN_NUMBER)
		return number_node(parser, at, negative);
	struct node *n = new_node(parser, negative ? NODE_NEGATE : NODE_PLUS, at),
		    *inner = parse_sum(parser);
	if (!inner)
		return NULL;
	append(n, inner);
	return finish(n);
}

static struct node *parse_sum(struct parser *parser)
{
	bool is_signed = sign(parser, "-") || sign(parser, "+");
	bool holds = is_signed || sign(parser, "(") || sign(parser, "[") || word(parser, "len");
	if (holds && deeper(parser))
		return NULL;
	struct node *n = is_signed ? parse_signed(parser) : parse_atom(parser);
	parser->depth -= holds;
	if (!n || !sign(parser, "["))
		return n;
	struct finding *f = predicate_fail(parser->l, RULE_PREDICATE_INDEX, parser->token.at, 1,
		"conditions have no indexing");
	site_help(
		parser->l->site, f, "let a tool put the item into a variable or field of its own");
	return NULL;
}

/* Takes the comparison operator at hand; false: there is none. */
static bool take_compare(struct parser *parser, enum compare_op *op)
{
	static const char *const signs[] = {[OP_EQ] = "==",
		[OP_NE] = "!=",
		[OP_LT] = "<",
		[OP_LE] = "<=",
		[OP_GT] = ">",
		[OP_GE] = ">="};
	for (enum compare_op i = OP_EQ; i <= OP_GE; i++)
		if (sign(parser, signs[i])) {
			*op = i;
			advance(parser);
			return true;
		}
	*op = word(parser, "not") ? OP_NOT_IN : OP_IN;
	if (*op == OP_NOT_IN)
		advance(parser);
	else if (!word(parser, "in"))
		return false;
	if (word(parser, "in"))
		advance(parser);
	else
		unexpected(parser, "`in` after `not`");
	return true;
}

static struct node *parse_compare(struct parser *parser)
{
	struct node *first = parse_sum(parser), *chain = NULL;
	enum compare_op op;
	while (first && !parser->l->failed && take_compare(parser, &op)) {
		if (!chain) {
			chain = new_node(parser, NODE_COMPARE, first->at);
			append(chain, first);
		}
		struct node *operand = parser->l->failed ? NULL : parse_sum(parser);
		if (!operand)
			return NULL;
		operand->op = op;
		append(chain, operand);
	}
	return chain ? finish(chain) : first;
}

static struct node *parse_not(struct parser *parser)
{
	if (!word(parser, "not"))
		return parse_compare(parser);
	if (deeper(parser))
		return NULL;
	struct node *n = new_node(parser, NODE_NOT, parser->token.at);
	advance(parser);
	struct node *inner = parse_not(parser);
	parser->depth--;
	if (!inner)
		return NULL;
	append(n, inner);
	return finish(n);
}

/* Reads one `below`, or several joined by `joint`. */
static struct node *parse_joined(struct parser *parser, const char *joint, enum node_kind kind,
	struct node *(*below)(struct parser *))
{
	struct node *first = below(parser), *joined = NULL;
	while (first && word(parser, joint)) {
		if (!joined) {
			joined = new_node(parser, kind, first->at);
			append(joined, first);
		}
		advance(parser);
		struct node *operand = below(parser);
		if (!operand)
			return NULL;
		append(joined, operand);
	}
	return joined ? finish(joined) : first;
}

static struct node *parse_and(struct parser *parser)
{
	return parse_joined(parser, "and", NODE_AND, parse_not);
}

static struct node *parse_or(struct parser *parser)
{
	return parse_joined(parser, "or", NODE_OR, parse_and);
}

struct node *predicate_parse(struct predicate_lexer *lexer)
{
	struct parser p = {.l = lexer};
	if (lexer->len > PREDICATE_BYTES_MAX) {
		predicate_fail(lexer, RULE_PREDICATE_LIMIT, 0, 0,
			"the condition has %zu bytes, more than the limit of %d", lexer->len,
			PREDICATE_BYTES_MAX);
		return NULL;
	}
	advance(&p);
	struct node *root = parse_or(&p);
	if (!root || lexer->failed)
		return NULL;
	return p.token.kind == TOKEN_END ? root : unexpected(&p, "an operator or the end");
}
