#include "instance/pokes.h"

#include "base/io.h"
#include "base/json.h"
#include "instance/recover.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

enum { ORDER_DIGITS = 20, RANDOM_DIGITS = 8 };

/* Reports whether a name is ORDER-RANDOM.json. */
static bool is_poke(const char *name)
{
	if (strspn(name, "0123456789") != ORDER_DIGITS || name[ORDER_DIGITS] != '-')
		return false;
	const char *random = name + ORDER_DIGITS + 1;
	return strspn(random, "0123456789abcdef") == RANDOM_DIGITS &&
	       !strcmp(random + RANDOM_DIGITS, ".json");
}

int pokes_init(const struct instance *instance, struct err *e)
{
	return mkdirat(instance->dir_fd, "pokes", 0700) && errno != EEXIST
		       ? err_errno(e, "cannot create %s/pokes", instance->path)
		       : 0;
}

struct queue {
	int count;
	char first[POSITION_NAME_BYTES], last[POSITION_NAME_BYTES];
};

static int open_queue(const struct instance *instance)
{
	return openat(instance->dir_fd, "pokes", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static int scan(const struct instance *instance, struct queue *out, struct err *e)
{
	*out = (struct queue){0};
	int fd = open_queue(instance);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		own_close(&fd);
		return errno == ENOENT ? 0 : err_errno(e, "cannot list %s/pokes", instance->path);
	}
	for (const struct dirent *d; errno = 0, (d = readdir(dir));) {
		if (!is_poke(d->d_name))
			continue;
		if (!out->count++ || strcmp(d->d_name, out->first) < 0)
			snprintf(out->first, sizeof(out->first), "%.63s", d->d_name);
		if (strcmp(d->d_name, out->last) > 0)
			snprintf(out->last, sizeof(out->last), "%.63s", d->d_name);
	}
	int failed = errno ? err_errno(e, "cannot list %s/pokes", instance->path) : 0;
	closedir(dir);
	return failed;
}

int pokes_count(const struct instance *instance)
{
	struct queue q;
	return scan(instance, &q, NULL) ? 0 : q.count;
}

/* Reports whether a poke will stay unreadable. A lack of descriptors or memory may pass. */
static bool is_bad(const struct err *e)
{
	static const int own[] = {0, ENOENT, EACCES, ELOOP, ENXIO};
	bool bad = false;
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		bad |= e->number == own[i];
	return bad;
}

/* Reads a poke, a new reference. NULL with e empty: it is not a poke. */
static json_t *read_poke(const struct instance *instance, const char *name, struct err *e)
{
	struct err why = ERR_NONE;
	char path[POSITION_NAME_BYTES + 8];
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	snprintf(path, sizeof(path), "pokes/%s", name);
	if (io_read_file(instance->dir_fd, path, POKE_BYTES_MAX, &text, &len, &why)) {
		if (!is_bad(&why) && e)
			*e = why;
		return NULL;
	}
	struct json_cap cap = {POKE_BYTES_MAX, JSON_DEPTH_MAX + 1, SIZE_MAX};
	json_t *payload = json_read_nested(text, len, cap, NULL);
	if (json_is_object(payload))
		return payload;
	json_decref(payload);
	return NULL;
}

int pokes_first(const struct instance *instance, char name[POSITION_NAME_BYTES], json_t **payload,
	char bad[POSITION_NAME_BYTES], struct err *e)
{
	struct err why = ERR_NONE;
	bad[0] = '\0';
	for (;;) {
		struct queue q;
		if (scan(instance, &q, e))
			return -1;
		if (!q.count)
			return 0;
		*payload = read_poke(instance, q.first, &why);
		if (*why.text)
			return err_set(e, "%s", why.text);
		if (*payload) {
			memcpy(name, q.first, POSITION_NAME_BYTES);
			return 1;
		}
		char from[POSITION_NAME_BYTES + 8], to[POSITION_NAME_BYTES + 16];
		snprintf(from, sizeof(from), "pokes/%s", q.first);
		snprintf(to, sizeof(to), "pokes/%s.bad", q.first);
		if (renameat(instance->dir_fd, from, instance->dir_fd, to) && errno != ENOENT)
			return err_errno(e, "cannot set the unreadable poke %s aside", q.first);
		memcpy(bad, q.first, POSITION_NAME_BYTES);
	}
}

/* Removes a poke from the queue: renames it to `bad`, or NULL: unlinks it. */
static int take_out(
	const struct instance *instance, const char *name, const char *bad, struct err *e)
{
	if (!is_poke(name)) /* a journal from elsewhere may hold any name */
		return 0;
	AUTO_FD int dir = open_queue(instance);
	if (dir < 0)
		return errno == ENOENT ? 0 : err_errno(e, "cannot open %s/pokes", instance->path);
	if (bad ? renameat(dir, name, dir, bad) : unlinkat(dir, name, 0))
		return errno == ENOENT ? 0
		       : bad           ? err_errno(e, "cannot set the poke %s aside", name)
				       : err_errno(e, "cannot remove the poke %s", name);
	return fsync(dir) ? err_errno(e, "cannot sync %s/pokes", instance->path) : 0;
}

int pokes_set_aside(const struct instance *instance, const char *name, struct err *e)
{
	char bad[POSITION_NAME_BYTES + 8];
	snprintf(bad, sizeof(bad), "%s.bad", name);
	return take_out(instance, name, bad, e);
}

int pokes_remove(const struct instance *instance, const char *name, struct err *e)
{
	return take_out(instance, name, NULL, e);
}

int pokes_lock(const struct instance *instance, struct err *e)
{
	AUTO_FD int fd = io_open_plain(instance->dir_fd, "pokes/.lock", O_RDWR | O_CREAT, e);
	if (fd < 0)
		return err_wrap(e, "%s", instance->path);
	while (flock(fd, LOCK_EX))
		if (errno != EINTR)
			return err_errno(e, "cannot lock %s/pokes", instance->path);
	return TAKE_FD(fd);
}

static int refuse_ended(const struct instance *instance, struct err *e)
{
	AUTO_FD int fd = instance_journal(instance, e);
	if (fd < 0)
		return -1;
	AUTO_LINE last;
	if (!recover_last(fd, &last, e))
		return err_set(e, "instance %s has not begun", instance->id);
	if (last.type == LINE_END)
		return err_set(e, "instance %s has ended; a poke would wake nothing", instance->id);
	return 0;
}

static int write_poke(const struct instance *instance, const struct queue *queue,
	const json_t *payload, struct err *e)
{
	AUTO_BUF text = BUF_INIT(POKE_BYTES_MAX - 1);
	if (json_write(&text, payload))
		return err_set(e, "a poke may hold at most 1 MiB");
	uint32_t noise = 0;
	if (getrandom(&noise, sizeof(noise), 0) != (ssize_t)sizeof(noise))
		return err_errno(e, "cannot name a poke");
	char name[POSITION_NAME_BYTES];
	unsigned long long order = queue->count ? strtoull(queue->last, NULL, 10) + 1 : 1;
	snprintf(name, sizeof(name), "%020llu-%08x.json", order, noise);
	AUTO_FD int dir = open_queue(instance);
	if (dir < 0)
		return err_errno(e, "cannot open %s/pokes", instance->path);
	/* A single temporary name suffices, since one writer at a time holds the lock: the next one
	 * replaces what a killed one left. */
	return io_replace_through(dir, ".poke.tmp", name, &text, 0600, e)
		       ? err_wrap(e, "%s/pokes", instance->path)
		       : 0;
}

int pokes_add(const struct instance *instance, const json_t *payload, struct err *e)
{
	if (pokes_init(instance, e))
		return -1;
	AUTO_FD int lock = pokes_lock(instance, e);
	struct queue q;
	if (lock < 0 || refuse_ended(instance, e) || scan(instance, &q, e))
		return -1;
	if (q.count >= POKES_MAX)
		return err_set(e,
			"%d pokes wait already, which is the limit; poke again when the "
			"machine has taken some",
			q.count);
	return write_poke(instance, &q, payload, e);
}
