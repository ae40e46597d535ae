#include "machine/kind.h"

#include "machine/reader.h"

unsigned kind_no_outcomes(const struct state *state)
{
	(void)state;
	return 0;
}

void kind_no_texts(const struct state *state, text_visitor *each, void *ctx)
{
	(void)state, (void)each, (void)ctx;
}

bool kind_never(const struct state *state)
{
	(void)state;
	return false;
}

enum writing kind_writes_nothing(const struct state *state)
{
	(void)state;
	return WRITES_NOTHING;
}

static void read_unknown(struct reader *reader, struct state *state)
{
	reader->loose[state->index] = true;
}

static const char *unknown_style(const struct state *state)
{
	(void)state;
	return "shape=box";
}

/* Stands for the kind of a state whose kind has a finding. */
static const struct kind kind_unknown = {
	"?",
	0,
	NULL, /* result */
	read_unknown,
	kind_no_outcomes,
	kind_no_texts,
	kind_never, /* brings_untrusted */
	kind_never, /* takes_files */
	kind_writes_nothing,
	"[\"",
	"\"]",
	unknown_style,
};

#define X(NAME, name) [KIND_##NAME] = &kind_##name,
static const struct kind *const kinds[] = {STATE_KINDS(X)[KIND_COUNT] = &kind_unknown};
#undef X

const struct kind *kind_of(const struct state *state)
{
	return kinds[state->kind];
}

const struct kind *kind_number(size_t number)
{
	return number < KIND_COUNT ? kinds[number] : NULL;
}

const char *state_kind_name(enum state_kind kind)
{
	return kinds[kind]->name;
}

const struct agent_state *state_agent(const struct state *state)
{
	return state->kind == KIND_AGENT ? &state->agent : NULL;
}

const struct tool_state *state_tool(const struct state *state)
{
	return state->kind == KIND_TOOL ? &state->tool : NULL;
}

const struct wait_state *state_wait(const struct state *state)
{
	return state->kind == KIND_WAIT ? &state->wait : NULL;
}

const struct terminal_state *state_terminal(const struct state *state)
{
	return state->kind == KIND_TERMINAL ? &state->terminal : NULL;
}
