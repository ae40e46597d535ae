#include "run/tape.h"

#include "base/io.h"
#include "base/json.h"
#include "run/secret.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

/* The directory may lie where commands can write: a link or a pipe in the cassette's place would
 * lead our writing elsewhere. */
static int open_cassette(const struct live *w, const char *name, struct err *e)
{
	struct stat st;
	AUTO_FD int fd = io_open_plain(w->record_fd, name, O_RDWR | O_CREAT | O_APPEND, e);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || st.st_nlink != 1)
		return err_set(e, "%s has other names, too", name);
	return TAKE_FD(fd);
}

/* Whether its last line has no end: whoever wrote it was killed, or a person left it so. */
static bool ends_torn(int fd)
{
	char last;
	off_t end = lseek(fd, 0, SEEK_END);
	return end > 0 && pread(fd, &last, 1, end - 1) == 1 && last != '\n';
}

/* The `n` bytes just written, unless another instance that records here has gone on behind them. */
static int take_back(int fd, ssize_t n, struct err *e)
{
	struct stat st;
	off_t end = lseek(fd, 0, SEEK_CUR);
	return fstat(fd, &st) || st.st_size != end || ftruncate(fd, end - n)
		       ? err_wrap(e, "half of it is there")
		       : -1;
}

/* All of them or, where there is no room, none: half a line would spoil the next one. */
static int append(const struct live *w, const struct buf *lines, struct err *e)
{
	char name[DRIVE_NAME_BYTES + 8];
	if (lines->failed)
		return err_set(
			e, "out of memory, or it is larger than %d MiB", TAPE_BYTES_MAX >> 20);
	snprintf(name, sizeof(name), "%s.jsonl", w->machine);
	AUTO_FD int fd = open_cassette(w, name, e);
	if (fd < 0)
		return -1;
	struct iovec parts[] = {
		{(char *)(uintptr_t) "\n", ends_torn(fd)}, {lines->data, lines->len}};
	ssize_t n = writev(fd, parts, ARRAY_LEN(parts));
	if (n == (ssize_t)(parts[0].iov_len + lines->len))
		return 0;
	errno = n < 0 ? errno : ENOSPC;
	err_errno(e, "cannot write %s", name);
	return n > 0 ? take_back(fd, n, e) : -1;
}

/* Takes `line`. */
static void add(struct buf *lines, json_t *line)
{
	lines->failed = lines->failed || !line || json_write(lines, line);
	buf_addc(lines, '\n');
	json_decref(line);
}

/* What a rehearsal will ask again, and nothing else that an agent process may say. */
static json_t *recorded_match(const json_t *request)
{
	static const char *const kept[] = {"prompt", "last", "turn", "tools"};
	json_t *match = json_object();
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (json_object_get(request, kept[i]))
			json_object_set(match, kept[i], json_object_get(request, kept[i]));
	return match;
}

void tape_exchange(struct buf *lines, const char *state, const json_t *exchange)
{
	add(lines, json_pack("{s:s,s:o,s:O*}", "state", state, "match",
			   recorded_match(json_object_get(exchange, "request")), "reply",
			   json_object_get(exchange, "reply")));
}

void tape_keep(const struct live *w, const char *state, const struct buf *lines)
{
	struct err e = ERR_NONE;
	if (w->record_fd >= 0 && (lines->len || lines->failed) && append(w, lines, &e))
		live_notice(w, "what state %s was answered is not recorded in %s: %s", state,
			w->record_dir, e.text);
}

struct poke {
	const struct live *live;
	const char *state;
	const json_t *payload;
};

static int add_poke(void *ctx, const json_t *secrets, struct err *e)
{
	const struct poke *p = ctx;
	AUTO_BUF line;
	buf_init(&line, TAPE_BYTES_MAX);
	add(&line, json_pack("{s:s,s:o}", "state", p->state, "poke",
			   p->live->without_secrets(secrets, p->payload)));
	return append(p->live, &line, e);
}

void tape_poke(const struct live *w, const char *state, const json_t *payload)
{
	struct err e = ERR_NONE;
	struct poke poke = {w, state, payload};
	if (w->record_fd >= 0 && secret_apart(w->config, add_poke, &poke, w->record_fd, &e))
		live_notice(w, "what state %s was poked with is not recorded in %s: %s", state,
			w->record_dir, e.text);
}
