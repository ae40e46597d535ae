/*
 * One neutralised git process in a jail of its own: it has no network, sees only the repository,
 * and can write only what the call has to write.
 */
#ifndef GIT_CALL_H
#define GIT_CALL_H
#include "git/git.h"

enum { GIT_PATHS_MAX = 990, GIT_OUTPUT_MAX = 16 * 1024 * 1024 };
enum { GIT_DEADLINE_SECS = 120, GIT_HOOK_DEADLINE_SECS = 600 };

/* The arguments after "git" and the options for its repository. */
#define GIT_ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

struct git_call {
	/* A hook to run instead of git, with a hook's environment; NULL: run git. */
	const char *hook;
	const char *const *args;  /* GIT_ARGS */
	const char *const *paths; /* literal, after a "--" */
	size_t path_count;
	const struct buf *input;       /* stdin; NULL: nothing */
	const struct git_identity *as; /* the author of a commit; NULL: the call makes none */
	bool write;                    /* it changes the repository or its work tree */
	bool no_tree;                  /* it needs no work tree, and does not see it */
	bool whole;                    /* a directory that it cannot read is an error */
	/* The only objects it reads are those that a clone borrows. */
	bool borrowed;
	bool lists; /* it only lists settings, so that none of them need be switched off */
	int *code;  /* set to git's exit status when git has ended; NULL: unwanted */
};

/* Runs `git [fixed options for git_repo] args... [-- paths...]` and appends its stdout to `out`. A
 * non-zero exit, a signal or the deadline is an error that quotes the first line of stderr (for a
 * hook that writes nothing there: of stdout), with the errno that the line ends with in words.
 * Without a git_dir the call runs in the work tree without a repository. */
int git_call(const struct git_repo *git_repo, const struct git_call *call, struct buf *out,
	struct err *e);
/* Do the same for a call whose output does not matter, and for one that prints the name of an
 * object. */
int git_call_quietly(const struct git_repo *git_repo, const struct git_call *call, struct err *e);
int git_call_oid(const struct git_repo *git_repo, const struct git_call *call,
	char oid[GIT_OID_BYTES], struct err *e);
#endif
