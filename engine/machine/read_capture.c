#include "machine/reader.h"

#include <string.h>

enum { CANDIDATES_MAX = 4096 };

/* The variable that a capture names, if the state may write it; else NULL: reported. */
static const struct variable *target_of(
	const struct reader *r, const struct doc_node *node, const struct state *s)
{
	enum owner owner = s->kind == KIND_AGENT ? OWNER_AGENT : OWNER_CODE;
	struct site site = reader_site(r, node, s);
	const struct variable *v = machine_variable(r->m, node->text);
	if (!v && r->m->vars_broken)
		return NULL;
	if (!v) {
		struct finding *f = site_report(
			&site, RULE_UNKNOWN_VARIABLE, "no variable \"%s\" is declared", node->text);
		const char *names[CANDIDATES_MAX];
		size_t count = 0;
		for (size_t i = 0; i < r->m->variable_count && count < CANDIDATES_MAX; i++)
			if (r->m->variables[i].owner == owner)
				names[count++] = r->m->variables[i].name;
		site_did_you_mean(&site, f, node->text, names, count);
		return NULL;
	}
	if (v->owner == owner)
		return v;
	struct finding *f = site_report(&site, RULE_CAPTURE_OWNER,
		"%s states write only `%s` variables, but \"%s\" is declared under `%s`",
		state_kind_name(s->kind), owner_name(owner), v->name, owner_name(v->owner));
	if (v->owner == OWNER_OPERATOR)
		site_help(&site, f, "operator variables never change; declare another variable");
	else
		site_help(&site, f, "declare a variable of its own under `vars.%s`",
			owner_name(owner));
	return NULL;
}

/* The type of `result`: unknown when its schema was reported. */
static struct type result_type(const struct reader *r, const struct state *s)
{
	struct type t = {.kind = TYPE_RECORD, .record = s->output_schema};
	if (!s->output_schema && !reader_pair(r, s->node, "output_schema") &&
		!reader_misspelt(s->node, "output_schema") && s->kind == KIND_TOOL)
		t.kind = TYPE_JSON;
	return t;
}

static void check_whole(const struct reader *r, const struct doc_node *node, const struct state *s,
	const struct variable *v)
{
	struct site site = reader_site(r, node, s);
	struct type wanted =
		s->kind == KIND_TOOL ? (struct type){.kind = TYPE_JSON} : result_type(r, s);
	if (!type_known(wanted) || !type_known(v->type) || type_equal(wanted, v->type))
		return;
	struct finding *f = site_report(&site, RULE_CAPTURE_TYPE,
		"\"%s\" is of type %s, but %s yields %s", v->name, type_name(v->type),
		s->kind == KIND_TOOL ? "stdout_json" : "finish_json", type_name(wanted));
	if (s->kind == KIND_TOOL && v->type.kind == TYPE_RECORD)
		site_help(&site, f,
			"declare it as json, or write `set: {%s: \"{{ result }}\"}`, with %s as "
			"the output_schema",
			v->name, type_name(v->type));
	else if (s->kind == KIND_TOOL)
		site_help(&site, f, "declare it as json, or use `set` with an output_schema");
	else
		site_help(
			&site, f, "declare it as %s, or pick fields with `set`", type_name(wanted));
}

static void read_whole(
	struct reader *r, struct state *s, const struct doc_node *capture, const char *key)
{
	const struct doc_node *node = reader_get(r, capture, key, DOC_STR);
	if (!node)
		return;
	s->capture.reads_result = true;
	s->capture.whole = target_of(r, node, s);
	if (s->capture.whole)
		check_whole(r, node, s, s->capture.whole);
	if (s->kind != KIND_TOOL || !reader_pair(r, s->node, "output_schema"))
		return;
	struct site site = reader_site(r, &reader_pair(r, s->node, "output_schema")->key, s);
	struct finding *f = site_report(&site, RULE_CAPTURE_SCHEMA,
		"stdout_json takes the output whole and unchecked, so output_schema cannot be "
		"given with it");
	site_help(&site, f, "remove output_schema, or capture fields with `set`");
}

#define CONSTANT                                                                                   \
	"a constant is a variable's default: declare a variable, and let a lone {{ reference }} "  \
	"assign it"

/* Quotes, which the shape of a template asks for, would not do: what is in them is a str. */
static void check_constant(
	const struct reader *r, const struct doc_pair *pair, const struct state *s, struct type to)
{
	enum doc_kind kind = pair->value.kind;
	struct site site = reader_site(r, &pair->value, s);
	if (kind == DOC_NULL || !type_known(to) || to.kind == TYPE_STR ||
		!findings_drop(r->findings, r->doc, &pair->value.pos))
		return;
	struct finding *f = site_report(&site, RULE_CAPTURE_TYPE,
		"this is %s, and a capture assigns only texts and what they refer to",
		doc_kind_name(kind));
	site_help(&site, f, CONSTANT);
}

static void check_assignment(const struct reader *r, const struct doc_node *node,
	const struct state *s, const struct assignment *a)
{
	struct site site = reader_site(r, node, s);
	struct type from = template_type(a->value), to = a->target->type;
	if (!type_known(to) || type_equal(from, to))
		return;
	struct finding *f;
	if (template_lone(a->value)) {
		f = site_report(&site, RULE_CAPTURE_TYPE,
			"\"%s\" is of type %s and cannot be assigned to \"%s\" of type %s",
			template_lone(a->value)->path, type_name(from), a->target->name,
			type_name(to));
		if (to.kind == TYPE_STR)
			site_help(&site, f, "write \"{{ %s | json }}\" for it as a text",
				template_lone(a->value)->path);
		else
			site_help(&site, f, "the two types must be the same");
	} else {
		f = site_report(&site, RULE_CAPTURE_TYPE,
			"this renders to a str and cannot be assigned to \"%s\" of type %s",
			a->target->name, type_name(to));
		const char *text = template_literal(a->value);
		bool bare = text && !strncmp(text, "result", 6) &&
			    ref_span(text, 0, strlen(text)) == strlen(text);
		if (bare)
			site_help(&site, f, "write \"{{ %s }}\"", text);
		else if (text)
			site_help(&site, f, CONSTANT);
		else
			site_help(&site, f,
				"a lone {{ reference }} without a filter assigns the value itself");
	}
}

static void note_result(void *reads_result, const struct ref *ref, const char *source)
{
	(void)source;
	if (!ref->root)
		*(bool *)reads_result = true;
}

static void read_set(struct reader *r, struct state *s, const struct doc_node *map)
{
	struct scope scope = r->scope;
	scope.in_capture = true;
	scope.result = result_type(r, s);
	struct assignment *set = arena_array(&r->m->arena, map->count, sizeof(*set));
	for (uint32_t i = 0; i < map->count; i++) {
		const struct doc_pair *pair = &map->pairs[i];
		struct site site = reader_site(r, &pair->value, s);
		/* What is no name has been reported as that. */
		if (identifier_ok(pair->key.text, strlen(pair->key.text)))
			set[i].target = target_of(r, &pair->key, s);
		if (pair->value.kind == DOC_STR)
			set[i].value = template_compile(&scope, &site, TEMPLATE_ASSIGN);
		else if (set[i].target)
			check_constant(r, pair, s, set[i].target->type);
		if (set[i].value)
			template_references(set[i].value, note_result, &s->capture.reads_result);
		if (set[i].target && set[i].value)
			check_assignment(r, &pair->value, s, &set[i]);
	}
	s->capture.set = set;
	s->capture.set_count = map->count;
}

void read_capture(struct reader *r, struct state *s)
{
	const struct doc_node *capture = reader_get(r, s->node, "capture", DOC_MAP);
	if (!capture)
		return;
	s->capture.present = true;
	read_whole(r, s, capture, s->kind == KIND_AGENT ? "finish_json" : "stdout_json");
	const struct doc_node *set = reader_get(r, capture, "set", DOC_MAP);
	if (set)
		read_set(r, s, set);
}
