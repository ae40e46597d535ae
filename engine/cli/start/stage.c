#include "cli/start/stage.h"

#include "base/io.h"
#include "base/json.h"
#include "base/path.h"
#include "base/tree.h"
#include "cli/bundle/cases.h"
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

#define REHEARSAL "rehearsal"

/* --- the directory ---------------------------------------------------------------------------- */

static int make_dir(struct stage *stage, const char *dir, struct err *e)
{
	char path[PATH_MAX];
	const char *tmp = getenv("TMPDIR");
	stage->throwaway = !dir;
	if (dir)
		snprintf(path, sizeof(path), "%s", dir);
	else
		snprintf(path, sizeof(path), "%s/agent6-rehearsal-XXXXXX",
			tmp && *tmp ? tmp : "/tmp");
	if (dir ? mkdir(path, 0700) && errno != EEXIST : !mkdtemp(path))
		return err_set(e, "cannot create %s: %s%s", path, strerror(errno),
			dir ? "" : "; TMPDIR chooses another place");
	stage->dir = realpath(path, NULL);
	stage->dir_fd = stage->dir ? open(stage->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (stage->dir_fd < 0)
		return err_errno(e, "cannot open %s", path);
	return 0;
}

/* Locks the directory, which only one call may write. Some file systems cannot lock directories;
 * two runs of one instance are kept apart by its own lock. A killed call, or a child of it before
 * its exec, may still be ending, so a held lock is tried again for a short time. */
static int take_dir(const struct stage *stage, struct err *e)
{
	for (int ms = 0; ms <= DIR_PATIENCE_MS; ms += DIR_STEP_MS) {
		if (!flock(stage->dir_fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
			return 0;
		nanosleep(&(struct timespec){0, DIR_STEP_MS * 1000000L}, NULL);
	}
	return err_set(e,
		"%s is in use by another rehearsal; wait for its end, or name another directory "
		"with --dir",
		stage->dir);
}

static int name_parts(struct stage *stage, const char *machine, struct err *e)
{
	bool failed = asprintf(&stage->workspace, "%s/workspace", stage->dir) < 0 ||
		      asprintf(&stage->state, "%s/state", stage->dir) < 0 ||
		      asprintf(&stage->positions, "%s/positions-%s", stage->dir, machine) < 0 ||
		      asprintf(&stage->failures, "%s/failures-%s.jsonl", stage->dir, machine) < 0;
	return failed ? err_set(e, "out of memory") : 0;
}

static int write_member(const struct bundle *bundle, const struct member *member, int at,
	const char *to, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	return bundle_read(bundle, member->path, &text, &len, e)
		       ? -1
		       : io_create_file(at, to, text, len, member->mode, e);
}

/* Copies the workspace that lies in `folder`; `any` receives whether there is one. */
static int copy_prepared(
	const struct bundle *bundle, const char *folder, int to, bool *any, struct err *e)
{
	char prefix[PATH_MAX];
	size_t len = (size_t)snprintf(prefix, sizeof(prefix), "%s/workspace/", folder);
	for (size_t i = 0; i < bundle->count; i++) {
		const struct member *m = &bundle->members[i];
		if (strncmp(m->path, prefix, len))
			continue;
		*any = true;
		if (write_member(bundle, m, to, m->path + len, e))
			return -1;
	}
	return 0;
}

/* Refuses to copy a directory into itself, which would never end. */
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

/* Fills the workspace: from the case, else from the bundle, else from the working directory, which
 * no case but the default one sees. */
static int fill_workspace(
	const struct stage *stage, const struct stage_ask *ask, int to, struct err *e)
{
	bool prepared = false, named = strcmp(ask->folder, REHEARSAL) != 0;
	if (copy_prepared(ask->bundle, ask->folder, to, &prepared, e) ||
		(named && !prepared && copy_prepared(ask->bundle, REHEARSAL, to, &prepared, e)))
		return -1;
	return prepared || named ? 0 : copy_current(stage->dir, to, e);
}

/* Makes the workspace under another name first: a stage has all of it or none. */
static int make_workspace(struct stage *stage, const struct stage_ask *ask, struct err *e)
{
	static const struct git_identity as = {"agent6 rehearsal", "rehearsal@agent6.invalid"};
	AUTO_FREE char *path = NULL;
	if (!faccessat(stage->dir_fd, "workspace", F_OK, AT_SYMLINK_NOFOLLOW))
		return 0;
	if (tree_remove(stage->dir_fd, "workspace.tmp", e))
		return -1;
	if (mkdirat(stage->dir_fd, "workspace.tmp", 0755))
		return err_errno(e, "cannot create the workspace");
	AUTO_FD int to = openat(stage->dir_fd, "workspace.tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (to < 0)
		return err_errno(e, "cannot open the workspace");
	if (fill_workspace(stage, ask, to, e))
		return -1;
	if (asprintf(&path, "%s/workspace.tmp", stage->dir) < 0)
		return err_set(e, "out of memory");
	if (ask->repository && git_make(path, &as, e))
		return -1;
	if (renameat(stage->dir_fd, "workspace.tmp", stage->dir_fd, "workspace"))
		return err_errno(e, "cannot put the workspace into place");
	return 0;
}

/* --- the cassettes ---------------------------------------------------------------------------- */

/* Returns the place of a cassette's copy below the stage. It keeps its name, which messages use. */
static const char *add_cassette(struct stage *stage, const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/');
	char **copy = &stage->cassettes[stage->cassette_count];
	if (asprintf(copy, "%s/cassettes/%s", stage->dir, slash ? slash + 1 : path) < 0) {
		*copy = NULL;
		err_set(e, "out of memory");
		return NULL;
	}
	stage->cassette_count++;
	return *copy + strlen(stage->dir) + 1;
}

static int copy_cassettes(
	struct stage *stage, const struct bundle *bundle, const char *folder, struct err *e)
{
	for (size_t i = 0; i < bundle->count; i++) {
		if (!cases_is_cassette(folder, bundle->members[i].path))
			continue;
		if (stage->cassette_count == STAGE_CASSETTES_MAX)
			return err_set(
				e, "the bundle holds more than %d cassettes", STAGE_CASSETTES_MAX);
		const char *name = add_cassette(stage, bundle->members[i].path, e);
		if (!name || write_member(bundle, &bundle->members[i], stage->dir_fd, name, e))
			return -1;
	}
	return 0;
}

static int copy_named_cassette(struct stage *stage, const char *path, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	if (io_read_file(AT_FDCWD, path, REPORT_BYTES_MAX, &text, &len, e))
		return -1;
	AUTO_FD int dir = openat(stage->dir_fd, "cassettes", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *name = add_cassette(stage, path, e);
	if (dir < 0)
		return err_errno(e, "cannot open cassettes/");
	return name ? io_replace_file(dir, strchr(name, '/') + 1, text, len, 0600, e) : -1;
}

int stage_open(struct stage *stage, const struct stage_ask *ask, struct err *e)
{
	return make_dir(stage, ask->dir, e) || take_dir(stage, e) ||
			       name_parts(stage, ask->machine, e) || make_workspace(stage, ask, e)
		       ? -1
		       : 0;
}

int stage_load(struct stage *stage, const struct stage_ask *ask, struct err *e)
{
	if (tree_remove(stage->dir_fd, "cassettes", e))
		return -1;
	if (mkdirat(stage->dir_fd, "cassettes", 0700))
		return err_errno(e, "cannot create cassettes/");
	return ask->cassette ? copy_named_cassette(stage, ask->cassette, e)
			     : copy_cassettes(stage, ask->bundle, ask->folder, e);
}

/* --- the provider ----------------------------------------------------------------------------- */

enum { STAGE_ARGS_MAX = 16 + 2 * STAGE_CASSETTES_MAX };

static size_t build_argv(const struct stage *stage, char *program, char **argv, char **owned)
{
	size_t n = 0, held = 0;
	argv[n++] = program;
	for (int i = 0; i < stage->cassette_count; i++) {
		if (asprintf(&owned[held], "--cassette=%s", stage->cassettes[i]) > 0)
			argv[n++] = owned[held++];
	}
	if (asprintf(&owned[held], "--positions=%s", stage->positions) > 0)
		argv[n++] = owned[held++];
	argv[n++] = (char *)(uintptr_t) "--ready-fd=3";
	argv[n++] = (char *)(uintptr_t) "--report-fd=4";
	argv[n] = NULL;
	return held;
}

static int read_port(struct stage *stage, int ready, struct err *e)
{
	char text[16] = "";
	size_t len = 0;
	for (ssize_t n; len < sizeof(text) - 1 && !memchr(text, '\n', len); len += (size_t)n)
		if ((n = read(ready, text + len, sizeof(text) - 1 - len)) <= 0)
			return err_set(e,
				"agent6-cassette, which plays the provider, did not start: what it "
				"said stands above");
	text[strcspn(text, "\n")] = '\0';
	snprintf(stage->url, sizeof(stage->url), "http://127.0.0.1:%s", text);
	return 0;
}

static int start_provider(struct stage *stage, char *const *argv, struct err *e)
{
	static char *const env[] = {NULL};
	int in[2], ready[2];
	AUTO_FD int report = open(stage->failures, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (report < 0 || pipe2(in, O_CLOEXEC))
		return err_errno(e, "cannot set up the loopback provider");
	AUTO_FD int in_read = in[0];
	stage->end_fd = in[1];
	if (pipe2(ready, O_CLOEXEC))
		return err_errno(e, "cannot make a pipe");
	AUTO_FD int ready_read = ready[0], ready_write = ready[1];
	/* The last two have the numbers that build_argv uses. */
	int fds[] = {in_read, STDERR_FILENO, STDERR_FILENO, ready_write, report};
	struct child_spec spec = {.path = argv[0],
		.argv = argv,
		.env = env,
		.fds = fds,
		.fd_count = 5,
		.own_session = true};
	if (child_start(&spec, &stage->provider, e))
		return -1;
	own_close(&ready_write);
	return read_port(stage, ready_read, e);
}

int stage_play(struct stage *stage, struct err *e)
{
	char *argv[STAGE_ARGS_MAX], *owned[STAGE_ARGS_MAX];
	AUTO_FREE char *program = child_sibling("agent6-cassette", e);
	if (!program)
		return -1;
	size_t held = build_argv(stage, program, argv, owned);
	int failed = start_provider(stage, argv, e);
	while (held)
		free(owned[--held]);
	return failed;
}

static int read_report(struct stage *stage, json_t *failures, int64_t *unused, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	if (io_read_file(AT_FDCWD, stage->failures, REPORT_BYTES_MAX, &text, &len, e))
		return -1;
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		json_t *value = json_read(line, (size_t)(end - line), REPORT_BYTES_MAX, e);
		const char *kind = json_string_value(json_object_get(value, "kind"));
		if (!kind)
			return err_set(e, "%s is damaged; remove it", stage->failures);
		if (!strcmp(kind, "end")) {
			*unused = json_get_int(value, "unused");
			json_decref(value);
		} else {
			json_array_append_new(failures, value);
		}
	}
	return 0;
}

int stage_end(struct stage *stage, json_t **failures, int64_t *unused, struct err *e)
{
	own_close(&stage->end_fd);
	int status = child_wait(&stage->provider);
	stage->provider.pid = -1;
	if (status)
		return err_set(e,
			"agent6-cassette, which plays the provider, failed: what it said stands "
			"above");
	json_t *all = json_array();
	*unused = 0;
	if (read_report(stage, all, unused, e)) {
		json_decref(all);
		return -1;
	}
	*failures = all;
	return 0;
}

void stage_told(const struct stage *stage)
{
	unlink(stage->failures);
}

void stage_done(struct stage *stage)
{
	own_close(&stage->end_fd);
	if (stage->provider.pid > 0)
		child_wait(&stage->provider);
	if (stage->throwaway && stage->dir)
		tree_remove(AT_FDCWD, stage->dir, NULL);
	own_close(&stage->dir_fd);
	for (int i = 0; i < stage->cassette_count; i++)
		free(stage->cassettes[i]);
	free(stage->dir);
	free(stage->workspace);
	free(stage->state);
	free(stage->positions);
	free(stage->failures);
	*stage = STAGE_NONE;
}
