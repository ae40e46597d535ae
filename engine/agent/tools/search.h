/*
 * The search behind grep: a directory tree or one file, text only, ignored files left out.
 */
#ifndef TOOLS_SEARCH_H
#define TOOLS_SEARCH_H
#include <stdbool.h>

enum { SEARCH_HITS_MAX = 200 };

struct tool_context;
struct search {
	const char *pattern; /* POSIX ERE */
	const char *glob;    /* NULL: every file */
	const char *prefix;  /* how the starting point is shown; "" for the workspace */
	bool is_file;
	const struct tool_context *tools; /* says what is hidden */
};

/* Writes `PATH:LINE: TEXT` per hit, file by file, so that what was found is not lost with a process
 * that is ended, and a closing remark. -1 with a message: a bad pattern. */
int search_run(const struct search *search, int fd, int out_fd);
#endif
