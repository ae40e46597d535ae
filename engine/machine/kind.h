/*
 * A state kind: what tells the states of one kind from those of another, as far as the machine
 * itself goes. One row a kind, in kind_NAME.c; STATE_KINDS is the list of them.
 *
 * Whoever asks "of which kind is it" in order to do one thing or another wants an entry here, or a
 * row of its own; whoever needs what only one kind holds asks state_agent and its like for it.
 */
#ifndef MACHINE_KIND_H
#define MACHINE_KIND_H
#include "machine/machine.h"

struct reader;

/* What a kind is, whatever the state: bits. */
enum {
	TRAIT_ENDS = 1,    /* the machine ends in it */
	TRAIT_RESTS = 2,   /* the machine may stay in it for as long as it likes */
	TRAIT_HURRIES = 4, /* the next state follows as soon as a program is done, or at once */
	TRAIT_MODEL = 8,   /* a model works in it */
	TRAIT_COMMAND = 16 /* a command of it runs in a jail */
};

/* What an ok outcome of a kind yields, for a capture. */
struct kind_result {
	enum owner owner;     /* of the variables that the capture may write */
	const char *whole;    /* the key that captures all of it */
	bool untyped;         /* any JSON, and never a record when it is captured whole */
	enum outcome invalid; /* the outcome in place of ok when it does not conform */
};

/* What a state leaves in the workspace. */
enum writing {
	WRITES_NOTHING,
	WRITES_FILES,
	WRITES_CODE /* by a model, for which the machine works in a clone */
};

/* `is_code`: a program gets it as an argument or on stdin. */
typedef void text_visitor(void *ctx, const struct template *text, bool is_code);

/* Every entry is given in every row: a kind that lacks one does not compile. */
struct kind {
	const char *name;
	unsigned traits;                  /* TRAIT_ENDS... */
	const struct kind_result *result; /* NULL: it has none, and cannot fail */
	/* Reads the rest of a state whose name, kind, description and notify are known. */
	void (*read)(struct reader *reader, struct state *state);
	/* Bit set (1u << OUTCOME_*) of the outcomes that a state may have. */
	unsigned (*outcomes)(const struct state *state);
	/* Visits the texts that are rendered when a state is entered; some may be NULL. */
	void (*texts)(const struct state *state, text_visitor *each, void *ctx);
	/* Reports whether a state's result is untrusted whatever it was given. */
	bool (*brings_untrusted)(const struct state *state);
	/* Reports whether a state's result may hold what an earlier one left in the workspace. */
	bool (*takes_files)(const struct state *state);
	enum writing (*writing)(const struct state *state);
	const char *mermaid_open, *mermaid_close;            /* the shape of its box */
	const char *(*dot_style)(const struct state *state); /* in a report's colours */
};

#define X(NAME, name) extern const struct kind kind_##name;
STATE_KINDS(X)
#undef X

const struct kind *kind_of(const struct state *state);
static inline bool state_is(const struct state *state, unsigned traits)
{
	return kind_of(state)->traits & traits;
}
/* The kind's result; NULL: it has none. */
static inline const struct kind_result *state_result(const struct state *state)
{
	return kind_of(state)->result;
}
static inline enum writing state_writing(const struct state *state)
{
	return kind_of(state)->writing(state);
}

/* What only states of one kind hold; NULL: the state is of another kind. */
const struct agent_state *state_agent(const struct state *state);
const struct tool_state *state_tool(const struct state *state);
const struct wait_state *state_wait(const struct state *state);
const struct terminal_state *state_terminal(const struct state *state);
/* Reports whether the machine has failed when it ends in the state. */
static inline bool state_fails(const struct state *state)
{
	const struct terminal_state *end = state_terminal(state);
	return end && !end->ok;
}

/* The answers of kinds that have nothing to say. */
unsigned kind_no_outcomes(const struct state *state);
void kind_no_texts(const struct state *state, text_visitor *each, void *ctx);
bool kind_never(const struct state *state);
enum writing kind_writes_nothing(const struct state *state);
#endif
