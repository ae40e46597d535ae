/*
 * The typed machine: an immutable graph of states over a typed blackboard (docs/machine.md).
 *
 * machine_read turns a positioned document into a machine and findings; every rule of the language
 * that needs no data-flow analysis has passed when it calls it whole. All of it lives in
 * the machine's arena and is const afterwards; `doc` nodes are kept for positions, so the document
 * must outlive the machine.
 */
#ifndef MACHINE_MACHINE_H
#define MACHINE_MACHINE_H
#include "schema/finding.h"
#include "types/types.h"
#include <jansson.h>

/* One list: kinds and their outcome labels, expanded into enums and names. */
#define STATE_KINDS(X)                                                                             \
	X(AGENT, "agent")                                                                          \
	X(TOOL, "tool") X(WAIT, "wait") X(BRANCH, "branch") X(TERMINAL, "terminal")
#define OUTCOMES(X)                                                                                \
	X(OK, "ok")                                                                                \
	X(FAILED, "failed")                                                                        \
	X(BUDGET_EXHAUSTED, "budget_exhausted")                                                    \
	X(TIMEOUT, "timeout") X(NONZERO, "nonzero") X(TICK, "tick") X(SIGNAL, "signal")

#define X(name, text) KIND_##name,
enum state_kind { STATE_KINDS(X) KIND_COUNT };
#undef X
#define X(name, text) OUTCOME_##name,
enum outcome { OUTCOMES(X) OUTCOME_COUNT };
#undef X

const char *state_kind_name(enum state_kind kind);
const char *outcome_name(enum outcome outcome);
/* -1: no such label. */
int outcome_parse(const char *label);
/* Bit set (1u << OUTCOME_*) of the labels a kind has. `timed`: for wait, whether it has a timer. */
unsigned outcomes_of(enum state_kind kind, bool timed);

enum owner { OWNER_OPERATOR, OWNER_CODE, OWNER_AGENT, OWNER_COUNT };

/* "operator", "code", "agent". */
const char *owner_name(enum owner owner);

struct variable {
	const char *name;
	enum owner owner;
	struct type type;
	json_t *initial; /* the declared value or default; owned by the machine */
	bool untrusted;  /* may hold what a model wrote or the network brought in */
	const struct doc_node *node;
};

/* Compiled, opaque outside engine/machine: template.h, predicate.h. */
struct template;
struct predicate;

struct retry {
	unsigned on; /* bit set of outcomes; 0: no retry */
	int max;
	double backoff_secs, factor;
	double max_backoff_secs; /* infinity: none */
	bool jitter;
};

enum notify_level { NOTIFY_INFO, NOTIFY_WARN, NOTIFY_ERROR };

/* What an ok outcome writes: either the whole result into `whole`, or each assignment. */
struct assignment {
	const struct variable *target;
	const struct template *value;
};
struct capture {
	bool present, reads_result;
	const struct variable *whole; /* finish_json / stdout_json */
	const struct assignment *set;
	size_t set_count;
};

/* Optional numbers: `present` false means "inherit from the configuration". */
struct opt_int {
	bool present;
	int64_t value;
};
struct opt_float {
	bool present;
	double value;
};

enum thinking { THINKING_INHERIT, THINKING_OFF, THINKING_LOW, THINKING_MEDIUM, THINKING_HIGH };
enum agent_mode { MODE_AGENT, MODE_RUN };

struct agent_state {
	const struct template *prompt; /* from prompt or the text of prompt_file */
	const char *prompt_file;       /* NULL: inline */
	enum agent_mode mode;
	const char *provider, *model; /* NULL: inherit */
	enum thinking thinking;
	struct opt_float temperature, max_usd, best_effort_usd;
	struct opt_int max_input_tokens, max_output_tokens, max_iterations;
	/* Newer TOML bundles: a token cap where spend cannot be metered; -1 none, 0 refuse to
	 * start. */
	struct opt_int max_tokens_fallback;
};

enum allow_network { NETWORK_AUTO, NETWORK_BLOCK, NETWORK_ALLOW, NETWORK_LIST };
enum workspace_access { WORKSPACE_WRITE, WORKSPACE_READ, WORKSPACE_NONE };

struct named_text {
	const char *name, *text;
};

struct tool_state {
	const struct template *const
		*command; /* argv elements; splices are marked in the template */
	size_t command_count;
	const struct template *stdin_text; /* NULL: /dev/null */
	enum allow_network network;
	const char *const *hosts; /* NETWORK_LIST: "HOST:PORT" */
	size_t host_count;
	enum workspace_access workspace;
	const char *const *reads, *const *writes, *const *secrets;
	size_t read_count, write_count, secret_count;
	const struct named_text *env;
	size_t env_count;
	struct opt_int memory_mb, cpu_secs, processes, open_files, file_mb;
	bool pty; /* pseudo-terminals of its own */
};

struct wait_state {
	bool timed;
	/* Exactly one is set when timed. Each is a literal or a lone reference. */
	struct opt_int every_secs;
	const struct template *every_ref;
	int64_t until_unix_us;
	bool until_literal;
	const struct template *until_ref;
};

struct clause {
	const struct predicate *condition; /* NULL: else */
	const char *text;                  /* the `if` text, "else" for the last */
	const struct state *target;
	const struct doc_node *node; /* of the condition, NULL: else */
};

struct branch_state {
	const struct clause *clauses;
	size_t clause_count;
};

struct terminal_state {
	bool ok;
	const struct template *reason;
};

struct state {
	const char *name;
	enum state_kind kind;
	size_t index; /* into machine.states */
	const char *description;
	const struct template *notify; /* NULL: none */
	enum notify_level notify_level;
	struct retry retry;
	int64_t timeout_secs;               /* agent, tool */
	const struct record *output_schema; /* agent, tool; NULL: none */
	struct capture capture;             /* agent, tool */
	const struct state
		*on[OUTCOME_COUNT]; /* agent, tool, wait; NULL: not a label of the kind */
	union {
		struct agent_state agent;
		struct tool_state tool;
		struct wait_state wait;
		struct branch_state branch;
		struct terminal_state terminal;
	};
	const struct doc_node *node, *key;
};

/* A state's edges by number: clauses of a branch, outcomes of the others (NULL: not a label). */
static inline size_t state_edge_count(const struct state *state)
{
	return state->kind == KIND_BRANCH ? state->branch.clause_count : OUTCOME_COUNT;
}
static inline const struct state *state_edge(const struct state *state, size_t i)
{
	return state->kind == KIND_BRANCH ? state->branch.clauses[i].target : state->on[i];
}

struct machine {
	struct arena arena;
	const char *name, *description; /* description may be NULL */
	const struct state *states;
	size_t state_count;
	const struct state *initial;
	const struct variable *variables;
	size_t variable_count;
	uint32_t ref_count; /* references in all texts */
	const struct record *const *records;
	size_t record_count;
	int64_t max_transitions;
	struct opt_float max_usd, best_effort_usd;
	const struct doc_node *config; /* the overlay, NULL: none */
	const struct doc *doc;
	/* Where names are looked up: states[i] is pair i of states_map; the variables of an owner
	 * follow one another from first_of[owner] on, in the order of their map. */
	const struct doc_node *states_map, *schemas_map, *vars_map[OWNER_COUNT];
	size_t first_of[OWNER_COUNT];
	/* While reading: a section was refused as a whole, so that a missing name means nothing. */
	bool vars_broken, schemas_broken, states_broken;
};

/* The prompt files that a machine names, read as documents so that findings can show their lines.
 */
struct prompt_docs {
	struct doc **items;
	size_t count, room;
};
void prompt_docs_done(struct prompt_docs *docs);

/* The bundle's files, as far as a machine can name them. */
struct member_files {
	/* A member's bytes ("scripts/x", "prompts/y"): 0 and NUL-terminated heap text the caller
	 * frees; -1 when there is no such regular file; 1 when findings say already what is wrong
	 * with it. `executable`: it may be run as a command. */
	int (*read)(void *ctx, const char *path, char **text, size_t *len, bool *executable);
	void *ctx;
	struct prompt_docs *prompts; /* collects what was read; NULL: not wanted */
};

/* No wait or time-out is longer: a hundred years. The published schema says so, too. */
#define MACHINE_SECS_MAX INT64_C(3155760000)

/* What there is of a machine, also of one that has errors: then nothing but its states can be
 * relied on, and of these only what is there. NULL: not even that. `*whole`: there is no error
 * about it. `files` NULL: names of files are not checked. */
struct machine *machine_read(const struct doc *doc, const struct member_files *files,
	struct findings *findings, bool *whole);
void machine_free(struct machine *machine);
/* Whether a state of it writes code, for which its states work in a clone. */
bool machine_writes_code(const struct machine *machine);

/* Why a command that begins with `program` is not run, "is a relative path"; NULL: it may be a
 * program (scripts/... is the reader's to judge). */
const char *program_fault(const char *program);

const struct state *machine_state(const struct machine *machine, const char *name);
const struct variable *machine_variable(const struct machine *machine, const char *name);
#endif
