/* A repository and a clone of it, through the real git in its real jail. */
#include "git/clone.h"

#include "base/io.h"
#include "base/tree.h"
#include "git/branch.h"
#include "git/call.h"
#include "git/environment.h"
#include "git/hooks.h"
#include "git/settings.h"
#include "tests/kit/tap.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct git_identity as = {"A U Thor", "author@example.org"};
static const struct git_files no_files = {NULL, 0};

/* The jail is looked for beside the running program: the test runs as a copy that has it there. */
static void move_beside_the_jail(char **argv)
{
	char self[PATH_MAX], jail[PATH_MAX], *text;
	size_t len;
	const char *bin = getenv("AGENT6_BIN"), *scratch = tap_scratch();
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (getenv("GIT_CLONE_TEST") || n < 0 || !bin)
		return;
	self[n] = '\0';
	snprintf(jail, sizeof(jail), "%s/agent6-jail", bin);
	AUTO_FD int dir = open(scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (io_read_file(AT_FDCWD, self, 256 * 1024 * 1024, &text, &len, NULL) ||
		io_create_file(dir, "test", text, len, 0755, NULL) ||
		symlinkat(jail, dir, "agent6-jail"))
		bail("cannot copy the test");
	setenv("GIT_CLONE_TEST", scratch, 1);
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/test", scratch);
	execv(path, argv);
	bail("cannot start the copy");
}

static void put(const char *dir, const char *path, const char *text, mode_t mode)
{
	struct err e = ERR_NONE;
	AUTO_FD int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	unlinkat(fd, path, 0);
	if (io_create_file(fd, path, text, strlen(text), mode, &e))
		bail("%s: %s", path, e.text);
}

#define fine(call)                                                                                 \
	do {                                                                                       \
		struct err e_ = ERR_NONE;                                                          \
		struct err *e = &e_;                                                               \
		if (!ok(!(call), #call))                                                           \
			diag("%s", e_.text);                                                       \
	} while (0)

#define refused(call, part)                                                                        \
	do {                                                                                       \
		struct err e_ = ERR_NONE;                                                          \
		struct err *e = &e_;                                                               \
		ok((call) != 0, #call " is refused");                                              \
		has_str(e_.text, part, "with the reason");                                         \
	} while (0)

/* --- the environment -------------------------------------------------------------------------- */

static const char *setting(const json_t *env, const char *key)
{
	char name[40];
	const char *value = NULL, *at;
	for (int i = 0;; i++) {
		snprintf(name, sizeof(name), "GIT_CONFIG_KEY_%d", i);
		if (!(at = json_string_value(json_object_get(env, name))))
			return value;
		snprintf(name, sizeof(name), "GIT_CONFIG_VALUE_%d", i);
		if (!strcmp(at, key))
			value = json_string_value(json_object_get(env, name));
	}
}

/* The settings of each call, whatever the repository is. Measurements show that nothing runs with
 * them. */
static const struct {
	const char *key, *value;
} fixed[] = {{"PATH", "/usr/bin:/bin"}, {"HOME", "/nonexistent"}, {"LC_ALL", "C"}, {"TZ", "UTC"},
	{"GIT_CONFIG_NOSYSTEM", "1"}, {"GIT_CONFIG_GLOBAL", "/dev/null"},
	{"GIT_ATTR_NOSYSTEM", "1"}, {"GIT_TERMINAL_PROMPT", "0"}, {"GIT_NO_LAZY_FETCH", "1"},
	{"GIT_ALLOW_PROTOCOL", "none"}, {"GIT_OPTIONAL_LOCKS", "0"},
	{"GIT_NO_REPLACE_OBJECTS", "1"}, {"GIT_LITERAL_PATHSPECS", "1"}, {"GIT_PAGER", "cat"},
	{"GIT_EDITOR", "/bin/false"}, {"GIT_SEQUENCE_EDITOR", "/bin/false"},
	{"GIT_ASKPASS", "/bin/false"}, {"SSH_ASKPASS", "/bin/false"}},
  settings[] = {{"core.fsmonitor", "false"}, {"core.hooksPath", "/dev/null"},
	  {"commit.gpgSign", "false"}, {"tag.gpgSign", "false"}, {"log.showSignature", "false"},
	  {"gpg.program", "/bin/false"}, {"gpg.openpgp.program", "/bin/false"},
	  {"gpg.ssh.program", "/bin/false"}, {"gpg.x509.program", "/bin/false"},
	  {"gpg.ssh.defaultKeyCommand", "/bin/false"}, {"core.editor", "/bin/false"},
	  {"sequence.editor", "/bin/false"}, {"core.sshCommand", "/bin/false"},
	  {"core.askPass", "/bin/false"}, {"core.gitProxy", "/bin/false"},
	  {"core.alternateRefsCommand", "/bin/false"}, {"core.pager", "cat"},
	  {"credential.helper", ""}, {"protocol.allow", "never"}, {"submodule.recurse", "false"},
	  {"diff.ignoreSubmodules", "all"}, {"status.submoduleSummary", "false"},
	  {"diff.submodule", "short"}, {"gc.auto", "0"}, {"maintenance.auto", "false"},
	  {"core.attributesFile", "/dev/null"}, {"safe.bareRepository", "explicit"},
	  {"core.untrackedCache", "false"}, {"core.quotePath", "false"},
	  {"core.trustctime", "true"}, {"core.checkStat", "default"}, {"core.fsync", "all"},
	  {"core.fsyncMethod", "batch"}, {"filter.x.y.clean", ""}, {"filter.x.y.smudge", ""},
	  {"filter.x.y.process", ""}, {"remote.o.uploadpack", "/bin/false"},
	  {"remote.o.receivepack", "/bin/false"}, {"remote.o.vcs", "/bin/false"},
	  {"remote.o.proxy", "/bin/false"}, {"diff.d.command", "/bin/false"},
	  {"trailer.t.command", "true"}};

static void neutralised(const json_t *env)
{
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		is_str(json_string_value(json_object_get(env, fixed[i].key)), fixed[i].value, "%s",
			fixed[i].key);
	for (size_t i = 0; i < ARRAY_LEN(settings); i++)
		is_str(setting(env, settings[i].key), settings[i].value, "%s", settings[i].key);
}

/* Checks that git is not called if its settings cannot be switched off one by one. */
static void too_much(void)
{
	AUTO_BUF many, name;
	const struct buf none = {0};
	struct err e = ERR_NONE;
	buf_init(&many, 1 << 20);
	buf_init(&name, 1 << 20);
	for (int i = 0; i < 1000; i++) {
		buf_addf(&many, "filter.f%d.clean", i);
		buf_addc(&many, '\0');
	}
	ok(!environment_new(&many, &none, NULL, &e), "a thousand filters are too many");
	has_str(e.text, "too many drivers and remotes", "which is said");
	buf_addf(&name, "filter.%01100d.clean", 0);
	buf_addc(&name, '\0');
	e = ERR_NONE;
	ok(!environment_new(&name, &none, NULL, &e), "nor is a long name cut");
	has_str(e.text, "a name over 1,000 bytes", "which is said, too");
}

static void environment(void)
{
	static char names[] =
		"filter.a=b.clean\0filter.x.y.smudge\0merge.m.driver\0diff.d.textconv\0"
		"remote.o.promisor\0hook.h.command\0trailer.t.cmd\0core.bare";
	static char allowed[] = "filter.x.y.smudge\ncat\0filter.x.y.required\ntrue";
	const struct buf list = {.data = names, .len = sizeof(names)};
	const struct buf filters = {.data = allowed, .len = sizeof(allowed)}, none = {0};
	json_auto_t *env = environment_new(&list, &none, NULL, NULL);
	neutralised(env);
	too_much();
	is_str(setting(env, "filter.a=b.clean"), "", "a filter is blank, a name with = included");
	is_str(setting(env, "filter.x.y.required"), "false", "and not required");
	is_str(setting(env, "merge.m.driver"), "/bin/false", "a merge driver fails");
	is_str(setting(env, "diff.d.textconv"), "/bin/false", "so does a textconv");
	is_str(setting(env, "remote.o.promisor"), "false", "nothing is fetched");
	is_str(setting(env, "hook.h.enabled"), "false", "a configured hook is off");
	is_str(setting(env, "trailer.t.cmd"), "true", "a trailer does nothing");
	is_str(setting(env, "core.hooksPath"), "/dev/null", "no hooks");
	is_str(json_string_value(json_object_get(env, "GIT_NO_LAZY_FETCH")), "1", "no fetching");
	ok(!json_object_get(env, "GIT_AUTHOR_NAME"), "nobody commits");
	json_auto_t *more = environment_new(&list, &filters, &as, NULL);
	is_str(setting(more, "filter.x.y.smudge"), "cat", "an allowed filter runs");
	is_str(setting(more, "filter.x.y.required"), "true", "and must not fail");
	is_str(setting(more, "filter.a=b.clean"), "", "the other one does not");
	is_str(json_string_value(json_object_get(more, "GIT_COMMITTER_EMAIL")), as.email,
		"somebody commits");
}

/* --- the repository --------------------------------------------------------------------------- */

static char head[GIT_OID_BYTES];

static void branches(struct git_repo *git_repo, const char *dir)
{
	char tip[GIT_OID_BYTES], below[PATH_MAX];
	static const char other[] = "0123456789abcdef0123456789abcdef01234567";
	put(dir, "file", "one\n", 0644);
	put(dir, "deep/er/file", "two\n", 0644);
	fine(git_make(dir, &as, e));
	snprintf(below, sizeof(below), "%s/deep/er", dir);
	fine(git_find(below, git_repo, e));
	is_str(git_repo->work_tree, dir, "found from below");
	fine(git_head(git_repo, head, e));
	fine(git_branch_tip(git_repo, "work", tip, e));
	is_str(tip, "", "no such branch yet");
	fine(git_branch_move(git_repo, &(struct git_move){"work", "", head}, e));
	refused(git_branch_move(git_repo, &(struct git_move){"work", "", head}, e),
		"update-ref failed");
	refused(git_branch_move(git_repo, &(struct git_move){"work", other, head}, e), "failed");
	refused(git_branch_check(git_repo, "main", e), "is checked out in");
	refused(git_branch_move(git_repo, &(struct git_move){"main", head, head}, e),
		"is checked out in");
	ok(!git_unborn(git_repo), "and it has a commit");
	fine(git_branch_tip(git_repo, "work", tip, e));
	is_str(tip, head, "the branch is where it was made");
}

/* A path is a path, and one that begins with a dash is no option. */
static void dashes(const struct git_repo *git_repo, const char *dir)
{
	static const char *const paths[] = {"-s", "*.none"};
	static const char want[] = "?? -s";
	AUTO_BUF out;
	buf_init(&out, 4096);
	put(dir, "-s", "x", 0644);
	put(dir, "a.none", "x", 0644);
	fine(git_status(git_repo, paths, ARRAY_LEN(paths), &out, e));
	is_mem(out.data, out.len, want, sizeof(want), "nor is a pattern one");
	AUTO_FD int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	unlinkat(fd, "-s", 0);
	unlinkat(fd, "a.none", 0);
}

/* A tree that came with a .git of somebody else's making leads to no other repository. */
static void foreign(const struct git_repo *git_repo, const char *dir)
{
	char text[2 * PATH_MAX], path[PATH_MAX];
	struct git_repo found;
	snprintf(path, sizeof(path), "%s/foreign", tap_scratch());
	snprintf(text, sizeof(text), "gitdir: %s\n", git_repo->git_dir);
	if (mkdir(path, 0755))
		bail("cannot make a directory");
	put(path, ".git", text, 0644);
	refused(git_find(path, &found, e), "the repository of another directory");
	put(dir, ".git/worktrees/x/commondir", "../..\n", 0644);
	put(dir, ".git/worktrees/x/HEAD", "ref: refs/heads/main\n", 0644);
	put(dir, ".git/worktrees/x/gitdir", "/nowhere/.git\n", 0644);
	snprintf(text, sizeof(text), "gitdir: %s/worktrees/x\n", git_repo->git_dir);
	put(path, ".git", text, 0644);
	refused(git_find(path, &found, e), "is the linked work tree /nowhere/.git of");
	snprintf(text, sizeof(text), "%s/.git\n", dir);
	put(dir, ".git/worktrees/x/gitdir", text, 0644);
	refused(git_find(path, &found, e), "is the linked work tree");
	snprintf(text, sizeof(text), "%s/.git\n", path);
	put(dir, ".git/worktrees/x/gitdir", text, 0644);
	fine(git_find(path, &found, e));
	is_str(found.common_dir, git_repo->git_dir, "a work tree that its repository knows is one");
	git_repo_done(&found);
	put(dir, ".git/worktrees/x/gitdir", "../../../../foreign/.git\n", 0644);
	fine(git_find(path, &found, e));
	is_str(found.common_dir, git_repo->git_dir, "by a relative path, too");
	git_repo_done(&found);
	snprintf(path, sizeof(path), "%s/other", tap_scratch());
	snprintf(text, sizeof(text), "%s\n", git_repo->git_dir);
	if (mkdir(path, 0755))
		bail("cannot make a directory");
	put(path, ".git/commondir", text, 0644);
	refused(git_find(path, &found, e), "which it is no linked work tree of");
	AUTO_FD int own = open(git_repo->git_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (tree_remove(own, "worktrees", NULL))
		bail("cannot remove a work tree");
}

/* Reports whether the index lacks a file's times: then git has to read the file to compare it. */
static bool has_no_times(const struct git_repo *clone)
{
	struct git_call call = {.args = GIT_ARGS("ls-files", "--debug")};
	struct err e = ERR_NONE;
	AUTO_BUF out;
	buf_init(&out, 65536);
	if (git_call(clone, &call, &out, &e) || !out.len)
		bail("no files are listed: %s", e.text);
	return strstr(out.data, "mtime: 0:0\n");
}

static void commits(const struct git_repo *git_repo, struct git_repo *clone, const char *dir)
{
	char tree[GIT_OID_BYTES] = "", oid[GIT_OID_BYTES] = "", tip[GIT_OID_BYTES];
	size_t left_out;
	bool differs = true;
	fine(git_clone_open(git_repo, dir, "work", clone, e));
	fine(git_clone_checkout(clone, head, head, e));
	ok(!has_no_times(clone), "the index knows the times of what was checked out");
	fine(git_clone_stage(clone, tree, &left_out, NULL, e));
	fine(git_clone_differs(clone, head, tree, &differs, e));
	ok(!differs, "nothing has changed");
	fine(git_clone_commit(clone, &(struct git_commit){tree, head, "m\n", &as}, oid, e));
	is_str(oid, "", "so there is no commit");
	put(dir, "locked/file", "x", 0644);
	AUTO_FD int tree_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fchmodat(tree_fd, "locked", 0, 0))
		bail("cannot lock a directory");
	fine(git_clone_stage(clone, tree, &left_out, NULL, e));
	fine(git_clone_differs(clone, head, tree, &differs, e));
	ok(differs, "what is in a directory that cannot be read is no less of a change");
	put(dir, "file", "changed\n", 0644);
	put(dir, "new\nname", "x", 0755);
	fine(git_clone_stage(clone, tree, &left_out, NULL, e));
	fine(git_clone_commit(clone, &(struct git_commit){tree, head, "m\n", &as}, oid, e));
	fine(git_clone_advance(clone, oid, e));
	fine(git_clone_send(clone, git_repo, head, oid, e));
	fine(git_branch_move(git_repo, &(struct git_move){"work", head, oid}, e));
	fine(git_branch_tip(git_repo, "work", tip, e));
	is_str(tip, oid, "the commit has arrived");
	struct err why = ERR_NONE;
	ok(git_clone_send(clone, git_repo, head, "no-such-commit", &why),
		"what is no commit is not sent");
	is(strncmp(why.text, "git pack-objects failed", 23), 0, "%s: not for its size", why.text);
	fine(git_clone_checkout(clone, head, head, e));
	AUTO_FD int top = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ok(faccessat(top, "new\nname", F_OK, 0), "a checkout leaves nothing else");
}

/* A directory that holds anything is made a clone; a repository that lacks objects is none's. */
static void odd_clones(const struct git_repo *git_repo)
{
	char path[PATH_MAX], shallow[GIT_OID_BYTES + 1];
	struct git_repo clone;
	AUTO_FREE char *text = NULL;
	size_t len;
	snprintf(path, sizeof(path), "%s/odd", tap_scratch());
	if (mkdir(path, 0755))
		bail("cannot make a directory");
	AUTO_FD int own = open(git_repo->git_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD int odd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	put(path, ".git", "gitdir: /nowhere\n", 0644);
	snprintf(shallow, sizeof(shallow), "%s\n", head);
	put(git_repo->git_dir, "shallow", shallow, 0644);
	fine(git_clone_open(git_repo, path, "work", &clone, e));
	ok(!io_read_file(odd, ".git/shallow", 4096, &text, &len, NULL), "where history ends");
	is_str(text, shallow, "is known in the clone");
	put(path, ".git/objects/info/commit-graph", "x", 0644);
	git_repo_done(&clone);
	fine(git_clone_open(git_repo, path, "work", &clone, e));
	ok(faccessat(odd, ".git/objects/info/commit-graph", F_OK, 0),
		"what git would look up beside the objects is not kept");
	if (symlinkat("objects", odd, ".git/linked") || symlinkat(".git", odd, "git"))
		bail("cannot make a link");
	AUTO_FREE char *linked = NULL;
	if (asprintf(&linked, "%s/git", path) < 0)
		bail("out of memory");
	is(git_dir_open(clone.git_dir, "linked"), -1, "no link is followed in a repository,");
	is(git_dir_open(linked, "."), -1, "or to one");
	git_repo_done(&clone);
	unlinkat(own, "shallow", 0);
	put(git_repo->git_dir, "objects/pack/p.promisor", "", 0644);
	refused(git_explain(git_repo, e), "is a partial clone");
	put(git_repo->git_dir, "objects/info/alternates", "/elsewhere\n", 0644);
	refused(git_clone_open(git_repo, path, "work", &clone, e), "borrows objects from another");
	unlinkat(own, "objects/pack/p.promisor", 0);
	unlinkat(own, "objects/info/alternates", 0);
}

/* --- what the operator may let run ------------------------------------------------------------ */

static void filters(const struct git_repo *git_repo, struct git_repo *clone)
{
	AUTO_FREE char *value = NULL;
	struct git_identity who = {"", "x@y"};
	put(git_repo->git_dir, "more",
		"[filter \"up\"]\n\tclean = tr a-z A-Z\n[filter \"lfs\"]\n\tclean = "
		"cat\n[user]\n\tname = Op\n\tnamesake = no\n\temail = op@z\n",
		0644);
	put(git_repo->git_dir, "config",
		"[core]\n\trepositoryformatversion = 0\n\tbare = false\n[include]\n\tpath = more\n",
		0644);
	value = git_setting(git_repo, "core.hookspath", NULL);
	is_str(value, NULL, "our own overrides are not the repository's settings");
	fine(git_identity_find(git_repo, &no_files, &who, e));
	is_str(who.name, "Op", "a name out of an included file");
	is_str(who.email, "x@y", "what was there stays");
	struct git_identity mine = {"Mine", ""};
	fine(git_identity_find(git_repo, &no_files, &mine, e));
	is_str(mine.name, "Mine", "be it the name");
	is_str(mine.email, "op@z", "while the address is looked up");
	ok(!git_filter_runs(clone, "up"), "no filter runs unasked");
	fine(git_filters_allow(git_repo, &no_files, clone, e));
	ok(git_filter_runs(clone, "up") && !git_filter_runs(clone, "u"), "asked, its own does");
	ok(!git_filter_runs(clone, "lfs"), "git-lfs does not");
	char first[PATH_MAX], second[PATH_MAX];
	const char *const files[] = {first, second};
	const struct git_files both = {files, ARRAY_LEN(files)};
	const struct buf none = {0};
	struct git_repo other = {0};
	snprintf(first, sizeof(first), "%s/first", git_repo->git_dir);
	snprintf(second, sizeof(second), "%s/second", git_repo->git_dir);
	put(git_repo->git_dir, "first", "[filter \"two\"]\n\tclean = first\n", 0644);
	put(git_repo->git_dir, "second", "[filter \"two\"]\n\tclean = second\n", 0644);
	fine(git_filters_allow(git_repo, &both, &other, e));
	json_auto_t *env = environment_new(&none, &other.filters, NULL, NULL);
	is_str(setting(env, "filter.two.clean"), "first", "of two files the first counts more");
	git_repo_done(&other);
}

/* A hook that is a link is the file that it leads to, where that is the repository's own. */
static void links(
	const struct git_repo *git_repo, const struct git_repo *clone, struct buf *message)
{
	char beside[PATH_MAX];
	AUTO_FD int own = open(git_repo->git_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(beside, sizeof(beside), "%s.beside", git_repo->work_tree);
	if (mkdir(beside, 0755))
		bail("cannot make a directory");
	put(beside, "hook", "#!/bin/sh\n", 0755);
	put(git_repo->work_tree, "hook", "#!/bin/sh\necho from the tree >&2\nexit 1\n", 0755);
	unlinkat(own, "hooks/commit-msg", 0);
	unlinkat(own, "hooks/pre-commit", 0);
	if (symlinkat("../../hook", own, "hooks/pre-commit"))
		bail("cannot make a link");
	refused(git_hooks_run(git_repo, clone, &as, message, e),
		"pre-commit failed: from the tree");
	put(git_repo->work_tree, "hook", "#!/bin/sh\nexit 1\n", 0644);
	fine(git_hooks_run(git_repo, clone, &as, message, e));
	unlinkat(own, "hooks/pre-commit", 0);
	if (symlinkat("../../../tree.beside/hook", own, "hooks/pre-commit"))
		bail("cannot make a link");
	refused(git_hooks_run(git_repo, clone, &as, message, e), "outside of the repository");
	unlinkat(own, "hooks/pre-commit", 0);
	put(git_repo->git_dir, "config", "[core]\n\thooksPath = .\n", 0644);
	refused(git_hooks_run(git_repo, clone, &as, message, e), "is no directory inside of");
	put(git_repo->git_dir, "config", "[core]\n\thooksPath = ../tree.beside\n", 0644);
	refused(git_hooks_run(git_repo, clone, &as, message, e), "is no directory inside of");
	put(git_repo->git_dir, "config", "[core]\n", 0644);
}

/* Only a call that sees the work tree sees what is included out of it. */
static void learns(const struct git_repo *git_repo)
{
	static const char key[] = "filter.poison.clean";
	char oid[GIT_OID_BYTES];
	struct git_repo own;
	AUTO_BUF out;
	buf_init(&out, 4096);
	put(git_repo->work_tree, "inc", "[filter \"poison\"]\n\tclean = touch made\n", 0644);
	put(git_repo->git_dir, "config", "[core]\n[include]\n\tpath = ../inc\n", 0644);
	fine(git_find(git_repo->work_tree, &own, e));
	fine(git_learn(&own, e));
	fine(git_head(&own, oid, e));
	fine(git_tracked(&own, NULL, 0, &out, e));
	for (int no_tree = 0; no_tree < 2; no_tree++) {
		const struct buf *names = &own.names[no_tree];
		bool holds = names->len && memmem(names->data, names->len, key, sizeof(key));
		ok(names->len && holds == !no_tree, "what was listed for a call %s the tree",
			no_tree ? "without" : "with");
	}
	git_repo_done(&own);
}

static void hooks(const struct git_repo *git_repo, const struct git_repo *clone)
{
	AUTO_BUF message;
	char path[PATH_MAX];
	struct stat st;
	buf_init(&message, 4096);
	buf_adds(&message, "subject\n");
	put(git_repo->git_dir, "hooks/pre-commit", "#!/bin/sh\nexit 1\n", 0644);
	fine(git_hooks_run(git_repo, clone, &as, &message, e));
	is_str(message.data, "subject\n", "what cannot be executed is no hook");
	put(git_repo->git_dir, "hooks/pre-commit", "#!/bin/sh\necho no >&2\nexit 125\n", 0755);
	refused(git_hooks_run(git_repo, clone, &as, &message, e), "the hook pre-commit failed: no");
	put(git_repo->git_dir, "hooks/pre-commit", "#!/bin/sh\ntouch made; test $(id -u) != 0\n",
		0755);
	put(git_repo->git_dir, "hooks/commit-msg", "#!/bin/sh\necho more >>\"$1\"\n", 0755);
	fine(git_hooks_run(git_repo, clone, &as, &message, e));
	is_str(message.data, "subject\nmore\n", "the message is the hook's");
	snprintf(path, sizeof(path), "%s/made", clone->work_tree);
	ok(!stat(path, &st), "it works in the clone");
	snprintf(path, sizeof(path), "%s/agent6-hooks", clone->git_dir);
	ok(stat(path, &st), "and its copy is gone");
	put(git_repo->git_dir, "hooks/commit-msg", "#!/bin/sh\n: >\"$1\"\n", 0755);
	refused(git_hooks_run(git_repo, clone, &as, &message, e), "no message");
	put(git_repo->git_dir, "hooks/commit-msg", "#!/bin/sh\nprintf 'a\\0b' >\"$1\"\n", 0755);
	refused(git_hooks_run(git_repo, clone, &as, &message, e), "no message");
	links(git_repo, clone, &message);
}

/* --- the jail --------------------------------------------------------------------------------- */

/* Takes the jail's place: fails as often as the file beside it says, and notes the profiles. */
static void stand_in(const char *dir, const char *jail)
{
	AUTO_FREE char *text = NULL;
	if (asprintf(&text,
		    "#!/bin/sh\n"
		    "case $(cat <&3) in\n"
		    "*'\"profile\":\"strict\"'*) echo strict >>$0.log ;;\n"
		    "*) echo other >>$0.log ;;\n"
		    "esac\n"
		    "read left <$0.left\n"
		    "if [ $left -gt 0 ]; then\n"
		    "  echo $((left - 1)) >$0.left\n"
		    "  cat $0.says >&4\n"
		    "  echo half\n"
		    "  exit 125\n"
		    "fi\n"
		    "exec %s --policy /proc/self/fd/3 --status-fd 4\n",
		    jail) < 0)
		bail("out of memory");
	put(dir, "agent6-jail", text, 0755);
}

static void jails(const struct git_repo *git_repo)
{
	static const char words[] = "could not be set up, at namespaces: no room: Resource";
	const char *dir = getenv("GIT_CLONE_TEST");
	char jail[PATH_MAX], oid[GIT_OID_BYTES];
	AUTO_FREE char *log = NULL;
	size_t len;
	struct git_repo strict = *git_repo, learnt;
	strict.profile = "strict";
	fine(git_find(git_repo->work_tree, &learnt, e));
	AUTO_FD int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(jail, sizeof(jail), "%s/agent6-jail", getenv("AGENT6_BIN"));
	stand_in(dir, jail);
	put(dir, "agent6-jail.says",
		"{\"exit\":125,\"stage\":\"namespaces\",\"errno\":11,"
		"\"error\":\"no room: Resource temporarily unavailable\"}\n",
		0644);
	put(dir, "agent6-jail.left", "2\n", 0644);
	fine(git_head(git_repo, oid, e));
	is_str(oid, head, "a jail that cannot be set up for a moment is tried again");
	put(dir, "agent6-jail.left", "1000\n", 0644);
	refused(git_head(git_repo, oid, e), words);
	ok(!git_unborn(git_repo), "what could not be asked is not unborn");
	refused(git_head(&strict, oid, e), words);
	put(dir, "agent6-jail.left", "1\n", 0644);
	put(dir, "agent6-jail.says",
		"{\"exit\":125,\"stage\":\"wait\",\"error\":\"the child is gone\"}\n", 0644);
	refused(git_head(git_repo, oid, e), "git was lost: the child is gone");
	put(dir, "agent6-jail.left", "1\n", 0644);
	put(dir, "agent6-jail.says", "{\"exit\":null,\"signal\":9,\"timed_out\":true}\n", 0644);
	refused(git_head(git_repo, oid, e),
		"git config did not end within 120 seconds; try again when");
	put(dir, "agent6-jail.left", "1\n", 0644);
	fine(git_learn(&learnt, e));
	refused(git_head(&learnt, oid, e), "git config did not end within 120 seconds");
	is((int64_t)learnt.names[true].len + (int64_t)learnt.names[false].len, 0,
		"half a listing is none");
	git_repo_done(&learnt);
	if (io_read_file(fd, "agent6-jail.log", 65536, &log, &len, NULL))
		bail("the stand-in was not called");
	ok(len && !strstr(log, "other"), "no call is confined with less than what was found");
}

/* git warns of a hundred files before it says which one stopped it. */
static void reasons(struct git_repo *clone)
{
	char name[100], tree[GIT_OID_BYTES];
	size_t left_out;
	fine(git_clone_checkout(clone, head, head, e));
	put(clone->work_tree, ".gitattributes",
		"* text eol=crlf\nwide working-tree-encoding=UTF-16\n", 0644);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "a%d-with-a-name-that-makes-its-warning-longer", i);
		put(clone->work_tree, name, "one\n", 0644);
	}
	put(clone->work_tree, "wide", "one\n", 0000);
	refused(git_clone_stage(clone, tree, &left_out, NULL, e),
		"git add failed: fatal: BOM is required in 'wide'");
}

int main(int argc, char **argv)
{
	struct git_repo repository = {0}, clone = {0};
	char tree[PATH_MAX], copy[PATH_MAX];
	(void)argc;
	if (access("/usr/bin/git", X_OK))
		skip_all("git is not installed");
	move_beside_the_jail(argv);
	snprintf(tree, sizeof(tree), "%s/tree", tap_scratch());
	snprintf(copy, sizeof(copy), "%s/copy", tap_scratch());
	if (mkdir(tree, 0755))
		bail("cannot make a directory");
	environment();
	branches(&repository, tree);
	foreign(&repository, tree);
	dashes(&repository, tree);
	commits(&repository, &clone, copy);
	odd_clones(&repository);
	filters(&repository, &clone);
	learns(&repository);
	hooks(&repository, &clone);
	reasons(&clone);
	jails(&repository);
	git_repo_done(&repository);
	git_repo_done(&clone);
	if (getenv("GIT_CLONE_TEST"))
		tree_remove(AT_FDCWD, getenv("GIT_CLONE_TEST"), NULL);
	return tap_done();
}
