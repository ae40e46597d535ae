#include "machine/fixed.h"

#include "base/host.h"
#include "base/json.h"
#include "machine/reader.h"
#include <math.h>
#include <string.h>

enum { VISITS_MAX = 1000000000, VALUE_BYTES_MAX = 200 };

static bool is_secs(const json_t *value)
{
	return json_is_integer(value) && json_integer_value(value) >= 1 &&
	       json_integer_value(value) <= MACHINE_SECS_MAX;
}

static bool is_count(const json_t *value)
{
	return json_is_integer(value) && json_integer_value(value) >= 1 &&
	       json_integer_value(value) <= VISITS_MAX;
}

static bool is_amount(const json_t *value)
{
	return json_is_number(value) && json_number_value(value) > 0;
}

static bool is_host(const json_t *value)
{
	struct host_port host;
	return json_is_string(value) && !host_rule_decode(&host, json_string_value(value), NULL);
}

#define SECS "a number of seconds from 1 to 3155760000, a hundred years"
/* The same rules as those of literals, which the schema and kind_tool.c have. */
static const struct rule_of_key {
	const char *name, *takes, *types;
	unsigned kinds; /* bit set of enum type_kind */
	bool (*fits)(const json_t *value);
} rules[] = {[FIXED_TIMEOUT_SECS] = {"timeout_secs", SECS, "an int", 1u << TYPE_INT, is_secs},
	[FIXED_MAX_VISITS] = {"max_visits", "an integer from 1 to 1000000000", "an int",
		1u << TYPE_INT, is_count},
	[FIXED_MAX_USD] = {"max_usd", "an amount in USD above 0", "a float or an int",
		1u << TYPE_FLOAT | 1u << TYPE_INT, is_amount},
	[FIXED_EVERY_SECS] = {"every_secs", SECS, "an int", 1u << TYPE_INT, is_secs},
	[FIXED_HOST] = {"allow_network", "HOST:PORT", "a str", 1u << TYPE_STR, is_host}};

const char *fixed_key_name(enum fixed_key key)
{
	return rules[key].name;
}

bool fixed_refers(const char *text)
{
	return strstr(text, "{{");
}

/* --- reading ---------------------------------------------------------------------------------- */

void fixed_note(struct reader *reader, const struct state *state, enum fixed_key key,
	const struct variable *parameter)
{
	struct fixed_use **last = reader->fixed_end ? reader->fixed_end : &reader->m->fixed;
	*last = arena_alloc(&reader->m->arena, sizeof(**last));
	**last = (struct fixed_use){.parameter = parameter, .key = key, .state = state};
	reader->fixed_end = &(*last)->next;
}

/* Reports a value that a declaration has, or an end of the range of one without, if no start could
 * use it. */
static void check_declared(const struct reader *reader, const struct state *state,
	const struct doc_node *node, const struct variable *parameter,
	const struct rule_of_key *rule)
{
	const struct range_end *ends[] = {&parameter->constraint.min, &parameter->constraint.max};
	struct site site = reader_site(reader, node, state);
	if (parameter->initial && !rule->fits(parameter->initial)) {
		AUTO_FREE char *text = json_text(parameter->initial);
		site_report(&site, RULE_FIXED_VALUE, "%s takes %s, and \"%s\" is %.*s", rule->name,
			rule->takes, parameter->name, VALUE_BYTES_MAX, text ? text : "?");
	}
	for (size_t i = 0; i < ARRAY_LEN(ends) && !parameter->initial; i++) {
		if (!ends[i]->present)
			continue;
		json_auto_t *end = range_end_json(ends[i]);
		AUTO_FREE char *text = json_text(end);
		if (rule->fits(end))
			continue;
		struct finding *f =
			site_report(&site, RULE_FIXED_VALUE, "%s takes %s, and \"%s\" may be %s",
				rule->name, rule->takes, parameter->name, text ? text : "?");
		site_help(&site, f, "change its `%s`", i ? "max" : "min");
	}
}

static void report_owner(
	const struct site *site, const struct ref *ref, const struct rule_of_key *rule)
{
	struct finding *f = site_report(site, RULE_FIXED_REFERENCE,
		"%s takes an operator variable, which a start fixes, but \"%s\" is declared under "
		"`%s` and may change while the machine runs",
		rule->name, ref->root->name, owner_name(ref->root->owner));
	site_help(site, f, "declare a variable of its own under `vars.operator`");
}

/* Reports whether the value has a finding already. */
static bool was_reported(const struct reader *reader, const struct doc_node *node)
{
	for (size_t i = 0; i < reader->findings->count; i++) {
		const struct finding *it = &reader->findings->items[i];
		bool within = it->pos.line == node->pos.line &&
			      it->pos.column >= node->pos.column &&
			      it->pos.column - node->pos.column <= node->count + 1;
		if (within && !strcmp(it->file, reader->doc->file))
			return true;
	}
	return false;
}

const struct variable *fixed_read(struct reader *reader, const struct state *state,
	const struct doc_node *node, enum fixed_key key)
{
	const struct rule_of_key *rule = &rules[key];
	struct site site = reader_site(reader, node, state);
	if (was_reported(reader, node))
		return NULL;
	const struct template *template = template_compile(&reader->scope, &site, TEMPLATE_ASSIGN);
	const struct ref *ref = template ? template_lone(template) : NULL;
	if (!template)
		return NULL;
	if (!ref || !ref->root || ref->field_count) {
		site_help(&site,
			site_report(&site, RULE_FIXED_REFERENCE,
				"%s takes %s, or an operator variable alone", rule->name,
				rule->takes),
			"such as \"{{ limit }}\": no filter, no field, no text beside it");
		return NULL;
	}
	if (ref->root->owner != OWNER_OPERATOR) {
		report_owner(&site, ref, rule);
		return NULL;
	}
	if (!(rule->kinds >> ref->type.kind & 1)) {
		site_report(&site, RULE_FIXED_REFERENCE, "\"%s\" is of type %s, and %s takes %s",
			ref->path, type_name(ref->type), rule->name, rule->types);
		return NULL;
	}
	check_declared(reader, state, node, ref->root, rule);
	return ref->root;
}

struct opt_int fixed_int(struct reader *reader, const struct state *state, enum fixed_key key,
	const struct variable **parameter)
{
	const struct rule_of_key *rule = &rules[key];
	const struct doc_node *node = reader_get(reader, state->node, rule->name, DOC_STR);
	if (!node || !fixed_refers(node->text))
		return reader_int(reader, state->node, rule->name);
	*parameter = fixed_read(reader, state, node, key);
	if (!*parameter)
		return (struct opt_int){0};
	fixed_note(reader, state, key, *parameter);
	const struct range_end *max = &(*parameter)->constraint.max;
	int64_t most = key == FIXED_MAX_VISITS ? VISITS_MAX : MACHINE_SECS_MAX;
	if ((*parameter)->initial)
		most = json_integer_value((*parameter)->initial);
	else if (max->present)
		most = max->integer;
	return (struct opt_int){true, most};
}

struct opt_float fixed_float(struct reader *reader, const struct state *state,
	const struct doc_node *map, const struct variable **parameter)
{
	const struct doc_node *node = reader_get(reader, map, "max_usd", DOC_STR);
	if (!node || !fixed_refers(node->text))
		return reader_float(reader, map, "max_usd");
	*parameter = fixed_read(reader, state, node, FIXED_MAX_USD);
	if (!*parameter)
		return (struct opt_float){0};
	fixed_note(reader, state, FIXED_MAX_USD, *parameter);
	const struct range_end *max = &(*parameter)->constraint.max;
	double most = max->present ? max->number : INFINITY;
	return (struct opt_float){
		true, (*parameter)->initial ? json_number_value((*parameter)->initial) : most};
}

/* --- values ----------------------------------------------------------------------------------- */

bool fixed_is(const struct machine *machine, const struct variable *parameter)
{
	const struct fixed_use *use = machine->fixed;
	while (use && use->parameter != parameter)
		use = use->next;
	return use;
}

int fixed_check(const struct machine *machine, const struct variable *parameter,
	const json_t *value, struct err *e)
{
	for (const struct fixed_use *use = machine->fixed; use; use = use->next) {
		const struct rule_of_key *rule = &rules[use->key];
		if (use->parameter != parameter || rule->fits(value))
			continue;
		AUTO_FREE char *text = json_text(value);
		return err_set(e, "%s: %s of %s%s takes %s, and not %.*s", parameter->name,
			rule->name, use->state ? "state " : "the budget",
			use->state ? use->state->name : "", rule->takes, VALUE_BYTES_MAX,
			text ? text : "?");
	}
	return 0;
}

const json_t *fixed_value(const struct variable *parameter, const json_t *blackboard)
{
	const json_t *value = json_object_get(blackboard, parameter->name);
	return value ? value : parameter->initial;
}

static int64_t whole(const struct variable *parameter, const json_t *blackboard, int64_t declared)
{
	const json_t *value = parameter ? fixed_value(parameter, blackboard) : NULL;
	return value ? json_integer_value(value) : declared;
}

int64_t fixed_timeout_secs(const struct state *state, const json_t *blackboard)
{
	return whole(state->timeout_parameter, blackboard, state->timeout_secs);
}

int64_t fixed_max_visits(const struct state *state, const json_t *blackboard)
{
	return whole(state->visits_parameter, blackboard, state->max_visits);
}

static struct opt_float amount(
	const struct variable *parameter, const json_t *blackboard, struct opt_float declared)
{
	const json_t *value = parameter ? fixed_value(parameter, blackboard) : NULL;
	return value ? (struct opt_float){true, json_number_value(value)} : declared;
}

struct opt_float fixed_max_usd(const struct state *agent, const json_t *blackboard)
{
	return amount(agent->agent.usd_parameter, blackboard, agent->agent.max_usd);
}

struct opt_float fixed_budget_usd(const struct machine *machine, const json_t *blackboard)
{
	return amount(machine->usd_parameter, blackboard, machine->max_usd);
}

const char *fixed_host(const struct tool_state *state, size_t i, const json_t *blackboard)
{
	const struct variable *parameter =
		state->host_parameters ? state->host_parameters[i] : NULL;
	const char *value =
		parameter ? json_string_value(fixed_value(parameter, blackboard)) : NULL;
	return value ? value : state->hosts[i];
}
