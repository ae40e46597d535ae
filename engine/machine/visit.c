#include "machine/visit.h"

#include "machine/kind.h"
#include "machine/predicate_node.h"
#include <string.h>

struct visit {
	ref_visitor *each;
	void *ctx;
};

static void visit_text(void *ctx, const struct template *text, bool is_code)
{
	struct visit *visit = ctx;
	(void)is_code;
	template_references(text, visit->each, visit->ctx);
}

void state_timing_refs(const struct state *state, ref_visitor *each, void *ctx)
{
	struct visit visit = {each, ctx};
	if (state_wait(state))
		kind_of(state)->texts(state, visit_text, &visit);
}

void state_entry_refs(const struct state *state, ref_visitor *each, void *ctx)
{
	struct visit visit = {each, ctx};
	template_references(state->notify, each, ctx);
	kind_of(state)->texts(state, visit_text, &visit);
}

static void node_refs(const struct node *node, const char *source, ref_visitor *each, void *ctx)
{
	if (node->kind == NODE_REF || node->kind == NODE_HAS)
		each(ctx, node->ref, source);
	for (const struct node *child = node->first; child; child = child->next)
		node_refs(child, source, each, ctx);
}

void state_condition_refs(const struct state *state, ref_visitor *each, void *ctx)
{
	for (size_t i = 0; i < state->clause_count; i++) {
		const struct predicate *p = state->clauses[i].condition;
		if (p)
			node_refs(p->root, p->source, each, ctx);
	}
}

void state_capture_refs(const struct state *state, ref_visitor *each, void *ctx)
{
	for (size_t i = 0; i < state->capture.set_count; i++)
		template_references(state->capture.set[i].value, each, ctx);
}

void state_failure_refs(const struct state *state, ref_visitor *each, void *ctx)
{
	for (size_t i = 0; i < state->failure.set_count; i++)
		template_references(state->failure.set[i].value, each, ctx);
}

static void node_literals(
	const struct node *node, void (*each)(void *ctx, json_t *value), void *ctx)
{
	if (node->kind == NODE_LITERAL && node->value.kind == VALUE_INT)
		each(ctx, json_integer(node->value.integer));
	if (node->kind == NODE_LITERAL && node->value.kind == VALUE_FLOAT)
		each(ctx, json_real(node->value.number));
	if (node->kind == NODE_LITERAL && node->value.kind == VALUE_STR)
		each(ctx, json_stringn(node->value.text, node->value.len));
	for (const struct node *child = node->first; child; child = child->next)
		node_literals(child, each, ctx);
}

void state_condition_literals(
	const struct state *state, void (*each)(void *ctx, json_t *value), void *ctx)
{
	for (size_t i = 0; i < state->clause_count; i++)
		if (state->clauses[i].condition)
			node_literals(state->clauses[i].condition->root, each, ctx);
}

static const struct doc_node *find_text(const struct doc_node *node, const char *source)
{
	const struct doc_node *found = NULL;
	if (node->kind == DOC_STR)
		return node->text == source ? node : NULL;
	for (uint32_t i = 0; !found && node->kind == DOC_LIST && i < node->count; i++)
		found = find_text(&node->items[i], source);
	for (uint32_t i = 0; !found && node->kind == DOC_MAP && i < node->count; i++)
		found = find_text(&node->pairs[i].value, source);
	return found;
}

const struct doc_node *state_text_node(const struct state *state, const char *source, bool *inside)
{
	const struct doc_node *node = find_text(state->node, source);
	*inside = node != NULL;
	const struct agent_state *agent = state_agent(state);
	if (!node && agent && agent->prompt_file)
		node = find_text(state->node, agent->prompt_file);
	return node ? node : state->key;
}
