#include "base/json.h"
#include "base/utf8.h"
#include "machine/predicate_node.h"
#include <math.h>
#include <string.h>

const struct predicate *predicate_compile(const struct scope *scope, const struct site *site)
{
	struct predicate_lexer l = {
		.scope = scope, .site = site, .text = site->node->text, .len = site->node->count};
	struct predicate *p = arena_alloc(scope->arena, sizeof(*p));
	p->source = l.text;
	p->root = predicate_parse(&l);
	return p->root && !predicate_type(p->root, site) ? p : NULL;
}

static struct value value_of_json(const json_t *json)
{
	struct value v = {.kind = VALUE_NULL};
	switch (json_typeof(json)) {
	case JSON_OBJECT:
	case JSON_ARRAY:
		v.kind = VALUE_JSON;
		v.json = json;
		break;
	case JSON_STRING:
		v.kind = VALUE_STR;
		v.text = json_string_value(json);
		v.len = json_string_length(json);
		break;
	case JSON_INTEGER:
		v.kind = VALUE_INT;
		v.integer = json_integer_value(json);
		break;
	case JSON_REAL:
		v.kind = VALUE_FLOAT;
		v.number = json_real_value(json);
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		v.kind = VALUE_BOOL;
		v.boolean = json_is_true(json);
		break;
	case JSON_NULL: break;
	}
	return v;
}

static int sign_of(double d)
{
	return (d > 0) - (d < 0);
}

/* Compares exactly: every double in [-2^63, 2^63) truncates to an int64 without loss, and the
 * fraction decides ties. */
static int compare_mixed(int64_t a, double b)
{
	if (b >= 0x1p63)
		return -1;
	if (b < -0x1p63)
		return 1;
	int64_t whole = (int64_t)b;
	if (a != whole)
		return a < whole ? -1 : 1;
	return -sign_of(b - (double)whole);
}

int number_compare(const struct value *a, const struct value *b)
{
	if (a->kind == VALUE_INT && b->kind == VALUE_INT)
		return (a->integer > b->integer) - (a->integer < b->integer);
	if (a->kind == VALUE_INT)
		return compare_mixed(a->integer, b->number);
	if (b->kind == VALUE_INT)
		return -compare_mixed(b->integer, a->number);
	return (a->number > b->number) - (a->number < b->number);
}

static bool numeric(const struct value *value)
{
	return value->kind == VALUE_INT || value->kind == VALUE_FLOAT;
}

bool predicate_equal(const json_t *a, const json_t *b)
{
	struct value x = value_of_json(a), y = value_of_json(b);
	return value_equal(&x, &y);
}

static bool arrays_equal(const json_t *a, const json_t *b)
{
	size_t n = json_array_size(a);
	for (size_t i = 0; i < n; i++)
		if (!predicate_equal(json_array_get(a, i), json_array_get(b, i)))
			return false;
	return true;
}

static bool objects_equal(const json_t *a, const json_t *b)
{
	const char *key;
	json_t *item;
	json_object_foreach ((json_t *)(uintptr_t)a, key, item) {
		const json_t *other = json_object_get(b, key);
		if (!other || !predicate_equal(item, other))
			return false;
	}
	return true;
}

static bool containers_equal(const json_t *a, const json_t *b)
{
	if (json_typeof(a) != json_typeof(b))
		return false;
	if (json_is_array(a))
		return json_array_size(a) == json_array_size(b) && arrays_equal(a, b);
	return json_object_size(a) == json_object_size(b) && objects_equal(a, b);
}

static bool list_equals_array(const struct node *list, const json_t *array)
{
	if (!json_is_array(array) || json_array_size(array) != list->count)
		return false;
	size_t i = 0;
	for (const struct node *n = list->first; n; n = n->next) {
		struct value item = value_of_json(json_array_get(array, i++));
		if (!value_equal(&n->value, &item))
			return false;
	}
	return true;
}

static bool lists_equal(const struct node *a, const struct node *b)
{
	if (a->count != b->count)
		return false;
	const struct node *y = b->first;
	for (const struct node *x = a->first; x; x = x->next, y = y->next)
		if (!value_equal(&x->value, &y->value))
			return false;
	return true;
}

bool value_equal(const struct value *a, const struct value *b)
{
	if (numeric(a) && numeric(b))
		return number_compare(a, b) == 0;
	if (a->kind == VALUE_LIST && b->kind == VALUE_JSON)
		return list_equals_array(a->items, b->json);
	if (a->kind == VALUE_JSON && b->kind == VALUE_LIST)
		return list_equals_array(b->items, a->json);
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case VALUE_NULL: return true;
	case VALUE_BOOL: return a->boolean == b->boolean;
	case VALUE_STR: return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
	case VALUE_JSON: return containers_equal(a->json, b->json);
	case VALUE_LIST: return lists_equal(a->items, b->items);
	case VALUE_INT:
	case VALUE_FLOAT: break;
	}
	return false;
}

static int text_compare(const struct value *a, const struct value *b)
{
	int order = memcmp(a->text, b->text, a->len < b->len ? a->len : b->len);
	return order ? order : (a->len > b->len) - (a->len < b->len);
}

static bool is_in_array(const struct value *value, const json_t *array)
{
	size_t n = json_array_size(array);
	for (size_t i = 0; i < n; i++) {
		struct value item = value_of_json(json_array_get(array, i));
		if (value_equal(value, &item))
			return true;
	}
	return false;
}

/* Checks that something can be looked for in the right side of an `in`. */
static int check_container(const struct node *node, const struct value *where, struct err *e)
{
	static const char *const names[] = {[VALUE_NULL] = "null",
		[VALUE_BOOL] = "a bool",
		[VALUE_INT] = "an int",
		[VALUE_FLOAT] = "a float"};
	if (where->kind == VALUE_LIST || where->kind == VALUE_STR || where->kind == VALUE_JSON)
		return 0;
	return err_set(e, "`%s` looks in \"%s\", which is %s and neither list, text nor object",
		node->op == OP_IN ? "in" : "not in",
		node->kind == NODE_REF ? node->ref->path : "its operand", names[where->kind]);
}

static bool is_in(const struct value *value, const struct value *where)
{
	if (where->kind == VALUE_LIST) {
		for (const struct node *n = where->items->first; n; n = n->next)
			if (value_equal(value, &n->value))
				return true;
		return false;
	}
	if (where->kind == VALUE_STR)
		return value->kind == VALUE_STR &&
		       memmem(where->text, where->len, value->text, value->len);
	if (json_is_array(where->json))
		return is_in_array(value, where->json);
	return value->kind == VALUE_STR && json_object_getn(where->json, value->text, value->len);
}

static bool holds(enum compare_op op, const struct value *a, const struct value *b)
{
	if (op == OP_EQ || op == OP_NE)
		return value_equal(a, b) == (op == OP_EQ);
	if (op == OP_IN || op == OP_NOT_IN)
		return is_in(a, b) == (op == OP_IN);
	int order = numeric(a) ? number_compare(a, b) : text_compare(a, b);
	return op == OP_LT   ? order < 0
	       : op == OP_LE ? order <= 0
	       : op == OP_GT ? order > 0
			     : order >= 0;
}

bool value_truth(const struct value *value)
{
	switch (value->kind) {
	case VALUE_NULL: return false;
	case VALUE_BOOL: return value->boolean;
	case VALUE_INT: return value->integer != 0;
	case VALUE_FLOAT: return value->number > 0 || value->number < 0;
	case VALUE_STR: return value->len > 0;
	case VALUE_JSON: return json_array_size(value->json) + json_object_size(value->json) > 0;
	case VALUE_LIST: return value->items->count > 0;
	}
	return false;
}

static struct value boolean(bool b)
{
	return (struct value){.kind = VALUE_BOOL, .boolean = b};
}

/* Evaluates operands up to the first that decides. */
static int eval_joined(
	const struct node *node, const json_t *blackboard, struct value *out, struct err *e)
{
	bool deciding = node->kind == NODE_OR;
	for (const struct node *child = node->first; child; child = child->next) {
		struct value v;
		if (node_eval(child, blackboard, &v, e))
			return -1;
		if (value_truth(&v) == deciding) {
			*out = boolean(deciding);
			return 0;
		}
	}
	*out = boolean(!deciding);
	return 0;
}

static int eval_compare(
	const struct node *node, const json_t *blackboard, struct value *out, struct err *e)
{
	struct value left, right;
	if (node_eval(node->first, blackboard, &left, e))
		return -1;
	for (const struct node *child = node->first->next; child; child = child->next) {
		bool looks = child->op == OP_IN || child->op == OP_NOT_IN;
		if (node_eval(child, blackboard, &right, e) ||
			(looks && check_container(child, &right, e)))
			return -1;
		if (!holds(child->op, &left, &right)) {
			*out = boolean(false);
			return 0;
		}
		left = right;
	}
	*out = boolean(true);
	return 0;
}

static int eval_len(
	const struct node *node, const json_t *blackboard, struct value *out, struct err *e)
{
	struct value v;
	if (node_eval(node->first, blackboard, &v, e))
		return -1;
	out->kind = VALUE_INT;
	switch (v.kind) {
	case VALUE_STR: out->integer = (int64_t)utf8_count(v.text, v.len); return 0;
	case VALUE_JSON: return json_length(v.json, &out->integer);
	case VALUE_LIST: out->integer = v.items->count; return 0;
	case VALUE_NULL:
	case VALUE_BOOL:
	case VALUE_INT:
	case VALUE_FLOAT: break;
	}
	const char *path = node->first->kind == NODE_REF ? node->first->ref->path : "its operand";
	return err_set(
		e, "len() was asked of \"%s\", which is neither text, list nor object", path);
}

static void negate(struct value *value)
{
	if (value->kind == VALUE_FLOAT) {
		value->number = -value->number;
	} else if (value->integer == INT64_MIN) {
		/* 2^63 does not fit an int64, but a double holds it exactly, and comparisons stay
		 * exact. */
		value->kind = VALUE_FLOAT;
		value->number = 0x1p63;
	} else {
		value->integer = -value->integer;
	}
}

static struct value eval_has(const struct ref *ref, const json_t *blackboard)
{
	struct err ignored = ERR_NONE;
	return boolean(ref_find(ref, blackboard, NULL, &ignored) != NULL);
}

int node_eval(const struct node *node, const json_t *blackboard, struct value *out, struct err *e)
{
	const json_t *found;
	switch (node->kind) {
	case NODE_OR:
	case NODE_AND: return eval_joined(node, blackboard, out, e);
	case NODE_NOT:
		if (node_eval(node->first, blackboard, out, e))
			return -1;
		*out = boolean(!value_truth(out));
		return 0;
	case NODE_COMPARE: return eval_compare(node, blackboard, out, e);
	case NODE_NEGATE:
	case NODE_PLUS:
		if (node_eval(node->first, blackboard, out, e))
			return -1;
		if (node->kind == NODE_NEGATE)
			negate(out);
		return 0;
	case NODE_LEN: return eval_len(node, blackboard, out, e);
	case NODE_HAS: *out = eval_has(node->ref, blackboard); return 0;
	case NODE_REF:
		found = ref_find(node->ref, blackboard, NULL, e);
		if (!found)
			return -1;
		*out = value_of_json(found);
		return 0;
	case NODE_LITERAL: *out = node->value; return 0;
	case NODE_LIST: *out = (struct value){.kind = VALUE_LIST, .items = node}; return 0;
	}
	return err_set(e, "a condition holds a node of unknown kind");
}

int predicate_eval(
	const struct predicate *predicate, const json_t *blackboard, bool *out, struct err *e)
{
	struct value v;
	if (node_eval(predicate->root, blackboard, &v, e))
		return -1;
	*out = value_truth(&v);
	return 0;
}
