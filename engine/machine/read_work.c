#include "machine/reader.h"

#include "base/clock.h"
#include "base/host.h"
#include <string.h>

/* Notes a key in the spelling of the other bundle format. If both spellings are present, the shape
 * check has reported that. `ours` NULL: the key has no counterpart here. */
static void note_spelling(const struct reader *reader, const struct state *state, const char *other,
	const char *ours, const char *meaning)
{
	const struct doc_pair *pair = reader_pair(reader, state->node, other);
	if (!pair || (ours && reader_pair(reader, state->node, ours)))
		return;
	struct site site = reader_site(reader, &pair->key, state);
	site_report(&site, RULE_OTHER_SPELLING, "`%s` is understood as %s", other, meaning);
}

static enum thinking read_thinking(const struct reader *reader, const struct state *state)
{
	static const struct {
		const char *text;
		enum thinking thinking;
	} levels[] = {{"off", THINKING_OFF}, {"low", THINKING_LOW}, {"medium", THINKING_MEDIUM},
		{"high", THINKING_HIGH}, {"xhigh", THINKING_HIGH}, {"max", THINKING_HIGH}};
	const char *level = reader_text(reader, state->node, "thinking");
	if (!level)
		level = reader_text(reader, state->node, "effort");
	for (size_t i = 0; level && i < ARRAY_LEN(levels); i++)
		if (strcmp(levels[i].text, level) == 0)
			return levels[i].thinking;
	return THINKING_INHERIT;
}

static void note_agent_spellings(const struct reader *reader, const struct state *state)
{
	const char *effort = reader_text(reader, state->node, "effort");
	bool beyond = effort && (!strcmp(effort, "xhigh") || !strcmp(effort, "max"));
	note_spelling(reader, state, "effort", "thinking",
		beyond ? "`thinking: high`, the highest level here" : "`thinking`");
	note_spelling(reader, state, "max_tokens_fallback", NULL,
		"a token limit that binds when spend cannot be metered");
	const struct doc_node *prompt = reader_get(reader, state->node, "prompt", DOC_STR);
	const char *called = prompt ? strstr(prompt->text, "finish_session") : NULL;
	if (!called)
		return;
	struct site site = reader_site(reader, prompt, state);
	site_report_at(&site, RULE_OTHER_SPELLING, (size_t)(called - prompt->text),
		strlen("finish_session"),
		"`finish_session` is understood as `finish_run`, the tool that ends a session");
}

static const char *inherited(const char *name)
{
	return name && strcmp(name, "inherit") == 0 ? NULL : name;
}

static const struct template *read_prompt(const struct reader *reader, const struct state *state)
{
	const struct doc_node *node = reader_get(reader, state->node, "prompt", DOC_STR);
	struct site site = reader_site(reader, node, state);
	return node ? template_compile(&reader->scope, &site, TEMPLATE_PROMPT) : NULL;
}

/* Refuses an empty prompt: no provider takes a message without text. */
static void check_prompt(const struct reader *reader, const struct state *state)
{
	const struct agent_state *a = &state->agent;
	const char *text = a->prompt ? template_literal(a->prompt) : NULL;
	if (!text || text[strspn(text, " \t\r\n")])
		return;
	struct site site = reader_site(reader,
		reader_value(reader, state->node, a->prompt_file ? "prompt_file" : "prompt"),
		state);
	struct finding *f = site_report(
		&site, RULE_OUT_OF_RANGE, "the prompt is empty: no model can be asked nothing");
	site_help(&site, f, "say what the agent is to do");
}

void read_agent(struct reader *reader, struct state *state)
{
	struct agent_state *a = &state->agent;
	const char *mode = reader_text(reader, state->node, "mode");
	a->prompt_file = reader_text(reader, state->node, "prompt_file");
	a->prompt = a->prompt_file ? read_prompt_file(reader, state) : read_prompt(reader, state);
	check_prompt(reader, state);
	a->mode = mode && strcmp(mode, "run") == 0 ? MODE_RUN : MODE_AGENT;
	a->provider = inherited(reader_text(reader, state->node, "provider"));
	a->model = inherited(reader_text(reader, state->node, "model"));
	a->thinking = read_thinking(reader, state);
	a->temperature = reader_float(reader, state->node, "temperature");
	a->max_usd = reader_float(reader, state->node, "max_usd");
	a->best_effort_usd = reader_float(reader, state->node, "best_effort_usd_limit");
	a->max_input_tokens = reader_int(reader, state->node, "max_input_tokens");
	a->max_output_tokens = reader_int(reader, state->node, "max_output_tokens");
	a->max_iterations = reader_int(reader, state->node, "max_iterations");
	a->max_tokens_fallback = reader_int(reader, state->node, "max_tokens_fallback");
	note_agent_spellings(reader, state);
}

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
	note_spelling(reader, state, "network", "allow_network",
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
	for (uint32_t i = 0; i < list->count; i++) {
		struct host_port host;
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

void read_tool(struct reader *reader, struct state *state)
{
	struct tool_state *t = &state->tool;
	const struct doc_node *limits = reader_value(reader, state->node, "limits");
	const struct doc_node *pty = reader_get(reader, state->node, "pty", DOC_BOOL);
	const char *workspace = reader_text(reader, state->node, "workspace");
	read_command(reader, state);
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
}

/* Returns the declared value of a reference to an operator variable; NULL: it has another owner. */
static const json_t *operator_value(const struct ref *ref)
{
	bool constant = ref->root && ref->root->owner == OWNER_OPERATOR;
	return constant ? ref_within(ref, ref->root->initial) : NULL;
}

const char *wait_every_problem(const json_t *value)
{
	if (!json_is_integer(value))
		return NULL;
	json_int_t secs = json_integer_value(value);
	return secs < 1                  ? "every_secs must be at least 1"
	       : secs > MACHINE_SECS_MAX ? "every_secs is more than a hundred years"
					 : NULL;
}

const char *wait_until_problem(const json_t *value)
{
	int64_t instant;
	if (!json_is_string(value) ||
		clock_parse(json_string_value(value), json_string_length(value), &instant) == 0)
		return NULL;
	return "`until` must be an instant such as 2026-01-31T08:00:00Z";
}

/* Returns the lone reference that a timing may be; NULL: it is none, and that was reported. */
static const struct template *timing_ref(const struct reader *reader, const struct state *state,
	const struct doc_node *node, enum type_kind wanted)
{
	struct site site = reader_site(reader, node, state);
	const struct template *t = template_compile(&reader->scope, &site, TEMPLATE_ASSIGN);
	if (!t)
		return NULL;
	const struct ref *ref = template_lone(t);
	if (ref && ref->type.kind == wanted)
		return t;
	bool every = wanted == TYPE_INT;
	struct finding *f = NULL;
	int64_t secs;
	if (ref)
		site_report(&site, RULE_WAIT_TIMING, "\"%s\" is of type %s, but %s takes %s",
			ref->path, type_name(ref->type), every ? "every_secs" : "until",
			every ? "an int" : "a str");
	else
		f = site_report(&site, RULE_WAIT_TIMING,
			"%s takes %s or one reference, nothing else",
			every ? "every_secs" : "until",
			every ? "an integer without quotes" : "an instant");
	if (f && every && !clock_length(node->text, &secs) && secs >= 1 && secs <= MACHINE_SECS_MAX)
		site_help(&site, f, "write `every_secs: %jd`", (intmax_t)secs);
	else if (f && every)
		site_help(&site, f, "such as `every_secs: 60`, or `every_secs: \"{{ pause }}\"`");
	return NULL;
}

static void report_timing(const struct reader *reader, const struct state *state,
	const struct doc_node *node, const struct template *template, const char *problem)
{
	struct site site = reader_site(reader, node, state);
	const struct ref *ref = template ? template_lone(template) : NULL;
	const char *part = problem && !ref && node->kind == DOC_STR
				   ? clock_fault(node->text, node->count)
				   : NULL;
	if (part)
		site_help(&site, site_report(&site, RULE_WAIT_VALUE, "%s: %s", problem, part),
			"such as 2026-01-31T08:00:00Z or 2026-01-31T08:00:00+01:00");
	else if (problem && ref)
		site_report(&site, RULE_WAIT_VALUE, "%s, and operator variable \"%s\" is not",
			problem, ref->path);
	else if (problem)
		site_help(&site, site_report(&site, RULE_WAIT_VALUE, "%s", problem),
			"a time from now is `every_secs`; at a time of day, a timer or cron starts "
			"the machine");
}

static void read_every(struct reader *reader, struct state *state, const struct doc_node *node)
{
	const char *problem = NULL;
	if (node->kind == DOC_INT) {
		state->wait.every_secs = (struct opt_int){true, node->integer};
	} else if (node->kind == DOC_STR) {
		state->wait.every_ref = timing_ref(reader, state, node, TYPE_INT);
		if (state->wait.every_ref)
			problem = wait_every_problem(
				operator_value(template_lone(state->wait.every_ref)));
	}
	report_timing(reader, state, node, state->wait.every_ref, problem);
}

static void read_until(struct reader *reader, struct state *state, const struct doc_node *node)
{
	const char *problem = NULL;
	if (node->kind != DOC_STR)
		return;
	if (strstr(node->text, "{{")) {
		state->wait.until_ref = timing_ref(reader, state, node, TYPE_STR);
		if (state->wait.until_ref)
			problem = wait_until_problem(
				operator_value(template_lone(state->wait.until_ref)));
	} else {
		state->wait.until_literal = true;
		if (clock_parse(node->text, node->count, &state->wait.until_unix_us))
			problem = "`until` must be an instant such as 2026-01-31T08:00:00Z";
	}
	report_timing(reader, state, node, state->wait.until_ref, problem);
}

void read_wait(struct reader *reader, struct state *state)
{
	const struct doc_node *every = reader_value(reader, state->node, "every_secs");
	const struct doc_node *until = reader_value(reader, state->node, "until");
	state->wait.timed = every || until;
	if (every)
		read_every(reader, state, every);
	if (until)
		read_until(reader, state, until);
}
