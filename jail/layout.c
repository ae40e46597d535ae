#include "jail/layout.h"

#include "jail/leave_out.h"
#include "jail/path.h"
#include "jail/scan.h"
#include <string.h>
#include <sys/stat.h>

static const char *const system_dirs[] = {
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
static const char *const devices[] = {
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};
/* Of the host's /etc, what loaders and toolchains need and what identifies nobody. */
static const char *const etc_files[] = {"/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime",
	"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/ca-trust",
	"/etc/mime.types", "/etc/protocols", "/etc/services", "/etc/os-release"};

/* Written for a jail with a root of its own; without one the host's must be read. */
static const char *const etc_names[] = {
	"/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf"};

static int add(struct layout *l, const char *path, struct place place, struct err *e)
{
	if (l->count == LAYOUT_PLACES_MAX)
		return err_set(
			e, "more than %d paths to mount, %s is one", LAYOUT_PLACES_MAX, path);
	place.path = strdup(path);
	if (!place.path)
		return err_set(e, "out of memory");
	place.tree_fd = -1;
	l->place[l->count++] = place;
	return 0;
}

static int add_all(struct layout *l, const char *const paths[], size_t count, struct place place,
	struct err *e)
{
	for (size_t i = 0; i < count; i++)
		if (add(l, paths[i], place, e))
			return -1;
	return 0;
}

/* Places that must be the jail's own. */
static int check_grant(const char *path, bool writable, struct err *e)
{
	static const char *const own[] = {"/proc", "/sys", "/dev"};
	static const char *const whole[] = {"/tmp", "/etc", "/run"};
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (path_is_within(path, own[i]))
			return err_set(
				e, "%s cannot be granted: %s belongs to the jail", path, own[i]);
	for (size_t i = 0; i < ARRAY_LEN(whole); i++)
		if (!strcmp(path, whole[i]))
			return err_set(e,
				"%s cannot be granted as a whole; name what is needed in it", path);
	for (size_t i = 0; writable && i < ARRAY_LEN(system_dirs); i++)
		if (!strcmp(path, system_dirs[i]))
			return err_set(e, "the system directory %s cannot be writable", path);
	return 0;
}

static bool is_system(const char *path)
{
	bool found = path_is_within(path, "/opt");
	for (size_t i = 0; i < ARRAY_LEN(system_dirs); i++)
		found = found || path_is_within(path, system_dirs[i]);
	return found;
}

static int add_grants(
	struct layout *l, const struct paths *paths, enum place_kind kind, struct err *e)
{
	for (size_t i = 0; i < paths->count; i++) {
		const char *path = paths->path[i];
		bool writable = kind == PLACE_WRITE;
		struct place place = {.kind = kind, .grant = true};
		place.exec = writable || is_system(path);
		if (check_grant(path, writable, e) || add(l, path, place, e))
			return -1;
	}
	return 0;
}

static int add_workspace(struct layout *l, const struct policy *p, struct err *e)
{
	struct place place = {.kind = p->access == ACCESS_WRITE ? PLACE_WRITE : PLACE_READ,
		.exec = true,
		.grant = true};
	if (p->access != ACCESS_NONE && (check_grant(p->workspace, p->access == ACCESS_WRITE, e) ||
						add(l, p->workspace, place, e)))
		return -1;
	place.kind = PLACE_READ;
	if (p->bundle && (check_grant(p->bundle, false, e) || add(l, p->bundle, place, e)))
		return -1;
	return 0;
}

static const struct place *grant_above(const struct layout *l, const char *path)
{
	const struct place *found = NULL;
	for (size_t i = 0; i < l->count; i++)
		if (l->place[i].grant && path_is_within(path, l->place[i].path) &&
			(!found || strlen(l->place[i].path) > strlen(found->path)))
			found = &l->place[i];
	return found;
}

/* A path that is not visible through any grant needs neither protection nor hiding. */
static int add_held(
	struct layout *l, const struct paths *paths, enum place_kind kind, struct err *e)
{
	for (size_t i = 0; i < paths->count; i++) {
		const char *path = paths->path[i];
		for (size_t n = 0; n < l->count; n++)
			if (l->place[n].kind == PLACE_WRITE &&
				path_is_within(l->place[n].path, path) && kind == PLACE_READ &&
				!grant_above(l, path))
				return err_set(e, "%s is protected and %s is writable inside it",
					path, l->place[n].path);
		const struct place *above = grant_above(l, path);
		struct place place = {.kind = kind, .grant = true};
		struct stat st;
		if (!above || (kind == PLACE_READ && above->kind != PLACE_WRITE))
			continue;
		if (lstat(path, &st)) {
			if (errno != ENOENT && errno != ENOTDIR)
				return err_errno(e, "cannot examine %s", path);
			if (kind == PLACE_READ)
				l->missing[l->missing_count++] = path;
			continue;
		}
		if (S_ISLNK(st.st_mode))
			return err_set(e, "%s is a symbolic link; name what it points to", path);
		place.exec = above->exec;
		place.directory = S_ISDIR(st.st_mode);
		if (add(l, path, place, e))
			return -1;
	}
	return 0;
}

static int by_path(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	int order = strcmp(a->path, b->path);
	return order ? order : (int)a->kind - (int)b->kind;
}

/* Sorts, and keeps of two places at one path the stricter. */
static void sort(struct layout *l)
{
	qsort(l->place, l->count, sizeof(*l->place), by_path);
	size_t kept = 0;
	for (size_t i = 0; i < l->count; i++) {
		struct place *last = kept ? &l->place[kept - 1] : NULL;
		if (last && !strcmp(last->path, l->place[i].path)) {
			last->exec = last->exec || (last->kind == PLACE_READ && l->place[i].exec);
			free(l->place[i].path);
		} else {
			l->place[kept++] = l->place[i];
		}
	}
	l->count = kept;
}

/* What lies below a hidden directory is hidden with it. */
static void drop_hidden(struct layout *l)
{
	size_t kept = 0;
	const char *hidden = NULL;
	for (size_t i = 0; i < l->count; i++) {
		if (hidden && path_is_below(l->place[i].path, hidden)) {
			free(l->place[i].path);
			continue;
		}
		if (l->place[i].kind == PLACE_HIDE)
			hidden = l->place[i].path;
		l->place[kept++] = l->place[i];
	}
	l->count = kept;
}

const struct place *layout_above(const struct layout *l, const char *path)
{
	const struct place *found = NULL;
	for (size_t i = 0; i < l->count; i++)
		if (l->place[i].kind != PLACE_PIN && path_is_below(path, l->place[i].path))
			found = &l->place[i];
	return found;
}

static int add_pins(struct layout *l, struct err *e)
{
	size_t count = l->count;
	for (size_t i = 0; i < count; i++) {
		const struct place held = l->place[i];
		const struct place *above = layout_above(l, held.path);
		bool holds_still = held.kind == PLACE_READ || held.kind == PLACE_HIDE;
		if (!holds_still || !above || above->kind != PLACE_WRITE)
			continue;
		char path[PATH_MAX];
		struct place pin = {.kind = PLACE_PIN, .exec = true, .grant = true};
		for (size_t at = strlen(above->path) + 1; held.path[at]; at++) {
			if (held.path[at] != '/')
				continue;
			memcpy(path, held.path, at);
			path[at] = '\0';
			if (add(l, path, pin, e))
				return -1;
		}
	}
	sort(l);
	return 0;
}

static int add_sockets(struct layout *l, struct err *e)
{
	struct scan found;
	scan_init(&found);
	int failed = 0;
	size_t count = l->count;
	for (size_t i = 0; !failed && i < count; i++)
		if (l->place[i].kind >= PLACE_READ && !layout_above(l, l->place[i].path))
			failed = scan_tree(&found, l->place[i].path, e);
	for (size_t i = 0; !failed && i < found.count; i++)
		failed = add(l, found.path[i], (struct place){.kind = PLACE_MASK}, e);
	l->scan_cut = found.cut;
	scan_done(&found);
	return failed;
}

static int add_own(struct layout *l, const struct policy *p, struct err *e)
{
	struct place system = {.kind = PLACE_READ, .exec = true, .optional = true};
	struct place etc = {.kind = PLACE_READ, .optional = true};
	struct place memory = {.kind = PLACE_TMPFS, .exec = true, .directory = true};
	struct place proc = {.kind = PLACE_PROC, .directory = true};
	if (add_all(l, system_dirs, ARRAY_LEN(system_dirs), system, e) ||
		add_all(l, etc_files, ARRAY_LEN(etc_files), etc, e) ||
		(p->profile == PROFILE_HARDENED &&
			add_all(l, etc_names, ARRAY_LEN(etc_names), etc, e)) ||
		add_all(l, devices, ARRAY_LEN(devices), (struct place){.kind = PLACE_DEVICE}, e) ||
		add(l, "/tmp", memory, e) || add(l, "/proc", proc, e))
		return -1;
	memory.exec = false;
	if (add(l, "/dev/shm", memory, e))
		return -1;
	return p->network == NETWORK_HOST ? add(l, "/etc/resolv.conf", etc, e) : 0;
}

/* What is missing here fails, with its name, where it is opened. */
static void identify(struct layout *l)
{
	struct stat st;
	for (size_t i = 0; i < l->count; i++) {
		struct place *p = &l->place[i];
		if ((!p->grant && p->kind != PLACE_MASK) || lstat(p->path, &st))
			continue;
		p->dev = st.st_dev;
		p->ino = st.st_ino;
	}
}

int layout_init(struct layout *l, const struct policy *p, struct err *e)
{
	memset(l, 0, sizeof(*l));
	l->place = calloc(LAYOUT_PLACES_MAX, sizeof(*l->place));
	if (!l->place)
		return err_set(e, "out of memory");
	if (add_workspace(l, p, e) || add_grants(l, &p->read, PLACE_READ, e) ||
		add_grants(l, &p->write, PLACE_WRITE, e) ||
		add_held(l, &p->protect, PLACE_READ, e) || add_held(l, &p->hide, PLACE_HIDE, e))
		return -1;
	sort(l);
	if ((LAYER_ON("mask") && add_sockets(l, e)) || add_own(l, p, e))
		return -1;
	sort(l);
	drop_hidden(l);
	if (LAYER_ON("pin") && add_pins(l, e))
		return -1;
	identify(l);
	return 0;
}

bool layout_same(const struct layout *a, const struct layout *b)
{
	bool same = a->count == b->count && a->scan_cut == b->scan_cut &&
		    a->missing_count == b->missing_count;
	for (size_t i = 0; same && i < a->count; i++) {
		const struct place *p = &a->place[i], *q = &b->place[i];
		bool watched = p->grant || p->kind == PLACE_MASK;
		same = !strcmp(p->path, q->path) && p->kind == q->kind &&
		       (!watched || (p->dev == q->dev && p->ino == q->ino));
	}
	return same;
}

void layout_done(struct layout *l)
{
	for (size_t i = 0; l->place && i < l->count; i++) {
		own_close(&l->place[i].tree_fd);
		free(l->place[i].path);
		free(l->place[i].link);
	}
	free(l->place);
	memset(l, 0, sizeof(*l));
}

size_t layout_count(const struct layout *l, enum place_kind kind)
{
	size_t count = 0;
	for (size_t i = 0; i < l->count; i++)
		count += l->place[i].kind == kind;
	return count;
}
