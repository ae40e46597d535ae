/*
 * The workspace of a machine that writes code: a private clone below the instance, at the tip of
 * the branch agent6/machine-<id>, in which all states of the machine work.
 *
 * The tree that each step left is recorded before the step's journal line, so that a killed run
 * begins again with the tree of its last committed step. The commit of a state that ended `ok` is
 * in the operator's repository before that line and on the branch after it. The operator's
 * checkout, HEAD and index are not written.
 */
#ifndef RUN_WORKSPACE_H
#define RUN_WORKSPACE_H
#include "git/clone.h"
#include "instance/instance.h"
#include "machine/machine.h"
#include <jansson.h>

struct config;

/* The tree after an attempt at step `seq`, and the last commit made of it. */
struct workspace_mark {
	uint64_t seq;
	int attempt;
	char tree[GIT_OID_BYTES], commit[GIT_OID_BYTES];
};

struct workspace {
	/* where states work; NULL: in the operator's directory, and the rest is unused */
	char *path;
	struct git_repo origin, clone;
	struct git_identity as;
	bool run_hooks; /* the operator's hooks, for each commit */
	char branch[96];
	char base[GIT_OID_BYTES]; /* where the instance began */
	char tip[GIT_OID_BYTES];  /* where its branch was before `base`; "": there was none */
	struct workspace_mark at, next;
	bool makes;    /* the instance begins at `base` and makes its own branch */
	bool has_next; /* `next` is recorded; it counts once its step is committed */
	bool sent;     /* the operator's repository has next.commit, but no branch names it yet */
};

/* The request of workspace_open. Everything is borrowed. */
struct workspace_ask {
	const struct instance *instance;
	const struct config *config;
	const char *directory; /* the operator's */
	const char *profile;   /* the profile of the run: strict or hardened */
	uint64_t seq;          /* steps committed */
	int attempt;           /* the next attempt at the step after them */
	bool begun, allow_root_jail;
};

/* The place of an instance's commits. */
struct workspace_branch {
	char name[96], base[GIT_OID_BYTES], tip[GIT_OID_BYTES];
	char log[160]; /* the command that shows them */
};
/* Reads the branch from the record of an instance that has committed `seq` steps, whoever runs it.
 * Returns false if it has made no commit or its record cannot be read. */
bool workspace_branch(const struct instance *instance, uint64_t seq, struct workspace_branch *out);
/* Writes what `git_changes` says of all commits of the instance; nothing if it has made none. */
int workspace_changes(const struct workspace *workspace, struct buf *out, struct err *e);
/* Makes the clone, or takes it back to its last committed step. Returns -1 with the reason and the
 * fix. */
int workspace_open(struct workspace *workspace, const struct workspace_ask *ask, struct err *e);
/* Makes the branch of an instance that begins, once nothing refuses the start any more: this is its
 * first trace in the operator's repository. A branch that is there already is replaced only if a
 * killed start made it. */
int workspace_begin(struct workspace *workspace, struct err *e);
/* Returns those of `paths` (absolute) that would lie in the clone and do not exist: a jail can
 * neither protect nor hide a path that does not exist. */
struct path_list workspace_absent(const struct workspace *workspace, const struct path_list *paths);
struct workspace_step {
	const char *machine, *instance;
	const struct state *state;
	uint64_t seq;
	int attempt;
	bool ok, dropped; /* dropped: restore the clone to its state before the step */
	/* paths that did not exist before the state and must not exist after it */
	const struct path_list *absent;
	/* result: number of repositories in the work tree that no commit has */
	size_t left_out;
	struct err uncommitted; /* result: why a tool state's changes wait for a later commit */
};
/* Records the changes of a state before step `seq` is journaled, and commits them if the state is
 * `ok`; or drops them. -1 may also mean that git refuses them: then drop them. */
int workspace_settle(
	struct workspace *workspace, int instance_fd, struct workspace_step *step, struct err *e);
/* Reports whether this host is at fault, by a full or broken disk or a lack of processes. Git's own
 * last words tell. */
bool workspace_host_failed(const struct err *e);
/* Moves the operator's branch to the commit of the last durable step. Call it once `seq` steps are
 * durable, and all attempts at the next one before `attempt`. */
int workspace_land(struct workspace *workspace, uint64_t seq, int attempt, struct err *e);
void workspace_done(struct workspace *workspace);
#endif
