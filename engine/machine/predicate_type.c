#include "machine/predicate_node.h"

struct typer {
	const struct site *site;
	const char *text;
	bool failed;
};

static const char *const op_names[] = {[OP_EQ] = "==",
	[OP_NE] = "!=",
	[OP_LT] = "<",
	[OP_LE] = "<=",
	[OP_GT] = ">",
	[OP_GE] = ">=",
	[OP_IN] = "in",
	[OP_NOT_IN] = "not in"};

static const char *name_of(const struct node *node)
{
	if (node->null)
		return "null";
	return node->kind == NODE_LIST ? "a list" : type_name(node->type);
}

static bool is_number(const struct node *node)
{
	return !node->null && (node->type.kind == TYPE_INT || node->type.kind == TYPE_FLOAT);
}

static bool is_kind(const struct node *node, enum type_kind kind)
{
	return !node->null && node->type.kind == kind;
}

static bool kinds_equal(enum type_kind a, enum type_kind b)
{
	bool numbers = (a == TYPE_INT || a == TYPE_FLOAT) && (b == TYPE_INT || b == TYPE_FLOAT);
	return numbers || a == b;
}

static bool can_equal(const struct node *a, const struct node *b);

/* Reports whether a literal list can equal another value that is a list. */
static bool list_can_equal(const struct node *list, const struct node *other)
{
	struct node item = {.kind = NODE_REF, .typed = true, .type = type_item(other->type)};
	for (const struct node *n = list->first; n && other->kind != NODE_LIST; n = n->next)
		if (!can_equal(n, &item))
			return false;
	return true;
}

static bool can_equal(const struct node *a, const struct node *b)
{
	if (!a->typed || !b->typed || is_kind(a, TYPE_JSON) || is_kind(b, TYPE_JSON))
		return true;
	if (a->null || b->null)
		return a->null && b->null;
	if (!kinds_equal(a->type.kind, b->type.kind))
		return false;
	if (a->kind == NODE_LIST)
		return list_can_equal(a, b);
	if (b->kind == NODE_LIST)
		return list_can_equal(b, a);
	if (a->type.kind == TYPE_LIST)
		return kinds_equal(a->type.item, b->type.item) &&
		       (!type_lists_records(a->type) || a->type.record == b->type.record);
	return a->type.kind != TYPE_RECORD || a->type.record == b->type.record;
}

static struct finding *type_error(
	struct typer *typer, const struct node *from, const struct node *to, const char *what)
{
	typer->failed = true;
	return site_report_at(typer->site, RULE_PREDICATE_TYPE, from->at,
		(size_t)to->at + to->len - from->at, "%s", what);
}

static void never_equal(
	struct typer *typer, const struct node *a, const struct node *b, const char *op)
{
	char text[300];
	snprintf(text, sizeof(text), "`%s` compares %s with %s, which can never be equal", op,
		name_of(a), name_of(b));
	struct finding *f = type_error(typer, a, b, text);
	if (a->null || b->null)
		site_help(typer->site, f,
			"only json can be null; ask for a missing field with has()");
	else if (is_number(a) && b->kind == NODE_LITERAL && is_kind(b, TYPE_STR))
		site_help(typer->site, f, "a number has no quotes");
	else if (is_kind(a, TYPE_STR) && b->kind == NODE_LITERAL)
		site_help(typer->site, f, "put the literal in quotes");
	else if (is_kind(a, TYPE_BOOL) && b->kind == NODE_LITERAL)
		site_help(typer->site, f, "write the bare name, or `not` in front of it");
}

static void check_order(
	struct typer *typer, const struct node *a, const struct node *b, const char *op)
{
	if ((is_number(a) && is_number(b)) || (is_kind(a, TYPE_STR) && is_kind(b, TYPE_STR)))
		return;
	char text[300];
	snprintf(text, sizeof(text), "`%s` orders two numbers or two strings, not %s and %s", op,
		name_of(a), name_of(b));
	type_error(typer, a, b, text);
}

static void check_in(
	struct typer *typer, const struct node *a, const struct node *b, const char *op)
{
	char text[300];
	struct node item = {.kind = NODE_REF, .typed = true, .type = type_item(b->type)};
	if (b->kind == NODE_LIST) {
		for (const struct node *n = b->first; n; n = n->next)
			if (!can_equal(a, n)) {
				never_equal(typer, a, n, op);
				return;
			}
	} else if (is_kind(b, TYPE_LIST)) {
		if (!can_equal(a, &item)) {
			snprintf(text, sizeof(text),
				"`%s` looks for %s in %s, where it can never be", op, name_of(a),
				name_of(b));
			type_error(typer, a, b, text);
		}
	} else if (!is_kind(b, TYPE_JSON) && !(is_kind(a, TYPE_STR) && is_kind(b, TYPE_STR))) {
		snprintf(text, sizeof(text),
			"`%s` needs a list, a json value or two strings, not %s and %s", op,
			name_of(a), name_of(b));
		type_error(typer, a, b, text);
	}
}

static void check_pair(struct typer *typer, const struct node *a, const struct node *b)
{
	const char *op = op_names[b->op];
	if (!a->typed || !b->typed)
		return;
	switch (b->op) {
	case OP_EQ:
	case OP_NE:
		if (!can_equal(a, b))
			never_equal(typer, a, b, op);
		return;
	case OP_LT:
	case OP_LE:
	case OP_GT:
	case OP_GE: check_order(typer, a, b, op); return;
	case OP_IN:
	case OP_NOT_IN: check_in(typer, a, b, op); return;
	}
}

/* Checks a value that stands as a condition. */
static void check_truth(struct typer *typer, const struct node *node)
{
	if (!node->typed || is_kind(node, TYPE_BOOL))
		return;
	int len = node->len > 80 ? 80 : (int)node->len;
	const char *text = typer->text + node->at;
	struct finding *f = site_report_at(typer->site, RULE_TRUTHINESS, node->at, node->len,
		"`%.*s` is %s, not bool; empty and zero count as false", len, text, name_of(node));
	if (is_number(node))
		site_help(typer->site, f, "write `%.*s != 0`", len, text);
	else if (is_kind(node, TYPE_STR))
		site_help(typer->site, f, "write `%.*s != \"\"`", len, text);
	else if (node->null || is_kind(node, TYPE_JSON))
		site_help(typer->site, f, "write the comparison that is meant");
	else
		site_help(typer->site, f, "write `len(%.*s) > 0`", len, text);
}

static void type_literal(struct node *node)
{
	static const enum type_kind kinds[] = {[VALUE_NULL] = TYPE_JSON,
		[VALUE_BOOL] = TYPE_BOOL,
		[VALUE_INT] = TYPE_INT,
		[VALUE_FLOAT] = TYPE_FLOAT,
		[VALUE_STR] = TYPE_STR};
	node->null = node->value.kind == VALUE_NULL;
	node->type.kind = kinds[node->value.kind];
}

static void type_signed(struct typer *typer, struct node *node)
{
	struct node *inner = node->first;
	node->typed = inner->typed && is_number(inner);
	node->type = inner->type;
	if (!inner->typed || node->typed)
		return;
	char text[200];
	snprintf(text, sizeof(text), "`%c` is for numbers, not for %s",
		node->kind == NODE_NEGATE ? '-' : '+', name_of(inner));
	type_error(typer, node, inner, text);
}

static void type_len(struct typer *typer, struct node *node)
{
	struct node *inner = node->first;
	node->type.kind = TYPE_INT;
	bool fits = !inner->null &&
		    (inner->type.kind == TYPE_STR || inner->type.kind == TYPE_LIST ||
			    inner->type.kind == TYPE_JSON || inner->type.kind == TYPE_RECORD);
	if (!inner->typed || fits)
		return;
	node->typed = false;
	char text[200];
	snprintf(text, sizeof(text), "len() is for str, list, json and records, not for %s",
		name_of(inner));
	type_error(typer, node, node, text);
}

static void type_node(struct typer *typer, struct node *node)
{
	for (struct node *child = node->first; child; child = child->next)
		type_node(typer, child);
	node->typed = true;
	node->type.kind = TYPE_BOOL;
	switch (node->kind) {
	case NODE_OR:
	case NODE_AND:
	case NODE_NOT:
		for (const struct node *child = node->first; child; child = child->next)
			check_truth(typer, child);
		break;
	case NODE_COMPARE:
		for (const struct node *a = node->first; a->next; a = a->next)
			check_pair(typer, a, a->next);
		break;
	case NODE_NEGATE:
	case NODE_PLUS: type_signed(typer, node); break;
	case NODE_LEN: type_len(typer, node); break;
	case NODE_HAS: break;
	case NODE_REF: node->type = node->ref->type; break;
	case NODE_LITERAL: type_literal(node); break;
	case NODE_LIST: node->type.kind = TYPE_LIST; break;
	}
}

int predicate_type(struct node *root, const struct site *site)
{
	struct typer t = {.site = site, .text = site->node->text};
	type_node(&t, root);
	check_truth(&t, root);
	return t.failed ? -1 : 0;
}
