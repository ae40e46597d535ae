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
	const char *prefix;  /* the shown form of the starting point; "" for the workspace */
	bool is_file;
	const struct tool_context *tools; /* tells which paths are hidden */
};

/* Writes `PATH:LINE: TEXT` per hit and a closing remark. Writes file by file, so that hits survive
 * if the process is killed. Returns -1 with a message for a bad pattern. */
int search_run(const struct search *search, int fd, int out_fd);
#endif
