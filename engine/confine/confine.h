/*
 * Confinement of a machine on this host (docs/confinement.md): the jail policies of its commands,
 * and the checks that refuse a machine at its start rather than weaken its confinement.
 */
#ifndef CONFINE_CONFINE_H
#define CONFINE_CONFINE_H
#include "base/arena.h"
#include "config/config.h"
#include "config/network.h"
#include "contract/agent_order.h"
#include "machine/machine.h"

/* A path that no command may write, or that none may see. */
enum reserved_as {
	RESERVED_PROGRAM, /* agent6 itself */
	RESERVED_SETTING, /* everything else that all confinement rests on */
	RESERVED_BUNDLE,  /* the bundle, where its author keeps it */
	RESERVED_SECRET   /* hidden */
};
struct reserved_path {
	const char *path; /* absolute and real */
	enum reserved_as as;
	struct reserved_path *next;
};

/* The fixed facts of one start. Paths are absolute; everything is borrowed. */
struct confine {
	const struct config *config;
	const char *profile; /* "strict" or "hardened": resolved, never "auto" */
	const char *workspace;
	const char *bundle, *data_dir; /* NULL: there is none */
	/* The parts of the workspace's repository that lie outside it. */
	struct config_list elsewhere;
	const char *aside; /* where repositories made by commands are moved; NULL: they stay */
	/* In addition to .git, sandbox.protect and sandbox.hide. */
	const struct reserved_path *reserved;
	bool allow_root_jail;
	const bool *recorded; /* by state: it is never executed; NULL: all are */
	/* For a machine that writes code and so works in a clone (run/workspace.h); all NULL for
	 * others. */
	const char *origin, *clone; /* the repository's work tree, and that of the clone */
	const char *objects;        /* the object directory that the clone borrows from */
};

/* Reports whether a state is never executed, so that nothing needs to be granted for it. */
static inline bool confine_is_recorded(const struct confine *confine, const struct state *state)
{
	return confine->recorded && confine->recorded[state->index];
}

/* Returns what the network matrix (config/network.h) gives a tool state here. `state` NULL: a state
 * that asks for nothing, as agents and their commands do. */
const struct network_row *confine_network_row(
	const struct confine *confine, const struct state *state);

/* Appends one line per reason why this machine cannot start here: state, setting, reason, fix.
 * Returns their number. Looks at the file system, since grants are compared by their real paths. */
size_t confine_refusals(
	const struct machine *machine, const struct confine *confine, struct buf *out);

/* Refuses to run as root, unless the operator has allowed it. */
int confine_check_root(bool allowed, struct err *e) MUST_CHECK;
/* Refuses a grant of `path` by `setting` if the path does not exist, or if a command could then
 * read or change agent6's own files in `state`. */
int confine_check_grant(const char *setting, const char *path, bool write, const char *state,
	struct err *e) MUST_CHECK;
/* Refuses a state that names a part of a protected path. On hardened it also refuses a state whose
 * commands could write files that every confinement rests on, or sandbox.protect: Landlock cannot
 * take a part out of a grant. */
int confine_check_reserved(
	const struct confine *confine, const struct state *state, struct err *e) MUST_CHECK;
/* Refuses a tool state whose commands could make a path named in sandbox.protect, in the workspace
 * or in one of its `writes`; or whose jail would find a link where sandbox.protect or sandbox.hide
 * names a path of the workspace. In a clone the commit is refused instead. */
int confine_check_found(
	const struct confine *confine, const struct state *state, struct err *e) MUST_CHECK;

/* Reports whether `state` runs commands: a tool state, or an agent that may run them. */
bool confine_runs_commands(const struct state *state, const struct config *config);
/* Reports whether the commands or edits of `state` may change the workspace. */
bool confine_writes(const struct state *state);
/* Returns the jail policy of a tool state, to be released. Its texts are `confine`'s. */
struct jail_policy confine_policy(const struct confine *confine, const struct state *state);
/* Returns the same for every command that an agent runs, but for env: the workspace is writable,
 * and there is no network unless sandbox.tool_network is allow. */
struct jail_policy confine_command_policy(const struct confine *confine);
/* Returns the policy's memory_by for sandbox.limits.memory_by. */
enum jail_memory_by confine_memory_by(const struct config *config);
/* Returns the variables of this process's environment that every command gets: LANG, LC_ALL, TERM
 * and TZ, as far as they are set. New reference. */
json_t *confine_environment(void);
/* Returns the real paths of those of `paths` that exist, in `arena`. */
struct config_list confine_real(struct arena *arena, const struct config_list *paths);
/* Reports whether `path` exists and lies in one of `grants`, which are real paths. A link inside a
 * grant that leads out of it is not granted. */
bool confine_granted(const char *path, const struct config_list *grants);
/* Returns the paths that nothing may write in the workspace and in the `writes` of `state` (NULL:
 * the workspace only): .git, reserved paths, sandbox.protect. */
struct path_list confine_protected(const struct confine *confine, const struct tool_state *state);
/* Returns the paths that nothing may see: the reserved secrets and sandbox.hide. */
struct path_list confine_hidden(const struct confine *confine);
/* Makes an agent's order, to be released even after an error. It runs no commands. `providers`:
 * those that it asks; NULLs and repetitions are skipped. Borrows the texts of `confine`. */
int confine_agent(const struct confine *confine, const struct config_provider *const *providers,
	size_t count, const char *state_dir, struct agent_order *out, struct err *e) MUST_CHECK;
#endif
