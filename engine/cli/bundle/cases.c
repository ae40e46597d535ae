#include "cli/bundle/cases.h"

#include "base/path.h"
#include "machine/blackboard.h"
#include "machine/kind.h"
#include "schema/read.h"
#include "schema/shape.h"
#include <string.h>

enum { FOLDER_BYTES = 300, CASES_MAX = 1000 };

static const char prefix[] = "rehearsal/";
static const char case_file[] = "case.yaml", tools_file[] = "tools.jsonl";

/* A case that is being read. */
struct case_reading {
	const struct loaded *loaded;
	struct cases *cases;
	struct rehearsal_case *item;
	struct findings *findings;
};

/* --- members ---------------------------------------------------------------------------------- */

bool cases_is_cassette(const char *folder, const char *path)
{
	size_t len = strlen(path), before = strlen(folder);
	if (!path_is_below(path, folder) || strchr(path + before + 1, '/'))
		return false;
	if (strcmp(folder, "rehearsal"))
		return !strcmp(path + before + 1, "cassette.jsonl");
	return len > before + 7 && !strcmp(path + len - 6, ".jsonl");
}

/* Returns the length of "rehearsal/NAME" in `path`, a member below such a folder; 0: it is none,
 * or the folder of the workspace. */
static size_t folder_of(const char *path)
{
	const char *slash = strncmp(path, prefix, sizeof(prefix) - 1)
				    ? NULL
				    : strchr(path + sizeof(prefix) - 1, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	return len == sizeof("rehearsal/workspace") - 1 &&
			       !strncmp(path, "rehearsal/workspace", len)
		       ? 0
		       : len;
}

static bool has_member(const struct bundle *bundle, const char *folder, const char *name)
{
	char path[FOLDER_BYTES + 32];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return bundle_member(bundle, path);
}

/* --- one case --------------------------------------------------------------------------------- */

static struct finding *report(
	const struct case_reading *reading, const struct doc_node *node, const char *text)
{
	return finding_add(
		reading->findings, RULE_REHEARSAL_CASE, &reading->item->doc, node, "%s", text);
}

static const char *text_at(const struct doc_node *map, const char *key)
{
	const struct doc_node *node = doc_get(map, key);
	return node && node->kind == DOC_STR ? node->text : NULL;
}

/* Reports a state that the machine does not have. */
static void check_state(const struct case_reading *reading, const struct doc_node *node)
{
	const struct machine *machine = reading->loaded->machine;
	char text[300];
	if (!machine || node->kind != DOC_STR || machine_state(machine, node->text))
		return;
	snprintf(text, sizeof(text), "the machine has no state \"%.100s\"", node->text);
	report(reading, node, text);
}

static struct name_list read_names(
	const struct case_reading *reading, const struct doc_node *expect, const char *key)
{
	const struct doc_node *list = doc_get(expect, key);
	if (!list || list->kind != DOC_LIST)
		return (struct name_list){false, NULL, 0};
	const char **names = arena_array(&reading->cases->arena, list->count + 1, sizeof(*names));
	size_t count = 0;
	for (uint32_t i = 0; i < list->count; i++)
		if (list->items[i].kind == DOC_STR)
			names[count++] = list->items[i].text;
	return (struct name_list){true, names, count};
}

static void check_states(
	const struct case_reading *reading, const struct doc_node *expect, const char *key)
{
	const struct doc_node *list = doc_get(expect, key);
	for (uint32_t i = 0; list && list->kind == DOC_LIST && i < list->count; i++)
		check_state(reading, &list->items[i]);
}

/* Reports the names of a map that are no variables of the machine, or no fields of its result. */
static void check_names(const struct case_reading *reading, const struct doc_node *map, bool fields)
{
	const struct machine *machine = reading->loaded->machine;
	char text[300];
	for (uint32_t i = 0; machine && map && map->kind == DOC_MAP && i < map->count; i++) {
		const struct doc_node *key = &map->pairs[i].key;
		bool known = fields ? machine->result && record_field(machine->result, key->text)
				    : machine_variable(machine, key->text) != NULL;
		snprintf(text, sizeof(text),
			fields ? "the machine's result has no field \"%.100s\""
			       : "the machine has no variable \"%.100s\"",
			key->text);
		if (!known)
			report(reading, key, text);
	}
}

static json_t *read_values(
	const struct case_reading *reading, const struct doc_node *expect, const char *key)
{
	const struct doc_node *map = doc_get(expect, key);
	check_names(reading, map, !strcmp(key, "returns"));
	return map && map->kind == DOC_MAP ? doc_json(map) : NULL;
}

static bool stays_below(const char *path)
{
	const char *at = path;
	if (!*path || *path == '/')
		return false;
	for (;; at++) {
		size_t len = strcspn(at, "/");
		if (!len || (len == 1 && *at == '.') || (len == 2 && !strncmp(at, "..", 2)))
			return false;
		at += len;
		if (!*at)
			return true;
	}
}

static void read_file(
	const struct case_reading *reading, const struct doc_pair *pair, struct expected_file *out)
{
	const struct doc_node *absent = doc_get(&pair->value, "absent");
	*out = (struct expected_file){.path = pair->key.text,
		.contains = text_at(&pair->value, "contains"),
		.sha256 = text_at(&pair->value, "sha256"),
		.absent = absent && absent->kind == DOC_BOOL && absent->boolean};
	if (!stays_below(pair->key.text))
		finding_help(reading->findings,
			report(reading, &pair->key, "this is no path below the workspace"),
			"write it as report.md or out/report.md");
	if (out->absent ? out->contains || out->sha256 : !out->contains && !out->sha256)
		report(reading, &pair->value,
			out->absent ? "a file that is absent has no content"
				    : "this expects nothing of the file: give contains, absent or "
				      "sha256");
}

static void read_files(const struct case_reading *reading, const struct doc_node *expect)
{
	const struct doc_node *map = doc_get(expect, "files");
	struct expectation *out = &reading->item->expect;
	if (!map || map->kind != DOC_MAP)
		return;
	struct expected_file *files =
		arena_array(&reading->cases->arena, map->count + 1, sizeof(*files));
	for (uint32_t i = 0; i < map->count; i++)
		if (map->pairs[i].value.kind == DOC_MAP)
			read_file(reading, &map->pairs[i], &files[out->file_count++]);
	out->files = files;
}

static void read_expect(const struct case_reading *reading, const struct doc_node *expect)
{
	struct expectation *out = &reading->item->expect;
	const struct doc_node *end = doc_get(expect, "end"), *code = doc_get(expect, "exit_code"),
			      *left = doc_get(expect, "left_over");
	const char *status = text_at(expect, "status");
	out->end = text_at(expect, "end");
	if (end)
		check_state(reading, end);
	out->exit_code = code && code->kind == DOC_INT ? (int)code->integer : CASE_EXIT_ANY;
	out->status = status        ? !strcmp(status, "ok") ? CASE_STATUS_OK : CASE_STATUS_FAILED
		      : end || code ? CASE_STATUS_ANY
				    : CASE_STATUS_OK;
	out->path = read_names(reading, expect, "path");
	out->passes = read_names(reading, expect, "passes");
	check_states(reading, expect, "path");
	check_states(reading, expect, "passes");
	out->egress = read_names(reading, expect, "egress");
	out->vars = read_values(reading, expect, "vars");
	out->returns = read_values(reading, expect, "returns");
	out->left_over = left && left->kind == DOC_INT ? left->integer : 0;
	read_files(reading, expect);
}

/* Reports parameters that the machine would refuse. */
static void read_params(const struct case_reading *reading, const struct doc_node *params)
{
	const struct machine *machine = reading->loaded->machine;
	json_auto_t *trial = machine ? blackboard_new(machine) : NULL;
	for (uint32_t i = 0; params && params->kind == DOC_MAP && i < params->count; i++) {
		const struct doc_pair *pair = &params->pairs[i];
		json_auto_t *value = doc_json(&pair->value);
		struct err e = ERR_NONE;
		if (machine && blackboard_set_parameter(
				       machine, trial, pair->key.text, value, VALUE_WHOLE, &e))
			report(reading,
				machine_variable(machine, pair->key.text) ? &pair->value
									  : &pair->key,
				e.text);
		json_object_set(reading->item->params, pair->key.text, value);
	}
}

/* Reports an expectation that nothing can prove, because a state that could have made it true is
 * recorded and not executed. */
static void check_provable(const struct case_reading *reading, const struct doc_node *expect)
{
	const struct machine *machine = reading->loaded->machine;
	const struct doc_pair *egress = doc_pair(expect, "egress"),
			      *files = doc_pair(expect, "files");
	bool calls = false, writes = false;
	char text[300];
	for (size_t i = 0; machine && i < machine->state_count; i++) {
		const struct state *state = &machine->states[i];
		const struct tool_state *tool = state_tool(state);
		if (!tool || !recorded_steps_of(&reading->item->recorded, state->name, 0))
			continue;
		snprintf(text, sizeof(text),
			"this cannot be told: state %.64s is recorded in tools.jsonl and not "
			"executed",
			state->name);
		if (egress && !calls && tool->network != NETWORK_BLOCK) {
			calls = true;
			report(reading, &egress->key, text);
		}
		if (files && !writes && tool->workspace == WORKSPACE_WRITE) {
			writes = true;
			report(reading, &files->key, text);
		}
	}
}

static void read_recorded(const struct case_reading *reading)
{
	const struct loaded *loaded = reading->loaded;
	AUTO_FREE char *text = NULL;
	AUTO_FREE char *file = NULL;
	size_t len;
	struct err e = ERR_NONE;
	char path[FOLDER_BYTES + 32];
	snprintf(path, sizeof(path), "%s/%s", reading->item->folder, tools_file);
	if (bundle_read(loaded->bundle, path, &text, &len, &e))
		return;
	file = loaded->has_doc ? doc_beside(&loaded->doc, path) : NULL;
	recorded_steps_read(&reading->item->recorded, loaded->machine,
		&(struct steps_file){file ? file : path, text, len}, reading->findings);
}

static void read_case(const struct case_reading *reading)
{
	struct rehearsal_case *item = reading->item;
	AUTO_FREE char *text = NULL;
	AUTO_FREE char *file = NULL;
	size_t len;
	struct err e = ERR_NONE;
	char path[FOLDER_BYTES + 32];
	snprintf(path, sizeof(path), "%s/%s", item->folder, case_file);
	if (bundle_read(reading->loaded->bundle, path, &text, &len, &e))
		return;
	file = reading->loaded->has_doc ? doc_beside(&reading->loaded->doc, path) : NULL;
	item->has_doc = true;
	if (doc_read(&item->doc, file ? file : path, text, len, reading->findings))
		return;
	const struct doc_node *root = item->doc.root;
	shape_check(shape_case, &item->doc, root, reading->findings);
	const char *description = text_at(root, "description");
	item->description = description ? description : "";
	read_params(reading, doc_get(root, "params"));
	read_expect(reading, doc_get(root, "expect"));
	read_recorded(reading);
	check_provable(reading, doc_get(root, "expect"));
}

/* --- all of them ------------------------------------------------------------------------------ */

static struct rehearsal_case *add_case(struct cases *cases, const char *folder, size_t len)
{
	struct rehearsal_case *item = &cases->items[cases->count++];
	const char *kept = arena_copy(&cases->arena, folder, len), *slash = strchr(kept, '/');
	*item = (struct rehearsal_case){.name = slash ? slash + 1 : CASE_DEFAULT,
		.description = "",
		.folder = kept,
		.params = json_object(),
		.expect = {.status = CASE_STATUS_OK,
			.exit_code = CASE_EXIT_ANY,
			.left_over = slash ? 0 : CASE_LEFT_OVER_ANY}};
	return item;
}

/* Reports a file that no rehearsal of the case would read: its name is probably misspelt. */
static void check_member(
	const struct loaded *loaded, const char *path, size_t folder, struct findings *findings)
{
	const char *name = path + folder + 1;
	AUTO_FREE char *file = loaded->has_doc ? doc_beside(&loaded->doc, path) : NULL;
	if (!strcmp(name, case_file) || !strcmp(name, "cassette.jsonl") ||
		!strcmp(name, tools_file) || !strncmp(name, "workspace/", 10) ||
		!strncmp(name, "README", 6))
		return;
	struct finding *it = finding_add(findings, RULE_REHEARSAL_CASE, NULL, NULL,
		"no rehearsal reads this file: a case has case.yaml, cassette.jsonl, "
		"tools.jsonl, workspace/ and README");
	it->file = file ? arena_copy(&findings->arena, file, strlen(file)) : path;
}

static bool is_default(const struct cases *cases, const struct bundle *bundle)
{
	for (size_t i = 0; i < bundle->count; i++)
		if (cases_is_cassette("rehearsal", bundle->members[i].path))
			return true;
	return !cases->count;
}

/* Takes the members below rehearsal/NAME that begin at number `at`; they follow one another.
 * Returns the number of the next other member. */
static size_t take_folder(
	const struct loaded *loaded, struct cases *cases, size_t at, struct findings *findings)
{
	const struct bundle *bundle = loaded->bundle;
	const char *first = bundle->members[at].path;
	size_t len = folder_of(first), end = at;
	char folder[FOLDER_BYTES];
	while (end < bundle->count && folder_of(bundle->members[end].path) == len &&
		!strncmp(bundle->members[end].path, first, len))
		end++;
	snprintf(folder, sizeof(folder), "%.*s", (int)len, first);
	if (len >= sizeof(folder) || !has_member(bundle, folder, case_file))
		return end;
	if (cases->count == CASES_MAX) {
		finding_add(findings, RULE_REHEARSAL_CASE, NULL, NULL,
			"%s: a bundle has at most 1,000 cases", folder);
		return bundle->count;
	}
	for (size_t i = at; i < end; i++)
		check_member(loaded, bundle->members[i].path, len, findings);
	struct case_reading reading = {.loaded = loaded,
		.cases = cases,
		.item = add_case(cases, folder, len),
		.findings = findings};
	read_case(&reading);
	return end;
}

void cases_read(const struct loaded *loaded, struct cases *cases, struct findings *findings)
{
	const struct bundle *bundle = loaded->bundle;
	*cases = (struct cases){0};
	arena_init(&cases->arena);
	cases->items = arena_array(&cases->arena, CASES_MAX + 1, sizeof(*cases->items));
	for (size_t i = 0; i < bundle->count;)
		i = folder_of(bundle->members[i].path) ? take_folder(loaded, cases, i, findings)
						       : i + 1;
	if (is_default(cases, bundle))
		add_case(cases, "rehearsal", strlen("rehearsal"));
}

static void case_done(struct rehearsal_case *item)
{
	json_decref(item->params);
	recorded_steps_done(&item->recorded);
	json_decref(item->expect.vars);
	json_decref(item->expect.returns);
	if (item->has_doc)
		doc_done(&item->doc);
}

void cases_done(struct cases *cases)
{
	if (!cases->items)
		return;
	for (size_t i = 0; i < cases->count; i++)
		case_done(&cases->items[i]);
	arena_done(&cases->arena);
	*cases = (struct cases){0};
}

void cases_keep(struct cases *cases, const struct rehearsal_case *item)
{
	struct rehearsal_case kept = *item;
	for (size_t i = 0; i < cases->count; i++)
		if (&cases->items[i] != item)
			case_done(&cases->items[i]);
	cases->items[0] = kept;
	cases->count = 1;
}

const struct rehearsal_case *cases_find(const struct cases *cases, const char *name)
{
	for (size_t i = 0; i < cases->count; i++)
		if (!strcmp(cases->items[i].name, name))
			return &cases->items[i];
	return NULL;
}

bool cases_expects(const struct rehearsal_case *item)
{
	return strcmp(item->name, CASE_DEFAULT) != 0;
}

size_t cases_docs(const struct cases *cases, const struct doc ***docs, size_t count)
{
	const struct doc **grown =
		cases->count ? reallocarray(*docs, count + cases->count + 1, sizeof(*grown)) : NULL;
	if (!grown)
		return count;
	*docs = grown;
	for (size_t i = 0; i < cases->count; i++)
		if (cases->items[i].has_doc)
			grown[count++] = &cases->items[i].doc;
	return count;
}
