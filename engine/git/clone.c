#include "git/clone.h"

#include "base/beneath.h"
#include "base/io.h"
#include "base/sha256.h"
#include "base/tree.h"
#include "git/call.h"
#include "git/parse.h"
#include "git/settings.h"
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { OID_OUTPUT_BYTES = 4096, PACK_BYTES_MAX = 256 * 1024 * 1024, SHALLOW_BYTES_MAX = 1 << 20 };

/* --- making it -------------------------------------------------------------------------------- */

static int describe(const struct git_repo *from, const char *dir, struct git_repo *out)
{
	*out = (struct git_repo){.work_tree = strdup(dir),
		.profile = from ? from->profile : NULL,
		.allow_root_jail = from && from->allow_root_jail};
	if (asprintf(&out->git_dir, "%s/.git", dir) < 0)
		out->git_dir = NULL;
	out->common_dir = out->git_dir ? strdup(out->git_dir) : NULL;
	if (from && asprintf(&out->borrowed, "%s/objects", from->common_dir) < 0)
		out->borrowed = NULL;
	return out->work_tree && out->common_dir && (!from || out->borrowed) ? 0 : -1;
}

/* Writes the option for SHA-1 or SHA-256, as in the repository that lends the objects. */
static int object_format(const struct git_repo *from, char *option, size_t bytes, struct err *e)
{
	struct git_call call = {
		.args = GIT_ARGS("rev-parse", "--show-object-format"), .no_tree = true};
	AUTO_BUF out = BUF_INIT(OID_OUTPUT_BYTES);
	if (git_call(from, &call, &out, e))
		return -1;
	snprintf(option, bytes, "--object-format=%.*s", (int)strcspn(out.data, "\n"), out.data);
	return 0;
}

static int init(const struct git_repo *repo, const char *branch, const char *format, struct err *e)
{
	char initial[300];
	struct git_call call = {
		.args = GIT_ARGS("init", "--quiet", "--template=", initial, format), .write = true};
	/* the repository does not exist yet */
	struct git_repo none = {.work_tree = repo->work_tree,
		.profile = repo->profile,
		.allow_root_jail = repo->allow_root_jail};
	snprintf(initial, sizeof(initial), "--initial-branch=%s", branch);
	return git_call_quietly(&none, &call, e);
}

/* Tells the clone where to find objects, and where history ends if the repository is shallow. */
static int borrow(const struct git_repo *from, const struct git_repo *clone, struct err *e)
{
	AUTO_FREE char *shallow = NULL;
	AUTO_FREE char *text = NULL;
	size_t len;
	AUTO_FD int own = open(from->common_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD int to = git_dir_open(clone->git_dir, ".");
	if (own < 0 || to < 0)
		return err_errno(e, "cannot open %s", own < 0 ? from->common_dir : clone->git_dir);
	if (!faccessat(own, "objects/info/alternates", F_OK, AT_SYMLINK_NOFOLLOW)) {
		err_set(e, "it cannot be cloned");
		return git_explain(from, e);
	}
	int n = asprintf(&text, "%s\n", clone->borrowed);
	AUTO_FD int info = git_dir_open(clone->git_dir, "objects/info");
	if (n < 0 || info < 0)
		return err_errno(e, "cannot open objects/info of the clone");
	if (io_replace_file(info, "alternates", text, (size_t)n, 0644, e))
		return -1;
	if (faccessat(own, "shallow", F_OK, 0))
		return 0;
	return io_read_plain(own, "shallow", SHALLOW_BYTES_MAX, &shallow, &len, e) ||
			       io_replace_file(to, "shallow", shallow, len, 0644, e)
		       ? -1
		       : 0;
}

static int remove_all_but(int fd, const char *kept, struct err *e)
{
	AUTO_FD int again = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	DIR *dir = again < 0 ? NULL : fdopendir(again);
	if (!dir)
		return err_errno(e, "cannot list a directory of the clone");
	(void)TAKE_FD(again);
	int failed = 0;
	for (const struct dirent *d; !failed && (d = readdir(dir));)
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0 &&
			strcmp(d->d_name, kept) != 0)
			failed = tree_remove(fd, d->d_name, e);
	closedir(dir);
	return failed;
}

/* Makes `name` a directory that can be entered, or removes it. Returns 1 if it is a directory. */
static int enterable(int at, const char *name, struct err *e)
{
	struct stat st;
	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : err_errno(e, "cannot examine %s of the clone", name);
	if (!S_ISDIR(st.st_mode))
		return tree_remove(at, name, e);
	return fchmodat(at, name, 0700, 0) ? err_errno(e, "cannot open up %s", name) : 1;
}

/* Reports whether a command may have written to .git. */
static bool is_open(const struct git_repo *clone)
{
	return clone->profile && !strcmp(clone->profile, "hardened");
}

/* Removes everything from .git but the objects, which are identified by their contents. So nothing
 * stays that a command has written, or that a killed git or a power failure has left. */
static int purge(const struct git_repo *clone, struct err *e)
{
	AUTO_FD int tree = open(clone->work_tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tree < 0)
		return err_errno(e, "cannot open %s", clone->work_tree);
	int there = enterable(tree, ".git", e);
	AUTO_FD int own = there > 0 ? git_dir_open(clone->git_dir, ".") : -1;
	if (there <= 0)
		return there;
	if (own < 0)
		return err_errno(e, "cannot open %s", clone->git_dir);
	if (remove_all_but(own, "objects", e))
		return -1;
	there = enterable(own, "objects", e);
	return there > 0 ? tree_remove(own, "objects/info", e) : there;
}

static int make(const struct git_repo *from, const struct git_repo *clone, const char *branch,
	struct err *e)
{
	char format[64];
	return purge(clone, e) || object_format(from, format, sizeof(format), e) ||
			       init(clone, branch, format, e) || borrow(from, clone, e)
		       ? -1
		       : 0;
}

int git_clone_open(const struct git_repo *from, const char *dir, const char *branch,
	struct git_repo *out, struct err *e)
{
	struct git_repo clone;
	if (mkdir(dir, 0700) && errno != EEXIST)
		return err_errno(e, "cannot create %s", dir);
	if (describe(from, dir, &clone) ? err_set(e, "out of memory")
					: make(from, &clone, branch, e)) {
		git_repo_done(&clone);
		return -1;
	}
	*out = clone;
	return 0;
}

int git_clone_mend(const struct git_repo *from, const struct git_repo *clone, const char *branch,
	struct err *e)
{
	return is_open(clone) ? make(from, clone, branch, e) : 0;
}

/* --- the work tree ---------------------------------------------------------------------------- */

static int empty(const struct git_repo *clone, struct err *e)
{
	AUTO_FD int fd = open(clone->work_tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(e, "cannot open %s", clone->work_tree);
	int failed = remove_all_but(fd, ".git", e);
	git_dir_unlink(clone->git_dir, ".", "index");
	return failed;
}

int git_clone_advance(const struct git_repo *clone, const char *commit, struct err *e)
{
	struct git_call call = {.args = GIT_ARGS("update-ref", "HEAD", commit), .write = true};
	return git_call_quietly(clone, &call, e);
}

static int fill(const struct git_repo *clone, const char *tree, const char *commit, bool borrowed,
	struct err *e)
{
	const char *const *const steps[] = {GIT_ARGS("update-ref", "HEAD", commit),
		GIT_ARGS("read-tree", tree), GIT_ARGS("checkout-index", "--all", "--quiet")};
	struct git_call call = {.write = true, .borrowed = borrowed};
	int failed = empty(clone, e);
	for (size_t i = 0; !failed && i < ARRAY_LEN(steps); i++) {
		call.args = steps[i];
		failed = git_call_quietly(clone, &call, e);
	}
	return failed;
}

static int forget_objects(const struct git_repo *clone, struct err *e)
{
	AUTO_FD int fd = git_dir_open(clone->git_dir, "objects");
	return fd < 0 ? err_errno(e, "cannot open objects of the clone")
		      : remove_all_but(fd, "info", e);
}

/* Fills the work tree. A command may have put false objects into the clone. Commits do not need the
 * clone's objects, because the operator's repository has them, so these are tried alone first, and
 * then the clone's are removed. */
static int refill(const struct git_repo *clone, const char *tree, const char *commit, struct err *e)
{
	struct err own_needed = ERR_NONE;
	if (is_open(clone) && !fill(clone, tree, commit, true, &own_needed))
		return forget_objects(clone, e);
	return fill(clone, tree, commit, false, e);
}

/* --- changes ---------------------------------------------------------------------------------- */

static void own_changes(struct changes *changes)
{
	buf_done(&changes->there);
	buf_done(&changes->gone);
}
#define AUTO_CHANGES __attribute__((cleanup(own_changes))) struct changes

static int find_changes(const struct git_repo *clone, struct changes *out, struct err *e)
{
	struct git_call call = {
		.args = GIT_ARGS("status", "--porcelain=v1", "-z", "--untracked-files=all",
			"--ignore-submodules=all", "--no-renames"),
		.whole = true};
	AUTO_BUF list = BUF_INIT(GIT_OUTPUT_MAX);
	buf_init(&out->there, GIT_OUTPUT_MAX);
	buf_init(&out->gone, GIT_OUTPUT_MAX);
	if (git_call(clone, &call, &list, e))
		return -1;
	return parse_changes(&list, out) ? err_set(e, "too many files were changed") : 0;
}

/* Returns a file's content and mode as a commit sees them. NULL: nothing that can be compared. New
 * reference. */
static json_t *file_as_is(int tree_fd, const char *path)
{
	char chunk[16384], hex[SHA256_HEX + 1];
	struct sha256 s;
	struct stat st;
	ssize_t n;
	AUTO_FD int fd = beneath_open(tree_fd, path, O_RDONLY | O_NONBLOCK, 0, RESOLVE_NO_SYMLINKS);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return NULL;
	sha256_init(&s);
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		sha256_add(&s, chunk, (size_t)n);
	sha256_end_hex(&s, hex);
	return n ? NULL : json_sprintf("%o %s", st.st_mode & 0100, hex);
}

/* Notes the times of the files in the index: without them, each later look at the work tree reads
 * all of it. Returns -1 if some files differ. */
static int note_times(const struct git_repo *clone)
{
	struct git_call call = {
		.args = GIT_ARGS("update-index", "--ignore-submodules", "--refresh"),
		.write = true};
	struct err differ = ERR_NONE;
	return git_call_quietly(clone, &call, &differ);
}

/* Notes the files that already differ after a checkout: nobody has changed them, but git reads them
 * in another way. If git cannot read them (a filter fails), the error comes when there is something
 * to commit. */
static int note_untouched(struct git_repo *clone, struct err *e)
{
	struct err unread = ERR_NONE;
	AUTO_CHANGES found = {0};
	AUTO_FD int fd = open(clone->work_tree, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int failed = note_times(clone) && find_changes(clone, &found, &unread);
	if (fd < 0)
		return err_errno(e, "cannot open %s", clone->work_tree);
	json_decref(clone->untouched);
	clone->untouched = json_object();
	for (size_t at = 0; !failed && at < found.there.len;
		at += strlen(found.there.data + at) + 1)
		json_object_set_new_nocheck(clone->untouched, found.there.data + at,
			file_as_is(fd, found.there.data + at));
	return 0;
}

static int find_submodules(const struct git_repo *clone, struct buf *list, struct err *e)
{
	char file[PATH_MAX];
	struct git_call call = {
		.args = GIT_ARGS("config", "--file", file, "-z", "--get-regexp", "[.]path$")};
	snprintf(file, sizeof(file), "%s/.gitmodules", clone->work_tree);
	return faccessat(AT_FDCWD, file, F_OK, AT_SYMLINK_NOFOLLOW)
		       ? 0
		       : git_call(clone, &call, list, e);
}

static bool is_empty_directory(int tree_fd, const char *path)
{
	AUTO_FD int fd =
		beneath_open(tree_fd, path, O_RDONLY | O_DIRECTORY, 0, RESOLVE_NO_SYMLINKS);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	size_t entries = 0;
	if (!dir)
		return false;
	(void)TAKE_FD(fd);
	while (readdir(dir))
		entries++;
	closedir(dir);
	return entries == 2;
}

/* Notes the empty directories after a checkout, which are the places of submodules: git does not
 * report what is put there. A .gitmodules that cannot be read names none. */
static int note_submodules(struct git_repo *clone, struct err *e)
{
	struct err unread = ERR_NONE;
	AUTO_BUF list = BUF_INIT(GIT_OUTPUT_MAX);
	AUTO_FD int fd = open(clone->work_tree, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(e, "cannot open %s", clone->work_tree);
	json_decref(clone->submodules);
	clone->submodules = json_array();
	if (find_submodules(clone, &list, &unread))
		return 0;
	for (size_t at = 0; at < list.len; at += strlen(list.data + at) + 1) {
		const char *path = strchr(list.data + at, '\n');
		if (path && is_empty_directory(fd, path + 1))
			json_array_append_new(clone->submodules, json_string_nocheck(path + 1));
	}
	return 0;
}

/* Returns the number of submodule places that are no longer empty directories. */
static size_t changed_submodules(const struct git_repo *clone)
{
	AUTO_FD int fd = open(clone->work_tree, O_PATH | O_DIRECTORY | O_CLOEXEC);
	size_t i, count = 0;
	const json_t *path;
	json_array_foreach (clone->submodules, i, path)
		count += !is_empty_directory(fd, json_string_value(path));
	return count;
}

int git_clone_checkout(struct git_repo *clone, const char *tree, const char *commit, struct err *e)
{
	return refill(clone, tree, commit, e) || note_submodules(clone, e) ||
			       note_untouched(clone, e)
		       ? -1
		       : 0;
}

/* Removes unchanged files from `all`. A file that was changed and changed back counts as
 * changed. */
static int touched_paths(
	const struct git_repo *clone, const struct buf *all, struct buf *paths, struct err *e)
{
	AUTO_FD int fd = open(clone->work_tree, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(e, "cannot open %s", clone->work_tree);
	for (size_t at = 0, len; at < all->len; at += len) {
		const char *path = all->data + at;
		json_t *was = json_object_get(clone->untouched, path);
		json_auto_t *is = was ? file_as_is(fd, path) : NULL;
		len = strlen(path) + 1;
		if (was && json_equal(was, is))
			continue;
		json_object_del(clone->untouched, path);
		buf_add(paths, path, len);
	}
	return paths->failed ? err_set(e, "out of memory") : 0;
}

/* Stages paths. Removed files need a call of their own: if a link has replaced a directory, git
 * would find the removed files behind it, and refuse them. */
static int stage_paths(const struct git_repo *clone, const struct buf *there,
	const struct buf *gone, struct err *e)
{
	const struct git_call calls[] = {
		{.args = GIT_ARGS("update-index", "--force-remove", "-z", "--stdin"),
			.input = gone,
			.write = true},
		{.args = GIT_ARGS("add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"),
			.input = there,
			.write = true}};
	int failed = 0;
	for (size_t i = 0; !failed && i < ARRAY_LEN(calls); i++)
		failed = calls[i].input->len && git_call_quietly(clone, &calls[i], e);
	return failed;
}

static int stage(const struct git_repo *clone, size_t *left_out, struct buf *changed, struct err *e)
{
	AUTO_CHANGES found;
	AUTO_BUF paths = BUF_INIT(GIT_OUTPUT_MAX);
	if (find_changes(clone, &found, e) || touched_paths(clone, &found.there, &paths, e) ||
		stage_paths(clone, &paths, &found.gone, e))
		return -1;
	for (size_t at = 0; at < found.gone.len; at += strlen(found.gone.data + at) + 1)
		json_object_del(clone->untouched, found.gone.data + at);
	*left_out = found.left_out + changed_submodules(clone);
	return changed && paths.len && buf_add(changed, paths.data, paths.len)
		       ? err_set(e, "too many files were changed")
		       : 0;
}

/* Makes unreadable files readable, so that they can be committed. A commit keeps no permission but
 * to execute. */
static int open_up(const struct git_repo *clone, struct err *e)
{
	AUTO_FD int fd = open(clone->work_tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*e = ERR_NONE;
	return fd < 0 ? err_errno(e, "cannot open %s", clone->work_tree) : tree_open_up(fd, e);
}

int git_clone_stage(const struct git_repo *clone, char tree[GIT_OID_BYTES], size_t *left_out,
	struct buf *changed, struct err *e)
{
	struct git_call call = {.args = GIT_ARGS("write-tree"), .write = true};
	int failed = stage(clone, left_out, changed, e);
	if (failed && e->number == EACCES) /* git was not allowed to read a file of the state's */
		failed = open_up(clone, e) || stage(clone, left_out, changed, e);
	return failed ? -1 : git_call_oid(clone, &call, tree, e);
}

/* --- commits ---------------------------------------------------------------------------------- */

static int check_filters(const struct git_repo *clone, const struct buf *paths, struct err *e)
{
	struct git_call call = {
		.args = GIT_ARGS("check-attr", "-z", "--stdin", "filter"), .input = paths};
	const char *path, *filter;
	AUTO_BUF out = BUF_INIT(2 * GIT_OUTPUT_MAX);
	if (git_call(clone, &call, &out, e))
		return -1;
	for (size_t at = 0; (path = parse_filter(&out, &at, &filter));) {
		if (git_filter_runs(clone, filter))
			continue;
		return err_set(e,
			"%.300s is changed, and .gitattributes gives it to the filter %.100s, %s; "
			"let the machine leave such files alone, or commit them yourself",
			path, filter,
			!strcmp(filter, "lfs")
				? "which keeps its files outside of git's objects"
				: "which is not run here: the wrong bytes would be committed");
	}
	return 0;
}

static int changed_between(const struct git_repo *clone, const char *parent, const char *tree,
	struct buf *paths, struct err *e)
{
	struct git_call call = {
		.args = GIT_ARGS("diff-tree", "-r", "-z", "--name-only", "--no-renames",
			"--no-ext-diff", "--no-textconv", "--ignore-submodules=all", parent, tree)};
	return git_call(clone, &call, paths, e);
}

int git_clone_differs(const struct git_repo *clone, const char *parent, const char *tree,
	bool *differs, struct err *e)
{
	AUTO_BUF paths = BUF_INIT(GIT_OUTPUT_MAX);
	if (changed_between(clone, parent, tree, &paths, e))
		return -1;
	*differs = paths.len > 0;
	return 0;
}

int git_clone_commit(const struct git_repo *clone, const struct git_commit *commit,
	char oid[GIT_OID_BYTES], struct err *e)
{
	AUTO_BUF changed = BUF_INIT(GIT_OUTPUT_MAX), message = BUF_INIT(GIT_OUTPUT_MAX);
	*oid = '\0';
	if (changed_between(clone, commit->parent, commit->tree, &changed, e))
		return -1;
	if (!changed.len)
		return 0;
	if (check_filters(clone, &changed, e) || buf_adds(&message, commit->message))
		return -1;
	struct git_call call = {
		.args = GIT_ARGS("commit-tree", commit->tree, "-p", commit->parent, "-F", "-"),
		.input = &message,
		.as = commit->as,
		.write = true};
	return git_call_oid(clone, &call, oid, e);
}

int git_clone_send(const struct git_repo *clone, const struct git_repo *to, const char *base,
	const char *commit, struct err *e)
{
	AUTO_BUF wanted = BUF_INIT(OID_OUTPUT_BYTES), objects = BUF_INIT(PACK_BYTES_MAX);
	struct git_call pack = {
		.args = GIT_ARGS("pack-objects", "--revs", "--stdout", "--thin", "--quiet"),
		.input = &wanted};
	struct git_call unpack = {.args = GIT_ARGS("unpack-objects", "-q", "--strict"),
		.input = &objects,
		.write = true,
		.no_tree = true};
	buf_addf(&wanted, "%s\n^%s\n", commit, base);
	if (git_call(clone, &pack, &objects, e))
		return objects.failed ? err_wrap(e, "a commit may hold %d MiB of changes",
						PACK_BYTES_MAX / (1024 * 1024))
				      : -1;
	return git_call_quietly(to, &unpack, e);
}

/* --- a repository from nothing ---------------------------------------------------------------- */

static int first_commit(
	const struct git_repo *git_repo, const struct git_identity *as, struct err *e)
{
	char tree[GIT_OID_BYTES], oid[GIT_OID_BYTES];
	size_t left_out;
	if (git_clone_stage(git_repo, tree, &left_out, NULL, e))
		return -1;
	struct git_call call = {
		.args = GIT_ARGS("commit-tree", tree, "-m", "The workspace as it was prepared"),
		.as = as,
		.write = true};
	return git_call_oid(git_repo, &call, oid, e) || git_clone_advance(git_repo, oid, e) ? -1
											    : 0;
}

int git_make(const char *dir, const struct git_identity *as, struct err *e)
{
	struct git_repo r;
	int failed = describe(NULL, dir, &r) ? err_set(e, "out of memory")
					     : init(&r, "main", "--object-format=sha1", e) ||
						       git_learn(&r, e) || first_commit(&r, as, e);
	git_repo_done(&r);
	return failed ? -1 : 0;
}
