#include "run/workspace.h"

#include "base/beneath.h"
#include "base/io.h"
#include "base/json.h"
#include "base/path.h"
#include "confine/confine.h"
#include "git/branch.h"
#include "git/hooks.h"
#include "git/nested.h"
#include "git/settings.h"
#include "machine/kind.h"
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
	RECORD_BYTES_MAX = 4096,
	MESSAGE_BYTES = 1024,
	CHANGED_BYTES_MAX = 2 * 16 * 1024 * 1024 /* a stage that is tried again lists them twice */
};

static const char record_name[] = "workspace.json";

/* --- the record ------------------------------------------------------------------------------- */

static json_t *mark_encode(const struct workspace_mark *mark)
{
	return json_pack("{s:I,s:i,s:s,s:s}", "seq", (json_int_t)mark->seq, "attempt",
		mark->attempt, "tree", mark->tree, "commit", mark->commit);
}

static bool mark_decode(const json_t *from, struct workspace_mark *out)
{
	const char *tree, *commit;
	json_int_t seq;
	int attempt = INT_MAX; /* older records have no attempt */
	if (json_unpack((json_t *)(uintptr_t)from, "{s:I,s?i,s:s,s:s !}", "seq", &seq, "attempt",
		    &attempt, "tree", &tree, "commit", &commit))
		return false;
	out->seq = (uint64_t)seq;
	out->attempt = attempt;
	snprintf(out->tree, sizeof(out->tree), "%s", tree);
	snprintf(out->commit, sizeof(out->commit), "%s", commit);
	return true;
}

static int record_write(const struct workspace *workspace, int instance_fd, struct err *e)
{
	json_auto_t *record =
		json_pack("{s:i,s:s,s:s?,s:o,s:o}", "version", 1, "base", workspace->base, "made",
			workspace->makes ? workspace->tip : NULL, "at", mark_encode(&workspace->at),
			"next", workspace->has_next ? mark_encode(&workspace->next) : json_null());
	AUTO_FREE char *text = json_text(record);
	if (!text)
		return err_set(e, "out of memory");
	return io_replace_file(instance_fd, record_name, text, strlen(text), 0600, e);
}

static int record_read(struct workspace *workspace, int instance_fd, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	const char *base;
	json_t *at, *next, *made = NULL; /* older records do not have it */
	int version;
	if (io_read_file(instance_fd, record_name, RECORD_BYTES_MAX, &text, &len, e))
		return -1;
	json_auto_t *record = json_read(text, len, RECORD_BYTES_MAX, e);
	if (!record ||
		json_unpack(record, "{s:i,s:s,s?o,s:o,s:o !}", "version", &version, "base", &base,
			"made", &made, "at", &at, "next", &next) ||
		version != 1 || !mark_decode(at, &workspace->at) ||
		(!json_is_null(next) && !mark_decode(next, &workspace->next)))
		return err_set(e, "it is damaged");
	workspace->has_next = !json_is_null(next);
	workspace->makes = json_is_string(made);
	snprintf(workspace->tip, sizeof(workspace->tip), "%s",
		workspace->makes ? json_string_value(made) : "");
	snprintf(workspace->base, sizeof(workspace->base), "%s", base);
	return 0;
}

/* --- the branch ------------------------------------------------------------------------------- */

static void name_branch(char *out, size_t bytes, const struct instance *instance)
{
	snprintf(out, bytes, "agent6/machine-%s", instance->id);
}

bool workspace_branch(const struct instance *instance, uint64_t seq, struct workspace_branch *out)
{
	struct workspace w = {0};
	struct err e = ERR_NONE; /* whoever runs the instance reports this error */
	if (record_read(&w, instance->dir_fd, &e))
		return false;
	name_branch(out->name, sizeof(out->name), instance);
	memcpy(out->base, w.base, sizeof(out->base));
	memcpy(out->tip, w.has_next && w.next.seq <= seq ? w.next.commit : w.at.commit,
		sizeof(out->tip));
	snprintf(out->log, sizeof(out->log), "git log -p %.12s..%s", out->base, out->name);
	return strcmp(out->tip, out->base) != 0;
}

int workspace_changes(const struct workspace *workspace, struct buf *out, struct err *e)
{
	/* The clone has all commits, and its settings are listed since the last state that could
	 * write there. Those of the operator's repository would have to be listed for this call. */
	bool known = workspace->clone.names != NULL;
	const struct git_between all = {
		.from = workspace->base, .to = workspace->at.commit, .no_tree = !known};
	return strcmp(all.from, all.to)
		       ? git_changes(known ? &workspace->clone : &workspace->origin, &all, out, e)
		       : 0;
}

/* Moves the branch from its last commit to `to`. A kill may have left it at any commit in
 * between. */
static int bring_branch(
	const struct workspace *workspace, const char *before, const char *to, struct err *e)
{
	char tip[GIT_OID_BYTES];
	if (git_branch_tip(&workspace->origin, workspace->branch, tip, e))
		return -1;
	if (!strcmp(tip, to))
		return 0;
	if (*tip && strcmp(tip, before) != 0)
		return err_set(e,
			"branch %s is at %.12s, and this instance's last commit is %.12s; name "
			"what is there (git branch NAME %.12s) and move it back (git branch -f %s "
			"%.12s), or start anew under another --id",
			workspace->branch, tip, to, tip, workspace->branch, to);
	if (!workspace->sent && git_clone_send(&workspace->clone, &workspace->origin,
					*tip ? tip : workspace->base, to, e))
		return *tip || workspace_host_failed(e)
			       ? -1
			       : err_wrap(e,
					 "there is no branch %s, and it cannot be made again "
					 "after %.12s, where this instance began; start anew "
					 "under another --id",
					 workspace->branch, workspace->base);
	return git_branch_move(
		&workspace->origin, &(struct git_move){workspace->branch, tip, to}, e);
}

/* Reports whether the journal has the attempt that left this mark. */
static bool is_over(const struct workspace_mark *mark, uint64_t seq, int attempt)
{
	return mark->seq <= seq || (mark->seq == seq + 1 && mark->attempt < attempt);
}

int workspace_land(struct workspace *workspace, uint64_t seq, int attempt, struct err *e)
{
	if (!workspace->path || !workspace->has_next || !is_over(&workspace->next, seq, attempt))
		return 0;
	if (strcmp(workspace->next.commit, workspace->at.commit) != 0 &&
		(bring_branch(workspace, workspace->at.commit, workspace->next.commit, e) ||
			git_clone_advance(&workspace->clone, workspace->next.commit, e)))
		return -1;
	workspace->at = workspace->next;
	workspace->has_next = false;
	return 0;
}

/* Looks at the configuration of a repository again, if commands may have changed it. Commands in
 * the strict profile cannot: they write nothing of the operator's repository that git reads without
 * its work tree, and of the clone only the work tree, where an included file may lie; and no
 * command runs between the calls that follow a state. Hooks and filters run in git's own jail,
 * which may write to the clone's configuration. */
static int learn(const struct workspace *workspace, struct git_repo *git_repo, struct err *e)
{
	bool runs =
		git_repo == &workspace->clone && (workspace->run_hooks || git_repo->filters.len);
	return runs || strcmp(git_repo->profile, "strict") != 0 ? 0 : git_learn(git_repo, e);
}

/* --- opening ---------------------------------------------------------------------------------- */

static int find_origin(struct workspace *workspace, const struct workspace_ask *ask, struct err *e)
{
	if (git_find(ask->directory, &workspace->origin, e))
		return -1;
	if (!workspace->origin.git_dir)
		return err_set(e,
			"the machine has a state with mode: run, which commits to a git branch, "
			"and %s is in no git repository; run `git init` there and commit what it "
			"holds, or start in a repository",
			ask->directory);
	workspace->origin.profile = ask->profile;
	workspace->origin.allow_root_jail = ask->allow_root_jail;
	if (learn(workspace, &workspace->origin, e))
		return -1;
	if (ask->begun || !git_head(&workspace->origin, workspace->base, e))
		return 0;
	if (git_unborn(&workspace->origin))
		return err_wrap(e,
			"the machine has a state with mode: run, which begins at the last commit "
			"of %s, and there is none; commit first",
			workspace->origin.work_tree);
	err_wrap(e, "the last commit of %s cannot be read; `git fsck` there says more",
		workspace->origin.work_tree);
	return git_explain(&workspace->origin, e);
}

/* Reads the identity from git's configuration, and the filters that it defines if the operator lets
 * them run. */
static int read_settings(struct workspace *workspace, const struct config *config, struct err *e)
{
	const char *home = getenv("HOME"), *xdg = getenv("XDG_CONFIG_HOME");
	char own[PATH_MAX], shared[PATH_MAX];
	const char *const paths[] = {own, shared};
	const struct git_files files = {paths, ARRAY_LEN(paths)};
	snprintf(own, sizeof(own), "%s/.gitconfig", home ? home : "");
	snprintf(shared, sizeof(shared), "%s%s/git/config",
		xdg    ? xdg
		: home ? home
		       : "",
		xdg ? "" : "/.config");
	snprintf(workspace->as.name, sizeof(workspace->as.name), "%s",
		config->git.name ? config->git.name : "");
	snprintf(workspace->as.email, sizeof(workspace->as.email), "%s",
		config->git.email ? config->git.email : "");
	workspace->run_hooks = config->git.run_repo_hooks;
	if (git_identity_find(&workspace->origin, &files, &workspace->as, e) ||
		(config->git.run_repo_filters &&
			git_filters_allow(&workspace->origin, &files, &workspace->clone, e)))
		return -1;
	return *workspace->as.name && *workspace->as.email
		       ? 0
		       : err_set(e, "nobody is named who commits; set git.commit.name and "
				    "git.commit.email in your configuration, or user.name and "
				    "user.email in git's");
}

/* Reports whether an earlier start made the branch and was killed before it ran anything: then the
 * branch is still where that start began, or where it was before. */
static bool made_before(const struct workspace *workspace, int instance_fd)
{
	struct workspace before = {0};
	struct err none = ERR_NONE; /* no earlier start, or none that wrote a record */
	return !record_read(&before, instance_fd, &none) && before.makes &&
	       (!strcmp(workspace->tip, before.base) || !strcmp(workspace->tip, before.tip));
}

/* Begins a new instance at the branch's tip, or plans to make the branch at HEAD. */
static int start(struct workspace *workspace, int instance_fd, struct err *e)
{
	if (git_branch_tip(&workspace->origin, workspace->branch, workspace->tip, e))
		return -1;
	workspace->makes = !*workspace->tip || made_before(workspace, instance_fd);
	if (!workspace->makes)
		memcpy(workspace->base, workspace->tip, sizeof(workspace->base));
	workspace->at = (struct workspace_mark){0};
	snprintf(workspace->at.tree, sizeof(workspace->at.tree), "%s", workspace->base);
	snprintf(workspace->at.commit, sizeof(workspace->at.commit), "%s", workspace->base);
	workspace->has_next = false;
	return record_write(workspace, instance_fd, e);
}

/* Resumes an instance. The journal decides which of the two marks counts. */
static int take_up(struct workspace *workspace, const struct workspace_ask *ask, struct err *e)
{
	if (record_read(workspace, ask->instance->dir_fd, e))
		return err_wrap(e,
			"%s of instance %s, which says what is on its branch, cannot be used; "
			"bring it back from a copy, or start anew under another --id",
			record_name, ask->instance->id);
	if (!is_over(&workspace->at, ask->seq, ask->attempt))
		return err_set(e,
			"%s of instance %s is of step %llu, and its journal.jsonl ends at step "
			"%llu: they are from different copies; bring both back from one, or start "
			"anew under another --id",
			record_name, ask->instance->id, (unsigned long long)workspace->at.seq,
			(unsigned long long)ask->seq);
	if (workspace_land(workspace, ask->seq, ask->attempt, e))
		return -1;
	workspace->has_next = false;
	return bring_branch(workspace, workspace->at.commit, workspace->at.commit, e);
}

/* Finds the place of the operator's directory in the clone. */
static int find_path(struct workspace *workspace, const char *directory, struct err *e)
{
	struct stat st;
	const char *below = directory + strlen(workspace->origin.work_tree);
	below += *below == '/' && !below[1];
	if (asprintf(&workspace->path, "%s%s%s", workspace->clone.work_tree,
		    *below && *below != '/' ? "/" : "", below) < 0) {
		workspace->path = NULL;
		return err_set(e, "out of memory");
	}
	if (!lstat(workspace->path, &st) && S_ISDIR(st.st_mode))
		return 0;
	return err_set(e, "%s is not a directory in the last commit of branch %s; commit it first",
		directory, workspace->branch);
}

int workspace_open(struct workspace *workspace, const struct workspace_ask *ask, struct err *e)
{
	AUTO_FREE char *dir = NULL;
	int fd = ask->instance->dir_fd;
	name_branch(workspace->branch, sizeof(workspace->branch), ask->instance);
	if (asprintf(&dir, "%s/workspace", ask->instance->path) < 0)
		return err_set(e, "out of memory");
	if (find_origin(workspace, ask, e) ||
		git_branch_check(&workspace->origin, workspace->branch, e) ||
		git_clone_open(&workspace->origin, dir, workspace->branch, &workspace->clone, e) ||
		read_settings(workspace, ask->config, e) || learn(workspace, &workspace->clone, e))
		return -1;
	git_branch_unlock(&workspace->origin, workspace->branch);
	/* Set the path first: workspace_land does nothing without it, and a resume may need it. */
	workspace->path = strdup(dir);
	if (!workspace->path || (ask->begun ? take_up(workspace, ask, e) : start(workspace, fd, e)))
		return -1;
	if (git_clone_checkout(&workspace->clone, workspace->at.tree, workspace->at.commit, e))
		return git_explain(&workspace->origin, e);
	free(TAKE_PTR(workspace->path));
	return find_path(workspace, ask->directory, e);
}

int workspace_begin(struct workspace *workspace, struct err *e)
{
	return strcmp(workspace->tip, workspace->base) != 0 &&
			       git_branch_move(&workspace->origin,
				       &(struct git_move){
					       workspace->branch, workspace->tip, workspace->base},
				       e)
		       ? err_wrap(e, "cannot make branch %s", workspace->branch)
		       : 0;
}

void workspace_done(struct workspace *workspace)
{
	git_repo_done(&workspace->origin);
	git_repo_done(&workspace->clone);
	free(workspace->path);
	*workspace = (struct workspace){0};
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Stages the work tree, and refuses it if a state has made a repository in what would be
 * committed. */
static int stage(struct workspace *workspace, struct workspace_step *step, struct err *e)
{
	AUTO_BUF changed = BUF_INIT(CHANGED_BYTES_MAX);
	return git_clone_stage(&workspace->clone, workspace->next.tree, &step->left_out, &changed,
		       e) || nested_check(&changed, workspace->clone.work_tree,
				     workspace->origin.work_tree, e)
		       ? -1
		       : 0;
}

/* Runs the operator's hooks, which may change what is to be committed. */
static int run_hooks(struct workspace *workspace, struct workspace_step *step, struct buf *message,
	struct err *e)
{
	bool differs;
	if (git_clone_differs(
		    &workspace->clone, workspace->at.commit, workspace->next.tree, &differs, e))
		return -1;
	if (!differs)
		return 0;
	return git_hooks_run(&workspace->origin, &workspace->clone, &workspace->as, message, e) ||
			       stage(workspace, step, e)
		       ? -1
		       : 0;
}

static int commit(struct workspace *workspace, struct workspace_step *step, struct err *e)
{
	char oid[GIT_OID_BYTES];
	AUTO_BUF message = BUF_INIT(MESSAGE_BYTES);
	if (buf_addf(&message,
		    "%s: %s\n\nMade by state %s of machine %s, step %llu of instance %s.\n\n"
		    "Agent6-State: %s\nAgent6-Step: %s-%llu\n",
		    step->machine, step->state->name, step->state->name, step->machine,
		    (unsigned long long)step->seq, step->instance, step->state->name,
		    step->instance, (unsigned long long)step->seq))
		return err_set(e, "out of memory");
	if (workspace->run_hooks && run_hooks(workspace, step, &message, e))
		return -1;
	struct git_commit c = {.tree = workspace->next.tree,
		.parent = workspace->at.commit,
		.message = message.data,
		.as = &workspace->as};
	if (git_clone_commit(&workspace->clone, &c, oid, e))
		return -1;
	if (!*oid)
		return 0;
	/* Send the commit before the step is journaled, so that a refusal by the repository is
	 * known. */
	if (git_clone_send(&workspace->clone, &workspace->origin, workspace->at.commit, oid, e))
		return -1;
	workspace->sent = true;
	snprintf(workspace->next.commit, sizeof(workspace->next.commit), "%s", oid);
	return 0;
}

/* Reports whether nothing is at the path. A path that leads through a link is not absent: the next
 * jail would fail over it. */
static bool is_absent(const struct workspace *workspace, int tree_fd, const char *path)
{
	const char *below = path + strlen(workspace->clone.work_tree) + 1;
	AUTO_FD int fd = beneath_open(tree_fd, below, O_PATH, 0, RESOLVE_NO_SYMLINKS);
	return fd < 0 && (errno == ENOENT || errno == ENOTDIR);
}

struct path_list workspace_absent(const struct workspace *workspace, const struct path_list *paths)
{
	struct path_list absent = {0};
	AUTO_FD int fd =
		workspace->path ? open(workspace->clone.work_tree, O_PATH | O_DIRECTORY | O_CLOEXEC)
				: -1;
	for (size_t i = 0; i < paths->count; i++)
		if (fd >= 0 && path_is_below(paths->items[i], workspace->clone.work_tree) &&
			is_absent(workspace, fd, paths->items[i]))
			path_list_add(&absent, paths->items[i]);
	return absent;
}

static int check_absent(
	const struct workspace *workspace, const struct path_list *absent, struct err *e)
{
	AUTO_PATH_LIST still = workspace_absent(workspace, absent);
	for (size_t i = 0; i < absent->count; i++)
		if (i >= still.count || strcmp(absent->items[i], still.items[i]) != 0)
			return err_set(e,
				"%.600s is protected or hidden, and the state has made it",
				absent->items[i] + strlen(workspace->clone.work_tree) + 1);
	return 0;
}

int workspace_settle(
	struct workspace *workspace, int instance_fd, struct workspace_step *step, struct err *e)
{
	step->left_out = 0;
	if (!workspace->path || !confine_writes(step->state))
		return 0;
	if (learn(workspace, &workspace->origin, e) || learn(workspace, &workspace->clone, e))
		return -1;
	bool runs = state_writing(step->state) == WRITES_CODE;
	if (step->dropped)
		return git_clone_mend(&workspace->origin, &workspace->clone, workspace->branch,
			       e) || git_clone_checkout(&workspace->clone, workspace->at.tree,
					     workspace->at.commit, e)
			       ? -1
			       : 0;
	if (runs && check_absent(workspace, step->absent, e))
		return -1;
	workspace->sent = false;
	workspace->next = workspace->at;
	workspace->next.seq = step->seq;
	workspace->next.attempt = step->attempt;
	if (stage(workspace, step, e))
		return -1;
	/* The changes of an earlier attempt at this step belong to this one as well. */
	bool changed = strcmp(workspace->next.tree, workspace->at.tree) != 0 ||
		       workspace->at.seq == step->seq;
	if (step->ok && changed && commit(workspace, step, runs ? e : &step->uncommitted) && runs)
		return -1;
	workspace->has_next = true;
	return record_write(workspace, instance_fd, e);
}

bool workspace_host_failed(const struct err *e)
{
	/* The last two mean that no process can be started. */
	static const int numbers[] = {ENOSPC, EDQUOT, EIO, EROFS, EAGAIN, ENOMEM};
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (e->number == numbers[i])
			return true;
	return false;
}
