#include "base/io.h"
#include "base/json.h"
#include "run/drive.h"
#include "run/journal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* The statuses of a list: from the last line and whether somebody holds the lock. */
static const char *status_of(const json_t *last, bool held)
{
	const char *type = json_string_value(json_object_get(last, "t"));
	if (!strcmp(type, "end"))
		return json_string_value(json_object_get(last, "status"));
	if (!strcmp(type, "wait.armed"))
		return "waiting";
	return held ? "running" : "stopped";
}

static bool held(int dir)
{
	const struct instance i = {.dir_fd = dir, .lock_fd = -1};
	struct holder who = {0};
	return !instance_holder(&i, &who, NULL) && who.pid;
}

/* Whoever reads them need not ask which keys there are. */
static json_t *bare(const char *id, const char *status, const char *reason)
{
	return json_pack("{s:s,s:s,s:b,s:n,s:n,s:s?,s:n}", "id", id, "status", status, "asks",
		false, "state", "seq", "reason", reason, "updated");
}

static void tell(json_t *out, const json_t *last, int dir)
{
	const char *type = text_of(last, "t"), *status;
	json_int_t seq = json_integer_value(json_object_get(last, "seq"));
	const json_t *reason = json_object_get(last, "reason");
	bool step = !strcmp(type, "step"), live = strcmp(type, "end") && held(dir);
	bool asks = live && !faccessat(dir, "question.json", F_OK, AT_SYMLINK_NOFOLLOW);
	status = status_of(last, live);
	json_object_update_new(out,
		json_pack("{s:s,s:b,s:O*,s:I,s:O*,s:O*}", "status", status ? status : "damaged",
			"asks", asks, "state", json_object_get(last, step ? "goto" : "state"),
			"seq", seq - (!step && seq > 0), "reason",
			json_string_length(reason) ? reason : NULL, "updated",
			json_object_get(last, "ts")));
}

static json_t *brief(int machines, const char *id)
{
	struct err e = ERR_NONE;
	AUTO_FD int dir = openat(machines, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD int fd = dir < 0 ? err_errno(&e, "cannot open it")
				 : io_open_plain(dir, "journal.jsonl", O_RDONLY, &e);
	if (e.number == ENOENT)
		e = ERR_NONE;
	json_auto_t *last = fd < 0 ? NULL : journal_last(fd, &e);
	if (last && !json_is_string(json_object_get(last, "t")))
		err_set(&e, "its last line has no type");
	if (*e.text)
		return bare(id, "damaged", e.text);
	json_t *out = bare(id, "empty", NULL);
	if (last)
		tell(out, last, dir);
	else /* a start that was refused */
		json_object_set_new(out, "seq", json_integer(0));
	return out;
}

struct listing {
	int machines;
	void (*each)(void *ctx, const json_t *status);
	void *ctx;
};

static int list_one(void *ctx, const char *id)
{
	struct listing *l = ctx;
	json_auto_t *status = brief(l->machines, id);
	l->each(l->ctx, status);
	return 0;
}

int status_each(const struct place *p, void (*each)(void *ctx, const json_t *status), void *ctx,
	struct err *e)
{
	AUTO_FREE char *path = NULL;
	if (asprintf(&path, "%s/machines", p->repo_dir) < 0)
		return err_set(e, "out of memory");
	AUTO_FD int machines = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (machines < 0)
		return errno == ENOENT ? 0 : err_errno(e, "cannot list %s", path);
	struct listing l = {machines, each, ctx};
	return instance_list(p, list_one, &l, e);
}
