/*
 * Fixed parameters: operator variables that a limit or a host of the machine refers to. Their
 * values are those of the start, which the journal's begin holds; nothing changes them while the
 * machine runs.
 */
#ifndef MACHINE_FIXED_H
#define MACHINE_FIXED_H
#include "machine/machine.h"

struct reader;

/* The keys that may be a lone reference to an operator variable. */
#define FIXED_KEYS(X)                                                                              \
	X(TIMEOUT_SECS, "timeout_secs")                                                            \
	X(MAX_VISITS, "max_visits")                                                                \
	X(MAX_USD, "max_usd") X(EVERY_SECS, "every_secs") X(HOST, "allow_network")
#define X(NAME, name) FIXED_##NAME,
enum fixed_key { FIXED_KEYS(X) FIXED_KEY_COUNT };
#undef X

/* A key that refers to a parameter. */
struct fixed_use {
	const struct variable *parameter;
	enum fixed_key key;
	const struct state *state; /* NULL: of the budget */
	struct fixed_use *next;
};
const char *fixed_key_name(enum fixed_key key);

/* Reports whether a text is meant as a reference where literals may stand. */
bool fixed_refers(const char *text);
/* Returns the parameter of a value that is a reference; NULL: it is no such reference, which was
 * reported, once where defaults give it to many states. `state` NULL: a key outside the states. */
const struct variable *fixed_read(struct reader *reader, const struct state *state,
	const struct doc_node *node, enum fixed_key key);
/* Read a number that may be such a reference, then with `*parameter`. The value is the declared
 * one; where a start has yet to give it, the most that it may be. */
struct opt_int fixed_int(struct reader *reader, const struct state *state, enum fixed_key key,
	const struct variable **parameter);
/* `map`: the state's, or the budget. */
struct opt_float fixed_float(struct reader *reader, const struct state *state,
	const struct doc_node *map, const struct variable **parameter);
/* Notes that a key refers to the parameter, as fixed_int and fixed_float do. */
void fixed_note(struct reader *reader, const struct state *state, enum fixed_key key,
	const struct variable *parameter);

/* Reports whether a key refers to the parameter. */
bool fixed_is(const struct machine *machine, const struct variable *parameter);
/* Checks a value that a start gives to a parameter by the rules of the keys that refer to it. */
int fixed_check(const struct machine *machine, const struct variable *parameter,
	const json_t *value, struct err *e);

/* Returns the value that a start gave, or without `blackboard` the declared one. NULL: a start has
 * yet to give it. Borrowed. */
const json_t *fixed_value(const struct variable *parameter, const json_t *blackboard);

/* Return the effective values. `blackboard` NULL: those that are declared; where a start has yet to
 * give one, the most that it may be. */
int64_t fixed_timeout_secs(const struct state *state, const json_t *blackboard);
/* 0: no limit. */
int64_t fixed_max_visits(const struct state *state, const json_t *blackboard);
struct opt_float fixed_max_usd(const struct state *agent, const json_t *blackboard);
struct opt_float fixed_budget_usd(const struct machine *machine, const json_t *blackboard);
/* A host of the list, HOST:PORT; the text of the reference if it has no value. */
const char *fixed_host(const struct tool_state *state, size_t i, const json_t *blackboard);
#endif
