#include "machine/kind.h"
#include "machine/reader.h"

/* Returns the first clause with `else`; their count if none has it. */
static uint32_t first_else(const struct doc_node *when)
{
	uint32_t i = 0;
	while (i < when->count && !doc_pair(&when->items[i], "else"))
		i++;
	return i;
}

/* Checks clause `i` of `count`: only the last one is `else`, and it must be. An `else` that comes
 * too early is not reported as missing as well. A clause with neither key or both has been
 * reported. */
static void check_else(
	struct reader *reader, const struct state *state, const struct doc_node *when, uint32_t i)
{
	const struct doc_node *clause = &when->items[i];
	bool last = i + 1 == when->count, is_else = doc_pair(clause, "else") != NULL;
	if (clause->kind != DOC_MAP || last == is_else)
		return;
	if (is_else == (doc_pair(clause, "if") != NULL) || (last && first_else(when) < when->count))
		return;
	struct site site = reader_site(reader, clause, state);
	if (last) {
		struct finding *f = site_report(
			&site, RULE_MISSING_ELSE, "the last clause of a branch must be `else`");
		site_help(&site, f, "add `- {else: true, goto: STATE}` after it");
		reader->loose[state->index] = true;
		return;
	}
	site.node = &doc_pair(clause, "else")->key;
	struct finding *f = site_report(
		&site, RULE_MISPLACED_ELSE, "`else` always fires, so no clause after it ever can");
	site_help(&site, f, "move it to the end, and keep only one");
}

static void read_branch(struct reader *reader, struct state *state)
{
	const struct doc_node *when = reader_get(reader, state->node, "when", DOC_LIST);
	if (!when || !when->count) {
		reader->loose[state->index] = true;
		return;
	}
	struct clause *clauses = arena_array(&reader->m->arena, when->count, sizeof(*clauses));
	for (uint32_t i = 0; i < when->count; i++) {
		const struct doc_node *condition =
			reader_get(reader, &when->items[i], "if", DOC_STR);
		struct site site = reader_site(reader, condition, state);
		check_else(reader, state, when, i);
		clauses[i].text = condition ? condition->text : "else";
		clauses[i].node = condition;
		if (condition)
			clauses[i].condition = predicate_compile(&reader->scope, &site);
		clauses[i].target = read_target(reader, doc_get(&when->items[i], "goto"), state);
	}
	state->clauses = clauses;
	state->clause_count = when->count;
}

static const char *branch_style(const struct state *state)
{
	(void)state;
	return "shape=diamond, color=\"#2f6fb0\", fillcolor=\"#e6f0fa\"";
}

const struct kind kind_branch = {
	"branch",
	TRAIT_HURRIES,
	NULL, /* result */
	read_branch,
	kind_no_outcomes,
	kind_no_texts,
	kind_never, /* brings_untrusted */
	kind_never, /* takes_files */
	kind_writes_nothing,
	"{\"",
	"\"}",
	branch_style,
};
