#include "machine/kind.h"
#include "machine/reader.h"

#include <string.h>

enum { CANDIDATES_MAX = 4096 };

/* Returns the variable that a capture names, if the state may write it. NULL: an error was
 * reported. */
static const struct variable *target_of(
	const struct reader *reader, const struct doc_node *node, const struct state *state)
{
	enum owner owner = state_result(state)->owner;
	struct site site = reader_site(reader, node, state);
	const struct variable *v = machine_variable(reader->m, node->text);
	if (!v && reader->m->vars_broken)
		return NULL;
	if (!v) {
		struct finding *f = site_report(
			&site, RULE_UNKNOWN_VARIABLE, "no variable \"%s\" is declared", node->text);
		const char *names[CANDIDATES_MAX];
		size_t count = 0;
		for (size_t i = 0; i < reader->m->variable_count && count < CANDIDATES_MAX; i++)
			if (reader->m->variables[i].owner == owner)
				names[count++] = reader->m->variables[i].name;
		site_did_you_mean(&site, f, node->text, names, count);
		return NULL;
	}
	if (v->owner == owner)
		return v;
	struct finding *f = site_report(&site, RULE_CAPTURE_OWNER,
		"%s states write only `%s` variables, but \"%s\" is declared under `%s`",
		state_kind_name(state->kind), owner_name(owner), v->name, owner_name(v->owner));
	if (v->owner == OWNER_OPERATOR)
		site_help(&site, f, "operator variables never change; declare another variable");
	else
		site_help(&site, f, "declare a variable of its own under `vars.%s`",
			owner_name(owner));
	return NULL;
}

/* Returns the type of `result`; unknown if an error in its schema was reported. */
static struct type result_type(const struct reader *reader, const struct state *state)
{
	struct type t = {.kind = TYPE_RECORD, .record = state->output_schema};
	if (!state->output_schema && !reader_pair(reader, state->node, "output_schema") &&
		!reader_misspelt(state->node, "output_schema") && state_result(state)->untyped)
		t.kind = TYPE_JSON;
	return t;
}

static void check_whole(const struct reader *reader, const struct doc_node *node,
	const struct state *state, const struct variable *variable)
{
	struct site site = reader_site(reader, node, state);
	const struct kind_result *result = state_result(state);
	struct type wanted = result_type(reader, state);
	if (state->capture.as_text)
		wanted = (struct type){.kind = TYPE_STR};
	else if (result->untyped)
		wanted = (struct type){.kind = TYPE_JSON};
	if (!type_known(wanted) || !type_known(variable->type) ||
		type_equal(wanted, variable->type))
		return;
	struct finding *f = site_report(&site, RULE_CAPTURE_TYPE,
		"\"%s\" is of type %s, but %s yields %s", variable->name, type_name(variable->type),
		state->capture.as_text ? result->text : result->whole, type_name(wanted));
	if (state->capture.as_text)
		site_help(&site, f, "declare it as str, or use `set` with an output_schema");
	else if (result->untyped && variable->type.kind == TYPE_RECORD)
		site_help(&site, f,
			"declare it as json, or write `set: {%s: \"{{ result }}\"}`, with %s as "
			"the output_schema",
			variable->name, type_name(variable->type));
	else if (result->untyped)
		site_help(&site, f, "declare it as json, or use `set` with an output_schema");
	else
		site_help(
			&site, f, "declare it as %s, or pick fields with `set`", type_name(wanted));
}

static void read_whole(
	struct reader *reader, struct state *state, const struct doc_node *capture, const char *key)
{
	const struct doc_node *node = key ? reader_get(reader, capture, key, DOC_STR) : NULL;
	if (!node)
		return;
	state->capture.reads_result = true;
	state->capture.whole = target_of(reader, node, state);
	if (state->capture.whole)
		check_whole(reader, node, state, state->capture.whole);
	if (!state_result(state)->untyped || !reader_pair(reader, state->node, "output_schema"))
		return;
	struct site site =
		reader_site(reader, &reader_pair(reader, state->node, "output_schema")->key, state);
	struct finding *f = site_report(&site, RULE_CAPTURE_SCHEMA,
		"%s takes the output whole and unchecked, so output_schema cannot be given with it",
		key);
	site_help(&site, f, "remove output_schema, or capture fields with `set`");
}

#define CONSTANT                                                                                   \
	"a constant is a variable's default: declare a variable, and let a lone {{ reference }} "  \
	"assign it"

/* Checks a constant that is no string. The advice of the template's shape, to put it in quotes,
 * would make it a str. */
static void check_constant(const struct reader *reader, const struct doc_pair *pair,
	const struct state *state, const struct receiver *receiver)
{
	enum doc_kind kind = pair->value.kind;
	struct site site = reader_site(reader, &pair->value, state);
	if (kind == DOC_NULL || !type_known(receiver->type) || receiver->type.kind == TYPE_STR ||
		!findings_drop(reader->findings, reader->doc, &pair->value.pos))
		return;
	struct finding *f = site_report(&site, receiver->mismatch,
		"this is %s, and %s only texts and what they refer to", doc_kind_name(kind),
		receiver->mismatch == RULE_CAPTURE_TYPE ? "a capture assigns" : "an end returns");
	site_help(&site, f, CONSTANT);
}

static void help_text(
	const struct site *site, struct finding *finding, const struct template *template)
{
	const char *text = template_literal(template);
	bool bare = text && !strncmp(text, "result", 6) &&
		    ref_span(text, 0, strlen(text)) == strlen(text);
	if (bare)
		site_help(site, finding, "write \"{{ %s }}\"", text);
	else if (text)
		site_help(site, finding, CONSTANT);
	else
		site_help(site, finding,
			"a lone {{ reference }} without a filter assigns the value itself");
}

static void check_assigned(
	const struct site *site, const struct template *template, const struct receiver *receiver)
{
	const struct ref *lone = template_lone(template);
	struct type from = template_type(template), to = receiver->type;
	if (!type_known(to) || type_equal(from, to))
		return;
	struct finding *f;
	if (!lone) {
		f = site_report(site, receiver->mismatch,
			"this renders to a str and cannot be assigned to \"%s\" of type %s",
			receiver->name, type_name(to));
		help_text(site, f, template);
		return;
	}
	f = site_report(site, receiver->mismatch,
		"\"%s\" is of type %s and cannot be assigned to \"%s\" of type %s", lone->path,
		type_name(from), receiver->name, type_name(to));
	if (to.kind == TYPE_STR)
		site_help(site, f, "write \"{{ %s | json }}\" for it as a text", lone->path);
	else
		site_help(site, f, "the two types must be the same");
}

const struct template *read_assigned(const struct reader *reader, const struct scope *scope,
	const struct doc_pair *pair, const struct state *state, const struct receiver *receiver)
{
	struct site site = reader_site(reader, &pair->value, state);
	const struct template *value = NULL;
	if (pair->value.kind == DOC_STR)
		value = template_compile(scope, &site, TEMPLATE_ASSIGN);
	else if (receiver)
		check_constant(reader, pair, state, receiver);
	if (receiver && value)
		check_assigned(&site, value, receiver);
	return value;
}

static void note_result(void *reads_result, const struct ref *ref, const char *source)
{
	(void)source;
	if (ref->source == REF_RESULT)
		*(bool *)reads_result = true;
}

/* Reads the assignments of a map into `out`. */
static void read_set(struct reader *reader, const struct scope *scope, const struct state *state,
	const struct doc_node *map, struct capture *out)
{
	struct assignment *set = arena_array(&reader->m->arena, map->count, sizeof(*set));
	for (uint32_t i = 0; i < map->count; i++) {
		const struct doc_pair *pair = &map->pairs[i];
		/* A key that is no name has been reported. */
		if (identifier_ok(pair->key.text, strlen(pair->key.text)))
			set[i].target = target_of(reader, &pair->key, state);
		const struct variable *target = set[i].target;
		struct receiver receiver = {.mismatch = RULE_CAPTURE_TYPE};
		if (target) {
			receiver.name = target->name;
			receiver.type = target->type;
		}
		set[i].value = read_assigned(reader, scope, pair, state, target ? &receiver : NULL);
		if (set[i].value)
			template_references(set[i].value, note_result, &out->reads_result);
		if (set[i].value && template_may_lack(set[i].value))
			reader->m->journal_format = JOURNAL_FORMAT_LAST;
	}
	out->set = set;
	out->set_count = map->count;
}

void read_capture(struct reader *reader, struct state *state)
{
	const struct doc_node *capture = reader_get(reader, state->node, "capture", DOC_MAP);
	if (!capture)
		return;
	state->capture.present = true;
	const struct kind_result *result = state_result(state);
	state->capture.as_text = result->text && doc_get(capture, result->text);
	read_whole(reader, state, capture, state->capture.as_text ? result->text : result->whole);
	const struct doc_node *set = reader_get(reader, capture, "set", DOC_MAP);
	struct scope scope = reader->scope;
	scope.in_capture = true;
	scope.has_exit = result->exits;
	scope.result = result_type(reader, state);
	if (set)
		read_set(reader, &scope, state, set, &state->capture);
}

void read_capture_failure(struct reader *reader, struct state *state)
{
	const struct doc_node *capture =
		reader_get(reader, state->node, "capture_failure", DOC_MAP);
	const struct doc_node *set = reader_get(reader, capture, "set", DOC_MAP);
	if (!set)
		return;
	struct scope scope = reader->scope;
	scope.failure = state_result(state)->failure;
	state->failure.present = true;
	reader->m->journal_format = JOURNAL_FORMAT_LAST;
	read_set(reader, &scope, state, set, &state->failure);
}
