/*
 * One neutralised git process: the environment that switches a repository's own commands off.
 */
#ifndef GIT_CALL_H
#define GIT_CALL_H
#include "git/git.h"

enum { GIT_ARGS_MAX = 4200, GIT_OUTPUT_MAX = 16 * 1024 * 1024, GIT_DEADLINE_MS = 60000 };

/* Runs `git [fixed options for r] args... [-- paths...]` and appends its stdout to `out`. A
 * non-zero exit, a signal or the deadline is an error that quotes the first line of stderr. */
struct git_call {
	const char *const *args;
	size_t arg_count;
	const char *const *paths;
	size_t path_count;
};
int git_call(const struct git_repo *r, const struct git_call *call, struct buf *out, struct err *e);
#endif
