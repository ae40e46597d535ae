#include "machine/reader.h"

#include "base/suggest.h"
#include <math.h>
#include <string.h>

/* A double of less than this can be converted to an int64_t. */
#define WHOLE_MAX 9e15

/* An expanded schema is shown to a model and checked field by field, so a few lines of nested
 * records must not stand for millions of fields. */
enum {
	EXPANDED_FIELDS_MAX = 10000,
	NESTED_RECORDS_MAX = 32,
	NESTED_LISTS_MAX = 8, /* of a type with a list of records in it */
	CANDIDATES_MAX = 4096
};

#define TYPE_NAMES                                                                                 \
	"str", "int", "float", "bool", "json", "list[str]", "list[int]", "list[float]", "list[bool]"
enum { TYPE_NAME_COUNT = 9 };

static size_t add_schema_names(const struct reader *reader, const char **names, size_t count)
{
	const struct doc_node *map = reader->m->schemas_map;
	for (uint32_t i = 0; map && i < map->count && count < CANDIDATES_MAX; i++)
		names[count++] = map->pairs[i].key.text;
	return count;
}

enum { ITEM_BYTES = 80 };

/* Copies NAME out of "list[NAME]". Returns false if the text is no such thing. */
static bool list_item(const char *text, char name[ITEM_BYTES])
{
	size_t len = strlen(text);
	if (len < 7 || len >= ITEM_BYTES || strncmp(text, "list[", 5) != 0 || text[len - 1] != ']')
		return false;
	snprintf(name, ITEM_BYTES, "%.*s", (int)(len - 6), text + 5);
	return true;
}

static void unknown_type(const struct reader *reader, const struct doc_node *node)
{
	struct site site = reader_site(reader, node, NULL);
	json_object_set_new(reader->no_types, node->text, json_true());
	struct finding *f =
		site_report(&site, RULE_UNKNOWN_TYPE, "\"%s\" is not a type", node->text);
	size_t len = strlen(node->text);
	if ((len && node->text[len - 1] == '?') || strncasecmp(node->text, "optional", 8) == 0)
		site_help(&site, f, "write {type: ..., optional: true}");
	const char *names[CANDIDATES_MAX] = {TYPE_NAMES};
	size_t count = add_schema_names(reader, names, TYPE_NAME_COUNT);
	char item[ITEM_BYTES];
	bool is_list = list_item(node->text, item);
	const char *near =
		is_list && strcmp(item, "json") ? suggest_word(item, names, count) : NULL;
	if (!f->help && near)
		site_help(&site, f, "did you mean \"list[%s]\"?", near);
	else if (!f->help && !is_list)
		site_did_you_mean(&site, f, node->text, names, count);
	if (!f->help && strncmp(node->text, "list[", 5) == 0)
		site_help(
			&site, f, "lists hold str, int, float, bool, or the records of one schema");
	if (!f->help)
		site_help(&site, f,
			"a type is str, int, float, bool, list[...] of one of these, json, or the "
			"name of a schema");
}

void reader_unknown_schema(
	const struct reader *reader, const struct doc_node *node, const struct state *state)
{
	if (reader->m->schemas_broken)
		return;
	/* The declaration of that name is what is wrong, and one kind of finding is enough. */
	if (json_object_get(reader->no_types, node->text)) {
		unknown_type(reader, node);
		return;
	}
	struct site site = reader_site(reader, node, state);
	struct finding *f =
		site_report(&site, RULE_UNKNOWN_SCHEMA, "no schema \"%s\" is declared", node->text);
	const char *names[CANDIDATES_MAX];
	struct type type;
	if (type_scalar(node->text, &type))
		site_help(&site, f,
			"a type is no schema: declare one under `schemas`, with a field of that "
			"type");
	else
		site_did_you_mean(&site, f, node->text, names, add_schema_names(reader, names, 0));
	if (!f->help)
		site_help(&site, f, "declare it under `schemas`");
}

/* Returns `properties: {NAME: {...}}`, which no field looks like; NULL: there is none. */
static const struct doc_pair *json_schema(const struct doc_node *map)
{
	const struct doc_pair *pair = doc_pair(map, "properties");
	return pair && pair->value.kind == DOC_MAP && pair->value.count &&
			       pair->value.pairs[0].value.kind == DOC_MAP
		       ? pair
		       : NULL;
}

const struct record *reader_record(const struct reader *reader, const struct doc_pair *pair)
{
	return pair->value.kind == DOC_MAP && !json_schema(&pair->value)
		       ? &reader->records[pair - reader->m->schemas_map->pairs]
		       : NULL;
}

/* Returns the type that string `node` names; unknown if it names none (reported) or is no
 * string. */
static struct type read_type(const struct reader *reader, const struct doc_node *node)
{
	struct type t = {.kind = TYPE_RECORD};
	if (!node || node->kind != DOC_STR || type_scalar(node->text, &t))
		return t;
	char item[ITEM_BYTES];
	bool is_list = list_item(node->text, item);
	const struct doc_pair *pair = doc_pair(reader->m->schemas_map, is_list ? item : node->text);
	if (is_list)
		t = (struct type){.kind = TYPE_LIST, .item = TYPE_RECORD};
	if (pair)
		t.record = reader_record(reader, pair);
	else if (!reader->m->schemas_broken)
		unknown_type(reader, node);
	return t;
}

/* A declaration that narrows its type: a field, or an operator variable. */
struct narrowed {
	const struct doc_node *map;
	const char *name;
	struct type type;
};

/* The keys that narrow a type, and the types that each goes with. */
static const struct narrowing {
	const char *key;
	enum rule rule;
	const char *which;
	unsigned types; /* bit set of 1u << TYPE_* */
	bool texts;     /* of lists, those of str only */
} narrow_enum = {"enum", RULE_ENUM_TYPE, "a str or a list[str]", 1u << TYPE_STR | 1u << TYPE_LIST,
	true},
  narrow_min = {"min", RULE_CONSTRAINT_TYPE, "an int or a float", 1u << TYPE_INT | 1u << TYPE_FLOAT,
	  false},
  narrow_max = {"max", RULE_CONSTRAINT_TYPE, "an int or a float", 1u << TYPE_INT | 1u << TYPE_FLOAT,
	  false},
  narrow_max_len = {"max_len", RULE_CONSTRAINT_TYPE, "a str or a list",
	  1u << TYPE_STR | 1u << TYPE_LIST, false};

/* Returns the value of a key; NULL: there is none, or it does not go with the type (reported). */
static const struct doc_node *narrowed_by(const struct reader *reader,
	const struct narrowed *narrowed, const struct narrowing *narrowing)
{
	const struct doc_node *node = reader_value(reader, narrowed->map, narrowing->key);
	struct type t = narrowed->type;
	bool goes = narrowing->types >> t.kind & 1 &&
		    !(narrowing->texts && t.kind == TYPE_LIST && t.item != TYPE_STR);
	if (!node || node->kind == DOC_BROKEN || !type_known(t) || goes)
		return node;
	if (node->kind == DOC_LIST)
		findings_drop(reader->findings, reader->doc, &node->pos); /* its items */
	struct site site = reader_site(reader, node, NULL);
	struct finding *finding =
		site_report(&site, narrowing->rule, "`%s` is for %s; \"%s\" is of type %s",
			narrowing->key, narrowing->which, narrowed->name, type_name(t));
	site_help(&site, finding, "change the type, or remove `%s`", narrowing->key);
	return NULL;
}

static struct range_end read_range_end(const struct reader *reader, const struct narrowed *narrowed,
	const struct narrowing *narrowing)
{
	const struct doc_node *node = narrowed_by(reader, narrowed, narrowing);
	if (node && node->kind == DOC_INT)
		return (struct range_end){true, true, node->integer, (double)node->integer};
	if (!node || node->kind != DOC_FLOAT)
		return (struct range_end){0};
	/* No integer lies between such an end and the next integer inside the range. */
	bool is_whole = narrowed->type.kind == TYPE_INT && fabs(node->number) < WHOLE_MAX;
	double end = narrowing == &narrow_min ? ceil(node->number) : floor(node->number);
	return is_whole ? (struct range_end){true, true, (int64_t)end, end}
			: (struct range_end){true, false, 0, node->number};
}

static void check_range(const struct reader *reader, const struct narrowed *narrowed,
	const struct range_end *min, const struct range_end *max)
{
	bool is_empty = min->is_integer && max->is_integer ? min->integer > max->integer
							   : min->number > max->number;
	if (!min->present || !max->present || !is_empty)
		return;
	struct site site = reader_site(reader, reader_value(reader, narrowed->map, "max"), NULL);
	struct finding *finding = site_report(&site, RULE_EMPTY_RANGE,
		"no value of \"%s\" is at least `min` and at most `max`", narrowed->name);
	site_help(&site, finding, "exchange the two, or correct one of them");
}

static void read_constraint(
	const struct reader *reader, const struct narrowed *narrowed, struct constraint *constraint)
{
	const struct doc_node *list = narrowed_by(reader, narrowed, &narrow_enum);
	const struct doc_node *max_len = narrowed_by(reader, narrowed, &narrow_max_len);
	if (list)
		constraint->values =
			reader_texts(reader, narrowed->map, "enum", &constraint->value_count);
	constraint->max_len = max_len && max_len->kind == DOC_INT ? max_len->integer : 0;
	constraint->min = read_range_end(reader, narrowed, &narrow_min);
	constraint->max = read_range_end(reader, narrowed, &narrow_max);
	check_range(reader, narrowed, &constraint->min, &constraint->max);
}

/* Reports a JSON Schema with one finding for all of it. */
static struct finding *report_json_schema(
	const struct reader *reader, const struct doc_node *map, const struct site *at)
{
	findings_drop(reader->findings, reader->doc, &map->pos);
	return site_report(at, RULE_UNKNOWN_KEY,
		"`properties` is how JSON Schema says it; here, a schema is a map from fields to "
		"types");
}

/* Shows the schema's fields with the types that they most likely have. */
static void advise_record(const struct reader *reader, const struct doc_pair *schema,
	const struct doc_node *fields, const struct site *site, struct finding *finding)
{
	static const char *const names[] = {TYPE_NAMES};
	enum { SHOWN_BYTES_MAX = 300 };
	AUTO_BUF shown = BUF_INIT(SHOWN_BYTES_MAX);
	for (uint32_t i = 0; i < fields->count; i++) {
		const struct doc_pair *field = &fields->pairs[i];
		const char *type = reader_text(reader, &field->value, "type");
		const char *near = type ? suggest_word(type, names, TYPE_NAME_COUNT) : NULL;
		buf_addf(&shown, "%s%s: %s", i ? ", " : "", field->key.text, near ? near : "json");
	}
	site_help(site, finding,
		"write `%s: {%s}`; a field that is one of a few texts is `{type: str, enum: "
		"[...]}`",
		schema->key.text, shown.failed ? "..." : shown.data);
}

static void read_field(
	const struct reader *reader, const struct doc_pair *pair, struct field *field)
{
	const struct doc_node *node = &pair->value;
	bool map = node->kind == DOC_MAP;
	const struct doc_pair *properties = json_schema(node);
	field->name = pair->key.text;
	field->type = (struct type){.kind = TYPE_RECORD};
	if (properties) {
		struct site site = reader_site(reader, &properties->key, NULL);
		site_help(&site, report_json_schema(reader, node, &site),
			"declare `%s` as a schema of its own, and name that as the type",
			field->name);
		return;
	}
	field->type = read_type(reader, map ? doc_get(node, "type") : node);
	if (!map)
		return;
	const struct doc_node *optional = reader_get(reader, node, "optional", DOC_BOOL);
	field->optional = optional && optional->boolean;
	field->description = reader_text(reader, node, "description");
	read_constraint(
		reader, &(struct narrowed){node, field->name, field->type}, &field->constraint);
}

static void read_record(struct reader *reader, const struct doc_pair *pair, struct record *record)
{
	struct type scalar;
	struct site site = reader_site(reader, &pair->key, NULL);
	record->name = pair->key.text;
	bool is_name = identifier_ok(record->name, strlen(record->name));
	if (is_name && (type_scalar(record->name, &scalar) || !strcmp(record->name, "list"))) {
		struct finding *f = site_report(&site, RULE_SCHEMA_NAME,
			"a schema cannot have the name of a type, \"%s\"", record->name);
		site_help(&site, f, "choose another name");
	}
	const struct doc_pair *properties = json_schema(&pair->value);
	if (properties) {
		site = reader_site(reader, &properties->key, NULL);
		advise_record(reader, pair, &properties->value, &site,
			report_json_schema(reader, &pair->value, &site));
	}
	if (!reader_record(reader, pair))
		return;
	struct field *fields = arena_array(&reader->m->arena, pair->value.count, sizeof(*fields));
	for (uint32_t i = 0; i < pair->value.count; i++)
		read_field(reader, &pair->value.pairs[i], &fields[i]);
	record->fields = fields;
	record->field_count = pair->value.count;
	record_sort(record, &reader->m->arena);
}

/* The order in which records can be expanded, innermost first (Kahn). `wanting` counts the fields
 * of a record whose own records are not in the order yet. A record that never gets in lies on a
 * cycle, or leads to one. */
struct record_order {
	const struct reader *r;
	size_t *wanting, *users, *first_user, *queue;
	size_t count;
};

static size_t record_index(const struct record_order *order, const struct record *record)
{
	return (size_t)(record - order->r->records);
}

static const struct record *nested(const struct record *record, size_t field)
{
	struct type t = record->fields[field].type;
	return t.kind == TYPE_RECORD || type_lists_records(t) ? t.record : NULL;
}

/* Fills users[first_user[x] ...] with the records that have a field of record x. */
static void order_init(struct record_order *order, struct arena *arena)
{
	size_t n = order->r->m->record_count, edges = 0;
	order->wanting = arena_array(arena, n, sizeof(size_t));
	order->queue = arena_array(arena, n, sizeof(size_t));
	order->first_user = arena_array(arena, n + 2, sizeof(size_t));
	for (size_t i = 0; i < n; i++)
		for (size_t f = 0; f < order->r->records[i].field_count; f++)
			if (nested(&order->r->records[i], f)) {
				edges++;
				order->wanting[i]++;
				order->first_user[record_index(
							  order, nested(&order->r->records[i], f)) +
						  2]++;
			}
	for (size_t i = 2; i < n + 2; i++)
		order->first_user[i] += order->first_user[i - 1];
	order->users = arena_array(arena, edges, sizeof(size_t));
	for (size_t i = 0; i < n; i++)
		for (size_t f = 0; f < order->r->records[i].field_count; f++) {
			const struct record *x = nested(&order->r->records[i], f);
			if (x)
				order->users[order->first_user[record_index(order, x) + 1]++] = i;
		}
}

static void order_run(struct record_order *order)
{
	for (size_t i = 0; i < order->r->m->record_count; i++)
		if (!order->wanting[i])
			order->queue[order->count++] = i;
	for (size_t at = 0; at < order->count; at++) {
		size_t x = order->queue[at];
		for (size_t u = order->first_user[x]; u < order->first_user[x + 1]; u++)
			if (!--order->wanting[order->users[u]])
				order->queue[order->count++] = order->users[u];
	}
}

static const struct record *next_on_cycle(
	const struct record_order *order, const struct record *record)
{
	for (size_t f = 0; f < record->field_count; f++) {
		const struct record *x = nested(record, f);
		if (x && order->wanting[record_index(order, x)])
			return x;
	}
	return NULL;
}

static void report_cycle(const struct record_order *order, const struct record *start)
{
	AUTO_BUF path = BUF_INIT(600);
	const struct record *x = start;
	do {
		buf_addf(&path, "%s -> ", x->name);
		x = next_on_cycle(order, x);
	} while (x != start);
	const char *shown = path.failed ? "" : path.data;
	const struct doc_pair *pair = &order->r->m->schemas_map->pairs[record_index(order, start)];
	struct site site = reader_site(order->r, &pair->key, NULL);
	struct finding *f = site_report(&site, RULE_SCHEMA_CYCLE,
		"schema \"%s\" contains itself: %s%s", start->name, shown, start->name);
	site_help(&site, f, "use json for the recursive part");
}

/* Reports the cycles. From each remaining record, a walk along remaining records must close one. */
static void check_cycles(const struct record_order *order, struct arena *arena)
{
	size_t *seen_in = arena_array(arena, order->r->m->record_count, sizeof(size_t));
	for (size_t i = 0; i < order->r->m->record_count; i++) {
		const struct record *x = order->wanting[i] ? &order->r->records[i] : NULL;
		while (x && !seen_in[record_index(order, x)]) {
			seen_in[record_index(order, x)] = i + 1;
			x = next_on_cycle(order, x);
		}
		if (x && seen_in[record_index(order, x)] == i + 1 && order->wanting[i])
			report_cycle(order, x);
	}
}

static void check_sizes(const struct record_order *order, struct arena *arena)
{
	size_t *fields = arena_array(arena, order->r->m->record_count, sizeof(size_t));
	size_t *depth = arena_array(arena, order->r->m->record_count, sizeof(size_t));
	bool *lists = arena_array(arena, order->r->m->record_count, sizeof(bool));
	for (size_t at = 0; at < order->count; at++) {
		size_t i = order->queue[at];
		const struct record *record = &order->r->records[i];
		for (size_t f = 0; f < record->field_count; f++) {
			const struct record *x = nested(record, f);
			size_t below = x ? depth[record_index(order, x)] + 1 : 0;
			fields[i] += x ? fields[record_index(order, x)] + 1 : 1;
			depth[i] = below > depth[i] ? below : depth[i];
			lists[i] |= x && (lists[record_index(order, x)] ||
						 type_lists_records(record->fields[f].type));
		}
		size_t levels = lists[i] ? NESTED_LISTS_MAX : NESTED_RECORDS_MAX;
		if (fields[i] <= EXPANDED_FIELDS_MAX && depth[i] < levels)
			continue;
		struct site site =
			reader_site(order->r, &order->r->m->schemas_map->pairs[i].key, NULL);
		site_report(&site, RULE_SCHEMA_SIZE,
			"schema \"%s\" stands for more than %d fields or %zu nested records",
			record->name, EXPANDED_FIELDS_MAX, levels);
		/* Report it once, not again for every record that contains it. */
		fields[i] = depth[i] = 0;
		lists[i] = false;
	}
}

void read_schemas(struct reader *reader)
{
	struct machine *m = reader->m;
	m->schemas_map = reader_get(reader, reader->doc->root, "schemas", DOC_MAP);
	m->schemas_broken =
		!m->schemas_map && (doc_get(reader->doc->root, "schemas") ||
					   reader_misspelt(reader->doc->root, "schemas"));
	if (!m->schemas_map)
		return;
	m->schemas_broken = m->schemas_map->partial;
	m->record_count = m->schemas_map->count;
	reader->records = arena_array(&m->arena, m->record_count, sizeof(*reader->records));
	const struct record **list = arena_array(&m->arena, m->record_count, sizeof(*list));
	for (size_t i = 0; i < m->record_count; i++) {
		list[i] = &reader->records[i];
		read_record(reader, &m->schemas_map->pairs[i], &reader->records[i]);
	}
	m->records = list;
	struct arena scratch;
	arena_init(&scratch);
	struct record_order order = {.r = reader};
	order_init(&order, &scratch);
	order_run(&order);
	check_cycles(&order, &scratch);
	check_sizes(&order, &scratch);
	arena_done(&scratch);
}

/* Returns the node for a problem's path ("verdict.tags[2]: ..."), as far down as it can be
 * followed. */
static const struct doc_node *locate(const struct doc_node *node, const char *path, size_t len)
{
	while (len) {
		size_t skip = *path == '.' || *path == '[';
		size_t n = strcspn(path + skip, ".[:]");
		char segment[128];
		if (!n || n >= sizeof(segment) || n + skip > len)
			return node;
		snprintf(segment, sizeof(segment), "%.*s", (int)n, path + skip);
		const struct doc_node *next = NULL;
		if (node->kind == DOC_MAP && *path != '[')
			next = doc_get(node, segment);
		else if (node->kind == DOC_LIST && *path == '[')
			next = strtoul(segment, NULL, 10) < node->count
				       ? &node->items[strtoul(segment, NULL, 10)]
				       : NULL;
		if (!next)
			return node;
		node = next;
		size_t step = skip + n + (*path == '[');
		path += step;
		len -= step < len ? step : len;
	}
	return node;
}

static void report_values(const struct reader *reader, const struct doc_node *node, size_t name_len,
	const char *problems)
{
	for (const char *line = problems; *line; line = strchr(line, '\n') + 1) {
		size_t len = strcspn(line, "\n");
		const char *path = line + name_len, *colon = memmem(line, len, ": ", 2);
		size_t path_len = colon && colon > path ? (size_t)(colon - path) : 0;
		const struct doc_node *at = locate(node, path, path_len);
		if (at->kind == DOC_BROKEN)
			continue; /* it has been reported as an unknown field */
		struct site site = reader_site(reader, at, NULL);
		site_report(&site, RULE_VALUE_TYPE, "%.*s", (int)len, line);
	}
}

static void read_value(
	struct reader *reader, const struct doc_node *node, struct variable *variable)
{
	AUTO_BUF problems = BUF_INIT(64 * 1024);
	variable->initial = doc_json(node);
	struct demand demand = {variable->type, &variable->constraint, VALUE_PARTIAL};
	if (node->kind != DOC_BROKEN &&
		demand_check(&demand, variable->initial, variable->name, &problems))
		report_values(reader, node, strlen(variable->name), problems.data);
}

static bool reserved(const char *name)
{
	static const char *const words[] = {"vars", "operator", "code", "agent", "result", "and",
		"or", "not", "in", "true", "false", "null", "len", "has"};
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(words[i], name) == 0)
			return true;
	return false;
}

static void check_name(const struct reader *reader, const struct doc_node *key, enum owner owner)
{
	struct site site = reader_site(reader, key, NULL);
	if (reserved(key->text))
		site_report(&site, RULE_RESERVED_NAME,
			"\"%s\" is a reserved word and cannot name a variable", key->text);
	for (enum owner o = 0; o < owner; o++) {
		const struct doc_pair *other = doc_pair(reader->m->vars_map[o], key->text);
		if (!other)
			continue;
		struct finding *f = site_report(&site, RULE_DUPLICATE_VARIABLE,
			"variable \"%s\" is declared under `%s` too, on line %u", key->text,
			owner_name(o), other->key.pos.line);
		site_help(&site, f, "a name has one owner; rename one of the two");
		return;
	}
}

static void read_owner(struct reader *reader, enum owner owner, struct variable *list)
{
	const struct doc_node *map = reader->m->vars_map[owner];
	for (uint32_t i = 0; map && i < map->count; i++) {
		const struct doc_pair *pair = &map->pairs[i];
		struct variable *v = &list[i];
		v->name = pair->key.text;
		v->owner = owner;
		v->node = &pair->key;
		v->type = read_type(reader, doc_get(&pair->value, "type"));
		check_name(reader, &pair->key, owner);
		if (owner == OWNER_OPERATOR) {
			v->description = reader_text(reader, &pair->value, "description");
			read_constraint(reader, &(struct narrowed){&pair->value, v->name, v->type},
				&v->constraint);
		}
		const struct doc_node *value =
			doc_get(&pair->value, owner == OWNER_OPERATOR ? "value" : "default");
		if (value)
			read_value(reader, value, v);
	}
}

void read_variables(struct reader *reader)
{
	struct machine *m = reader->m;
	const struct doc_node *vars = doc_get(reader->doc->root, "vars");
	m->vars_broken = vars ? vars->kind != DOC_MAP : reader_misspelt(reader->doc->root, "vars");
	uint32_t owners = 0;
	for (enum owner o = 0; o < OWNER_COUNT; o++) {
		m->vars_map[o] = reader_get(reader, vars, owner_name(o), DOC_MAP);
		m->vars_broken |= m->vars_map[o] ? m->vars_map[o]->partial
						 : doc_get(vars, owner_name(o)) != NULL;
		owners += m->vars_map[o] != NULL;
		m->first_of[o] = m->variable_count;
		m->variable_count += m->vars_map[o] ? m->vars_map[o]->count : 0;
	}
	/* A key that is no owner may hold declarations that are not counted. */
	m->vars_broken |= vars && vars->kind == DOC_MAP && (vars->count > owners || vars->partial);
	reader->variables = arena_array(&m->arena, m->variable_count, sizeof(*reader->variables));
	m->variables = reader->variables;
	for (enum owner o = 0; o < OWNER_COUNT; o++)
		read_owner(reader, o, reader->variables + m->first_of[o]);
}
