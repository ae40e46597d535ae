#include "jail/layout.h"

#include "base/etc_table.h"
#include "base/path.h"
#include "jail/leave_out.h"
#include "jail/root_table.h"
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
	enum { ALWAYS, ONLY_STRICT, ONLY_HARDENED, ONLY_ONLINE, ONLY_PTY } when;
	enum place_kind kind;
	const char *const *paths;
} own[] = {
#define OWN(when, kind, ...) {when, kind, PATH_LIST(__VA_ARGS__)},
	ROOT_PLACES(OWN)};

static const char *const etc[] = {ETC_SHOWN(ETC_PATHS)};

/* A path that is missing here fails, with its name, where it is opened. One that is there and
 * cannot be examined fails at once: without its inode number it would be taken for another file
 * later. */
int layout_add(struct layout *layout, const char *path, struct place place, struct err *e)
{
	struct stat st;
	size_t size = strlen(path) + 1;
	if (layout->count == LAYOUT_PLACES_MAX || size > sizeof(layout->text) - layout->text_len)
		return err_set(e, "too many paths to mount, %s is one", path);
	bool watched = place.grant || place.kind == PLACE_MASK;
	bool known = watched && !lstat(path, &st);
	if (watched && !known && errno != ENOENT && errno != ENOTDIR && errno != EACCES)
		return err_errno(e, "cannot examine %s", path);
	if (known) {
		place.dev = st.st_dev;
		place.ino = st.st_ino;
		place.directory = S_ISDIR(st.st_mode);
	}
	place.path = memcpy(layout->text + layout->text_len, path, size);
	layout->text_len += size;
	place.tree_fd = -1;
	layout->place[layout->count++] = place;
	return 0;
}

static bool is_listed(const char *const *list, const char *path, bool below)
{
	for (; *list; list++)
		if (!strcmp(path, *list) || (below && path_is_below(path, *list)))
			return true;
	return false;
}

typedef int add_fn(struct layout *layout, const char *path, enum place_kind kind, struct err *e);

static int add_all(struct layout *layout, const json_t *paths, enum place_kind kind, add_fn *add,
	struct err *e)
{
	size_t i;
	json_t *path;
	json_array_foreach ((json_t *)(uintptr_t)paths, i, path)
		if (add(layout, json_string_value(path), kind, e))
			return -1;
	return 0;
}

static int add_grant(struct layout *layout, const char *path, enum place_kind kind, struct err *e)
{
	bool writable = kind == PLACE_WRITE;
	if (is_listed(PATH_LIST("/proc", "/sys", "/dev"), path, true))
		return err_set(e, "%s cannot be granted: it belongs to the jail", path);
	if (is_listed(PATH_LIST("/tmp", "/etc", "/run"), path, false))
		return err_set(
			e, "%s cannot be granted as a whole; name what is needed in it", path);
	if (writable && is_listed(PATH_LIST(PATH_SYSTEM_DIRS), path, false))
		return err_set(e, "the system directory %s cannot be writable", path);
	return layout_add(layout, path, (struct place){.kind = kind, .grant = true}, e);
}

static int add_workspace(struct layout *layout, const struct policy *policy, struct err *e)
{
	enum place_kind kind = policy->access == ACCESS_WRITE ? PLACE_WRITE : PLACE_READ;
	if (policy->access != ACCESS_NONE && add_grant(layout, policy->workspace, kind, e))
		return -1;
	return policy->bundle ? add_grant(layout, policy->bundle, PLACE_READ, e) : 0;
}

const struct place *layout_deepest(const struct layout *layout, const char *path)
{
	const struct place *found = NULL;
	for (const struct place *p = layout->place; p < layout->place + layout->count; p++)
		if (path_is_within(path, p->path) &&
			(!found || path_is_below(p->path, found->path)))
			found = p;
	return found;
}

/* Adds a protected or hidden path. One that is not visible through any place needs nothing; nor
 * does one behind a link of the host's own (/lib on a merged-/usr host), which has another name. */
static int add_held(struct layout *layout, const char *path, enum place_kind kind, struct err *e)
{
	const struct place *above = layout_deepest(layout, path);
	bool shown = above && (above->kind == PLACE_WRITE ||
				      (kind == PLACE_HIDE && above->kind == PLACE_READ));
	struct stat st;
	for (size_t i = 0; kind == PLACE_READ && !shown && i < layout->count; i++)
		if (layout->place[i].kind == PLACE_WRITE &&
			path_is_within(layout->place[i].path, path))
			return err_set(e, "%s is protected and %s is writable inside it", path,
				layout->place[i].path);
	if (!shown || (!above->grant && !lstat(above->path, &st) && S_ISLNK(st.st_mode)))
		return 0;
	struct place place = {.kind = kind, .grant = true};
	if (!lstat(path, &st))
		return S_ISLNK(st.st_mode)
			       ? err_set(e, "%s is a symbolic link; name what it points to", path)
			       : layout_add(layout, path, place, e);
	if (errno != ENOENT && errno != ENOTDIR)
		return err_errno(e, "cannot examine %s", path);
	if (kind == PLACE_READ)
		layout->missing[layout->missing_count++] = path;
	return 0;
}

/* Refuses a protected path inside a grant on hardened, since Landlock cannot take a part out of a
 * grant. For the workspace, whose .git is always protected, the layer "protect" reports that
 * nothing is protected. */
static int check_kept(const struct policy *policy, struct err *e)
{
	size_t i, k;
	json_t *grant, *path;
	json_array_foreach ((json_t *)(uintptr_t)policy->write, i, grant)
		json_array_foreach ((json_t *)(uintptr_t)policy->protect, k, path) {
			const char *held = json_string_value(path), *in = json_string_value(grant);
			bool around = policy->access == ACCESS_WRITE &&
				      path_is_within(held, policy->workspace);
			if (!around && path_is_within(held, in))
				return err_set(e,
					"%s is protected and lies in %s, which is writable: the "
					"hardened profile cannot keep it; grant less, or use "
					"strict",
					held, in);
		}
	return 0;
}

/* Orders places so that the contents of a directory follow it at once, before names that only begin
 * with the same letters. */
static int by_path(const void *left, const void *right)
{
	const struct place *p = left, *q = right;
	const char *a = p->path, *b = q->path;
	for (; *a && *a == *b; a++, b++)
		;
	int order = (*a && *b ? (*b == '/') - (*a == '/') : 0);
	order = order ? order : (unsigned char)*a - (unsigned char)*b;
	order = order ? order : (int)p->kind - (int)q->kind;
	return order ? order : q->grant - p->grant;
}

/* Sorts, keeps the stricter of two places at one path, and drops places below a hidden one, which
 * hides them too. The place that contains another is the one before it, or contains that one. */
static void sort(struct layout *layout)
{
	size_t kept = 0;
	const char *hidden = NULL;
	qsort(layout->place, layout->count, sizeof(*layout->place), by_path);
	for (size_t i = 0; i < layout->count; i++) {
		struct place *last = kept ? &layout->place[kept - 1] : NULL, *p = &layout->place[i];
		bool again = last && !strcmp(last->path, p->path);
		if (again || (hidden && path_is_below(p->path, hidden)))
			continue;
		hidden = p->kind == PLACE_HIDE ? p->path : hidden;
		while (last && (last->kind == PLACE_PIN || !path_is_below(p->path, last->path)))
			last = last->above;
		p->above = last;
		layout->place[kept++] = *p;
	}
	layout->count = kept;
}

static int add_pins(struct layout *layout, struct err *e)
{
	static const struct place pin = {.kind = PLACE_PIN, .grant = true};
	size_t count = layout->count;
	for (size_t i = 0; i < count; i++) {
		const struct place *held = &layout->place[i], *above = held->above;
		if ((held->kind != PLACE_READ && held->kind != PLACE_HIDE) || !above ||
			above->kind != PLACE_WRITE)
			continue;
		char path[PATH_MAX];
		size_t at = strlen(above->path) + 1;
		snprintf(path, sizeof(path), "%s", held->path);
		for (char *slash; (slash = strchr(path + at, '/'));
			at = (size_t)(slash - path) + 1) {
			*slash = '\0';
			if (layout_add(layout, path, pin, e))
				return -1;
			*slash = '/';
		}
	}
	sort(layout);
	return 0;
}

static int add_own(struct layout *layout, const struct policy *policy, struct err *e)
{
	const bool holds[] = {[ALWAYS] = true,
		[ONLY_STRICT] = policy->profile == PROFILE_STRICT && LAYER_ON("proc_cover"),
		[ONLY_HARDENED] = policy->profile == PROFILE_HARDENED,
		[ONLY_ONLINE] = policy->network == NETWORK_HOST,
		[ONLY_PTY] = policy->pty};
	for (size_t i = 0; i < ARRAY_LEN(own); i++) {
		struct place place = {.kind = own[i].kind, .directory = own[i].kind >= PLACE_TMPFS};
		for (const char *const *path = own[i].paths; holds[own[i].when] && *path; path++)
			if (layout_add(layout, *path, place, e))
				return -1;
	}
	return 0;
}

enum etc_answer { ETC_UNKNOWN, ETC_PASSED_OVER, ETC_FOR_EVERYBODY };

/* Applies the rule of etc_table.h to `path`. A link is judged itself, not its target. */
static int judge_etc(const char *path, enum etc_answer *answer, struct err *e)
{
	enum { UNMAPPED_ID = 65534 }; /* root's id in a user namespace that does not map it */
	struct stat st;
	bool there = !lstat(path, &st);
	/* Behind a directory that not everybody may pass, nothing is for everybody. */
	if (!there && errno != ENOENT && errno != ENOTDIR && errno != EACCES)
		return err_errno(e, "cannot examine %s", path);
	*answer = ETC_PASSED_OVER;
	if (there && (((!st.st_uid || st.st_uid == UNMAPPED_ID) && st.st_mode & S_IROTH) ||
			     !LAYER_ON("etc_rule")))
		*answer = ETC_FOR_EVERYBODY;
	return 0;
}

/* Adds the paths of /etc. Each is examined once: a launcher that builds many jails shows in all of
 * them what it found for the first. */
static int add_etc(struct layout *layout, struct err *e)
{
	static enum etc_answer answers[ARRAY_LEN(etc)];
	for (size_t i = 0; i < ARRAY_LEN(etc); i++) {
		if (answers[i] == ETC_UNKNOWN && judge_etc(etc[i], &answers[i], e))
			return -1;
		struct place read = {.kind = PLACE_READ, .shared = path_is_below(etc[i], "/etc")};
		if (answers[i] == ETC_FOR_EVERYBODY && layout_add(layout, etc[i], read, e))
			return -1;
	}
	return 0;
}

static bool may_be_written(
	const struct layout *layout, const struct policy *policy, const char *path)
{
	for (const struct place *q = layout->place; q < layout->place + layout->count; q++)
		if (q->kind == PLACE_WRITE && path_is_within(q->path, path) &&
			!policy_frees(policy, q->path))
			return true;
	return false;
}

/* Scans each grant, even if the search of another one failed. */
static int scan_grants(struct layout *layout, const struct policy *policy, int scan, struct err *e)
{
	int failed = 0;
	for (size_t i = 0, count = layout->count; scan && i < count; i++) {
		const struct place *grant = &layout->place[i], *above = grant->above;
		if (grant->grant && grant->kind >= PLACE_READ && !(above && above->grant) &&
			((scan & SCAN_SERVICES) || may_be_written(layout, policy, grant->path)))
			failed |= scan_tree(layout, policy, scan, grant->path, e);
	}
	return failed;
}

int layout_init(struct layout *layout, const struct policy *policy, int scan, struct err *e)
{
	layout->count = layout->missing_count = layout->text_len = 0;
	layout->scan_cut = false;
	if ((policy->profile == PROFILE_HARDENED && check_kept(policy, e)) ||
		add_workspace(layout, policy, e) ||
		add_all(layout, policy->read, PLACE_READ, add_grant, e) ||
		add_all(layout, policy->write, PLACE_WRITE, add_grant, e) ||
		add_own(layout, policy, e) || add_etc(layout, e) ||
		add_all(layout, policy->protect, PLACE_READ, add_held, e) ||
		add_all(layout, policy->hide, PLACE_HIDE, add_held, e))
		return -1;
	sort(layout);
	int failed = scan_grants(layout, policy, scan, e);
	sort(layout);
	return (LAYER_ON("pin") && add_pins(layout, e)) || failed ? -1 : 0;
}

bool layout_executes(const struct place *place)
{
	return place->kind != PLACE_PROC && !path_is_below(place->path, "/dev");
}

bool layout_same(const struct layout *a, const struct layout *b)
{
	bool same = a->count == b->count && a->scan_cut == b->scan_cut;
	for (size_t i = 0; same && i < a->count; i++) {
		const struct place *p = &a->place[i], *q = &b->place[i];
		bool watched = p->grant || p->kind == PLACE_MASK;
		same = !strcmp(p->path, q->path) && p->kind == q->kind &&
		       (!watched || (p->dev == q->dev && p->ino == q->ino));
	}
	return same;
}

void layout_done(struct layout *layout)
{
	for (struct place *p = layout->place; p < layout->place + layout->count; p++)
		own_close(&p->tree_fd);
}

int layout_count(const struct layout *layout, enum place_kind kind)
{
	int count = 0;
	for (size_t i = 0; i < layout->count; i++)
		count += layout->place[i].kind == kind;
	return count;
}
