/*
 * Confinement of a machine on this host (docs/confinement.md): the only place where a jail policy
 * is built, and the checks that refuse a machine at start rather than weaken it.
 */
#ifndef CONFINE_CONFINE_H
#define CONFINE_CONFINE_H
#include "base/arena.h"
#include "config/config.h"
#include "config/network.h"
#include "machine/machine.h"

/* A path that no command may write, or see. */
enum reserved_as {
	RESERVED_PROGRAM, /* agent6 itself */
	RESERVED_SETTING, /* whatever else every confinement rests on */
	RESERVED_BUNDLE,  /* as its author has it */
	RESERVED_SECRET   /* to be hidden */
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
	struct config_list elsewhere;  /* what of the workspace's repository lies outside of it */
	const char *aside; /* where repositories go that commands make; NULL: they stay */
	const struct reserved_path *reserved; /* beyond .git, sandbox.protect and sandbox.hide */
	bool allow_root_jail;
	/* A machine that writes code works in a clone (run/workspace.h); all NULL: it does not. */
	const char *origin, *clone; /* the repository's work tree, and where the clone has it */
	const char *objects;        /* what the clone borrows */
};

/* What the network matrix (config/network.h) gives a tool state here; `state` may be NULL: one that
 * asks for nothing, which is what an agent and its commands are. */
const struct network_row *confine_network_row(
	const struct confine *confine, const struct state *state);

/* One line per reason why this machine cannot start here: state, setting, reason, fix. Returns how
 * many there are. Looks at the file system (grants are compared by their real paths). */
size_t confine_refusals(
	const struct machine *machine, const struct confine *confine, struct buf *out);

/* Refuses root, unless the operator has allowed it. */
int confine_check_root(bool allowed, struct err *e) MUST_CHECK;
/* `path` is granted by `setting`. Refuses one that is not there, and, of what agent6 keeps in
 * `state`, that a command may read or change it. */
int confine_check_grant(const char *setting, const char *path, bool write, const char *state,
	struct err *e) MUST_CHECK;
/* Refuses a state that picks a part of what is protected; and, as Landlock cannot take a part out
 * of what it has granted, one whose commands could write on hardened what every confinement rests
 * on, or sandbox.protect. */
int confine_check_reserved(
	const struct confine *confine, const struct state *state, struct err *e) MUST_CHECK;
/* Refuses a tool state whose commands could make what sandbox.protect names, in the workspace or in
 * one of its `writes`, or whose jail would find a link where sandbox.protect or sandbox.hide names
 * a path of the workspace. In a clone it is the commit that is refused. */
int confine_check_found(
	const struct confine *confine, const struct state *state, struct err *e) MUST_CHECK;

/* Reports whether `state` runs commands: a tool state, or an agent that may. */
bool confine_runs_commands(const struct state *state, const struct config *config);
/* Reports whether what `state` runs or edits may change the workspace. */
bool confine_writes(const struct state *state);
/* The jail policy of a tool state, complete but for argv and env. New reference. */
json_t *confine_policy(const struct confine *confine, const struct state *state);
/* The policy of every command that an agent runs, complete but for argv, env and timeout_secs: the
 * workspace writable, offline unless sandbox.tool_network is allow. New reference. */
json_t *confine_command_policy(const struct confine *confine);
/* What a command is given of this process's own environment: LANG, LC_ALL, TERM, TZ, those that are
 * set. New reference. */
json_t *confine_environment(void);
/* The real paths of those of `paths` that are there; in `a`. */
struct config_list confine_real(struct arena *arena, const struct config_list *paths);
/* Whether `path` is there and lies in one of `grants`, which are real paths: a link inside a grant
 * that leads out of it is not granted. */
bool confine_granted(const char *path, const struct config_list *grants);
/* What nothing may write in the workspace or what `state` may write (NULL: nothing more): .git,
 * what is reserved, sandbox.protect. */
json_t *confine_protected(const struct confine *confine, const struct tool_state *state);
/* What nothing may see: the reserved secrets and sandbox.hide. */
json_t *confine_hidden(const struct confine *confine);
/* The agent's first line (agent6-agent): everything it needs to confine itself, no secret.
 * `providers`: whom it asks; a NULL and one that was named before are passed over. */
json_t *confine_agent(const struct confine *confine, const struct config_provider *const *providers,
	size_t count, const char *state_dir);
#endif
