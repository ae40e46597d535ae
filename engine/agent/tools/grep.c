#include "agent/tools/list.h"
#include "agent/tools/lookup.h"
#include "agent/tools/search.h"

#include "base/io.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { SEARCH_SECS = 10, PATTERN_MAX = 1000 };
enum { SEARCH_OK = 0, SEARCH_BAD = 1 };

/* Searches in a child process, since a pattern can cost any amount of time and memory and the
 * kernel then kills it. The child inherits the confinement of this process. */
static void child(const struct search *search, int dir_fd, int out_fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	struct rlimit cpu = {SEARCH_SECS, SEARCH_SECS};
	setrlimit(RLIMIT_CPU, &cpu);
#ifndef __SANITIZE_ADDRESS__
	struct rlimit memory = {512UL << 20, 512UL << 20};
	setrlimit(RLIMIT_AS, &memory);
#endif
	alarm(SEARCH_SECS);
	_exit(search_run(search, dir_fd, out_fd) ? SEARCH_BAD : SEARCH_OK);
}

static int collect(pid_t pid, int from_fd, struct buf *out)
{
	int status;
	struct err e = ERR_NONE;
	int rc = io_read_all(from_fd, out, "the search", &e);
	if (rc)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (rc)
		buf_adds(out, e.text);
	if (!WIFEXITED(status))
		buf_addf(out, "The search was stopped after %d s; narrow the pattern or the path.",
			SEARCH_SECS);
	return rc || !WIFEXITED(status) || WEXITSTATUS(status) != SEARCH_OK ? -1 : 0;
}

static int start(const struct search *search, int dir_fd, struct buf *out)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC)) {
		buf_adds(out, "The search cannot be started.");
		return -1;
	}
	pid_t pid = fork();
	if (pid == 0)
		child(search, dir_fd, ends[1]);
	own_close(&ends[1]);
	int rc = -1;
	if (pid < 0)
		buf_adds(out, "The search cannot be started.");
	else
		rc = collect(pid, ends[0], out);
	own_close(&ends[0]);
	return rc;
}

static int grep(const struct tool_context *context, const json_t *arguments, struct buf *out)
{
	const char *path = tool_path(arguments);
	struct search s = {.tools = context,
		.pattern = tool_text(arguments, "pattern", ""),
		.glob = tool_text(arguments, "glob", NULL)};
	if (!*s.pattern || strlen(s.pattern) > PATTERN_MAX) {
		buf_addf(out, "The pattern must have 1 to %d bytes.", PATTERN_MAX);
		return -1;
	}
	const char *relative = lookup_relative(context, path, out);
	if (!relative)
		return -1;
	/* A single file is searched without the ignore rules of its directory. */
	struct stat st;
	AUTO_BUF unused = BUF_INIT(TOOL_TEXT_CAP_BYTES);
	AUTO_FD int file = lookup_open_file(context, path, &st, &unused);
	AUTO_FD int dir = file < 0 ? lookup_open_dir(context, path, out) : -1;
	if (file < 0 && dir < 0)
		return -1;
	s.is_file = file >= 0;
	s.prefix = strcmp(relative, ".") ? relative : "";
	return start(&s, file >= 0 ? file : dir, out);
}

const struct tool tool_grep = {
	.name = "grep",
	.description =
		"Searches text files of the workspace for a POSIX extended regular expression, "
		"line by line; .gitignore is respected; at most 200 hits.",
	.modes = TOOL_IN_AGENT | TOOL_IN_RUN,
	.args = {{"pattern", "the POSIX extended regular expression", ARG_STR, true, NULL},
		{"path", "a directory or file to search, default the whole workspace", ARG_STR,
			false, NULL},
		{"glob", "only files whose name (or path, with a slash) matches, as *.{c,h}",
			ARG_STR, false, NULL}},
	.run = grep,
};
