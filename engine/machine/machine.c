#include "machine/machine.h"

#include <string.h>

#define X(name, text) text,
const char *state_kind_name(enum state_kind kind)
{
	static const char *const names[] = {STATE_KINDS(X)};
	return names[kind];
}
#undef X

unsigned outcomes_of(enum state_kind kind, bool timed)
{
	switch (kind) {
	case KIND_AGENT:
		return 1u << OUTCOME_OK | 1u << OUTCOME_FAILED | 1u << OUTCOME_BUDGET_EXHAUSTED |
		       1u << OUTCOME_TIMEOUT;
	case KIND_TOOL: return 1u << OUTCOME_OK | 1u << OUTCOME_NONZERO | 1u << OUTCOME_TIMEOUT;
	case KIND_WAIT: return 1u << OUTCOME_SIGNAL | (timed ? 1u << OUTCOME_TICK : 0);
	case KIND_BRANCH:
	case KIND_TERMINAL:
	case KIND_COUNT: break;
	}
	return 0;
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
		if (machine->states[i].kind == KIND_AGENT &&
			machine->states[i].agent.mode == MODE_RUN)
			return true;
	return false;
}
