/*
 * One neutralised git process in a jail of its own: no network, nothing but the repository in
 * sight, nothing writable but what the call has to write.
 */
#ifndef GIT_CALL_H
#define GIT_CALL_H
#include "git/git.h"

enum { GIT_PATHS_MAX = 990, GIT_OUTPUT_MAX = 16 * 1024 * 1024 };
enum { GIT_DEADLINE_SECS = 120, GIT_HOOK_DEADLINE_SECS = 600 };

/* What stands behind "git" and the options for its repository. */
#define GIT_ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

struct git_call {
	const char *hook; /* run instead of git, with the environment of a hook; NULL: git is run */
	const char *const *args;  /* GIT_ARGS */
	const char *const *paths; /* literal, behind a "--" */
	size_t path_count;
	const struct buf *input;       /* stdin; NULL: nothing */
	const struct git_identity *as; /* who commits; NULL: the call makes no commit */
	bool write;                    /* it changes the repository or its work tree */
	bool no_tree;                  /* it needs no work tree, and sees none */
	bool whole;                    /* a directory that it could not read is an error */
	bool borrowed;                 /* it reads no objects but those that a clone borrows */
	bool lists; /* it prints settings, for which none of them has to be switched off */
};

/* Runs `git [fixed options for git_repo] args... [-- paths...]` and appends its stdout to `out`. A
 * non-zero exit, a signal or the deadline is an error that quotes the first line of stderr (of a
 * hook that says nothing there: of stdout). Where git_repo has no git_dir the call is made in its
 * work tree without a repository. */
int git_call(const struct git_repo *git_repo, const struct git_call *call, struct buf *out,
	struct err *e);
/* The same where nothing that it prints counts, and where that is the name of an object. */
int git_call_quietly(const struct git_repo *git_repo, const struct git_call *call, struct err *e);
int git_call_oid(const struct git_repo *git_repo, const struct git_call *call,
	char oid[GIT_OID_BYTES], struct err *e);
#endif
