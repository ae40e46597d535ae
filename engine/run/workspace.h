/*
 * The workspace of a machine that writes code: a private clone below the instance, at
 * the tip of the branch agent6/machine-<id>, in which every state of the machine works.
 *
 * What each step left in it is recorded before the step's journal line, so that a run which was
 * killed begins again with the tree of its last committed step; the commit of a state that ended
 * `ok` is in the operator's repository before that line and on the branch after it. The operator's
 * checkout, HEAD and index are not written.
 */
#ifndef RUN_WORKSPACE_H
#define RUN_WORKSPACE_H
#include "git/clone.h"
#include "instance/instance.h"
#include "machine/machine.h"
#include <jansson.h>

struct config;

/* What the work tree holds, and the last commit made of it, behind an attempt at step `seq`. */
struct workspace_mark {
	uint64_t seq;
	int attempt;
	char tree[GIT_OID_BYTES], commit[GIT_OID_BYTES];
};

struct workspace {
	char *path; /* where states work; NULL: in the operator's directory, nothing here is used */
	struct git_repo origin, clone;
	struct git_identity as;
	bool run_hooks; /* the operator's, for each commit */
	char branch[96];
	char base[GIT_OID_BYTES]; /* where the instance began */
	char tip[GIT_OID_BYTES];  /* where its branch was before that; "": there was none */
	struct workspace_mark at, next;
	bool makes;    /* it begins at `base`, and its branch is of its making */
	bool has_next; /* `next` is recorded; it counts once its step is committed */
	bool sent;     /* the operator's repository has next.commit, which no branch names yet */
};

/* What a machine's states need of it. Everything is borrowed. */
struct workspace_ask {
	const struct instance *instance;
	const struct config *config;
	const char *directory; /* the operator's */
	const char *profile;   /* what the run resolved: strict, hardened */
	uint64_t seq;          /* steps committed */
	int attempt;           /* the next one at the step behind them */
	bool begun, allow_root_jail;
};

/* Where the commits of an instance are. */
struct workspace_branch {
	char name[96], base[GIT_OID_BYTES], tip[GIT_OID_BYTES];
	char log[160]; /* the command that shows them */
};
/* From the record of an instance that has committed `seq` steps, whoever runs it. False: it has
 * made no commit, or its record cannot be read. */
bool workspace_branch(const struct instance *instance, uint64_t seq, struct workspace_branch *out);
/* What `git_changes` says of all commits of the instance; empty: it has made none. */
int workspace_changes(const struct workspace *workspace, struct buf *out, struct err *e);
/* Makes the clone, or takes it back to its last committed step. -1: the reason and the fix. */
int workspace_open(struct workspace *workspace, const struct workspace_ask *ask, struct err *e);
/* Makes the branch of an instance that begins, where there is none but that of a start which was
 * killed: the first that the operator's repository has of it, once nothing refuses the start any
 * more. */
int workspace_begin(struct workspace *workspace, struct err *e);
/* Those of `paths` (absolute) that would lie in the clone and do not: what is not there cannot be
 * held in a jail, neither read-only nor out of sight. */
json_t *workspace_absent(const struct workspace *workspace, const json_t *paths);
struct workspace_step {
	const char *machine, *instance;
	const struct state *state;
	uint64_t seq;
	int attempt;
	bool ok, dropped;       /* dropped: the clone is to be as it was before the state */
	const json_t *absent;   /* what was, before the state, and must not have come of it */
	size_t left_out;        /* set: places in the work tree which no commit has: repositories */
	struct err uncommitted; /* set: why a tool state's changes wait for a later commit */
};
/* Records what the state has left before step `seq` is journaled, of a state that is `ok` in a
 * commit; or drops it. -1 also means that git does not take it: drop it then. */
int workspace_settle(
	struct workspace *workspace, int instance_fd, struct workspace_step *step, struct err *e);
/* Whether this host, its disk or a lack of processes, is at fault: git's own last words say so. */
bool workspace_host_failed(const struct err *e);
/* Once `seq` steps are durable, and all attempts at the next one before `attempt`: the commit that
 * belongs to them goes onto the operator's branch. */
int workspace_land(struct workspace *workspace, uint64_t seq, int attempt, struct err *e);
void workspace_done(struct workspace *workspace);
#endif
