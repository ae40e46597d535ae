#include "git/call.h"

#include "base/capture.h"
#include "base/child.h"
#include "base/io.h"
#include "base/json.h"
#include "git/environment.h"
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { JAIL_FAILED = 125, POLICY_BYTES_MAX = 256 * 1024, GRACE_MS = 10000 };

static const char *find_git(void)
{
	static const char *const places[] = {"/usr/bin/git", "/bin/git", "/usr/local/bin/git"};
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (!access(places[i], X_OK))
			return places[i];
	return NULL;
}

/* --- the policy --------------------------------------------------------------------------------
 */

static const char *top_of(const struct git_repo *r, const struct git_call *call)
{
	return call->no_tree ? r->common_dir : r->work_tree;
}

static bool inside(const char *path, const char *dir)
{
	size_t n = strlen(dir);
	return !strncmp(path, dir, n) && (path[n] == '/' || !path[n] || !strcmp(dir, "/"));
}

/* What lies outside of the directory that the call is about: a linked work tree's repository, the
 * objects a clone borrows. */
static json_t *outside(const struct git_repo *r, const char *top)
{
	const char *const all[] = {r->common_dir, r->git_dir, r->borrowed};
	json_t *list = json_array();
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i] && !inside(all[i], top) && !(i == 1 && inside(all[i], r->common_dir)))
			json_array_append_new(list, json_string(all[i]));
	return list;
}

static int deadline_secs(const struct git_call *call)
{
	return call->hook ? GIT_HOOK_DEADLINE_SECS : GIT_DEADLINE_SECS;
}

static json_t *git_argv(const struct git_repo *r, const struct git_call *call)
{
	json_t *argv = json_array();
	json_array_append_new(argv, json_string(call->hook ? call->hook : find_git()));
	if (!call->hook)
		json_array_append_new(argv, json_string("--no-pager"));
	if (!call->hook && r->git_dir)
		json_array_append_new(argv, json_sprintf("--git-dir=%s", r->git_dir));
	if (!call->hook && r->git_dir && !call->no_tree)
		json_array_append_new(argv, json_sprintf("--work-tree=%s", r->work_tree));
	for (size_t i = 0; i < call->arg_count; i++)
		json_array_append_new(argv, json_string(call->args[i]));
	if (call->path_count)
		json_array_append_new(argv, json_string("--"));
	for (size_t i = 0; i < call->path_count; i++)
		json_array_append_new(argv, json_string(call->paths[i]));
	return argv;
}

/* What git gives a hook. The git that a hook calls is as neutralised as ours. */
static void name_repository(json_t *env, const struct git_repo *r)
{
	json_object_set_new(env, "GIT_DIR", json_string(r->git_dir));
	json_object_set_new(env, "GIT_WORK_TREE", json_string(r->work_tree));
	json_object_set_new(env, "GIT_INDEX_FILE", json_sprintf("%s/index", r->git_dir));
	json_object_set_new(env, "GIT_EDITOR", json_string(":"));
	json_object_set_new(env, "HOME", json_string("/tmp"));
	json_object_set_new(env, "PATH", json_string("/usr/local/bin:/usr/bin:/bin"));
}

/* Reading needs no uid of its own: this git executes nothing, and it has nothing to write to. */
static json_t *policy_of(const struct git_repo *r, const struct git_call *call,
	const struct buf *names, const char *profile, struct err *e)
{
	const char *top = top_of(r, call);
	struct environment_ask ask = {.names = names, .filters = &r->filters, .as = call->as};
	json_t *env = environment_new(&ask, e);
	if (!env)
		return NULL;
	if (call->hook)
		name_repository(env, r);
	json_t *policy = json_pack("{s:i,s:s,s:o,s:s,s:o,s:s,s:{s:s,s:s},s:o,s:i,s:b}", "version",
		1, "profile", profile, "argv", git_argv(r, call), "cwd", top, "env", env, "network",
		"none", "workspace", "path", top, "access",
		call->write || r->traced ? "write" : "read", "read", outside(r, top),
		"timeout_secs", deadline_secs(call), "allow_root_jail",
		(!call->write && !r->filters.len) || r->allow_root_jail);
	if (!policy)
		err_set(e, "a path of the repository is not UTF-8");
	return policy;
}

/* --- the process -------------------------------------------------------------------------------
 */

static int memory_file(const char *bytes, size_t len, struct err *e)
{
	AUTO_FD int fd = memfd_create("git", MFD_CLOEXEC);
	if (fd < 0 || (len && io_write(fd, bytes, len)) || lseek(fd, 0, SEEK_SET))
		return err_errno(e, "cannot pass its input to git");
	return TAKE_FD(fd);
}

/* The exit status, or -1: it was killed or could not be started. */
static int run_jail(const json_t *policy, const struct git_call *call, struct buf *out,
	struct buf *words, struct err *e)
{
	const struct buf *input = call->input;
	AUTO_FREE char *jail = child_sibling("agent6-jail", e);
	AUTO_FREE char *text = json_text(policy);
	if (!jail || !text)
		return -1;
	if (strlen(text) > POLICY_BYTES_MAX)
		return err_set(
			e, "the repository's configuration names too many drivers and remotes");
	AUTO_FD int policy_fd = memory_file(text, strlen(text), e);
	AUTO_FD int input_fd = input ? memory_file(input->data, input->len, e) : -1;
	if (policy_fd < 0 || (input && input_fd < 0))
		return -1;
	char *argv[] = {jail, (char *)(uintptr_t) "--policy-fd", (char *)(uintptr_t) "3", NULL};
	char *env[] = {(char *)(uintptr_t) "PATH=/usr/bin:/bin", NULL};
	struct capture_spec spec = {.argv = argv,
		.env = env,
		.stdin_fd = input_fd,
		.more_fds = &policy_fd,
		.more_count = 1,
		.deadline_ms = deadline_secs(call) * 1000 + GRACE_MS,
		.own_session = true};
	int status = capture_run(&spec, out, words, e);
	if (status < 0 || WIFEXITED(status))
		return status < 0 ? -1 : WEXITSTATUS(status);
	return err_set(e, "git was killed by signal %d", WTERMSIG(status));
}

static int report(
	const struct git_call *call, const struct buf *out, const struct buf *words, struct err *e)
{
	const struct buf *said = words->len || !call->hook ? words : out;
	const char *name = call->hook ? strrchr(call->hook, '/') + 1 : call->args[0];
	return err_set(e, "%s %s failed: %.*s", call->hook ? "the hook" : "git", name,
		said->len ? (int)strcspn(said->data, "\n") : 15,
		said->len ? said->data : "without a word.");
}

/* Strict where this host can; where the jail says that it cannot, nothing has run. A hook may say
 * the same: it is started once, under the profile that its repository has just been read with. */
static int run(const struct git_repo *r, const struct git_call *call, const struct buf *names,
	size_t *profile, struct buf *out, struct err *e)
{
	static const char *const profiles[] = {"strict", "hardened"};
	size_t end = call->hook ? *profile + 1 : ARRAY_LEN(profiles);
	AUTO_BUF words;
	buf_init(&words, 4096);
	int status = JAIL_FAILED;
	if (!find_git())
		return err_set(e, "git is not installed");
	for (size_t i = *profile; i < end && status == JAIL_FAILED; i++) {
		json_auto_t *policy = policy_of(r, call, names, profiles[i], e);
		buf_clear(&words);
		status = policy ? run_jail(policy, call, out, &words, e) : -1;
		*profile = i;
	}
	return status <= 0 ? status : report(call, out, &words, e);
}

int git_call(const struct git_repo *r, const struct git_call *call, struct buf *out, struct err *e)
{
	static const char *const list[] = {"config", "--includes", "--list", "--name-only", "-z"};
	struct git_call listing = {.args = list, .arg_count = ARRAY_LEN(list)};
	AUTO_BUF names, none;
	size_t profile = 0;
	/* Our own settings must not pass for the repository's. */
	struct git_repo unfiltered = *r;
	unfiltered.filters = (struct buf){0};
	buf_init(&names, GIT_OUTPUT_MAX);
	buf_init(&none, 1);
	if (call->arg_count + call->path_count > GIT_ARGS_MAX)
		return err_set(e, "too many paths for git");
	/* An include may lie in the work tree. */
	listing.no_tree = call->no_tree;
	if (r->git_dir && run(&unfiltered, &listing, &none, &profile, &names, e))
		return -1;
	return run(r, call, &names, &profile, out, e);
}
