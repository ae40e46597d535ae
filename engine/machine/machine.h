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
#include "machine/state.h"
#include <jansson.h>

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
	bool untrusted;  /* may hold data that a model wrote or that came from the network, or the
			  * words of a failure */
	const struct doc_node *node;
};

struct machine {
	struct arena arena;
	const char *name, *description; /* description may be NULL */
	const struct state *states;
	size_t state_count;
	const struct state *initial;
	const struct variable *variables;
	size_t variable_count;
	uint32_t ref_count; /* references in all texts */
	int journal_format; /* 2: with max_visits, returns, capture_failure, or a capture of an
			     * optional field */
	const struct record *const *records;
	size_t record_count;
	const struct record *result;       /* the schema of `returns`, NULL: there is none */
	int64_t max_transitions, max_secs; /* max_secs 0: no limit */
	struct opt_float max_usd, best_effort_usd; /* max_usd: as declared, see fixed.h */
	const struct variable *usd_parameter;      /* NULL: max_usd is a literal */
	struct fixed_use *fixed;                   /* the keys that refer to parameters */
	const struct doc_node *config;             /* the overlay, NULL: none */
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
