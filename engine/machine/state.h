/*
 * A state of a machine: its kind, what it runs, where its outcomes lead (docs/machine.md).
 *
 * machine_read makes states; they are const afterwards and live as long as their machine.
 */
#ifndef MACHINE_STATE_H
#define MACHINE_STATE_H
#include "contract/line.h"
#include "schema/finding.h"
#include "types/types.h"

struct variable;

/* The one list of state kinds. Each has a row in every table that tells kinds apart:
 * machine/kind.h, instance/reduce.c and position.c, confine/refusals.c, dry/facts.c, run/plan.c and
 * drive_loop.c, report/exposure.c. Without one of its rows, or an entry of it, nothing compiles. */
#define STATE_KINDS(X)                                                                             \
	X(AGENT, agent) X(TOOL, tool) X(WAIT, wait) X(BRANCH, branch) X(TERMINAL, terminal)

#define X(NAME, name) KIND_##NAME,
enum state_kind { STATE_KINDS(X) KIND_COUNT };
#undef X

const char *state_kind_name(enum state_kind kind);
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

/* An assignment of a capture, or of a machine's result. */
struct assignment {
	const struct variable *target; /* of a capture */
	const struct field *field;     /* of a result */
	const struct template *value;
};
/* The assignments of a capture, which apply on an ok outcome, or of a capture_failure, which has
 * only `set` and applies on every other one but `exhausted`. */
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
	struct opt_float temperature, max_usd, best_effort_usd; /* max_usd: as declared */
	const struct variable *usd_parameter;                   /* NULL: max_usd is a literal */
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
	const struct variable *const *host_parameters; /* by host; NULL: a literal */
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
	int64_t max_visits; /* any but terminal, as declared: see fixed.h; 0: no limit */
	const struct variable *visits_parameter, *timeout_parameter; /* NULL: literals */
	int64_t timeout_secs;                                        /* agent, tool; as declared */
	const struct record *output_schema;                          /* agent, tool; NULL: none */
	struct capture capture, failure;                             /* agent, tool */
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
/* Returns the capture that applies on an edge; NULL: none does. */
const struct capture *state_edge_capture(const struct state *state, size_t i);
/* The clause's text, or the outcome's name. */
const char *state_edge_label(const struct state *state, size_t i);
#endif
