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

static json_t *mark_encode(const struct workspace_mark *m)
{
	return json_pack("{s:I,s:i,s:s,s:s}", "seq", (json_int_t)m->seq, "attempt", m->attempt,
		"tree", m->tree, "commit", m->commit);
}

static bool mark_decode(const json_t *from, struct workspace_mark *out)
{
	const char *tree, *commit;
	json_int_t seq;
	int attempt = INT_MAX; /* a record of before there was one */
	if (json_unpack((json_t *)(uintptr_t)from, "{s:I,s?i,s:s,s:s !}", "seq", &seq, "attempt",
		    &attempt, "tree", &tree, "commit", &commit))
		return false;
	out->seq = (uint64_t)seq;
	out->attempt = attempt;
	snprintf(out->tree, sizeof(out->tree), "%s", tree);
	snprintf(out->commit, sizeof(out->commit), "%s", commit);
	return true;
}

static int record_write(const struct workspace *w, int instance_fd, struct err *e)
{
	json_auto_t *record = json_pack("{s:i,s:s,s:s?,s:o,s:o}", "version", 1, "base", w->base,
		"made", w->makes ? w->tip : NULL, "at", mark_encode(&w->at), "next",
		w->has_next ? mark_encode(&w->next) : json_null());
	AUTO_FREE char *text = json_text(record);
	if (!text)
		return err_set(e, "out of memory");
	return io_replace_file(instance_fd, record_name, text, strlen(text), 0600, e);
}

static int record_read(struct workspace *w, int instance_fd, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	const char *base;
	json_t *at, *next, *made = NULL; /* as in a record of before it was noted */
	int version;
	if (io_read_file(instance_fd, record_name, RECORD_BYTES_MAX, &text, &len, e))
		return -1;
	json_auto_t *record = json_read(text, len, RECORD_BYTES_MAX, e);
	if (!record ||
		json_unpack(record, "{s:i,s:s,s?o,s:o,s:o !}", "version", &version, "base", &base,
			"made", &made, "at", &at, "next", &next) ||
		version != 1 || !mark_decode(at, &w->at) ||
		(!json_is_null(next) && !mark_decode(next, &w->next)))
		return err_set(e, "it is damaged");
	w->has_next = !json_is_null(next);
	w->makes = json_is_string(made);
	snprintf(w->tip, sizeof(w->tip), "%s", w->makes ? json_string_value(made) : "");
	snprintf(w->base, sizeof(w->base), "%s", base);
	return 0;
}

/* --- the branch ------------------------------------------------------------------------------- */

static void name_branch(char *out, size_t bytes, const struct instance *i)
{
	snprintf(out, bytes, "agent6/machine-%s", i->id);
}

bool workspace_branch(const struct instance *i, uint64_t seq, struct workspace_branch *out)
{
	struct workspace w = {0};
	struct err e = ERR_NONE; /* whoever runs it says what is wrong with it */
	if (record_read(&w, i->dir_fd, &e))
		return false;
	name_branch(out->name, sizeof(out->name), i);
	memcpy(out->base, w.base, sizeof(out->base));
	memcpy(out->tip, w.has_next && w.next.seq <= seq ? w.next.commit : w.at.commit,
		sizeof(out->tip));
	snprintf(out->log, sizeof(out->log), "git log -p %.12s..%s", out->base, out->name);
	return strcmp(out->tip, out->base) != 0;
}

int workspace_changes(const struct workspace *w, struct buf *out, struct err *e)
{
	return strcmp(w->at.commit, w->base) != 0
		       ? git_changes(&w->origin, w->base, w->at.commit, out, e)
		       : 0;
}

/* From the last commit that is there to `to`, whichever of the steps in between was the last to be
 * journaled before a kill. */
static int bring_branch(
	const struct workspace *w, const char *before, const char *to, struct err *e)
{
	char tip[GIT_OID_BYTES];
	if (git_branch_tip(&w->origin, w->branch, tip, e))
		return -1;
	if (!strcmp(tip, to))
		return 0;
	if (*tip && strcmp(tip, before) != 0)
		return err_set(e,
			"branch %s is at %.12s, and this instance's last commit is %.12s; name "
			"what is there (git branch NAME %.12s) and move it back (git branch -f %s "
			"%.12s), or start anew under another --id",
			w->branch, tip, to, tip, w->branch, to);
	if (!w->sent && git_clone_send(&w->clone, &w->origin, *tip ? tip : w->base, to, e))
		return *tip || workspace_host_failed(e)
			       ? -1
			       : err_wrap(e,
					 "there is no branch %s, and it cannot be made again "
					 "behind %.12s, where this instance began; start anew "
					 "under another --id",
					 w->branch, w->base);
	return git_branch_move(&w->origin, &(struct git_move){w->branch, tip, to}, e);
}

/* Whether the journal has the attempt that left this mark. */
static bool is_over(const struct workspace_mark *m, uint64_t seq, int attempt)
{
	return m->seq <= seq || (m->seq == seq + 1 && m->attempt < attempt);
}

int workspace_land(struct workspace *w, uint64_t seq, int attempt, struct err *e)
{
	if (!w->path || !w->has_next || !is_over(&w->next, seq, attempt))
		return 0;
	if (strcmp(w->next.commit, w->at.commit) != 0 &&
		(bring_branch(w, w->at.commit, w->next.commit, e) ||
			git_clone_advance(&w->clone, w->next.commit, e)))
		return -1;
	w->at = w->next;
	w->has_next = false;
	return 0;
}

/* Strict commands can write nothing of the operator's repository that calls without its work tree
 * see, and of the clone the work tree alone, where an include may lie: none of them is left while
 * the calls behind a state follow one another. But hooks and filters run in git's own jail, where
 * they can write to the clone's configuration. */
static int learn(const struct workspace *w, struct git_repo *r, struct err *e)
{
	bool runs = r == &w->clone && (w->run_hooks || r->filters.len);
	return runs || strcmp(r->profile, "strict") != 0 ? 0 : git_learn(r, e);
}

/* --- opening ---------------------------------------------------------------------------------- */

static int find_origin(struct workspace *w, const struct workspace_ask *ask, struct err *e)
{
	if (git_find(ask->directory, &w->origin, e))
		return -1;
	if (!w->origin.git_dir)
		return err_set(e,
			"the machine has a state with mode: run, which commits to a git branch, "
			"and %s is in no git repository; run `git init` there and commit what it "
			"holds, or start in a repository",
			ask->directory);
	w->origin.profile = ask->profile;
	w->origin.allow_root_jail = ask->allow_root_jail;
	if (learn(w, &w->origin, e))
		return -1;
	if (ask->begun || !git_head(&w->origin, w->base, e))
		return 0;
	if (git_unborn(&w->origin))
		return err_wrap(e,
			"the machine has a state with mode: run, which begins at the last commit "
			"of %s, and there is none; commit first",
			w->origin.work_tree);
	err_wrap(e, "the last commit of %s cannot be read; `git fsck` there says more",
		w->origin.work_tree);
	return git_explain(&w->origin, e);
}

/* Whom git's configuration names, and which filters it defines where the operator lets them run. */
static int read_settings(struct workspace *w, const struct config *c, struct err *e)
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
	snprintf(w->as.name, sizeof(w->as.name), "%s", c->git.name ? c->git.name : "");
	snprintf(w->as.email, sizeof(w->as.email), "%s", c->git.email ? c->git.email : "");
	w->run_hooks = c->git.run_repo_hooks;
	if (git_identity_find(&w->origin, &files, &w->as, e) ||
		(c->git.run_repo_filters && git_filters_allow(&w->origin, &files, &w->clone, e)))
		return -1;
	return *w->as.name && *w->as.email
		       ? 0
		       : err_set(e, "nobody is named who commits; set git.commit.name and "
				    "git.commit.email in your configuration, or user.name and "
				    "user.email in git's");
}

/* Whether a start that was killed before it ran anything has made the branch: it is where that one
 * was to begin, or where another one before it was. */
static bool made_before(const struct workspace *w, int instance_fd)
{
	struct workspace before = {0};
	struct err none = ERR_NONE; /* this is the first, or that one did not get to write it */
	return !record_read(&before, instance_fd, &none) && before.makes &&
	       (!strcmp(w->tip, before.base) || !strcmp(w->tip, before.tip));
}

/* A new instance begins at the branch's tip, or will make the branch at HEAD. */
static int start(struct workspace *w, int instance_fd, struct err *e)
{
	if (git_branch_tip(&w->origin, w->branch, w->tip, e))
		return -1;
	w->makes = !*w->tip || made_before(w, instance_fd);
	if (!w->makes)
		memcpy(w->base, w->tip, sizeof(w->base));
	w->at = (struct workspace_mark){0};
	snprintf(w->at.tree, sizeof(w->at.tree), "%s", w->base);
	snprintf(w->at.commit, sizeof(w->at.commit), "%s", w->base);
	w->has_next = false;
	return record_write(w, instance_fd, e);
}

/* The journal decides which of the two marks counts. */
static int take_up(struct workspace *w, const struct workspace_ask *ask, struct err *e)
{
	if (record_read(w, ask->instance->dir_fd, e))
		return err_wrap(e,
			"%s of instance %s, which says what is on its branch, cannot be used; "
			"bring it back from a copy, or start anew under another --id",
			record_name, ask->instance->id);
	if (!is_over(&w->at, ask->seq, ask->attempt))
		return err_set(e,
			"%s of instance %s is of step %llu, and its journal.jsonl ends at step "
			"%llu: they are from different copies; bring both back from one, or start "
			"anew under another --id",
			record_name, ask->instance->id, (unsigned long long)w->at.seq,
			(unsigned long long)ask->seq);
	if (workspace_land(w, ask->seq, ask->attempt, e))
		return -1;
	w->has_next = false;
	return bring_branch(w, w->at.commit, w->at.commit, e);
}

/* The operator's directory, as it lies in the clone. */
static int find_path(struct workspace *w, const char *directory, struct err *e)
{
	struct stat st;
	const char *below = directory + strlen(w->origin.work_tree);
	below += *below == '/' && !below[1];
	if (asprintf(&w->path, "%s%s%s", w->clone.work_tree, *below && *below != '/' ? "/" : "",
		    below) < 0) {
		w->path = NULL;
		return err_set(e, "out of memory");
	}
	if (!lstat(w->path, &st) && S_ISDIR(st.st_mode))
		return 0;
	return err_set(e, "%s is not a directory in the last commit of branch %s; commit it first",
		directory, w->branch);
}

int workspace_open(struct workspace *w, const struct workspace_ask *ask, struct err *e)
{
	AUTO_FREE char *dir = NULL;
	int fd = ask->instance->dir_fd;
	name_branch(w->branch, sizeof(w->branch), ask->instance);
	if (asprintf(&dir, "%s/workspace", ask->instance->path) < 0)
		return err_set(e, "out of memory");
	if (find_origin(w, ask, e) || git_branch_check(&w->origin, w->branch, e) ||
		git_clone_open(&w->origin, dir, w->branch, &w->clone, e) ||
		read_settings(w, ask->config, e) || learn(w, &w->clone, e))
		return -1;
	git_branch_unlock(&w->origin, w->branch);
	/* workspace_land, which a resume may need, does nothing without a path. */
	w->path = strdup(dir);
	if (!w->path || (ask->begun ? take_up(w, ask, e) : start(w, fd, e)))
		return -1;
	if (git_clone_checkout(&w->clone, w->at.tree, w->at.commit, e))
		return git_explain(&w->origin, e);
	free(TAKE_PTR(w->path));
	return find_path(w, ask->directory, e);
}

int workspace_begin(struct workspace *w, struct err *e)
{
	return strcmp(w->tip, w->base) != 0 &&
			       git_branch_move(&w->origin,
				       &(struct git_move){w->branch, w->tip, w->base}, e)
		       ? err_wrap(e, "cannot make branch %s", w->branch)
		       : 0;
}

void workspace_done(struct workspace *w)
{
	git_repo_done(&w->origin);
	git_repo_done(&w->clone);
	free(w->path);
	*w = (struct workspace){0};
}

/* --- steps ------------------------------------------------------------------------------------ */

/* A state may leave no repository in what is committed, whatever it was allowed to write. */
static int stage(struct workspace *w, struct workspace_step *s, struct err *e)
{
	AUTO_BUF changed = BUF_INIT(CHANGED_BYTES_MAX);
	return git_clone_stage(&w->clone, w->next.tree, &s->left_out, &changed, e) ||
			       nested_check(&changed, w->clone.work_tree, w->origin.work_tree, e)
		       ? -1
		       : 0;
}

/* They may change what is to be committed. */
static int run_hooks(
	struct workspace *w, struct workspace_step *s, struct buf *message, struct err *e)
{
	bool differs;
	if (git_clone_differs(&w->clone, w->at.commit, w->next.tree, &differs, e))
		return -1;
	if (!differs)
		return 0;
	return git_hooks_run(&w->origin, &w->clone, &w->as, message, e) || stage(w, s, e) ? -1 : 0;
}

static int commit(struct workspace *w, struct workspace_step *s, struct err *e)
{
	char oid[GIT_OID_BYTES];
	AUTO_BUF message = BUF_INIT(MESSAGE_BYTES);
	if (buf_addf(&message,
		    "%s: %s\n\nMade by state %s of machine %s, step %llu of instance %s.\n\n"
		    "Agent6-State: %s\nAgent6-Step: %s-%llu\n",
		    s->machine, s->state->name, s->state->name, s->machine,
		    (unsigned long long)s->seq, s->instance, s->state->name, s->instance,
		    (unsigned long long)s->seq))
		return err_set(e, "out of memory");
	if (w->run_hooks && run_hooks(w, s, &message, e))
		return -1;
	struct git_commit c = {.tree = w->next.tree,
		.parent = w->at.commit,
		.message = message.data,
		.as = &w->as};
	if (git_clone_commit(&w->clone, &c, oid, e))
		return -1;
	if (!*oid)
		return 0;
	/* What the repository does not take has to be known before the step is journaled. */
	if (git_clone_send(&w->clone, &w->origin, w->at.commit, oid, e))
		return -1;
	w->sent = true;
	snprintf(w->next.commit, sizeof(w->next.commit), "%s", oid);
	return 0;
}

/* Behind a link is not absent: the next jail would stumble over it. */
static bool is_absent(const struct workspace *w, int tree_fd, const char *path)
{
	const char *below = path + strlen(w->clone.work_tree) + 1;
	AUTO_FD int fd = beneath_open(tree_fd, below, O_PATH, 0, RESOLVE_NO_SYMLINKS);
	return fd < 0 && (errno == ENOENT || errno == ENOTDIR);
}

json_t *workspace_absent(const struct workspace *w, const json_t *paths)
{
	json_t *absent = json_array(), *path;
	AUTO_FD int fd = w->path ? open(w->clone.work_tree, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	size_t i;
	json_array_foreach (paths, i, path) {
		const char *text = json_string_value(path);
		if (fd >= 0 && path_is_below(text, w->clone.work_tree) && is_absent(w, fd, text))
			json_array_append(absent, path);
	}
	return absent;
}

static int check_absent(const struct workspace *w, const json_t *absent, struct err *e)
{
	json_auto_t *still = workspace_absent(w, absent);
	size_t i;
	json_t *path;
	json_array_foreach (absent, i, path)
		if (!json_equal(path, json_array_get(still, i)))
			return err_set(e,
				"%.600s is protected or hidden, and the state has made it",
				json_string_value(path) + strlen(w->clone.work_tree) + 1);
	return 0;
}

int workspace_settle(struct workspace *w, int instance_fd, struct workspace_step *s, struct err *e)
{
	s->left_out = 0;
	if (!w->path || !confine_writes(s->state))
		return 0;
	if (learn(w, &w->origin, e) || learn(w, &w->clone, e))
		return -1;
	bool runs = s->state->kind == KIND_AGENT;
	if (s->dropped)
		return git_clone_mend(&w->origin, &w->clone, w->branch, e) ||
				       git_clone_checkout(&w->clone, w->at.tree, w->at.commit, e)
			       ? -1
			       : 0;
	if (runs && check_absent(w, s->absent, e))
		return -1;
	w->sent = false;
	w->next = w->at;
	w->next.seq = s->seq;
	w->next.attempt = s->attempt;
	if (stage(w, s, e))
		return -1;
	/* What an earlier attempt at this step wrote is this one's as well. */
	bool changed = strcmp(w->next.tree, w->at.tree) != 0 || w->at.seq == s->seq;
	if (s->ok && changed && commit(w, s, runs ? e : &s->uncommitted) && runs)
		return -1;
	w->has_next = true;
	return record_write(w, instance_fd, e);
}

bool workspace_host_failed(const struct err *e)
{
	/* The last two: no process is to be had. */
	static const int numbers[] = {ENOSPC, EDQUOT, EIO, EROFS, EAGAIN, ENOMEM};
	size_t len = strlen(e->text);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		const char *words = strerror(numbers[i]);
		size_t n = strlen(words);
		if (len >= n && !strcmp(e->text + len - n, words))
			return true;
	}
	return false;
}
