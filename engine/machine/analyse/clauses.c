#include "machine/analyse/analyse.h"
#include "machine/analyse/assume.h"
#include "machine/site.h"
#include <string.h>

struct clauses {
	const struct machine *m;
	struct findings *findings;
	const struct state *s;
	struct facts before; /* consequences of no earlier clause having fired */
	bool exhausted;      /* no case is left for later clauses */
	bool told;           /* `exhausted` has been reported */
};

static struct site clause_site(const struct clauses *clauses, size_t i)
{
	return (struct site){.findings = clauses->findings,
		.doc = clauses->m->doc,
		.node = clauses->s->clauses[i].node,
		.state = clauses->s->name};
}

/* Reports whether the condition can be `truth` after `before`; NULL: on its own. */
static bool possible(const struct facts *before, const struct node *node, bool truth)
{
	struct facts facts;
	facts.count = 0;
	if (before)
		facts_copy(&facts, before);
	return assume(&facts, node, truth);
}

static bool same_node(const struct node *a, const struct node *b)
{
	if (a->kind != b->kind || a->op != b->op || a->count != b->count)
		return false;
	if ((a->kind == NODE_REF || a->kind == NODE_HAS) && strcmp(a->ref->path, b->ref->path) != 0)
		return false;
	if (a->kind == NODE_LITERAL &&
		(a->value.kind != b->value.kind || !value_equal(&a->value, &b->value)))
		return false;
	const struct node *y = b->first;
	for (const struct node *x = a->first; x; x = x->next, y = y->next)
		if (!same_node(x, y))
			return false;
	return true;
}

static const struct node *root_of(const struct clauses *clauses, size_t i)
{
	return clauses->s->clauses[i].condition->root;
}

/* Reports whether clause `earlier` alone takes every case of clause `i`. */
static bool takes_all(const struct clauses *clauses, size_t earlier, size_t i)
{
	struct facts facts;
	facts.count = 0;
	if (same_node(root_of(clauses, earlier), root_of(clauses, i)))
		return true;
	return assume(&facts, root_of(clauses, earlier), false) &&
	       !assume(&facts, root_of(clauses, i), true);
}

/* Enough to find the culprit in any branch that a person writes, and linear in a generated one. */
enum { CULPRITS_MAX = 64 };

static size_t find_culprit(const struct clauses *clauses, size_t i)
{
	size_t earlier = i > CULPRITS_MAX ? i - CULPRITS_MAX : 0;
	while (earlier < i && !takes_all(clauses, earlier, i))
		earlier++;
	return earlier;
}

static void report_shadowed(struct clauses *clauses, size_t i, size_t culprit)
{
	struct site site = clause_site(clauses, i);
	struct finding *f;
	if (culprit < i)
		f = site_report(&site, RULE_SHADOWED_CLAUSE,
			"this clause never fires: `%s` before it takes every such case",
			clauses->s->clauses[culprit].text);
	else
		f = site_report(&site, RULE_SHADOWED_CLAUSE,
			"this clause never fires: those before it take every such case");
	site_help(&site, f, "remove it, or put the narrower condition first");
}

/* Returns the constraint of a reference that takes few values; NULL: the node is no such thing. */
static const struct constraint *choice_of(const struct node *node)
{
	const struct constraint *constraint =
		node->kind == NODE_REF && node->ref ? ref_constraint(node->ref) : NULL;
	return constraint && constraint->values ? constraint : NULL;
}

static bool is_choice(const struct constraint *constraint, const struct value *value)
{
	for (size_t i = 0; i < constraint->value_count; i++)
		if (!strcmp(constraint->values[i], value->text))
			return true;
	return false;
}

/* A field with an enum that is compared with a text which is not in it. */
struct misspelt {
	const struct ref *ref; /* NULL: none */
	const struct node *text;
};

static bool is_misspelt(const struct node *a, const struct node *b)
{
	const struct constraint *constraint = a && b ? choice_of(a) : NULL;
	return constraint && b->kind == NODE_LITERAL && b->value.kind == VALUE_STR &&
	       !is_choice(constraint, &b->value);
}

/* Finds the first one below `node`, on either side of `==` or `!=`, or in a list. */
static struct misspelt misspelt_choice(const struct node *node)
{
	struct misspelt found = {NULL, NULL};
	for (const struct node *a = node->first; a && !found.ref; a = a->next) {
		const struct node *b = node->kind == NODE_COMPARE ? a->next : NULL;
		const struct node *item = b && b->kind == NODE_LIST ? b->first : NULL;
		while (item && !is_misspelt(a, item))
			item = item->next;
		if (item || is_misspelt(a, b))
			found = (struct misspelt){a->ref, item ? item : b};
		else if (is_misspelt(b, a))
			found = (struct misspelt){b->ref, a};
		else
			found = misspelt_choice(a);
	}
	return found;
}

static void help_choice(const struct site *site, struct finding *finding, const struct ref *ref)
{
	const struct constraint *constraint = ref_constraint(ref);
	AUTO_BUF all = BUF_INIT(400);
	for (size_t i = 0; i < constraint->value_count; i++)
		buf_addf(&all, "%s\"%s\"", i ? ", " : "", constraint->values[i]);
	site_help(site, finding, "%s is one of %s", ref->path, all.data);
}

static void report_constant(struct clauses *clauses, size_t i, bool holds)
{
	struct site site = clause_site(clauses, i);
	struct finding *f = site_report(&site, RULE_CONSTANT_BRANCH,
		holds ? "this condition always holds, so no clause after it ever fires"
		      : "this condition can never hold, given the types and enums");
	const struct ref *choice = holds ? NULL : misspelt_choice(root_of(clauses, i)).ref;
	if (choice)
		help_choice(&site, f, choice);
	else
		site_help(&site, f, "correct or remove it");
}

/* Reports a text that no value can be, in a condition that can still hold: `a == "x" or a ==
 * "no"`. */
static void report_misspelt(struct clauses *clauses, size_t i)
{
	struct site site = clause_site(clauses, i);
	struct misspelt found = misspelt_choice(root_of(clauses, i));
	if (found.ref)
		help_choice(&site,
			site_report_at(&site, RULE_CONSTANT_BRANCH, found.text->at, found.text->len,
				"%s can never be `%.80s`", found.ref->path, found.text->value.text),
			found.ref);
}

static void check_clause(struct clauses *clauses, size_t i)
{
	const struct node *root = root_of(clauses, i);
	if (!possible(NULL, root, true)) {
		report_constant(clauses, i, false);
		return;
	}
	size_t culprit = find_culprit(clauses, i);
	if (culprit < i || !possible(&clauses->before, root, true)) {
		report_shadowed(clauses, i, culprit);
		return;
	}
	if (!possible(NULL, root, false)) {
		report_constant(clauses, i, true);
		clauses->exhausted = clauses->told = true;
		return;
	}
	report_misspelt(clauses, i);
	clauses->exhausted = !assume(&clauses->before, root, false);
}

/* Checks the clauses of a branch up to the first that exhausts it: one mistake gives one
 * warning. */
static void check_branch(struct clauses *clauses)
{
	for (size_t i = 0; i < clauses->s->clause_count; i++) {
		if (!clauses->s->clauses[i].condition)
			return;
		if (!clauses->exhausted) {
			check_clause(clauses, i);
		} else if (!clauses->told) {
			report_shadowed(clauses, i, i);
			clauses->told = true;
		}
	}
}

void analyse_clauses(const struct machine *machine, struct findings *findings)
{
	for (size_t i = 0; i < machine->state_count; i++) {
		struct clauses c;
		c.m = machine;
		c.findings = findings;
		c.s = &machine->states[i];
		c.before.count = 0;
		c.exhausted = c.told = false;
		check_branch(&c);
	}
}
