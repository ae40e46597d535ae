/*
 * git, called so that a poisoned repository executes nothing on this host.
 *
 * Only this module starts git. Every call runs in a jail of its own (agent6-jail: no network,
 * nothing but the repository) and has an empty environment, explicit --git-dir and --work-tree, no
 * terminal, and a deadline. Everything that a repository's configuration could execute (hooks,
 * fsmonitor, filters, textconv, pagers, signing programs, transports) is overridden through
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
	char *git_dir;      /* `.git` or what it points to; NULL: there is no repository */
	char *work_tree;    /* the directory that holds `.git` */
	char *common_dir;   /* git_dir, or the repository that a linked work tree belongs to */
	char *borrowed;     /* a clone's: the directory of objects that it shares; NULL: none */
	struct buf filters; /* a clone's: settings of the content filters that its calls run */
	json_t *submodules; /* a clone's: paths of empty directories in it; NULL: none */
	json_t *untouched;  /* a clone's: {path: file}, see git_clone_checkout; NULL: none */
	struct buf *names;  /* names of its settings, see git_learn; NULL: listed for each call */
	/* Strict or hardened, for its calls' jails; NULL: as git_profile says. */
	const char *profile;
	bool traced; /* reading calls may write, too: a test that nothing runs needs a trace */
	bool allow_root_jail; /* calls that write may run as root if nothing else works */
};

struct git_identity {
	char name[256], email[256];
};

/* Returns the profile of this module's jails when nobody has chosen one: strict, or hardened if the
 * launcher cannot set up strict, with the reason in `why`. Tried once. */
const char *git_profile(struct err *why);

/* Reports whether `dot_git` makes its directory a work tree. The empty directory that a jail puts
 * in its place does not; git does not take that for one, either. */
bool git_marks(const char *dot_git);
/* Finds the nearest repository around the absolute real directory `path`. If there is none, git_dir
 * stays NULL. A `.git` that cannot be understood is an error. */
int git_find(const char *path, struct git_repo *out, struct err *e);
void git_repo_done(struct git_repo *git_repo);
/* Lists the settings once for calls that follow one another while no confined process can change
 * the configuration. Each key may have to be switched off. There is one list for calls that see the
 * work tree, where an included file may lie, and one for the others. Calling this again makes new
 * lists. */
int git_learn(struct git_repo *git_repo, struct err *e);
/* Adds an explanation and advice before a failed call's message: git finds objects only in the
 * repository itself and fetches none. Always returns -1. */
int git_explain(const struct git_repo *git_repo, struct err *e);
/* Open a directory of the repository itself ("." for all of it), or unlink a file there, without
 * following a link: whoever could write to the repository may have put one anywhere. */
int git_dir_open(const char *git_dir, const char *below);
void git_dir_unlink(const char *git_dir, const char *below, const char *name);

/* Runs `git status --porcelain=v1 -z` on `paths` (literal, relative to the work tree), with
 * untracked and ignored files listed one by one. Empty output: everything is committed. */
int git_status(const struct git_repo *git_repo, const char *const *paths, size_t count,
	struct buf *out, struct err *e);
/* Runs `git ls-files -z -v` on `paths`: the tracked files, as "TAG PATH". git_status ignores a file
 * with a lower-case TAG, or S. */
int git_tracked(const struct git_repo *git_repo, const char *const *paths, size_t count,
	struct buf *out, struct err *e);
#endif
