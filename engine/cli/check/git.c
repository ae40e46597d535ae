/*
 * Proves with the installed git that our calls execute nothing that a repository has planted:
 * builds a repository, poisons every setting that runs a program, and looks for the programs that
 * ran. The same repository is then given to plain git, which must run some of them, or the proof
 * would mean nothing.
 */
#include "base/capture.h"
#include "base/io.h"
#include "base/tree.h"
#include "cli/verb/verb.h"
#include "git/branch.h"
#include "git/clone.h"
#include "git/settings.h"
#include "report/text.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { GIT_MS = 60000 };

/* Commands that leave a file of their own name in the directory of markers. */
static const struct {
	const char *name, *setting; /* git config syntax; %s: the command */
} poisons[] = {{"fsmonitor", "[core]\n\tfsmonitor = %s\n"}, {"pager", "[core]\n\tpager = %s\n"},
	{"editor", "[core]\n\teditor = %s\n"}, {"ssh", "[core]\n\tsshCommand = %s\n"},
	{"askpass", "[core]\n\taskPass = %s\n"}, {"refs", "[core]\n\talternateRefsCommand = %s\n"},
	{"clean", "[filter \"poison\"]\n\tclean = %s\n"},
	{"equals", "[filter \"a=b\"]\n\tclean = %s\n\trequired = true\n"},
	{"process", "[filter \"p\"]\n\tprocess = %s\n"},
	{"smudge", "[filter \"poison\"]\n\tsmudge = %s\n"},
	{"textconv", "[diff \"poison\"]\n\ttextconv = %s\n"},
	{"external", "[diff]\n\texternal = %s\n"},
	{"gpg", "[log]\n\tshowSignature = true\n[gpg]\n\tprogram = %s\n"},
	{"credential", "[credential]\n\thelper = %s\n"},
	{"merge", "[merge \"poison\"]\n\tdriver = %s\n"},
	{"command", "[diff \"poison\"]\n\tcommand = %s\n"},
	{"sequence", "[sequence]\n\teditor = %s\n"}, {"proxy", "[core]\n\tgitProxy = %s\n"},
	{"trailer", "[trailer \"t\"]\n\tcommand = %s\n"},
	{"sign", "[commit]\n\tgpgSign = true\n[gpg \"ssh\"]\n\tdefaultKeyCommand = %s\n"},
	{"pack", "[uploadpack]\n\tpackObjectsHook = %s\n"},
	{"upload", "[remote \"o\"]\n\turl = ext::%s\n\tpromisor = true\n\tuploadpack = %1$s\n"}};

/* Settings in other files than .git/config. */
static const char *const elsewhere[] = {"included", "worktree"};

static const char *const hooks[] = {"post-index-change", "reference-transaction", "pre-commit",
	"prepare-commit-msg", "commit-msg", "post-commit", "post-checkout", "pre-auto-gc"};

struct ground {
	char dir[PATH_MAX - 300];
	struct git_repo repo;
};

static int write_file(
	const struct ground *ground, const char *path, const char *text, mode_t mode, struct err *e)
{
	char full[PATH_MAX];
	snprintf(full, sizeof(full), "%s/%s", ground->dir, path);
	AUTO_FD int fd = open(full, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, mode);
	return fd < 0 || io_write(fd, text, strlen(text)) ? err_errno(e, "cannot write %s", full)
							  : 0;
}

static void command_for(const struct ground *ground, const char *name, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "touch %s/tree/.git/markers/%s; false", ground->dir, name);
}

/* Runs plain git, in a clean environment apart from the repository's settings. */
static int plain_git(const struct ground *ground, const char *const *args, struct err *e)
{
	char tree[PATH_MAX],
		*argv[16] = {(char *)(uintptr_t) "/usr/bin/git", (char *)(uintptr_t) "-C", tree};
	static char *const env[] = {(char *)(uintptr_t) "PATH=/usr/bin:/bin",
		(char *)(uintptr_t) "HOME=/nonexistent",
		(char *)(uintptr_t) "GIT_CONFIG_NOSYSTEM=1",
		(char *)(uintptr_t) "GIT_AUTHOR_NAME=a", (char *)(uintptr_t) "GIT_AUTHOR_EMAIL=a@b",
		(char *)(uintptr_t) "GIT_COMMITTER_NAME=a",
		(char *)(uintptr_t) "GIT_COMMITTER_EMAIL=a@b", NULL};
	AUTO_BUF out = BUF_INIT(1 << 20), words = BUF_INIT(4096);
	snprintf(tree, sizeof(tree), "%s/tree", ground->dir);
	for (size_t n = 3; *args; args++)
		argv[n++] = (char *)(uintptr_t)*args;
	struct capture_spec spec = {.argv = argv,
		.env = env,
		.stdin_fd = -1,
		.deadline_ms = GIT_MS,
		.own_session = true};
	return capture_run(&spec, &out, &words, e);
}

static int build(struct ground *ground, struct err *e)
{
	static const char *const init[] = {"init", "-q", NULL};
	static const char *const add[] = {"add", ".", NULL};
	static const char *const commit[] = {"commit", "-qm", "clean", NULL};
	const char *tmp = getenv("TMPDIR");
	char path[PATH_MAX];
	snprintf(ground->dir, sizeof(ground->dir), "%s/agent6-git-XXXXXX",
		tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(ground->dir))
		return err_errno(e, "cannot create %s", ground->dir);
	snprintf(path, sizeof(path), "%s/tree", ground->dir);
	if (mkdir(path, 0700))
		return err_errno(e, "cannot create %s", path);
	if (write_file(ground, "tree/a.txt", "one\n", 0644, e) ||
		write_file(ground, "tree/b.bin", "two\n", 0644, e) ||
		write_file(ground, "tree/c.txt", "three\n", 0644, e) ||
		write_file(ground, "tree/.gitattributes",
			"a.txt filter=poison diff=poison merge=poison\nb.bin filter=a=b\n"
			"c.txt filter=inc\nd.txt filter=wt\ne.txt filter=p\n",
			0644, e))
		return -1;
	if (plain_git(ground, init, e) || plain_git(ground, add, e) || plain_git(ground, commit, e))
		return err_set(e, "git cannot make a repository in %s", path);
	if (git_find(path, &ground->repo, e))
		return -1;
	ground->repo.traced = true;
	snprintf(path, sizeof(path), "%s/tree/.git/markers", ground->dir);
	return mkdir(path, 0700) ? err_errno(e, "cannot create %s", path) : 0;
}

static int poison_elsewhere(const struct ground *ground, struct err *e)
{
	char command[PATH_MAX], text[2 * PATH_MAX];
	command_for(ground, elsewhere[0], command);
	snprintf(text, sizeof(text), "[filter \"inc\"]\n\tclean = \"%s\"\n", command);
	if (write_file(ground, "tree/.included", text, 0644, e) ||
		write_file(ground, "tree/.git/config",
			"[include]\n\tpath = ../.included\n[extensions]\n\tworktreeConfig = true\n",
			0644, e))
		return -1;
	command_for(ground, elsewhere[1], command);
	snprintf(text, sizeof(text), "[filter \"wt\"]\n\tclean = \"%s\"\n", command);
	if (write_file(ground, "tree/.git/config.worktree", text, 0644, e))
		return -1;
	return 0;
}

static int poison_hooks(const struct ground *ground, struct err *e)
{
	char command[PATH_MAX], path[100], text[2 * PATH_MAX];
	for (size_t i = 0; i < ARRAY_LEN(hooks); i++) {
		command_for(ground, hooks[i], command);
		snprintf(path, sizeof(path), "tree/.git/hooks/%s", hooks[i]);
		snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", command);
		if (write_file(ground, path, text, 0755, e))
			return -1;
	}
	return 0;
}

static int poison(const struct ground *ground, struct err *e)
{
	char command[PATH_MAX], quoted[PATH_MAX + 8], text[3 * PATH_MAX];
	for (size_t i = 0; i < ARRAY_LEN(poisons); i++) {
		const char *rest = poisons[i].setting, *mark;
		size_t used = 0;
		command_for(ground, poisons[i].name, command);
		snprintf(quoted, sizeof(quoted), "\"%s\"", command);
		for (; (mark = strchr(rest, '%')); rest = mark + (mark[1] == '1' ? 4 : 2))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%.*s%s",
				(int)(mark - rest), rest, quoted);
		snprintf(text + used, sizeof(text) - used, "%s", rest);
		if (write_file(ground, "tree/.git/config", text, 0644, e))
			return -1;
	}
	if (poison_elsewhere(ground, e) || poison_hooks(ground, e))
		return -1;
	/* Changed files, so that every filter has work to do. */
	return write_file(ground, "tree/a.txt", "more\n", 0644, e) ||
			       write_file(ground, "tree/b.bin", "more\n", 0644, e) ||
			       write_file(ground, "tree/c.txt", "more\n", 0644, e)
		       ? -1
		       : 0;
}

/* Lists the names of the markers, and removes them. */
static size_t ran(const struct ground *ground, struct buf *names)
{
	char path[PATH_MAX];
	size_t count = 0;
	snprintf(path, sizeof(path), "%s/tree/.git/markers", ground->dir);
	DIR *dir = opendir(path);
	for (const struct dirent *d; dir && (d = readdir(dir));) {
		if (d->d_name[0] == '.')
			continue;
		buf_addf(names, "%s%s", count++ ? ", " : "", d->d_name);
		unlinkat(dirfd(dir), d->d_name, 0);
	}
	if (dir)
		closedir(dir);
	return count;
}

/* Works with the repository as a machine that writes code does: a clone, a commit, a branch. */
static int work(const struct ground *ground, struct err *e)
{
	static const struct git_identity as = {"agent6", "agent6@localhost"};
	static const char branch[] = "agent6/check-git";
	char head[GIT_OID_BYTES], tree[GIT_OID_BYTES], oid[GIT_OID_BYTES], dir[PATH_MAX];
	struct git_identity found = {"", ""};
	struct git_repo clone = {0};
	size_t left_out;
	snprintf(dir, sizeof(dir), "%s/clone", ground->dir);
	int failed = git_head(&ground->repo, head, e) ||
		     git_identity_find(&ground->repo, &(struct git_files){0}, &found, e) ||
		     git_branch_move(&ground->repo, &(struct git_move){branch, "", head}, e) ||
		     git_clone_open(&ground->repo, dir, branch, &clone, e) ||
		     git_clone_checkout(&clone, head, head, e) ||
		     write_file(ground, "clone/new.txt", "new\n", 0644, e) ||
		     git_clone_stage(&clone, tree, &left_out, NULL, e);
	struct git_commit c = {tree, head, "work\n", &as};
	failed = failed || git_clone_commit(&clone, &c, oid, e) ||
		 git_clone_advance(&clone, oid, e) ||
		 git_clone_send(&clone, &ground->repo, head, oid, e) ||
		 git_branch_move(&ground->repo, &(struct git_move){branch, head, oid}, e);
	git_repo_done(&clone);
	return failed ? -1 : 0;
}

/* The number of planted commands, and those that ran for plain git and for our calls; names
 * separated by ", ". */
struct proof {
	size_t planted, plain_count, our_count;
	struct buf plain, ours;
};

static int prove(const struct ground *ground, struct proof *proof, struct err *e)
{
	static const char *const plain[][6] = {{"status", NULL}, {"diff", NULL},
		{"commit", "--allow-empty", "-m", "x", NULL}, {"checkout", "-b", "y", NULL}};
	const char *const paths[] = {"."};
	AUTO_BUF out = BUF_INIT(1 << 20);
	if (git_status(&ground->repo, paths, 1, &out, e) ||
		git_tracked(&ground->repo, paths, 1, &out, e) || work(ground, e))
		return err_wrap(e, "on the poisoned repository");
	proof->planted = ARRAY_LEN(poisons) + ARRAY_LEN(elsewhere) + ARRAY_LEN(hooks);
	proof->our_count = ran(ground, &proof->ours);
	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		if (plain_git(ground, plain[i], e) < 0)
			return -1;
	proof->plain_count = ran(ground, &proof->plain);
	if (proof->our_count)
		return err_set(e, "git executed what the repository planted: %s", proof->ours.data);
	if (!proof->plain_count)
		return err_set(
			e, "plain git executed nothing either: the proof does not work with it");
	return 0;
}

static json_t *names_of(const struct buf *text)
{
	json_t *names = json_array();
	for (const char *at = text->data; *at;) {
		size_t len = strcspn(at, ",");
		json_array_append_new(names, json_stringn(at, len));
		at += len + strspn(at + len, ", ");
	}
	return names;
}

static void tell_proof(const struct proof *proof, const struct err *e, bool json)
{
	struct err unstrict = ERR_NONE;
	const char *profile = git_profile(&unstrict);
	if (!json && *unstrict.text)
		text_complain("its jails are hardened here, a strict one could not be set up: %s",
			unstrict.text);
	if (!json && !*e->text) {
		AUTO_BUF line = BUF_INIT(8192);
		buf_addf(&line,
			"%zu settings and hooks planted; plain git executed %zu (%s), ours none",
			proof->planted, proof->plain_count, proof->plain.data);
		text_print(line.data, 2);
	}
	if (!json)
		return;
	json_auto_t *doc = json_pack("{s:b,s:s,s:i,s:o,s:o,s:s}", "proved", !*e->text, "profile",
		profile, "planted", (int)proof->planted, "plain_git", names_of(&proof->plain),
		"ours", names_of(&proof->ours), "reason", e->text);
	text_json_line(doc);
}

static int run(const struct call *call)
{
	struct ground g = {.dir = ""};
	struct err e = ERR_NONE;
	struct proof p = {0};
	buf_init(&p.plain, 4096);
	buf_init(&p.ours, 4096);
	int failed = build(&g, &e) || poison(&g, &e) || prove(&g, &p, &e);
	tell_proof(&p, &e, call_has(call, "json"));
	buf_done(&p.plain);
	buf_done(&p.ours);
	git_repo_done(&g.repo);
	if (g.dir[0])
		tree_remove(AT_FDCWD, g.dir, NULL);
	return failed ? verb_fail(EXIT_FAILED, &e) : EXIT_OK;
}

static const struct verb_option options[] = {
	{"json", NULL, "print one JSON object", false}, {NULL, NULL, NULL, false}};

const struct verb verb_check_git = {.path = "check git",
	.summary = "prove that git executes nothing a repository planted",
	.max_arguments = 0,
	.details = "Exit status: 0 proved; 1 not, with what ran.",
	.options = options,
	.run = run};
