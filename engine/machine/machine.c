#include "machine/kind.h"

#include <string.h>

const char *state_edge_label(const struct state *state, size_t i)
{
	if (!state->clauses)
		return outcome_name((enum outcome)i);
	return i < state->clause_count ? state->clauses[i].text : outcome_name(OUTCOME_EXHAUSTED);
}

const struct capture *state_edge_capture(const struct state *state, size_t i)
{
	if (state->clauses || i == OUTCOME_EXHAUSTED)
		return NULL;
	const struct kind_result *result = state_result(state);
	const struct capture *capture =
		result && i == result->good ? &state->capture : &state->failure;
	return capture->present ? capture : NULL;
}

const char *owner_name(enum owner owner)
{
	static const char *const names[] = {
		[OWNER_OPERATOR] = "operator", [OWNER_CODE] = "code", [OWNER_AGENT] = "agent"};
	return names[owner];
}

const struct state *machine_state(const struct machine *machine, const char *name)
{
	const struct doc_pair *pair = doc_pair(machine->states_map, name);
	return pair ? &machine->states[pair - machine->states_map->pairs] : NULL;
}

const struct variable *machine_variable(const struct machine *machine, const char *name)
{
	for (enum owner o = 0; o < OWNER_COUNT; o++) {
		const struct doc_pair *pair = doc_pair(machine->vars_map[o], name);
		if (pair)
			return &machine->variables[machine->first_of[o] +
						   (size_t)(pair - machine->vars_map[o]->pairs)];
	}
	return NULL;
}

void machine_free(struct machine *machine)
{
	if (!machine)
		return;
	for (size_t i = 0; i < machine->variable_count; i++)
		json_decref(machine->variables[i].initial);
	arena_done(&machine->arena);
	free(machine);
}

void prompt_docs_done(struct prompt_docs *docs)
{
	for (size_t i = 0; i < docs->count; i++) {
		doc_done(docs->items[i]);
		free(docs->items[i]);
	}
	free(docs->items);
	*docs = (struct prompt_docs){0};
}

bool machine_writes_code(const struct machine *machine)
{
	for (size_t i = 0; i < machine->state_count; i++)
		if (state_writing(&machine->states[i]) == WRITES_CODE)
			return true;
	return false;
}

bool tool_exit_ok(const struct tool_state *tool, int64_t status)
{
	for (size_t i = 0; i < tool->ok_exit_count; i++)
		if (tool->ok_exits[i] == status)
			return true;
	return !tool->ok_exits && !status;
}
