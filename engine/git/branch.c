#include "git/branch.h"

#include "git/call.h"
#include <stdio.h>
#include <string.h>

static int take_oid(const struct buf *out, char oid[GIT_OID_BYTES], struct err *e)
{
	size_t len = out->len ? strspn(out->data, "0123456789abcdef") : 0;
	if (len != 40 && len != 64)
		return err_set(e, "git did not answer with an object's name");
	snprintf(oid, GIT_OID_BYTES, "%.*s", (int)len, out->data);
	return 0;
}

int git_head(const struct git_repo *r, char oid[GIT_OID_BYTES], struct err *e)
{
	static const char *const args[] = {"rev-parse", "--verify", "HEAD^{commit}"};
	struct git_call call = {.args = args, .arg_count = ARRAY_LEN(args), .no_tree = true};
	AUTO_BUF out;
	buf_init(&out, 4096);
	return git_call(r, &call, &out, e) ? -1 : take_oid(&out, oid, e);
}

int git_branch_tip(
	const struct git_repo *r, const char *branch, char oid[GIT_OID_BYTES], struct err *e)
{
	char ref[256], wanted[300];
	const char *args[] = {"for-each-ref", "--format=%(refname) %(objectname)", ref};
	struct git_call call = {.args = args, .arg_count = ARRAY_LEN(args), .no_tree = true};
	AUTO_BUF out;
	buf_init(&out, GIT_OUTPUT_MAX);
	snprintf(ref, sizeof(ref), "refs/heads/%s", branch);
	int len = snprintf(wanted, sizeof(wanted), "%s ", ref);
	*oid = '\0';
	if (git_call(r, &call, &out, e))
		return -1;
	/* The pattern matches what lies below the name, too. */
	for (char *line = out.len ? out.data : NULL; line && *line; line = strchr(line, '\n') + 1) {
		if (!strncmp(line, wanted, (size_t)len)) {
			buf_drop(&out, (size_t)(line + len - out.data));
			return take_oid(&out, oid, e);
		}
		if (!strchr(line, '\n'))
			break;
	}
	return 0;
}

/* Attributes of `worktree list -z` end in NUL, and each work tree's first one is its path. */
int git_branch_check(const struct git_repo *r, const char *branch, struct err *e)
{
	static const char *const args[] = {"worktree", "list", "--porcelain", "-z"};
	struct git_call call = {.args = args, .arg_count = ARRAY_LEN(args), .no_tree = true};
	const char *where = "";
	char wanted[300];
	AUTO_BUF out;
	buf_init(&out, GIT_OUTPUT_MAX);
	snprintf(wanted, sizeof(wanted), "branch refs/heads/%s", branch);
	if (git_call(r, &call, &out, e))
		return -1;
	for (size_t at = 0; at < out.len; at += strlen(out.data + at) + 1) {
		if (!strncmp(out.data + at, "worktree ", 9))
			where = out.data + at + 9;
		if (!strcmp(out.data + at, wanted))
			return err_set(e,
				"branch %s is checked out in %s, and no checkout is ever touched; "
				"switch to another branch there",
				branch, where);
	}
	return 0;
}

int git_branch_move(const struct git_repo *r, const struct git_move *m, struct err *e)
{
	char ref[256];
	static const char none[] =
		"0000000000000000000000000000000000000000000000000000000000000000";
	char from[GIT_OID_BYTES];
	const char *args[] = {"update-ref", "--no-deref", ref, m->to, from};
	struct git_call call = {
		.args = args, .arg_count = ARRAY_LEN(args), .no_tree = true, .write = true};
	AUTO_BUF out;
	buf_init(&out, 4096);
	snprintf(ref, sizeof(ref), "refs/heads/%s", m->branch);
	snprintf(from, sizeof(from), "%.*s", (int)strlen(m->to), *m->from ? m->from : none);
	return git_branch_check(r, m->branch, e) || git_call(r, &call, &out, e) ? -1 : 0;
}

void git_branch_unlock(const struct git_repo *r, const char *branch)
{
	char ref[256], *name;
	snprintf(ref, sizeof(ref), "refs/heads/%s.lock", branch);
	name = strrchr(ref, '/');
	*name++ = '\0';
	git_dir_unlink(r->common_dir, ref, name);
}
