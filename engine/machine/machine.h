/*
 * The typed machine: an immutable graph of states over a typed blackboard (docs/machine.md).
 *
 * machine_read turns a positioned document into a machine and findings. If it calls the machine
 * whole, every rule of the language that needs no data-flow analysis has passed. All of it lives in
 * the machine's arena and is const afterwards; `doc` nodes are kept for positions, so the document
 * must outlive the machine.
 */
#ifndef MACHINE_MACHINE_H
#define MACHINE_MACHINE_H
#include "contract/line.h"
#include "schema/finding.h"
#include "types/types.h"
#include <jansson.h>

/* The one list of state kinds. Each has a row in every table that tells kinds apart:
 * machine/kind.h, instance/reduce.c and position.c, confine/refusals.c, dry/facts.c, run/plan.c and
 * drive_loop.c, report/exposure.c. Without one of its rows, or an entry of it, nothing compiles. */
#define STATE_KINDS(X)                                                                             \
	X(AGENT, agent) X(TOOL, tool) X(WAIT, wait) X(BRANCH, branch) X(TERMINAL, terminal)

#define X(NAME, name) KIND_##NAME,
enum state_kind { STATE_KINDS(X) KIND_COUNT };
#undef X

const char *state_kind_name(enum state_kind kind);
enum owner { OWNER_OPERATOR, OWNER_CODE, OWNER_AGENT, OWNER_COUNT };

/* Returns "operator", "code" or "agent". */
const char *owner_name(enum owner owner);
struct variable {
	const char *name, *description; /* description: of a parameter, NULL: none */
	enum owner owner;
	struct type type;
	struct constraint constraint; /* of a parameter */
	json_t *initial; /* the declared value or default, owned by the machine; NULL: a start has
			  * to give the parameter */
	bool untrusted;  /* may hold data that a model wrote or that came from the network */
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

/* An assignment of a capture, of which all apply on an ok outcome, or of a result. */
struct assignment {
	const struct variable *target; /* of a capture */
	const struct field *field;     /* of a result */
	const struct template *value;
};
struct capture {
	bool present, reads_result;
	bool as_text;                 /* stdout_text: the output is no JSON */
	const struct variable *whole; /* finish_json / stdout_json / stdout_text */
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
	/* In newer TOML bundles: a token cap for spending that cannot be metered; -1: none, 0:
	 * refuse to start. */
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
	bool pty;                /* it gets pseudo-terminals of its own */
	const int64_t *ok_exits; /* the exit statuses that count as ok; NULL: 0 alone */
	size_t ok_exit_count;
};

/* Reports whether the command's exit status counts as ok. */
bool tool_exit_ok(const struct tool_state *tool, int64_t status);

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

struct terminal_state {
	bool ok;
	int exit_code; /* of `run`, 10 to 63; 0: the one of its status */
	const struct template *reason;
	const struct record *result; /* the machine ends here with one; NULL: without */
	const struct assignment *returns;
	size_t return_count;
};

struct state {
	const char *name;
	enum state_kind kind;
	size_t index; /* into machine.states */
	const char *description;
	const struct template *notify; /* NULL: none */
	enum notify_level notify_level;
	struct retry retry;
	int64_t max_visits;                    /* any but terminal; 0: no limit */
	int64_t timeout_secs;                  /* agent, tool */
	const struct record *output_schema;    /* agent, tool; NULL: none */
	struct capture capture;                /* agent, tool */
	const struct state *on[OUTCOME_COUNT]; /* NULL: not an outcome of the state */
	const struct clause *clauses;          /* decide in place of outcomes; NULL: none do */
	size_t clause_count;
	union {
		struct agent_state agent;
		struct tool_state tool;
		struct wait_state wait;
		struct terminal_state terminal;
	};
	const struct doc_node *node, *key;
};

/* Return a state's edges by number: its clauses if it has any, and then `exhausted` if it has that;
 * else its outcomes (NULL: no outcome of the state). */
static inline size_t state_edge_count(const struct state *state)
{
	return state->clauses ? state->clause_count + (state->on[OUTCOME_EXHAUSTED] != NULL)
			      : OUTCOME_COUNT;
}
static inline const struct state *state_edge(const struct state *state, size_t i)
{
	if (!state->clauses)
		return state->on[i];
	return i < state->clause_count ? state->clauses[i].target : state->on[OUTCOME_EXHAUSTED];
}
/* The clause's text, or the outcome's name. */
const char *state_edge_label(const struct state *state, size_t i);

struct machine {
	struct arena arena;
	const char *name, *description; /* description may be NULL */
	const struct state *states;
	size_t state_count;
	const struct state *initial;
	const struct variable *variables;
	size_t variable_count;
	uint32_t ref_count; /* references in all texts */
	int journal_format; /* 2: with max_visits, returns or a capture of an optional field */
	const struct record *const *records;
	size_t record_count;
	const struct record *result;       /* the schema of `returns`, NULL: there is none */
	int64_t max_transitions, max_secs; /* max_secs 0: no limit */
	struct opt_float max_usd, best_effort_usd;
	const struct doc_node *config; /* the overlay, NULL: none */
	const struct doc *doc;
	/* The maps for looking up names: states[i] is pair i of states_map; the variables of an
	 * owner follow one another from first_of[owner] on, in the order of their map. */
	const struct doc_node *states_map, *schemas_map, *vars_map[OWNER_COUNT];
	size_t first_of[OWNER_COUNT];
	/* While reading: a whole section was refused, so a missing name in it is no error. */
	bool vars_broken, schemas_broken, states_broken, returns_broken;
};

/* The prompt files that a machine names, read as documents so that findings can show their lines.
 */
struct prompt_docs {
	struct doc **items;
	size_t count, room;
};
void prompt_docs_done(struct prompt_docs *docs);

/* The bundle's files that a machine can name. */
struct member_files {
	/* Reads a member's bytes ("scripts/x", "prompts/y"). 0: NUL-terminated heap text that the
	 * caller frees; -1: there is no such regular file; 1: a finding says already what is wrong
	 * with it. `executable`: it may be run as a command. */
	int (*read)(void *ctx, const char *path, char **text, size_t *len, bool *executable);
	void *ctx;
	struct prompt_docs *prompts; /* collects the files read; NULL: not needed */
};

/* The longest wait or time-out, a hundred years. The published schema has the same number. */
#define MACHINE_SECS_MAX INT64_C(3155760000)

/* Returns the machine, even if it has errors: then only its states can be relied on, as far as they
 * could be read. NULL: not even these. `*whole`: it has no error. `files` NULL: names of files are
 * not checked. */
struct machine *machine_read(const struct doc *doc, const struct member_files *files,
	struct findings *findings, bool *whole);
void machine_free(struct machine *machine);
/* Reports whether one of its states writes code, so that its states work in a clone. */
bool machine_writes_code(const struct machine *machine);

/* Returns why a command that begins with `program` is refused, such as "is a relative path"; NULL:
 * it may be a program (the reader judges scripts/...). */
const char *program_fault(const char *program);

const struct state *machine_state(const struct machine *machine, const char *name);
const struct variable *machine_variable(const struct machine *machine, const char *name);
#endif
