#include "git/branch.h"

#include "base/path.h"
#include "git/call.h"
#include "git/parse.h"
#include <stdio.h>
#include <string.h>

int git_head(const struct git_repo *git_repo, char oid[GIT_OID_BYTES], struct err *e)
{
	struct git_call call = {
		.args = GIT_ARGS("rev-parse", "--verify", "HEAD^{commit}"), .no_tree = true};
	return git_call_oid(git_repo, &call, oid, e);
}

bool git_unborn(const struct git_repo *git_repo)
{
	int code = -1;
	struct git_call call = {.args = GIT_ARGS("rev-parse", "--verify", "--quiet", "HEAD"),
		.no_tree = true,
		.code = &code};
	return git_call_quietly(git_repo, &call, NULL) && code == 1;
}

int git_branch_tip(
	const struct git_repo *git_repo, const char *branch, char oid[GIT_OID_BYTES], struct err *e)
{
	char ref[256];
	struct git_call call = {
		.args = GIT_ARGS("for-each-ref", "--format=%(refname) %(objectname)", ref),
		.no_tree = true};
	AUTO_BUF out = BUF_INIT(GIT_OUTPUT_MAX);
	snprintf(ref, sizeof(ref), "refs/heads/%s", branch);
	if (git_call(git_repo, &call, &out, e))
		return -1;
	return parse_ref(&out, ref, oid) ? err_set(e, "git did not name the commit of %s", ref) : 0;
}

int git_changes(const struct git_repo *git_repo, const struct git_between *git_between,
	struct buf *out, struct err *e)
{
	struct git_call call = {
		.args = GIT_ARGS("diff-tree", "-r", "-z", "--name-status", "--no-renames",
			"--no-ext-diff", "--no-textconv", "--ignore-submodules=all",
			git_between->from, git_between->to),
		.no_tree = git_between->no_tree};
	return git_call(git_repo, &call, out, e);
}

int git_branch_check(const struct git_repo *git_repo, const char *branch, struct err *e)
{
	struct git_call call = {
		.args = GIT_ARGS("worktree", "list", "--porcelain", "-z"), .no_tree = true};
	char ref[256];
	AUTO_BUF out = BUF_INIT(GIT_OUTPUT_MAX);
	snprintf(ref, sizeof(ref), "refs/heads/%s", branch);
	if (git_call(git_repo, &call, &out, e))
		return -1;
	const char *where = parse_checkout(&out, ref);
	if (!where)
		return 0;
	return err_set(e,
		"branch %s is checked out in %s, and no checkout is ever touched; switch to "
		"another branch there, or run `git worktree prune` if it is there no longer",
		branch, where);
}

/* Explains a clash of branch names: git stores a branch as a file, and another branch is a
 * directory in that place, or lies below a file. */
static int explain_clash(const struct git_repo *git_repo, const char *branch, struct err *e)
{
	char first[256];
	struct git_call call = {
		.args = GIT_ARGS("for-each-ref", "--format=%(refname:lstrip=2)", first),
		.no_tree = true};
	AUTO_BUF out = BUF_INIT(GIT_OUTPUT_MAX);
	snprintf(first, sizeof(first), "refs/heads/%.*s", (int)strcspn(branch, "/"), branch);
	if (git_call(git_repo, &call, &out, NULL) || !out.len)
		return -1;
	for (char *rest, *other = strtok_r(out.data, "\n", &rest); other;
		other = strtok_r(NULL, "\n", &rest))
		if (path_is_within(branch, other) != path_is_within(other, branch)) {
			*e = ERR_NONE;
			return err_set(e,
				"git keeps no branch %s beside the branch %s; rename that one (git "
				"branch -m %s NAME)",
				branch, other, other);
		}
	return -1;
}

int git_branch_move(const struct git_repo *git_repo, const struct git_move *git_move, struct err *e)
{
	char ref[256];
	static const char none[] =
		"0000000000000000000000000000000000000000000000000000000000000000";
	char from[GIT_OID_BYTES];
	struct git_call call = {
		.args = GIT_ARGS("update-ref", "--no-deref", ref, git_move->to, from),
		.no_tree = true,
		.write = true};
	snprintf(ref, sizeof(ref), "refs/heads/%s", git_move->branch);
	snprintf(from, sizeof(from), "%.*s", (int)strlen(git_move->to),
		*git_move->from ? git_move->from : none);
	if (git_branch_check(git_repo, git_move->branch, e))
		return -1;
	return git_call_quietly(git_repo, &call, e) ? explain_clash(git_repo, git_move->branch, e)
						    : 0;
}

void git_branch_unlock(const struct git_repo *git_repo, const char *branch)
{
	char ref[256], *name;
	snprintf(ref, sizeof(ref), "refs/heads/%s.lock", branch);
	name = strrchr(ref, '/');
	*name++ = '\0';
	git_dir_unlink(git_repo->common_dir, ref, name);
}
