#include "cli/start/stage.h"

#include "base/io.h"
#include "base/json.h"
#include "base/path.h"
#include "base/tree.h"
#include "git/clone.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

enum {
	COPY_FILES_MAX = 20000,
	REPORT_BYTES_MAX = 64 * 1024 * 1024,
	DIR_STEP_MS = 10,
	DIR_PATIENCE_MS = 3000,
};

static const char workspace_prefix[] = "rehearsal/workspace/";

/* --- the directory ---------------------------------------------------------------------------- */

static int make_dir(struct stage *s, const char *dir, struct err *e)
{
	char path[PATH_MAX];
	const char *tmp = getenv("TMPDIR");
	s->throwaway = !dir;
	if (dir)
		snprintf(path, sizeof(path), "%s", dir);
	else
		snprintf(path, sizeof(path), "%s/agent6-rehearsal-XXXXXX",
			tmp && *tmp ? tmp : "/tmp");
	if (dir ? mkdir(path, 0700) && errno != EEXIST : !mkdtemp(path))
		return err_set(e, "cannot create %s: %s%s", path, strerror(errno),
			dir ? "" : "; TMPDIR chooses another place");
	s->dir = realpath(path, NULL);
	s->dir_fd = s->dir ? open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (s->dir_fd < 0)
		return err_errno(e, "cannot open %s", path);
	return 0;
}

/* What lies in it is one call's to write. Some file systems lock no directories; two runs of one
 * instance its own lock keeps apart. A call that was killed a moment ago may still be on its way
 * out, or a child of its that was not yet another program. */
static int take_dir(const struct stage *s, struct err *e)
{
	for (int ms = 0; ms <= DIR_PATIENCE_MS; ms += DIR_STEP_MS) {
		if (!flock(s->dir_fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
			return 0;
		nanosleep(&(struct timespec){0, DIR_STEP_MS * 1000000L}, NULL);
	}
	return err_set(e,
		"%s is in use by another rehearsal; wait for its end, or name another directory "
		"with --dir",
		s->dir);
}

static int name_parts(struct stage *s, const char *machine, struct err *e)
{
	bool failed = asprintf(&s->workspace, "%s/workspace", s->dir) < 0 ||
		      asprintf(&s->state, "%s/state", s->dir) < 0 ||
		      asprintf(&s->positions, "%s/positions-%s", s->dir, machine) < 0 ||
		      asprintf(&s->failures, "%s/failures-%s.jsonl", s->dir, machine) < 0;
	return failed ? err_set(e, "out of memory") : 0;
}

static int write_member(
	const struct bundle *b, const struct member *m, int at, const char *to, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	return bundle_read(b, m->path, &text, &len, e)
		       ? -1
		       : io_create_file(at, to, text, len, m->mode, e);
}

static int copy_prepared(const struct bundle *b, int to, bool *any, struct err *e)
{
	size_t prefix = strlen(workspace_prefix);
	for (size_t i = 0; i < b->count; i++) {
		const struct member *m = &b->members[i];
		if (strncmp(m->path, workspace_prefix, prefix))
			continue;
		*any = true;
		if (write_member(b, m, to, m->path + prefix, e))
			return -1;
	}
	return 0;
}

/* A copy into itself would have no end. */
static int check_outside(const char *dir, struct err *e)
{
	char here[PATH_MAX];
	if (!getcwd(here, sizeof(here)))
		return err_errno(e, "cannot name the working directory");
	if (!path_is_within(dir, here))
		return 0;
	return err_set(e,
		"the rehearsal's directory %s lies in the working directory, which it takes a copy "
		"of; name one outside with --dir, or give the bundle a rehearsal/workspace/",
		dir);
}

static int copy_current(const char *dir, int to, struct err *e)
{
	struct tree_cap cap = {COPY_FILES_MAX, 512ULL * 1024 * 1024};
	if (check_outside(dir, e))
		return -1;
	AUTO_FD int from = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (from < 0)
		return err_errno(e, "cannot open the working directory");
	return tree_copy(from, to, &cap, e) ? err_wrap(e, "cannot rehearse in a copy of the "
							  "working directory; give the bundle a "
							  "rehearsal/workspace/ of its own")
					    : 0;
}

/* Made under another name first: a stage either has its whole workspace or none. */
static int make_workspace(struct stage *s, const struct stage_ask *ask, struct err *e)
{
	static const struct git_identity as = {"agent6 rehearsal", "rehearsal@agent6.invalid"};
	AUTO_FREE char *path = NULL;
	bool prepared = false;
	if (!faccessat(s->dir_fd, "workspace", F_OK, AT_SYMLINK_NOFOLLOW))
		return 0;
	if (tree_remove(s->dir_fd, "workspace.tmp", e))
		return -1;
	if (mkdirat(s->dir_fd, "workspace.tmp", 0755))
		return err_errno(e, "cannot create the workspace");
	AUTO_FD int to = openat(s->dir_fd, "workspace.tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (to < 0)
		return err_errno(e, "cannot open the workspace");
	if (copy_prepared(ask->bundle, to, &prepared, e) ||
		(!prepared && copy_current(s->dir, to, e)))
		return -1;
	if (asprintf(&path, "%s/workspace.tmp", s->dir) < 0)
		return err_set(e, "out of memory");
	if (ask->repository && git_make(path, &as, e))
		return -1;
	if (renameat(s->dir_fd, "workspace.tmp", s->dir_fd, "workspace"))
		return err_errno(e, "cannot put the workspace into place");
	return 0;
}

/* --- the cassettes ---------------------------------------------------------------------------- */

static bool is_cassette(const char *path)
{
	size_t len = strlen(path);
	return !strncmp(path, "rehearsal/", 10) && !strchr(path + 10, '/') && len > 16 &&
	       !strcmp(path + len - 6, ".jsonl");
}

/* Where a cassette is copied to, below the stage: under its own name, which is what a person reads
 * about it. */
static const char *add_cassette(struct stage *s, const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/');
	char **copy = &s->cassettes[s->cassette_count];
	if (asprintf(copy, "%s/cassettes/%s", s->dir, slash ? slash + 1 : path) < 0) {
		*copy = NULL;
		err_set(e, "out of memory");
		return NULL;
	}
	s->cassette_count++;
	return *copy + strlen(s->dir) + 1;
}

static int copy_cassettes(struct stage *s, const struct bundle *b, struct err *e)
{
	for (size_t i = 0; i < b->count; i++) {
		if (!is_cassette(b->members[i].path))
			continue;
		if (s->cassette_count == STAGE_CASSETTES_MAX)
			return err_set(
				e, "the bundle holds more than %d cassettes", STAGE_CASSETTES_MAX);
		const char *name = add_cassette(s, b->members[i].path, e);
		if (!name || write_member(b, &b->members[i], s->dir_fd, name, e))
			return -1;
	}
	return 0;
}

static int copy_named_cassette(struct stage *s, const char *path, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	if (io_read_file(AT_FDCWD, path, REPORT_BYTES_MAX, &text, &len, e))
		return -1;
	AUTO_FD int dir = openat(s->dir_fd, "cassettes", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *name = add_cassette(s, path, e);
	if (dir < 0)
		return err_errno(e, "cannot open cassettes/");
	return name ? io_replace_file(dir, strchr(name, '/') + 1, text, len, 0600, e) : -1;
}

int stage_open(struct stage *s, const struct stage_ask *ask, struct err *e)
{
	return make_dir(s, ask->dir, e) || take_dir(s, e) || name_parts(s, ask->machine, e) ||
			       make_workspace(s, ask, e)
		       ? -1
		       : 0;
}

int stage_load(struct stage *s, const struct stage_ask *ask, struct err *e)
{
	if (tree_remove(s->dir_fd, "cassettes", e))
		return -1;
	if (mkdirat(s->dir_fd, "cassettes", 0700))
		return err_errno(e, "cannot create cassettes/");
	return ask->cassette ? copy_named_cassette(s, ask->cassette, e)
			     : copy_cassettes(s, ask->bundle, e);
}

/* --- the provider ----------------------------------------------------------------------------- */

enum { STAGE_ARGS_MAX = 16 + 2 * STAGE_CASSETTES_MAX };

static size_t build_argv(const struct stage *s, char *program, char **argv, char **owned)
{
	size_t n = 0, held = 0;
	argv[n++] = program;
	for (int i = 0; i < s->cassette_count; i++) {
		if (asprintf(&owned[held], "--cassette=%s", s->cassettes[i]) > 0)
			argv[n++] = owned[held++];
	}
	if (asprintf(&owned[held], "--positions=%s", s->positions) > 0)
		argv[n++] = owned[held++];
	argv[n++] = (char *)(uintptr_t) "--ready-fd=3";
	argv[n++] = (char *)(uintptr_t) "--report-fd=4";
	argv[n] = NULL;
	return held;
}

static int read_port(struct stage *s, int ready, struct err *e)
{
	char text[16] = "";
	size_t len = 0;
	for (ssize_t n; len < sizeof(text) - 1 && !memchr(text, '\n', len); len += (size_t)n)
		if ((n = read(ready, text + len, sizeof(text) - 1 - len)) <= 0)
			return err_set(e,
				"agent6-cassette, which plays the provider, did not start: what it "
				"said stands above");
	text[strcspn(text, "\n")] = '\0';
	snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%s", text);
	return 0;
}

static int start_provider(struct stage *s, char *const *argv, struct err *e)
{
	static char *const env[] = {NULL};
	int in[2], ready[2];
	AUTO_FD int report = open(s->failures, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (report < 0 || pipe2(in, O_CLOEXEC))
		return err_errno(e, "cannot set up the loopback provider");
	AUTO_FD int in_read = in[0];
	s->end_fd = in[1];
	if (pipe2(ready, O_CLOEXEC))
		return err_errno(e, "cannot make a pipe");
	AUTO_FD int ready_read = ready[0], ready_write = ready[1];
	/* The last two as build_argv numbers them. */
	int fds[] = {in_read, STDERR_FILENO, STDERR_FILENO, ready_write, report};
	struct child_spec spec = {.path = argv[0],
		.argv = argv,
		.env = env,
		.fds = fds,
		.fd_count = 5,
		.own_session = true};
	if (child_start(&spec, &s->provider, e))
		return -1;
	own_close(&ready_write);
	return read_port(s, ready_read, e);
}

int stage_play(struct stage *s, struct err *e)
{
	char *argv[STAGE_ARGS_MAX], *owned[STAGE_ARGS_MAX];
	AUTO_FREE char *program = child_sibling("agent6-cassette", e);
	if (!program)
		return -1;
	size_t held = build_argv(s, program, argv, owned);
	int failed = start_provider(s, argv, e);
	while (held)
		free(owned[--held]);
	return failed;
}

static int read_report(struct stage *s, json_t *failures, int64_t *unused, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	if (io_read_file(AT_FDCWD, s->failures, REPORT_BYTES_MAX, &text, &len, e))
		return -1;
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		json_t *value = json_read(line, (size_t)(end - line), REPORT_BYTES_MAX, e);
		const char *kind = json_string_value(json_object_get(value, "kind"));
		if (!kind)
			return err_set(e, "%s is damaged; remove it", s->failures);
		if (!strcmp(kind, "end")) {
			*unused = json_get_int(value, "unused");
			json_decref(value);
		} else {
			json_array_append_new(failures, value);
		}
	}
	return 0;
}

int stage_end(struct stage *s, json_t **failures, int64_t *unused, struct err *e)
{
	own_close(&s->end_fd);
	int status = child_wait(&s->provider);
	s->provider.pid = -1;
	if (status)
		return err_set(e,
			"agent6-cassette, which plays the provider, failed: what it said stands "
			"above");
	json_t *all = json_array();
	*unused = 0;
	if (read_report(s, all, unused, e)) {
		json_decref(all);
		return -1;
	}
	*failures = all;
	return 0;
}

void stage_told(const struct stage *s)
{
	unlink(s->failures);
}

void stage_done(struct stage *s)
{
	own_close(&s->end_fd);
	if (s->provider.pid > 0)
		child_wait(&s->provider);
	if (s->throwaway && s->dir)
		tree_remove(AT_FDCWD, s->dir, NULL);
	own_close(&s->dir_fd);
	for (int i = 0; i < s->cassette_count; i++)
		free(s->cassettes[i]);
	free(s->dir);
	free(s->workspace);
	free(s->state);
	free(s->positions);
	free(s->failures);
	*s = STAGE_NONE;
}
