/*
 * git, called so that a poisoned repository executes nothing on this host.
 *
 * The only place that starts git. Every call runs in a jail of its own (agent6-jail: no network,
 * nothing but the repository) and has an empty environment, explicit --git-dir and --work-tree, no
 * terminal, a deadline, and everything a repository's configuration could execute
 * (hooks, fsmonitor, filters, textconv, pagers, signing programs, transports) overridden through
 * GIT_CONFIG_COUNT, where no name can be misread. The calls take no free arguments.
 */
#ifndef GIT_GIT_H
#define GIT_GIT_H
#include "base/buf.h"
#include "base/err.h"
#include <jansson.h>

enum { GIT_OID_BYTES = 72, GIT_FILTERS_BYTES_MAX = 64 * 1024 };

/* A repository with a work tree. Heap strings, absolute. */
struct git_repo {
	char *git_dir;       /* what `.git` is or points to; NULL: there is no repository */
	char *work_tree;     /* the directory that holds `.git` */
	char *common_dir;    /* git_dir, or for a linked work tree the repository it belongs to */
	char *borrowed;      /* a clone's: the directory of objects that it shares; NULL: none */
	struct buf filters;  /* a clone's: settings of the content filters that its calls run */
	json_t *submodules;  /* a clone's: paths of empty directories in it; NULL: none */
	json_t *untouched;   /* a clone's: {path: file}, see git_clone_checkout; NULL: none */
	struct buf *names;   /* of its settings, see git_learn; NULL: listed for each call */
	const char *profile; /* of its calls' jails: strict, hardened; NULL: as git_profile says */
	bool traced; /* reading calls may write, too: a proof that nothing runs needs a trace */
	bool allow_root_jail; /* calls that write may do so as root where nothing else works */
};

struct git_identity {
	char name[256], email[256];
};

/* The profile of this module's jails where nobody has decided on one: strict, or, where the
 * launcher cannot set that up, hardened, with its reason in `why`. Found out once. */
const char *git_profile(struct err *why);

/* Whether something lies at `dot_git` that makes its directory a work tree. The empty directory
 * with which a jail keeps the place of one does not, nor is it one to git. */
bool git_marks(const char *dot_git);
/* The nearest repository enclosing the absolute real directory `path`. Not finding one is no error:
 * git_dir stays NULL. A `.git` that cannot be understood is one. */
int git_find(const char *path, struct git_repo *out, struct err *e);
void git_repo_done(struct git_repo *git_repo);
/* For calls that follow one another while nothing that is confined can change the configuration:
 * what it holds, each key of which may have to be switched off, is listed once for those of them
 * that see the work tree, where an include may lie, and once for those that do not; anew when this
 * is called again. */
int git_learn(struct git_repo *git_repo, struct err *e);
/* Puts in front of why a call failed what would explain it, and what to do: git finds objects in
 * the repository alone, and fetches none. Always returns -1. */
int git_explain(const struct git_repo *git_repo, struct err *e);
/* Opens a directory of the repository itself ("." for all of it), or unlinks a file there, without
 * following a link: whoever could write a repository may have put one anywhere. */
int git_dir_open(const char *git_dir, const char *below);
void git_dir_unlink(const char *git_dir, const char *below, const char *name);

/* `git status --porcelain=v1 -z` of `paths` (literal, relative to the work tree), untracked and
 * ignored files listed one by one. Empty output: all of it is committed. */
int git_status(const struct git_repo *git_repo, const char *const *paths, size_t count,
	struct buf *out, struct err *e);
/* `git ls-files -z -v` of `paths`: what the repository tracks there, as "TAG PATH". A small TAG, or
 * S, is a file that git_status says nothing about. */
int git_tracked(const struct git_repo *git_repo, const char *const *paths, size_t count,
	struct buf *out, struct err *e);
#endif
