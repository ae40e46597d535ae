#include "machine/visit.h"

#include "machine/predicate_node.h"
#include <string.h>

static void tool_refs(const struct tool_state *t, ref_visitor *each, void *ctx)
{
	for (size_t i = 0; i < t->command_count; i++)
		template_references(t->command[i], each, ctx);
	template_references(t->stdin_text, each, ctx);
}

void state_timing_refs(const struct state *s, ref_visitor *each, void *ctx)
{
	template_references(s->wait.every_ref, each, ctx);
	template_references(s->wait.until_ref, each, ctx);
}

void state_entry_refs(const struct state *s, ref_visitor *each, void *ctx)
{
	template_references(s->notify, each, ctx);
	switch (s->kind) {
	case KIND_AGENT: template_references(s->agent.prompt, each, ctx); return;
	case KIND_TOOL: tool_refs(&s->tool, each, ctx); return;
	case KIND_WAIT: state_timing_refs(s, each, ctx); return;
	case KIND_TERMINAL: template_references(s->terminal.reason, each, ctx); return;
	case KIND_BRANCH:
	case KIND_COUNT: return;
	}
}

static void node_refs(const struct node *n, const char *source, ref_visitor *each, void *ctx)
{
	if (n->kind == NODE_REF || n->kind == NODE_HAS)
		each(ctx, n->ref, source);
	for (const struct node *child = n->first; child; child = child->next)
		node_refs(child, source, each, ctx);
}

void state_condition_refs(const struct state *s, ref_visitor *each, void *ctx)
{
	for (size_t i = 0; s->kind == KIND_BRANCH && i < s->branch.clause_count; i++) {
		const struct predicate *p = s->branch.clauses[i].condition;
		if (p)
			node_refs(p->root, p->source, each, ctx);
	}
}

void state_capture_refs(const struct state *s, ref_visitor *each, void *ctx)
{
	for (size_t i = 0; i < s->capture.set_count; i++)
		template_references(s->capture.set[i].value, each, ctx);
}

static void node_literals(const struct node *n, void (*each)(void *ctx, json_t *value), void *ctx)
{
	if (n->kind == NODE_LITERAL && n->value.kind == VALUE_INT)
		each(ctx, json_integer(n->value.integer));
	if (n->kind == NODE_LITERAL && n->value.kind == VALUE_FLOAT)
		each(ctx, json_real(n->value.number));
	if (n->kind == NODE_LITERAL && n->value.kind == VALUE_STR)
		each(ctx, json_stringn(n->value.text, n->value.len));
	for (const struct node *child = n->first; child; child = child->next)
		node_literals(child, each, ctx);
}

void state_condition_literals(
	const struct state *s, void (*each)(void *ctx, json_t *value), void *ctx)
{
	for (size_t i = 0; s->kind == KIND_BRANCH && i < s->branch.clause_count; i++)
		if (s->branch.clauses[i].condition)
			node_literals(s->branch.clauses[i].condition->root, each, ctx);
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

const struct doc_node *state_text_node(const struct state *s, const char *source, bool *inside)
{
	const struct doc_node *node = find_text(s->node, source);
	*inside = node != NULL;
	if (!node && s->kind == KIND_AGENT && s->agent.prompt_file)
		node = find_text(s->node, s->agent.prompt_file);
	return node ? node : s->key;
}
