#include "machine/fixed.h"
#include "machine/kind.h"
#include "machine/reader.h"

#include "base/host.h"
#include <string.h>

static void read_command(struct reader *reader, struct state *state)
{
	const struct doc_node *list = reader_get(reader, state->node, "command", DOC_LIST);
	if (!list)
		return;
	const struct template **command =
		arena_array(&reader->m->arena, list->count, sizeof(*command));
	for (uint32_t i = 0; i < list->count; i++) {
		struct site site = reader_site(reader, &list->items[i], state);
		if (list->items[i].kind == DOC_STR)
			command[i] = template_compile(&reader->scope, &site, TEMPLATE_ARG);
	}
	state->tool.command = command;
	state->tool.command_count = list->count;
	read_command_files(reader, state);
}

static void read_network(struct reader *reader, struct state *state)
{
	struct tool_state *t = &state->tool;
	const char *word = reader_text(reader, state->node, "allow_network");
	const char *other = reader_text(reader, state->node, "network");
	reader_note_spelling(reader, state, "network", "allow_network",
		"`allow_network`, where `host` is `allow` and `none` is `block`");
	if (word)
		t->network = !strcmp(word, "allow")   ? NETWORK_ALLOW
			     : !strcmp(word, "block") ? NETWORK_BLOCK
						      : NETWORK_AUTO;
	else if (other)
		t->network = !strcmp(other, "host")   ? NETWORK_ALLOW
			     : !strcmp(other, "none") ? NETWORK_BLOCK
						      : NETWORK_AUTO;
	const struct doc_node *list = reader_get(reader, state->node, "allow_network", DOC_LIST);
	if (!list)
		return;
	t->network = NETWORK_LIST;
	t->hosts = reader_texts(reader, state->node, "allow_network", &t->host_count);
	const struct variable **parameters =
		arena_array(&reader->m->arena, list->count, sizeof(*parameters));
	size_t at = 0; /* of the host */
	for (uint32_t i = 0; i < list->count; at += list->items[i++].kind == DOC_STR) {
		struct host_port host;
		if (list->items[i].kind == DOC_STR && fixed_refers(list->items[i].text)) {
			parameters[at] = fixed_read(reader, state, &list->items[i], FIXED_HOST);
			if (parameters[at])
				fixed_note(reader, state, FIXED_HOST, parameters[at]);
			continue;
		}
		if (list->items[i].kind != DOC_STR ||
			host_rule_decode(&host, list->items[i].text, NULL) == 0)
			continue;
		struct site site = reader_site(reader, &list->items[i], state);
		struct finding *f = site_report(
			&site, RULE_NETWORK_HOST, "\"%s\" is not HOST:PORT", list->items[i].text);
		site_help(&site, f,
			"write a name or address and a port, such as example.org:443; "
			"`*.` in front means any subdomain");
	}
	t->host_parameters = parameters;
}

static void read_env(struct reader *reader, struct state *state)
{
	const struct doc_node *map = reader_get(reader, state->node, "env", DOC_MAP);
	if (!map)
		return;
	struct named_text *env = arena_array(&reader->m->arena, map->count, sizeof(*env));
	for (uint32_t i = 0; i < map->count; i++) {
		const struct doc_pair *pair = &map->pairs[i];
		if (strncmp(pair->key.text, "AGENT6_", 7) == 0) {
			struct site site = reader_site(reader, &pair->key, state);
			site_report(&site, RULE_ENV_NAME,
				"names that begin with AGENT6_ are set by agent6 itself");
		}
		if (pair->value.kind == DOC_STR)
			env[state->tool.env_count++] =
				(struct named_text){pair->key.text, pair->value.text};
	}
	state->tool.env = env;
}

static const char *const *read_paths(
	const struct reader *reader, const struct state *state, const char *key, size_t *count)
{
	const struct doc_node *list = reader_get(reader, state->node, key, DOC_LIST);
	for (uint32_t i = 0; list && i < list->count; i++) {
		const struct doc_node *item = &list->items[i];
		if (item->kind != DOC_STR || item->text[0] != '/' || !item->text[1] ||
			reader_path_clean(item->text + 1))
			continue;
		struct site site = reader_site(reader, item, state);
		site_report(&site, RULE_GRANT_PATH,
			"\"%s\" is not a clean path: no `.`, `..`, doubled or trailing slash",
			item->text);
	}
	return reader_texts(reader, state->node, key, count);
}

static void read_ok_exits(struct reader *reader, struct state *state)
{
	const struct doc_node *list = reader_get(reader, state->node, "ok_exit", DOC_LIST);
	if (!list || !list->count)
		return;
	int64_t *exits = arena_array(&reader->m->arena, list->count, sizeof(*exits));
	for (uint32_t i = 0; i < list->count; i++)
		if (list->items[i].kind == DOC_INT)
			exits[state->tool.ok_exit_count++] = list->items[i].integer;
	state->tool.ok_exits = exits;
}

static void read_tool(struct reader *reader, struct state *state)
{
	read_work(reader, state);
	struct tool_state *t = &state->tool;
	const struct doc_node *limits = reader_value(reader, state->node, "limits");
	const struct doc_node *pty = reader_get(reader, state->node, "pty", DOC_BOOL);
	const char *workspace = reader_text(reader, state->node, "workspace");
	read_command(reader, state);
	read_ok_exits(reader, state);
	read_network(reader, state);
	read_env(reader, state);
	t->stdin_text = reader_template(reader, state->node, "stdin", state);
	if (workspace)
		t->workspace = !strcmp(workspace, "read")   ? WORKSPACE_READ
			       : !strcmp(workspace, "none") ? WORKSPACE_NONE
							    : WORKSPACE_WRITE;
	t->reads = read_paths(reader, state, "reads", &t->read_count);
	t->writes = read_paths(reader, state, "writes", &t->write_count);
	t->secrets = reader_texts(reader, state->node, "secrets", &t->secret_count);
	t->pty = pty && pty->boolean;
	t->memory_mb = reader_int(reader, limits, "memory_mb");
	t->cpu_secs = reader_int(reader, limits, "cpu_secs");
	t->processes = reader_int(reader, limits, "processes");
	t->open_files = reader_int(reader, limits, "open_files");
	t->file_mb = reader_int(reader, limits, "file_mb");
	read_edges(reader, state);
}

static unsigned tool_outcomes(const struct state *state)
{
	(void)state;
	return 1u << OUTCOME_OK | 1u << OUTCOME_NONZERO | 1u << OUTCOME_TIMEOUT;
}

static void tool_texts(const struct state *state, text_visitor *each, void *ctx)
{
	for (size_t i = 0; i < state->tool.command_count; i++)
		each(ctx, state->tool.command[i], true);
	each(ctx, state->tool.stdin_text, true);
}

static bool tool_brings_untrusted(const struct state *state)
{
	return state->tool.network == NETWORK_ALLOW || state->tool.network == NETWORK_LIST;
}

static bool tool_takes_files(const struct state *state)
{
	return state->tool.workspace != WORKSPACE_NONE;
}

static enum writing tool_writing(const struct state *state)
{
	return state->tool.workspace == WORKSPACE_WRITE ? WRITES_FILES : WRITES_NOTHING;
}

static const char *tool_style(const struct state *state)
{
	(void)state;
	return "color=\"#0a7550\", fillcolor=\"#e4f3ec\"";
}

static const struct kind_result tool_result = {
	.good = OUTCOME_OK,
	.owner = OWNER_CODE,
	.whole = "stdout_json",
	.text = "stdout_text",
	.untyped = true,
	.exits = true,
	.invalid = OUTCOME_NONZERO,
	.failure = &failure_command,
};

const struct kind kind_tool = {
	"tool",
	TRAIT_HURRIES | TRAIT_COMMAND | TRAIT_DEFAULTS,
	&tool_result,
	read_tool,
	tool_outcomes,
	tool_texts,
	tool_brings_untrusted,
	tool_takes_files,
	tool_writing,
	"[\"",
	"\"]",
	tool_style,
};
