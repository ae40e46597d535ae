#include "bundle/bundle.h"

#include "base/beneath.h"
#include "base/io.h"
#include "base/path.h"
#include "base/utf8.h"
#include "bundle/bundle_private.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static bool has_suffix(const char *text, const char *suffix)
{
	size_t len = strlen(text), n = strlen(suffix);
	return len > n && !strcmp(text + len - n, suffix);
}

static bool is_loose_name(const char *name)
{
	return has_suffix(name, ".asm.yaml") || has_suffix(name, ".asm.yml") ||
	       has_suffix(name, ".asm.json") || has_suffix(name, ".asm.toml");
}

const char *bundle_loose_name(const struct intake *in)
{
	const char *found = NULL;
	int fd = openat(in->bundle->root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		own_close(&fd);
	for (const struct dirent *d; dir && !found && (d = readdir(dir));)
		if (is_loose_name(d->d_name))
			found = intake_shown(in, d->d_name);
	if (dir)
		closedir(dir);
	return found;
}

/* Refuses a path that is no bundle, with advice about its most likely meaning. */
static int not_a_bundle(const char *path, struct err *e)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	if (member_path_is_machine(base))
		return err_set(e,
			"%s is the machine file of a directory bundle: name its directory", path);
	return err_set(e,
		"%s is not a bundle: a bundle is NAME.asm, a directory holding machine.yaml, or "
		"NAME.asm.yaml (.yml, .json, .toml)",
		path);
}

/* Opens the directory of the members and remembers its absolute path. */
static int open_root(struct bundle *bundle, const char *dir, struct err *e)
{
	char real[PATH_MAX];
	bundle->root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (bundle->root_fd < 0 || !realpath(dir, real))
		return err_errno(e, "cannot open %s", dir);
	bundle->root = arena_copy(&bundle->arena, real, strlen(real));
	return 0;
}

static int open_loose(struct intake *in, struct err *e)
{
	struct bundle *b = in->bundle;
	const char *slash = strrchr(b->named, '/'), *base = slash ? slash + 1 : b->named;
	size_t dir_len = slash ? (size_t)(slash - b->named) : 0;
	const char *dir = !slash ? "." : dir_len ? arena_copy(&b->arena, b->named, dir_len) : "/";
	b->form = BUNDLE_LOOSE;
	return open_root(b, dir, e) ? -1 : bundle_walk(in, base, e);
}

static int open_packed(struct intake *in, int fd, struct err *e)
{
	char real[PATH_MAX];
	struct bundle *b = in->bundle;
	if (!realpath(b->named, real))
		return err_errno(e, "cannot open %s", b->named);
	b->root = arena_copy(&b->arena, real, strlen(real));
	b->form = BUNDLE_PACKED;
	return bundle_unpack(in, fd, e);
}

static int open_form(struct intake *in, struct err *e)
{
	struct bundle *b = in->bundle;
	struct stat st;
	AUTO_FD int fd = open(b->named, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st))
		return err_errno(e, "cannot open %s", b->named);
	b->form = BUNDLE_DIRECTORY;
	if (S_ISDIR(st.st_mode))
		return open_root(b, b->named, e) ? -1 : bundle_walk(in, NULL, e);
	if (!S_ISREG(st.st_mode))
		return not_a_bundle(b->named, e);
	if (is_loose_name(b->named))
		return open_loose(in, e);
	return has_suffix(b->named, ".asm") ? open_packed(in, fd, e) : not_a_bundle(b->named, e);
}

static void label_machine(struct bundle *bundle)
{
	char label[PATH_MAX + 32];
	if (!bundle->machine)
		return;
	bool slash = bundle->named[strlen(bundle->named) - 1] == '/';
	if (bundle->form == BUNDLE_LOOSE)
		snprintf(label, sizeof(label), "%s", bundle->named);
	else
		snprintf(label, sizeof(label), "%s%s%s", bundle->named, slash ? "" : "/",
			bundle->machine->path);
	bundle->machine_label = arena_copy(&bundle->arena, label, strlen(label));
}

/* Checks that the path can be written in JSON, as jails and journals do. */
static int check_root(const struct bundle *bundle, struct err *e)
{
	size_t len = strlen(bundle->root);
	if (utf8_prefix(bundle->root, len) == len)
		return 0;
	return err_set(e, "the path of the bundle is not valid UTF-8: rename its directories");
}

int bundle_open(const char *path, struct findings *findings, struct bundle **out, struct err *e)
{
	struct bundle *b = calloc(1, sizeof(*b));
	if (!b)
		return err_set(e, "out of memory");
	arena_init(&b->arena);
	b->root_fd = -1;
	b->named = arena_copy(&b->arena, path, strlen(path));
	struct intake in = {.bundle = b, .findings = findings};
	if (!*path || strlen(path) >= PATH_MAX || open_form(&in, e) || check_root(b, e)) {
		err_set(e, "the path of the bundle is empty or too long");
		bundle_free(b);
		return -1;
	}
	intake_end(&in);
	label_machine(b);
	*out = b;
	return 0;
}

void bundle_free(struct bundle *bundle)
{
	if (!bundle)
		return;
	for (size_t i = 0; i < bundle->count; i++)
		free(bundle->members[i].bytes);
	own_close(&bundle->root_fd);
	arena_done(&bundle->arena);
	free(bundle);
}

const struct member *bundle_member(const struct bundle *bundle, const char *path)
{
	size_t low = 0, high = bundle->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(path, bundle->members[middle].path);
		if (!order)
			return &bundle->members[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static int read_source(const struct bundle *bundle, const struct member *member, char **text,
	size_t *len, struct err *e)
{
	AUTO_FD int fd = beneath_open(
		bundle->root_fd, member->source, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, 0);
	struct stat st;
	if (fd < 0 || fstat(fd, &st))
		return err_errno(e, "cannot open %s", member->source);
	AUTO_BUF content = BUF_INIT(BUNDLE_MEMBER_BYTES_MAX);
	if (!S_ISREG(st.st_mode))
		return err_set(e, "%s is no longer a regular file", member->source);
	if (io_read_all(fd, &content, member->source, e))
		return -1;
	*text = buf_take(&content, len);
	return *text ? 0 : err_set(e, "out of memory");
}

int bundle_read(
	const struct bundle *bundle, const char *path, char **text, size_t *len, struct err *e)
{
	const struct member *m = bundle_member(bundle, path);
	char hex[SHA256_HEX + 1];
	AUTO_FREE char *read = NULL;
	size_t read_len = m ? m->size : 0;
	if (!m)
		return err_set(e, "the bundle holds no %s", path);
	if (m->bytes) {
		read = malloc(m->size + 1);
		if (!read)
			return err_set(e, "out of memory");
		memcpy(read, m->bytes, m->size + 1);
	} else if (read_source(bundle, m, &read, &read_len, e)) {
		return -1;
	}
	sha256_hex(read, read_len, hex);
	if (strcmp(hex, m->sha256))
		return err_set(e, "%s changed after it was checked", path);
	*text = TAKE_PTR(read);
	*len = read_len;
	return 0;
}

int bundle_take_machine(struct bundle *bundle, char **text, size_t *len, struct err *e)
{
	struct member *m = &bundle->members[bundle->machine - bundle->members];
	/* Only the archive has the members of a packed bundle. */
	if (bundle->form == BUNDLE_PACKED || !m->bytes)
		return bundle_read(bundle, m->path, text, len, e);
	*text = TAKE_PTR(m->bytes);
	*len = m->size;
	return 0;
}

static bool is_refused(const struct bundle *bundle, const char *path)
{
	for (const struct refused *r = bundle->refused; r; r = r->next)
		if (!*r->path || path_is_within(path, r->path))
			return true;
	return false;
}

int bundle_read_member(void *bundle, const char *path, char **text, size_t *len, bool *executable)
{
	struct err e = ERR_NONE;
	const struct bundle *b = bundle;
	if (bundle_read(b, path, text, len, &e))
		return is_refused(b, path) ? 1 : -1;
	*executable = bundle_member(b, path)->mode == 0755;
	return 0;
}
