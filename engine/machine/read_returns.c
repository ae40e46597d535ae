#include "machine/reader.h"

#include <string.h>

enum { CANDIDATES_MAX = 4096, FIELDS_SHOWN = 8 };

void read_result(struct reader *reader)
{
	const struct doc_node *node = reader_value(reader, reader->doc->root, "returns");
	const struct doc_pair *pair = NULL;
	if (node && node->kind == DOC_STR)
		pair = doc_pair(reader->m->schemas_map, node->text);
	if (node && node->kind == DOC_STR && !pair)
		reader_unknown_schema(reader, node, NULL);
	if (pair) {
		reader->m->result = reader_record(reader, pair);
		reader->m->journal_format = JOURNAL_FORMAT_LAST;
	}
	reader->m->returns_broken =
		!reader->m->result && (node || reader_misspelt(reader->doc->root, "returns"));
}

/* Writes the template of a `returns` that gives every required field. */
static void show_fields(const struct record *record, struct buf *out)
{
	size_t shown = 0;
	buf_adds(out, "returns: {");
	for (size_t i = 0; i < record->field_count && shown < FIELDS_SHOWN; i++)
		if (!record->fields[i].optional)
			buf_addf(out, "%s%s: \"{{ ... }}\"", shown++ ? ", " : "",
				record->fields[i].name);
	buf_adds(out, shown == FIELDS_SHOWN ? ", ...}" : "}");
}

static void report_missing(const struct reader *reader, const struct state *state)
{
	struct site site = reader_site(reader, state->key, state);
	AUTO_BUF fields = BUF_INIT(1024);
	if (reader_misspelt(state->node, "returns"))
		return;
	struct finding *f = site_report(&site, RULE_MISSING_RETURNS,
		"the machine returns %s, and this end is ok without a result",
		reader->m->result->name);
	show_fields(reader->m->result, &fields);
	site_help(&site, f, "add `%s`", fields.data);
}

static void report_undeclared(
	const struct reader *reader, const struct doc_pair *pair, const struct state *state)
{
	struct site site = reader_site(reader, &pair->key, state);
	struct finding *f = site_report(&site, RULE_UNDECLARED_RETURNS,
		"this end returns a result, and the machine declares none");
	site_help(&site, f,
		"add `returns: SCHEMA` at the top of the file, the schema of the result, or remove "
		"this");
}

/* Returns the field that a key names; NULL: an error was reported. */
static const struct field *field_of(
	const struct reader *reader, const struct doc_node *key, const struct state *state)
{
	const struct record *record = reader->m->result;
	const struct field *field = record_field(record, key->text);
	/* A key that is no name has been reported. */
	if (field || !identifier_ok(key->text, strlen(key->text)))
		return field;
	struct site site = reader_site(reader, key, state);
	struct finding *f = site_report(&site, RULE_UNKNOWN_FIELD,
		"schema \"%s\" of the result has no field \"%s\"", record->name, key->text);
	const char *names[CANDIDATES_MAX];
	size_t count = record->field_count < CANDIDATES_MAX ? record->field_count : CANDIDATES_MAX;
	for (size_t i = 0; i < count; i++)
		names[i] = record->fields[i].name;
	site_did_you_mean(&site, f, key->text, names, count);
	site_say_known(&site, f, names, count);
	return NULL;
}

/* Reports the required fields that the map lacks. */
static void check_complete(
	const struct reader *reader, const struct doc_pair *returns, const struct state *state)
{
	const struct record *record = reader->m->result;
	for (size_t i = 0; i < record->field_count; i++) {
		const struct field *field = &record->fields[i];
		if (field->optional || doc_pair(&returns->value, field->name) ||
			reader_misspelt(&returns->value, field->name))
			continue;
		struct site site = reader_site(reader, &returns->key, state);
		struct finding *f = site_report(&site, RULE_MISSING_RETURNS,
			"the result lacks the field \"%s\", which schema \"%s\" requires",
			field->name, record->name);
		site_help(&site, f, "add `%s: \"{{ ... }}\"`, of type %s", field->name,
			type_name(field->type));
	}
}

static void read_fields(struct reader *reader, struct state *state, const struct doc_pair *returns)
{
	const struct doc_node *map = &returns->value;
	struct assignment *all = arena_array(&reader->m->arena, map->count, sizeof(*all));
	size_t count = 0;
	for (uint32_t i = 0; i < map->count; i++) {
		const struct doc_pair *pair = &map->pairs[i];
		const struct field *field = field_of(reader, &pair->key, state);
		struct receiver receiver = {.mismatch = RULE_RETURNS_TYPE};
		if (field) {
			receiver.name = field->name;
			receiver.type = field->type;
		}
		const struct template *value = read_assigned(
			reader, &reader->scope, pair, state, field ? &receiver : NULL);
		if (field && value)
			all[count++] = (struct assignment){.field = field, .value = value};
	}
	state->terminal.result = reader->m->result;
	state->terminal.returns = all;
	state->terminal.return_count = count;
	check_complete(reader, returns, state);
}

void read_returns(struct reader *reader, struct state *state)
{
	const struct doc_pair *returns = reader_pair(reader, state->node, "returns");
	if (reader->m->returns_broken)
		return;
	if (!reader->m->result && returns)
		report_undeclared(reader, returns, state);
	else if (reader->m->result && !returns && state->terminal.ok)
		report_missing(reader, state);
	else if (reader->m->result && returns && returns->value.kind == DOC_MAP)
		read_fields(reader, state, returns);
}
