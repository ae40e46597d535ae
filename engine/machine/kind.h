/*
 * A state kind: all differences between the states of one kind and another that concern the machine
 * itself. Each kind is one row, in kind_NAME.c; STATE_KINDS lists them.
 *
 * Code that would ask for a state's kind to choose between two actions gets an entry here instead,
 * or a row of its own. Code that needs the data of one kind asks state_agent and its like for it.
 */
#ifndef MACHINE_KIND_H
#define MACHINE_KIND_H
#include "machine/failure.h"
#include "machine/machine.h"

struct reader;

/* Traits of a kind, the same for each of its states: bits. */
enum {
	TRAIT_ENDS = 1,     /* the machine ends in it */
	TRAIT_RESTS = 2,    /* the machine may stay in it for as long as it likes */
	TRAIT_HURRIES = 4,  /* the next state follows as soon as a program is done, or at once */
	TRAIT_MODEL = 8,    /* a model works in it */
	TRAIT_COMMAND = 16, /* a command of it runs in a jail */
	TRAIT_DEFAULTS = 32 /* the machine's `defaults` may give it keys */
};

/* The result of a kind's good outcome, for a capture. */
struct kind_result {
	enum outcome good;            /* the capture binds on it; if it is ok, the others fail */
	enum owner owner;             /* of the variables that the capture may write */
	const char *whole;            /* the key that captures all of it; NULL: none */
	const char *text;             /* the key that captures all of it as a str; NULL: none */
	bool untyped;                 /* any JSON, and never a record when it is captured whole */
	bool exits;                   /* a capture may read the exit status, as `exit` */
	enum outcome invalid;         /* the outcome in place of it when it does not conform */
	const struct record *failure; /* the fields that a capture_failure may read; NULL: none */
};

/* The changes that a state leaves in the workspace. */
enum writing {
	WRITES_NOTHING,
	WRITES_FILES,
	WRITES_CODE /* by a model, for which the machine works in a clone */
};

/* `is_code`: a program gets the text as an argument or on stdin. */
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
	/* Reports whether a state's result is untrusted even if all its inputs are trusted. */
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
/* Returns the kinds in the order of their list, from 0; NULL: there is none with that number. */
const struct kind *kind_number(size_t number);
static inline bool state_is(const struct state *state, unsigned traits)
{
	return kind_of(state)->traits & traits;
}
/* Returns the kind's result; NULL: it has none. */
static inline const struct kind_result *state_result(const struct state *state)
{
	return kind_of(state)->result;
}
/* Reports whether the state fails where its outcome is another than ok. */
static inline bool state_may_fail(const struct state *state)
{
	return state_result(state) && state_result(state)->good == OUTCOME_OK;
}
static inline enum writing state_writing(const struct state *state)
{
	return kind_of(state)->writing(state);
}

/* Return the data that only states of one kind have; NULL: the state is of another kind. */
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

/* Functions for rows of kinds that lack the property. */
unsigned kind_no_outcomes(const struct state *state);
void kind_no_texts(const struct state *state, text_visitor *each, void *ctx);
bool kind_never(const struct state *state);
enum writing kind_writes_nothing(const struct state *state);
#endif
