#include "machine/analyse/assume.h"

#include <string.h>

static struct value int_value(int64_t i)
{
	return (struct value){.kind = VALUE_INT, .integer = i};
}

static void list_enum(struct known *fact, const struct ref *ref)
{
	const struct constraint *constraint = ref_constraint(ref);
	if (!constraint || !constraint->values || constraint->value_count > FACT_TEXTS_MAX)
		return;
	fact->listed = true;
	for (size_t i = 0; i < constraint->value_count; i++)
		fact->texts[fact->text_count++] = constraint->values[i];
}

/* Returns the fact about a place, made from its type if there is none yet; NULL: there is no
 * room. */
static struct known *fact_of(struct facts *facts, enum known_kind kind, const struct ref *ref)
{
	for (uint32_t i = 0; i < facts->count; i++)
		if (facts->items[i].kind == kind && !strcmp(facts->items[i].ref->path, ref->path))
			return &facts->items[i];
	if (facts->count == FACTS_MAX)
		return NULL;
	struct known *f = &facts->items[facts->count++];
	*f = (struct known){.kind = kind, .ref = ref, .may_true = true, .may_false = true};
	f->whole = kind == KNOWN_LENGTH || ref->type.kind == TYPE_INT;
	if (kind == KNOWN_LENGTH)
		f->low = (struct bound){.set = true, .at = int_value(0)};
	if (kind == KNOWN_TEXT)
		list_enum(f, ref);
	if (kind == KNOWN_PRESENT && !ref->field_count)
		f->may_false = false;
	return f;
}

static bool truth_possible(struct known *fact, bool truth)
{
	if (!fact)
		return true;
	fact->may_true &= truth;
	fact->may_false &= !truth;
	return fact->may_true || fact->may_false;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static bool is_hole(const struct known *fact, const struct value *value)
{
	for (uint32_t i = 0; i < fact->hole_count; i++)
		if (number_compare(&fact->holes[i], value) == 0)
			return true;
	return false;
}

/* Tightens a bound: an integer above an open integer bound is at least the next one, and a hole at
 * the edge moves the bound on. */
static void tighten_bound(struct known *fact, struct bound *bound, int direction)
{
	while (fact->whole && bound->set && bound->at.kind == VALUE_INT &&
		(bound->open || is_hole(fact, &bound->at))) {
		int64_t next;
		if (__builtin_add_overflow(bound->at.integer, direction, &next))
			return;
		bound->at = int_value(next);
		bound->open = false;
	}
}

static bool number_possible(struct known *fact)
{
	tighten_bound(fact, &fact->low, 1);
	tighten_bound(fact, &fact->high, -1);
	if (!fact->low.set || !fact->high.set)
		return true;
	int order = number_compare(&fact->low.at, &fact->high.at);
	if (order > 0)
		return false;
	return order < 0 || (!fact->low.open && !fact->high.open && !is_hole(fact, &fact->low.at));
}

static void raise_low(struct known *fact, const struct value *value, bool open)
{
	int order = fact->low.set ? number_compare(value, &fact->low.at) : 1;
	if (order > 0 || (order == 0 && open))
		fact->low = (struct bound){true, open, *value};
}

static void lower_high(struct known *fact, const struct value *value, bool open)
{
	int order = fact->high.set ? number_compare(value, &fact->high.at) : -1;
	if (order < 0 || (order == 0 && open))
		fact->high = (struct bound){true, open, *value};
}

static bool assume_number(struct known *fact, enum compare_op op, const struct value *value)
{
	if (value->kind != VALUE_INT && value->kind != VALUE_FLOAT)
		return true;
	if (op == OP_EQ || op == OP_GE || op == OP_GT)
		raise_low(fact, value, op == OP_GT);
	if (op == OP_EQ || op == OP_LE || op == OP_LT)
		lower_high(fact, value, op == OP_LT);
	if (op == OP_EQ && is_hole(fact, value))
		return false;
	if (op == OP_NE && fact->hole_count < FACT_HOLES_MAX && !is_hole(fact, value))
		fact->holes[fact->hole_count++] = *value;
	return number_possible(fact);
}

/* --- texts ------------------------------------------------------------------------------------ */

static bool is_listed(const struct known *fact, const char *text)
{
	for (uint32_t i = 0; i < fact->text_count; i++)
		if (strcmp(fact->texts[i], text) == 0)
			return true;
	return false;
}

static void remove_text(struct known *fact, const char *text)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < fact->text_count; i++)
		if (strcmp(fact->texts[i], text) != 0)
			fact->texts[kept++] = fact->texts[i];
	fact->text_count = kept;
}

static bool exclude_text(struct known *fact, const char *text)
{
	if (fact->listed)
		remove_text(fact, text);
	else if (fact->text_count < FACT_TEXTS_MAX && !is_listed(fact, text))
		fact->texts[fact->text_count++] = text;
	return !fact->listed || fact->text_count;
}

static bool assume_text(struct known *fact, enum compare_op op, const struct value *value)
{
	if (value->kind != VALUE_STR || strlen(value->text) != value->len)
		return true;
	if (op == OP_NE)
		return exclude_text(fact, value->text);
	if (op != OP_EQ)
		return true;
	bool possible = is_listed(fact, value->text) == fact->listed;
	fact->listed = true;
	fact->text_count = 1;
	fact->texts[0] = value->text;
	return possible;
}

/* --- comparisons ------------------------------------------------------------------------------ */

static struct known *fact_of_node(struct facts *facts, const struct node *node)
{
	if (node->kind == NODE_LEN && node->first->kind == NODE_REF)
		return fact_of(facts, KNOWN_LENGTH, node->first->ref);
	if (node->kind != NODE_REF)
		return NULL;
	switch (node->type.kind) {
	case TYPE_BOOL: return fact_of(facts, KNOWN_BOOL, node->ref);
	case TYPE_INT:
	case TYPE_FLOAT: return fact_of(facts, KNOWN_NUMBER, node->ref);
	case TYPE_STR: return fact_of(facts, KNOWN_TEXT, node->ref);
	case TYPE_LIST:
	case TYPE_JSON:
	case TYPE_RECORD: break;
	}
	return NULL;
}

static bool assume_literal(struct known *fact, enum compare_op op, const struct value *value)
{
	switch (fact->kind) {
	case KNOWN_NUMBER:
	case KNOWN_LENGTH: return assume_number(fact, op, value);
	case KNOWN_TEXT: return assume_text(fact, op, value);
	case KNOWN_BOOL:
		if (value->kind != VALUE_BOOL || (op != OP_EQ && op != OP_NE))
			return true;
		return truth_possible(fact, value->boolean == (op == OP_EQ));
	case KNOWN_PRESENT: break;
	}
	return true;
}

/* Assumes `in` for a literal list: one of the items must be possible by itself. */
static bool assume_member(struct facts *facts, const struct node *node, const struct node *list)
{
	struct known *f = fact_of_node(facts, node), first = {0};
	uint32_t possible = 0;
	if (!f)
		return true;
	struct known texts = *f;
	texts.listed = true;
	texts.text_count = 0;
	for (const struct node *item = list->first; item; item = item->next) {
		struct known one = *f;
		if (!assume_literal(&one, OP_EQ, &item->value))
			continue;
		if (!possible++)
			first = one;
		if (item->value.kind == VALUE_STR && texts.text_count < FACT_TEXTS_MAX)
			texts.texts[texts.text_count++] = item->value.text;
	}
	if (possible == 1)
		*f = first;
	else if (f->kind == KNOWN_TEXT && possible <= FACT_TEXTS_MAX)
		*f = texts;
	return possible > 0;
}

static bool assume_not_member(struct facts *facts, const struct node *node, const struct node *list)
{
	struct known *f = fact_of_node(facts, node);
	bool possible = true;
	for (const struct node *item = list->first; f && item; item = item->next)
		possible &= assume_literal(f, OP_NE, &item->value);
	return possible;
}

static const enum compare_op negated[] = {[OP_EQ] = OP_NE,
	[OP_NE] = OP_EQ,
	[OP_LT] = OP_GE,
	[OP_LE] = OP_GT,
	[OP_GT] = OP_LE,
	[OP_GE] = OP_LT,
	[OP_IN] = OP_NOT_IN,
	[OP_NOT_IN] = OP_IN};

static const enum compare_op mirrored[] = {[OP_EQ] = OP_EQ,
	[OP_NE] = OP_NE,
	[OP_LT] = OP_GT,
	[OP_LE] = OP_GE,
	[OP_GT] = OP_LT,
	[OP_GE] = OP_LE};

/* Reports whether two places may hold the same text: false only for enums without a common
 * value. */
static bool share_text(const struct known *a, const struct known *b)
{
	if (!a || !b || !a->listed || !b->listed)
		return true;
	for (uint32_t i = 0; i < a->text_count; i++)
		if (is_listed(b, a->texts[i]))
			return true;
	return false;
}

static bool literals_hold(enum compare_op op, const struct node *a, const struct node *b)
{
	struct node left = *a, right = *b, chain = {.kind = NODE_COMPARE, .first = &left};
	struct value out;
	left.next = &right;
	right.next = NULL;
	right.op = op;
	return node_eval(&chain, NULL, &out, NULL) || value_truth(&out);
}

static bool is_constant(const struct node *node)
{
	return node->kind == NODE_LITERAL || node->kind == NODE_LIST;
}

static bool assume_pair(
	struct facts *facts, const struct node *a, enum compare_op op, const struct node *b)
{
	if (is_constant(a) && is_constant(b))
		return literals_hold(op, a, b);
	if (op == OP_IN && b->kind == NODE_LIST)
		return assume_member(facts, a, b);
	if (op == OP_NOT_IN && b->kind == NODE_LIST)
		return assume_not_member(facts, a, b);
	if (op == OP_IN || op == OP_NOT_IN)
		return true;
	if (b->kind == NODE_LITERAL) {
		struct known *f = fact_of_node(facts, a);
		return !f || assume_literal(f, op, &b->value);
	}
	if (a->kind == NODE_LITERAL)
		return assume_pair(facts, b, mirrored[op], a);
	struct known *left = fact_of_node(facts, a), *right = fact_of_node(facts, b);
	return op != OP_EQ || share_text(left, right);
}

/* --- conditions ------------------------------------------------------------------------------- */

/* A choice between conditions, one of which must hold: if only one is possible, it holds. */
struct choice {
	struct facts before, taken;
	uint32_t possible;
};

static void choose(struct choice *choice, const struct facts *result, bool possible)
{
	if (possible && !choice->possible++)
		facts_copy(&choice->taken, result);
}

static bool chosen(const struct choice *choice, struct facts *facts)
{
	if (choice->possible == 1)
		facts_copy(facts, &choice->taken);
	return choice->possible > 0;
}

static bool assume_all(struct facts *facts, const struct node *node, bool truth)
{
	for (const struct node *child = node->first; child; child = child->next)
		if (!assume(facts, child, truth))
			return false;
	return true;
}

static bool assume_any(struct facts *facts, const struct node *node, bool truth)
{
	struct choice c;
	c.possible = 0;
	facts_copy(&c.before, facts);
	for (const struct node *child = node->first; child; child = child->next) {
		struct facts trial;
		facts_copy(&trial, &c.before);
		bool possible = assume(&trial, child, truth);
		choose(&c, &trial, possible);
	}
	return chosen(&c, facts);
}

static bool assume_chain(struct facts *facts, const struct node *node, bool truth)
{
	if (!truth && node->count == 2)
		return assume_pair(
			facts, node->first, negated[node->first->next->op], node->first->next);
	struct choice c;
	c.possible = 0;
	facts_copy(&c.before, facts);
	for (const struct node *a = node->first; a->next; a = a->next) {
		const struct node *b = a->next;
		if (truth && !assume_pair(facts, a, b->op, b))
			return false;
		if (truth)
			continue;
		struct facts trial;
		facts_copy(&trial, &c.before);
		bool possible = assume_pair(&trial, a, negated[b->op], b);
		choose(&c, &trial, possible);
	}
	return truth || chosen(&c, facts);
}

/* Assumes a value that stands as a condition: zero and empty are false. */
static bool assume_value(struct facts *facts, const struct node *node, bool truth)
{
	static const struct value zero = {.kind = VALUE_INT},
				  empty = {.kind = VALUE_STR, .text = ""};
	if (node->kind == NODE_REF &&
		(node->type.kind == TYPE_LIST || node->type.kind == TYPE_RECORD)) {
		struct known *length = fact_of(facts, KNOWN_LENGTH, node->ref);
		return !length || assume_number(length, truth ? OP_NE : OP_EQ, &zero);
	}
	struct known *f = fact_of_node(facts, node);
	if (!f)
		return true;
	if (f->kind == KNOWN_BOOL)
		return truth_possible(f, truth);
	return assume_literal(f, truth ? OP_NE : OP_EQ, f->kind == KNOWN_TEXT ? &empty : &zero);
}

void facts_copy(struct facts *to, const struct facts *from)
{
	to->count = from->count;
	memcpy(to->items, from->items, from->count * sizeof(struct known));
}

bool assume(struct facts *facts, const struct node *node, bool truth)
{
	struct value constant;
	switch (node->kind) {
	case NODE_AND:
		return truth ? assume_all(facts, node, true) : assume_any(facts, node, false);
	case NODE_OR: return truth ? assume_any(facts, node, true) : assume_all(facts, node, false);
	case NODE_NOT: return assume(facts, node->first, !truth);
	case NODE_COMPARE: return assume_chain(facts, node, truth);
	case NODE_HAS: return truth_possible(fact_of(facts, KNOWN_PRESENT, node->ref), truth);
	case NODE_LITERAL:
	case NODE_LIST:
		return node_eval(node, NULL, &constant, NULL) || value_truth(&constant) == truth;
	case NODE_NEGATE:
	case NODE_PLUS: return assume(facts, node->first, truth);
	case NODE_LEN:
	case NODE_REF: break;
	}
	return assume_value(facts, node, truth);
}
