#include "git/call.h"

#include "base/arena.h"
#include "base/capture.h"
#include <stdint.h>
#include <string.h>

static const char *const fixed_env[] = {"PATH=/usr/bin:/bin", "HOME=/nonexistent", "LC_ALL=C",
	"TZ=UTC", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
	"GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
	"GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_LITERAL_PATHSPECS=1",
	"GIT_PAGER=cat", "GIT_EDITOR=/bin/false", "GIT_SEQUENCE_EDITOR=/bin/false",
	"GIT_ASKPASS=/bin/false", "SSH_ASKPASS=/bin/false"};

struct setting {
	const char *key, *value;
};

static const struct setting fixed_settings[] = {{"core.fsmonitor", "false"},
	{"core.hooksPath", "/dev/null"}, {"commit.gpgSign", "false"}, {"tag.gpgSign", "false"},
	{"log.showSignature", "false"}, {"gpg.program", "/bin/false"},
	{"gpg.openpgp.program", "/bin/false"}, {"gpg.ssh.program", "/bin/false"},
	{"gpg.x509.program", "/bin/false"}, {"gpg.ssh.defaultKeyCommand", "/bin/false"},
	{"core.editor", "/bin/false"}, {"sequence.editor", "/bin/false"},
	{"core.sshCommand", "/bin/false"}, {"core.askPass", "/bin/false"},
	{"core.gitProxy", "/bin/false"}, {"core.alternateRefsCommand", "/bin/false"},
	{"core.pager", "cat"}, {"credential.helper", ""}, {"protocol.allow", "never"},
	{"submodule.recurse", "false"}, {"diff.ignoreSubmodules", "all"},
	{"status.submoduleSummary", "false"}, {"diff.submodule", "short"}, {"gc.auto", "0"},
	{"maintenance.auto", "false"}, {"core.attributesFile", "/dev/null"},
	{"safe.bareRepository", "explicit"}, {"core.untrackedCache", "false"},
	{"core.quotePath", "false"}};

/* What is overridden once per name the repository's configuration mentions. */
static const struct {
	const char *section;
	struct setting last; /* key: the part behind the name */
} per_name[] = {{"filter", {"clean", ""}}, {"filter", {"smudge", ""}}, {"filter", {"process", ""}},
	{"filter", {"required", "false"}}, {"merge", {"driver", "/bin/false"}},
	{"diff", {"command", "/bin/false"}}, {"diff", {"textconv", "/bin/false"}},
	{"remote", {"promisor", "false"}}, {"remote", {"uploadpack", "/bin/false"}},
	{"remote", {"receivepack", "/bin/false"}}, {"remote", {"vcs", "/bin/false"}},
	{"remote", {"proxy", "/bin/false"}}, {"trailer", {"cmd", "true"}},
	{"trailer", {"command", "true"}}, {"hook", {"enabled", "false"}},
	{"credential", {"helper", ""}}, {"submodule", {"update", "none"}}};

enum { ENV_MAX = 8192 };

/* The environment of one call, all of it in an arena. */
struct environment {
	struct arena arena;
	char *all[ENV_MAX + 1];
	size_t count;
	int settings;
};

static void environment_add(struct environment *env, const char *name, const char *value)
{
	size_t len = strlen(name) + 1 + strlen(value);
	char *text = arena_alloc(&env->arena, len + 1);
	snprintf(text, len + 1, "%s=%s", name, value);
	if (env->count < ENV_MAX)
		env->all[env->count++] = text;
}

static int environment_set(
	struct environment *env, const char *key, const char *value, struct err *e)
{
	char name[40];
	if (env->count + 2 >= ENV_MAX)
		return err_set(
			e, "the repository's configuration names too many drivers and remotes");
	snprintf(name, sizeof(name), "GIT_CONFIG_KEY_%d", env->settings);
	environment_add(env, name, key);
	snprintf(name, sizeof(name), "GIT_CONFIG_VALUE_%d", env->settings++);
	environment_add(env, name, value);
	return 0;
}

/* `key` as git lists it: "section.name with dots.last". */
static int override_name(struct environment *env, const char *key, struct err *e)
{
	char full[1024];
	size_t section = strcspn(key, ".");
	const char *last = strrchr(key, '.');
	if (!key[section] || last == key + section)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(per_name); i++) {
		if (strlen(per_name[i].section) != section ||
			strncmp(key, per_name[i].section, section))
			continue;
		int len = snprintf(full, sizeof(full), "%.*s.%s", (int)(last - key), key,
			per_name[i].last.key);
		if (len >= (int)sizeof(full))
			return err_set(
				e, "the repository's configuration holds a name over 1,000 bytes");
		if (environment_set(env, full, per_name[i].last.value, e))
			return -1;
	}
	return 0;
}

static bool same_name(const char *a, const char *b)
{
	const char *a_last = strrchr(a, '.'), *b_last = strrchr(b, '.');
	return a_last && b_last && a_last - a == b_last - b && !strncmp(a, b, (size_t)(a_last - a));
}

static int override_names(struct environment *env, const struct buf *names, struct err *e)
{
	const char *before = "";
	for (size_t at = 0; at < names->len; at += strlen(names->data + at) + 1) {
		const char *key = names->data + at;
		if (!same_name(before, key) && override_name(env, key, e))
			return -1;
		before = key;
	}
	return 0;
}

static int environment_init(struct environment *env, struct err *e)
{
	arena_init(&env->arena);
	env->count = 0;
	env->settings = 0;
	for (size_t i = 0; i < ARRAY_LEN(fixed_env); i++)
		env->all[env->count++] =
			arena_copy(&env->arena, fixed_env[i], strlen(fixed_env[i]));
	for (size_t i = 0; i < ARRAY_LEN(fixed_settings); i++)
		if (environment_set(env, fixed_settings[i].key, fixed_settings[i].value, e))
			return -1;
	return 0;
}

static void environment_end(struct environment *env)
{
	char count[16];
	snprintf(count, sizeof(count), "%d", env->settings);
	environment_add(env, "GIT_CONFIG_COUNT", count);
	env->all[env->count] = NULL;
}

/* --- the process ------------------------------------------------------------------------------
 */

static const char *find_git(void)
{
	static const char *const places[] = {"/usr/bin/git", "/bin/git", "/usr/local/bin/git"};
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (!access(places[i], X_OK))
			return places[i];
	return NULL;
}

static int run(char *const *argv, struct environment *env, struct buf *out, struct err *e)
{
	AUTO_BUF words;
	buf_init(&words, 4096);
	environment_end(env);
	struct capture_spec spec = {.argv = argv,
		.env = env->all,
		.stdin_fd = -1,
		.deadline_ms = GIT_DEADLINE_MS,
		.own_session = true};
	int status = capture_run(&spec, out, &words, e);
	if (status > 0)
		return err_set(e, "git failed: %.*s",
			words.len ? (int)strcspn(words.data, "\n") : 15,
			words.len ? words.data : "without a word.");
	return status;
}

static int list_config(
	const struct git_repo *r, struct environment *env, struct buf *names, struct err *e)
{
	char *git = (char *)(uintptr_t)find_git();
	char *git_dir = NULL;
	if (!git)
		return err_set(e, "git is not installed");
	if (asprintf(&git_dir, "--git-dir=%s", r->git_dir) < 0)
		return err_set(e, "out of memory");
	char *argv[] = {git, "--no-pager", git_dir, "config", "--includes", "--list", "--name-only",
		"-z", NULL};
	int failed = run(argv, env, names, e);
	free(git_dir);
	return failed;
}

/* The argument vector; strings are borrowed or live in the arena. */
static int build_argv(const struct git_repo *r, const struct git_call *call, struct arena *arena,
	char ***out, struct err *e)
{
	if (call->arg_count + call->path_count > GIT_ARGS_MAX)
		return err_set(e, "too many paths for git");
	char **argv = arena_array(arena, GIT_ARGS_MAX + 16, sizeof(*argv));
	size_t n = 0, dir = strlen(r->git_dir) + 16, tree = strlen(r->work_tree) + 16;
	char *git_dir = arena_alloc(arena, dir), *work_tree = arena_alloc(arena, tree);
	snprintf(git_dir, dir, "--git-dir=%s", r->git_dir);
	snprintf(work_tree, tree, "--work-tree=%s", r->work_tree);
	const char *const head[] = {
		find_git(), "--no-pager", "-C", r->work_tree, git_dir, work_tree};
	for (size_t i = 0; i < ARRAY_LEN(head); i++)
		argv[n++] = (char *)(uintptr_t)head[i];
	for (size_t i = 0; i < call->arg_count; i++)
		argv[n++] = (char *)(uintptr_t)call->args[i];
	argv[n++] = "--";
	for (size_t i = 0; i < call->path_count; i++)
		argv[n++] = (char *)(uintptr_t)call->paths[i];
	*out = argv;
	return 0;
}

static int call_in(const struct git_repo *r, const struct git_call *call, struct environment *env,
	struct buf *out, struct err *e)
{
	AUTO_BUF names;
	char **argv = NULL;
	buf_init(&names, GIT_OUTPUT_MAX);
	if (environment_init(env, e) || list_config(r, env, &names, e))
		return -1;
	arena_done(&env->arena);
	if (environment_init(env, e) || override_names(env, &names, e))
		return -1;
	return build_argv(r, call, &env->arena, &argv, e) ? -1 : run(argv, env, out, e);
}

int git_call(const struct git_repo *r, const struct git_call *call, struct buf *out, struct err *e)
{
	struct environment *env = malloc(sizeof(*env));
	if (!env)
		return err_set(e, "out of memory");
	int failed = call_in(r, call, env, out, e);
	arena_done(&env->arena);
	free(env);
	return failed;
}
