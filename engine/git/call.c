#include "git/call.h"

#include "base/capture.h"
#include "base/child.h"
#include "base/io.h"
#include "base/json.h"
#include "base/path.h"
#include "contract/jail_policy.h"
#include "git/environment.h"
#include "git/parse.h"
#include "launch/ending.h"
#include "launch/orphans.h"
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { POLICY_BYTES_MAX = 256 * 1024, STATUS_BYTES_MAX = 64 * 1024, GRACE_MS = 10000 };
enum { OID_OUTPUT_BYTES = 4096 };

static const char *find_git(void)
{
	static const char *const places[] = {"/usr/bin/git", "/bin/git", "/usr/local/bin/git"};
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (!access(places[i], X_OK))
			return places[i];
	return NULL;
}

/* --- the policy ------------------------------------------------------------------------------- */

static const char *top_of(const struct git_repo *git_repo, const struct git_call *call)
{
	return call->no_tree ? git_repo->common_dir : git_repo->work_tree;
}

/* Returns the directories outside of `top` that the call needs: the repository of a linked work
 * tree, the objects that a clone borrows. On hardened the work tree is added: git ignores an
 * included file that does not exist, but fails over one that it may not read, and most of these lie
 * there. */
static struct path_list outside(
	const struct git_repo *git_repo, const char *top, const char *profile)
{
	const char *const all[] = {git_repo->common_dir, git_repo->git_dir, git_repo->borrowed,
		!strcmp(profile, "hardened") ? git_repo->work_tree : NULL};
	struct path_list list = {0};
	path_list_give(&list);
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i] && !path_is_within(all[i], top) &&
			!(i == 1 && path_is_within(all[i], git_repo->common_dir)))
			path_list_add(&list, all[i]);
	return list;
}

/* Returns the jail's access to the call's tree. A granted tree is searched for sockets; without a
 * repository it is only a working directory and may hold everything that is installed, so nothing
 * is granted. */
static enum jail_access access_of(const struct git_repo *git_repo, const struct git_call *call)
{
	if (call->write || git_repo->traced)
		return JAIL_WRITE;
	return git_repo->git_dir ? JAIL_READ : JAIL_NO_ACCESS;
}

static int deadline_secs(const struct git_call *call)
{
	return call->hook ? GIT_HOOK_DEADLINE_SECS : GIT_DEADLINE_SECS;
}

static json_t *git_argv(const struct git_repo *git_repo, const struct git_call *call)
{
	json_t *argv = json_array();
	json_array_append_new(argv, json_string(call->hook ? call->hook : find_git()));
	if (!call->hook)
		json_array_append_new(argv, json_string("--no-pager"));
	if (!call->hook && git_repo->git_dir)
		json_array_append_new(argv, json_sprintf("--git-dir=%s", git_repo->git_dir));
	/* Without this option git follows core.worktree, which in a submodule leads out of the
	 * jail's sight. */
	if (!call->hook && git_repo->git_dir)
		json_array_append_new(argv, json_sprintf("--work-tree=%s", top_of(git_repo, call)));
	for (const char *const *arg = call->args; *arg; arg++)
		json_array_append_new(argv, json_string(*arg));
	if (call->path_count)
		json_array_append_new(argv, json_string("--"));
	for (size_t i = 0; i < call->path_count; i++)
		json_array_append_new(argv, json_string(call->paths[i]));
	return argv;
}

/* Sets the environment that git gives a hook. A git that the hook calls is neutralised like
 * ours. */
static void name_repository(json_t *env, const struct git_repo *git_repo)
{
	json_object_set_new(env, "GIT_DIR", json_string(git_repo->git_dir));
	json_object_set_new(env, "GIT_WORK_TREE", json_string(git_repo->work_tree));
	json_object_set_new(env, "GIT_INDEX_FILE", json_sprintf("%s/index", git_repo->git_dir));
	json_object_set_new(env, "GIT_EDITOR", json_string(":"));
	json_object_set_new(env, "HOME", json_string("/tmp"));
	json_object_set_new(env, "PATH", json_string("/usr/local/bin:/usr/bin:/bin"));
}

/* Builds the policy of a call. A reading call needs no uid of its own: its git executes nothing,
 * and can write nowhere. */
static struct jail_policy policy_of(
	const struct git_repo *git_repo, const struct git_call *call, const char *profile)
{
	const char *top = top_of(git_repo, call);
	struct jail_policy policy =
		jail_policy_of(jail_profile_find(profile), top, access_of(git_repo, call));
	path_list_add(&policy.repositories, top);
	policy.read = outside(git_repo, top, profile);
	policy.allow_root_jail =
		(!call->write && !git_repo->filters.len) || git_repo->allow_root_jail;
	return policy;
}

/* Returns the input of agent6-jail for the call, heap text; NULL: there can be none. */
static char *asked_text(const struct git_repo *git_repo, const struct git_call *call,
	const struct buf *names, const char *profile, struct err *e)
{
	json_t *env = environment_new(names, &git_repo->filters, call->as, e);
	if (!env)
		return NULL;
	if (call->hook)
		name_repository(env, git_repo);
	if (call->borrowed)
		json_object_set_new(env, "GIT_OBJECT_DIRECTORY", json_string(git_repo->borrowed));
	AUTO_JAIL_POLICY policy = policy_of(git_repo, call, profile);
	struct jail_order order = {
		.argv = git_argv(git_repo, call), .env = env, .timeout_secs = deadline_secs(call)};
	char *text = jail_policy_text(&policy, &order);
	jail_order_done(&order);
	if (!text)
		err_set(e, "a path of the repository is not UTF-8");
	return text;
}

/* --- the process ------------------------------------------------------------------------------ */

enum { POLICY_FD, STATUS_FD, MORE_FDS };

/* The end of a call's jail. */
struct ended {
	int code;  /* the exit status of git or the hook */
	bool late; /* it was killed at its deadline */
	enum ending ending;
	struct err why; /* why the jail was not set up; then nothing ran */
};

static struct jail_status read_status(int fd)
{
	AUTO_BUF line = BUF_INIT(STATUS_BYTES_MAX);
	if (lseek(fd, 0, SEEK_SET) || io_read_all(fd, &line, "the jail's answer", NULL))
		return (struct jail_status){.given = false};
	return jail_status_of(json_read(line.data, line.len, STATUS_BYTES_MAX, NULL));
}

/* Judges by the status line: a hook may exit with the number of a failed jail. */
static int judge(int status_fd, int code, struct ended *out, struct err *e)
{
	AUTO_JAIL_STATUS status = read_status(status_fd);
	out->code = code;
	out->late = status.timed_out;
	out->why = ERR_NONE;
	out->ending = ending_of(&status, &out->why);
	return out->ending == ENDING_LOST ? err_set(e, "git was lost: %s", out->why.text) : 0;
}

/* Runs the jail. Returns -1 if it could not be started, or was killed. */
static int run_jail(const char *text, const struct git_call *call, struct buf *out,
	struct buf *words, struct ended *ended, struct err *e)
{
	const struct buf *input = call->input;
	AUTO_FREE char *jail = child_sibling("agent6-jail", e);
	if (!jail)
		return err_set(e, "out of memory");
	if (strlen(text) > POLICY_BYTES_MAX)
		return err_set(
			e, "the repository's configuration names too many drivers and remotes");
	AUTO_FD int policy_fd = io_memory_file("policy", text, strlen(text), e);
	AUTO_FD int status_fd = memfd_create("status", MFD_CLOEXEC);
	AUTO_FD int input_fd = input ? io_memory_file("git", input->data, input->len, e) : -1;
	if (policy_fd < 0 || (input && input_fd < 0))
		return -1;
	if (status_fd < 0)
		return err_errno(e, "cannot make a file for the jail's answer");
	int more[MORE_FDS] = {[POLICY_FD] = policy_fd, [STATUS_FD] = status_fd};
	char *argv[] = {jail, (char *)(uintptr_t) "--policy-fd", (char *)(uintptr_t) "3",
		(char *)(uintptr_t) "--status-fd", (char *)(uintptr_t) "4", NULL};
	char *env[] = {(char *)(uintptr_t) "PATH=/usr/bin:/bin", NULL};
	struct capture_spec spec = {.argv = argv,
		.env = env,
		.stdin_fd = input_fd,
		.more_fds = more,
		.more_count = MORE_FDS,
		.deadline_ms = deadline_secs(call) * 1000 + GRACE_MS,
		.own_session = true};
	int status = capture_run(&spec, out, words, e);
	if (status < 0 || WIFSIGNALED(status))
		orphans_end();
	if (status < 0)
		return err_set(e, "cannot wait for agent6-jail");
	if (WIFSIGNALED(status))
		return err_set(e, "git was killed by signal %d", WTERMSIG(status));
	return judge(status_fd, WEXITSTATUS(status), ended, e);
}

/* Runs the jail, more than once if needed. The profile works on this host, so a failed set-up is
 * temporary: a socket in the work tree that comes and goes, a lack of resources. Nothing has run
 * then. */
static int run_in(const char *text, const struct git_call *call, struct buf *out, struct buf *words,
	struct ended *ended, struct err *e)
{
	int tries = 0;
	do {
		buf_clear(words);
		if (run_jail(text, call, out, words, ended, e))
			return -1;
	} while (ended->ending == ENDING_UNMADE && ending_again(++tries));
	return 0;
}

static const char unread[] = "warning: could not open directory ";

/* Returns the line that tells what stopped git, after warnings and hints. */
static const char *telling_line(const char *text)
{
	static const char *const marks[] = {"fatal: ", "error: ", "warning: unable to ", unread};
	const char *first = text;
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		for (size_t i = 0; i < ARRAY_LEN(marks); i++)
			if (!strncmp(line, marks[i], strlen(marks[i])))
				return line;
		bool aside = !strncmp(line, "warning: ", 9) || !strncmp(line, "hint: ", 6);
		if (line != text && !aside && !strncmp(first, "warning: ", 9))
			first = line;
	}
	return first;
}

/* Sets the cause's errno, which another program told. The cause itself is recorded next. */
static void keep_number(struct err *e, int number)
{
	if (e && !*e->text)
		e->number = number;
}

/* Returns the errno with whose words, the C locale's, git ends its line; 0: none that a caller asks
 * for. */
static int number_told(const char *line, size_t len)
{
	static const int numbers[] = {EACCES, ENOSPC, EDQUOT, EIO, EROFS, EAGAIN, ENOMEM};
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		const char *words = strerror(numbers[i]);
		size_t n = strlen(words);
		if (len >= n && !memcmp(line + len - n, words, n))
			return numbers[i];
	}
	return 0;
}

static int report(const struct git_call *call, const struct ended *ended, const struct buf *out,
	const struct buf *words, struct err *e)
{
	const struct buf *said = words->len || !call->hook ? words : out;
	const char *name = call->hook ? strrchr(call->hook, '/') + 1 : call->args[0];
	const char *line = said->len ? telling_line(said->data) : "without a word.";
	const char *what = call->hook ? "the hook" : "git";
	size_t len = strcspn(line, "\n");
	if (ended->late)
		return err_set(e, "%s %s did not end within %d seconds; %s", what, name,
			deadline_secs(call),
			call->hook ? "make it faster, or set git.run_repo_hooks to false"
				   : "try again when the host has less to do, and have .gitignore "
				     "name large directories that no commit needs");
	/* Git names some things on a line of their own, such as an unknown extension. */
	int more = len && !strncmp(line + len - 1, ":\n\t", 3) ? (int)strcspn(line + len + 2, "\n")
							       : 0;
	keep_number(e, number_told(line, len));
	return err_set(e, "%s %s failed: %.*s%s%.*s", what, name, (int)len, line, more ? " " : "",
		more, more ? line + len + 2 : "");
}

static int run(const struct git_repo *git_repo, const struct git_call *call,
	const struct buf *names, struct buf *out, struct err *e)
{
	struct err unstrict = ERR_NONE;
	struct ended ended;
	const char *profile = git_repo->profile ? git_repo->profile : git_profile(&unstrict);
	AUTO_BUF words = BUF_INIT(GIT_OUTPUT_MAX);
	if (!find_git())
		return err_set(e, "git is not installed");
	AUTO_FREE char *text = asked_text(git_repo, call, names, profile, e);
	if (!text || run_in(text, call, out, &words, &ended, e))
		return -1;
	keep_number(e, ended.why.number);
	if (*ended.why.text)
		return err_set(e, "%s was not run, its %s jail could not be set up, %s%s%s",
			call->hook ? "a hook" : "git", profile, ended.why.text,
			*unstrict.text ? "; a strict one neither, " : "", unstrict.text);
	if (call->code)
		*call->code = ended.code;
	bool failed = ended.code || (call->whole && words.len && strstr(words.data, unread));
	return failed ? report(call, &ended, out, &words, e) : 0;
}

/* Tries the launcher with a harmless command; git itself does not matter. */
const char *git_profile(struct err *why)
{
	static const char *found;
	static struct err unstrict;
	if (!found) {
		struct git_call call = {.args = GIT_ARGS("version")};
		char top[] = "/usr";
		struct git_repo none = {.work_tree = top};
		struct buf names = {0};
		struct ended ended = {0};
		AUTO_BUF out = BUF_INIT(GIT_OUTPUT_MAX), words = BUF_INIT(GIT_OUTPUT_MAX);
		AUTO_FREE char *text = asked_text(&none, &call, &names, "strict", &unstrict);
		if (text && !run_in(text, &call, &out, &words, &ended, &unstrict))
			unstrict = ended.why;
		found = *unstrict.text ? "hardened" : "strict";
	}
	*why = unstrict;
	return found;
}

/* Lists the settings of a repository, with included files, which may lie in the work tree. A failed
 * listing counts as none: a part of it would leave some keys enabled. */
static int list_settings(
	const struct git_repo *git_repo, bool no_tree, struct buf *names, struct err *e)
{
	struct git_call listing = {
		.args = GIT_ARGS("config", "--includes", "--list", "--name-only", "-z"),
		.no_tree = no_tree};
	/* Our own settings must not count as the repository's. */
	struct git_repo unfiltered = *git_repo;
	unfiltered.filters = (struct buf){0};
	AUTO_BUF none = BUF_INIT(1);
	buf_init(names, GIT_OUTPUT_MAX);
	if (!run(&unfiltered, &listing, &none, names, e))
		return 0;
	buf_done(names);
	return -1;
}

int git_call(const struct git_repo *git_repo, const struct git_call *call, struct buf *out,
	struct err *e)
{
	AUTO_BUF listed = {0};
	struct buf *names = git_repo->names ? &git_repo->names[call->no_tree] : &listed;
	if (call->path_count > GIT_PATHS_MAX)
		return err_set(e, "too many paths for git");
	bool known = !git_repo->git_dir || call->lists || names->len;
	if (!known && list_settings(git_repo, call->no_tree, names, e))
		return -1;
	return run(git_repo, call, names, out, e);
}

int git_call_quietly(const struct git_repo *git_repo, const struct git_call *call, struct err *e)
{
	AUTO_BUF out = BUF_INIT(GIT_OUTPUT_MAX);
	return git_call(git_repo, call, &out, e);
}

int git_call_oid(const struct git_repo *git_repo, const struct git_call *call,
	char oid[GIT_OID_BYTES], struct err *e)
{
	AUTO_BUF out = BUF_INIT(OID_OUTPUT_BYTES);
	if (git_call(git_repo, call, &out, e))
		return -1;
	return parse_oid(out.data, oid)
		       ? err_set(e, "git %s did not answer with an object's name", call->args[0])
		       : 0;
}
